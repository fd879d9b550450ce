//! The content of every record of the format, as tables.
//!
//! Those of events and snapshots are tables of typed members, from which all else
//! follows: [`EventData`], how it is read and written, and the fields. The others
//! list the fields. All decoding goes through one or the other: a record is a code, a name and a
//! list of fields in wire order, and a field is a name, an encoding and a few
//! properties:
//!
//! * `to(class)`: it holds the id of a definition of that class. In events
//!   such ids are local to the location and pass through mapping tables.
//! * `count()` and `each()`: it says how often the group of `each` fields
//!   that follows is repeated.
//! * `or(absent)`: it was added by a later version. Older records end before
//!   it, and it takes the given value.
//! * `deprecated()`: it exists for old readers only and is not reported, but
//!   the value of a missing newer field may follow from it.
//!
//! ```
//! use retime_otf2::FileKind;
//! use retime_otf2::schema::{self, Class};
//!
//! let send = schema::lookup(FileKind::Events, 14).unwrap();
//! assert_eq!(send.name, "MpiSend");
//! let names: Vec<&str> = send.fields.iter().map(|field| field.name).collect();
//! assert_eq!(names, ["receiver", "communicator", "msgTag", "msgLength"]);
//! assert_eq!(send.fields[1].class, Some(Class::Comm));
//! ```

mod class;
pub(crate) mod codes;
mod definitions;
mod events;
mod field;
mod legacy;
mod others;
mod snapshots;
mod typed;

use crate::chunk::FileKind;

pub(crate) use self::class::id_mask;
pub use self::class::{Class, MAPPED_CLASSES};
pub use self::events::{EventData, event_code};
pub(crate) use self::field::f;
pub use self::field::{Absent, Field, RecordSchema, Role, Wire};
pub use self::snapshots::{SnapshotData, snapshot_code};

/// Looks up the kind of record that a code stands for in a kind of file; `None` if it is not known.
#[inline]
pub fn lookup(kind: FileKind, code: u8) -> Option<&'static RecordSchema> {
    index(kind)[usize::from(code)]
}

/// Every known record of a kind of file.
pub fn records(kind: FileKind) -> impl Iterator<Item = &'static RecordSchema> {
    index(kind).iter().flatten().copied()
}

type Index = [Option<&'static RecordSchema>; 256];

static EVENTS: Index = build(&[events::EVENTS]);
static SNAPSHOTS: Index = build(&[snapshots::SNAPSHOTS]);
static GLOBAL: Index = build(&[definitions::GLOBAL_ONLY, definitions::COMMON]);
static LOCAL: Index = build(&[others::LOCAL_ONLY, definitions::COMMON]);
static MARKERS: Index = build(&[others::MARKERS]);
static THUMBNAILS: Index = build(&[others::THUMBNAILS]);

fn index(kind: FileKind) -> &'static Index {
    match kind {
        FileKind::Events => &EVENTS,
        FileKind::Snapshots => &SNAPSHOTS,
        FileKind::GlobalDefinitions => &GLOBAL,
        FileKind::LocalDefinitions => &LOCAL,
        FileKind::Markers => &MARKERS,
        FileKind::Thumbnail => &THUMBNAILS,
    }
}

const fn build(tables: &[&'static [RecordSchema]]) -> Index {
    let mut index: Index = [None; 256];
    let mut t = 0;
    while t < tables.len() {
        let table = tables[t];
        let mut i = 0;
        while i < table.len() {
            index[table[i].code as usize] = Some(&table[i]);
            i += 1;
        }
        t += 1;
    }
    index
}
