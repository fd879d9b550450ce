//! Profiles of JAX and TensorFlow in their own form, `HOST.xplane.pb`.
//!
//! They lie beside `HOST.trace.json.gz`, are called like a trace of packets, and begin like one:
//! an `XSpace` has planes as its field 1, as a trace has packets. A plane has a number (1), perhaps,
//! and a name (2), that of a host or of a device. Field 2 of a packet, a tree of processes, cannot
//! begin with the slash that such names begin with.
//!
//! ```
//! assert!(retime_perfetto::is_xspace(b"\x0a\x10\x12\x0e/host:metadata"));
//! assert!(retime_perfetto::is_xspace(b"\x0a\x0f\x08\x03\x12\x0b/device:CPU"));
//! // A packet of a process tree, and one with a time.
//! assert!(!retime_perfetto::is_xspace(b"\x0a\x06\x12\x04\x0a\x02\x08\x07"));
//! assert!(!retime_perfetto::is_xspace(b"\x0a\x02\x40\x07"));
//! ```
//!
//! Source: `xplane.proto` of tsl, messages `XSpace` and `XPlane`.

use retime_perfetto_wire::read::{Head, varint};

/// The field of an `XSpace` that holds a plane,
const PLANES: u32 = 1;
/// and those of a plane that hold its number and its name.
const NUMBER: u32 = 1;
const NAME: u32 = 2;
/// Names of planes begin so.
const NAMES: [&[u8]; 2] = [b"/host:", b"/device:"];

/// True if a file that begins with these bytes is a profile of JAX or TensorFlow in its own form.
pub fn is_xspace(bytes: &[u8]) -> bool {
    name_of_first_plane(bytes).is_some_and(|it| NAMES.iter().any(|name| it.starts_with(name)))
}

/// The bytes from where the name of a plane at the beginning begins.
fn name_of_first_plane(bytes: &[u8]) -> Option<&[u8]> {
    let plane = Head::of(bytes).ok().filter(|it| it.number == PLANES)?;
    plane.length?;
    let mut at = plane.size;
    let mut field = Head::of(bytes.get(at..)?).ok()?;
    if field.number == NUMBER && field.length.is_none() {
        at += field.size;
        varint(bytes, &mut at).ok()?;
        field = Head::of(bytes.get(at..)?).ok()?;
    }
    bytes
        .get(at + field.size..)
        .filter(|_| field.number == NAME)
}
