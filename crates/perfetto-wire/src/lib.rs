//! Perfetto's packets as bytes: the wire format of protocol buffers, as much of it as packets
//! need, and the numbers of their fields.
//!
//! A field is its number and kind, as one varint, and its value: a varint, four or eight
//! bytes, or a length and so many bytes. That is all there is to it
//! (<https://protobuf.dev/programming-guides/encoding/>), and no generated code has to be
//! built for it, nor a packet be held as a tree of objects.
//!
//! The number of a field is multiplied by 8 for its kind: `1 << 3 | 0` is 8, and 150 is
//! `1_0010110` in binary, the lower seven bits first: field 1 with the value 150 is
//! `08 96 01`.
//!
//! - [`write`](mod@write) appends fields to bytes.
//! - [`read`] goes over fields where they stand, without copies, and says of each where that is.
//! - [`fields`] has the numbers.
//!
//! ```
//! use retime_perfetto_wire::read::{Fields, Value};
//!
//! let mut fields = Fields::of(b"\x08\x96\x01\x12\x07testing");
//! let first = fields.next().ok_or("there are two")??;
//! assert_eq!((first.number, first.value), (1, Value::Varint(150)));
//! let second = fields.next().ok_or("there are two")??;
//! assert_eq!((second.number, second.value), (2, Value::Bytes(b"testing")));
//! assert_eq!((second.start, second.value_start, second.end), (3, 5, 12));
//! assert!(fields.next().is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[allow(
    missing_docs,
    reason = "the names are those of the files that the modules say"
)]
pub mod fields;
mod kind;
pub mod read;
pub mod write;
