//! What every record of the format contains, as tables.
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

pub(crate) mod codes;
mod definitions;
mod events;
mod legacy;
mod others;
mod snapshots;
mod typed;

use crate::chunk::FileKind;
use crate::enums::{MappingType, Type};

pub use self::events::{EventData, event_code};
pub use self::snapshots::{SnapshotData, snapshot_code};

/// How a field is encoded, see [`crate::Cursor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// One byte.
    U8,
    /// Eight bytes.
    X64,
    /// Compressed, 32 bits.
    C32,
    /// Compressed, 64 bits.
    C64,
    /// Compressed and signed, 64 bits.
    S64,
    /// Floating point, 64 bits.
    F64,
    /// Bytes up to a NUL.
    Str,
    /// One byte that names the type of the next [`Wire::Val`].
    Type,
    /// A value of the type named before.
    Val,
    /// A list of pairs of local and global ids.
    IdMap,
}

/// What a reference refers to. The first fifteen, in this order, are the
/// classes of mapping tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are those of the definitions.
pub enum Class {
    String,
    Attribute,
    Location,
    Region,
    Group,
    Metric,
    Comm,
    Parameter,
    RmaWin,
    SourceCodeLocation,
    CallingContext,
    InterruptGenerator,
    IoFile,
    IoHandle,
    LocationGroup,
    SystemTreeNode,
    Callpath,
    MetricMember,
    CartDimension,
    CartTopology,
    IoParadigm,
}

/// Number of classes that have mapping tables.
pub const MAPPED_CLASSES: usize = Class::LocationGroup as usize + 1;

/// The value of a field that the record is too old to have.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    /// The field belongs to the first version: the record is damaged.
    Never,
    /// This value.
    Value(u64),
    /// The value of the record's deprecated field.
    Deprecated,
    /// A function of the record's deprecated field.
    FromDeprecated(fn(u64) -> u64),
    /// The value of the field `name`.
    Name,
}

/// What a field does in its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Holds a value.
    Plain,
    /// Holds the id that the record defines.
    Defines,
    /// Counts the repetitions of the fields that follow.
    Count,
    /// Belongs to the group of fields that is repeated.
    Each,
    /// Is there for old readers only.
    Deprecated,
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name, as in the OTF2 documentation.
    pub name: &'static str,
    /// Its encoding.
    pub wire: Wire,
    /// What it refers to.
    pub class: Option<Class>,
    /// What it does.
    pub role: Role,
    /// What it is when the record ends before it.
    pub absent: Absent,
}

/// One kind of record.
#[derive(Clone, Copy, Debug)]
pub struct RecordSchema {
    /// Its code, unique within a kind of file.
    pub code: u8,
    /// Its name, as in the OTF2 documentation.
    pub name: &'static str,
    /// Its fields in wire order.
    pub fields: &'static [Field],
}

/// What a record code means in a kind of file; `None` if it is not known.
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

/// All bits set in 32 bits: no reference.
const UNDEFINED: Absent = Absent::Value(u32::MAX as u64);
/// The type code of string references.
const STRING_TYPE: Absent = Absent::Value(11);

/// A row of the tables.
const fn rec(code: u8, name: &'static str, fields: &'static [Field]) -> RecordSchema {
    RecordSchema { code, name, fields }
}

/// A plain field; the methods add its properties.
pub(crate) const fn f(name: &'static str, wire: Wire) -> Field {
    Field {
        name,
        wire,
        class: None,
        role: Role::Plain,
        absent: Absent::Never,
    }
}

impl Field {
    /// Whether it comes once per repetition.
    #[inline]
    pub fn is_repeated(&self) -> bool {
        self.role == Role::Each
    }

    pub(crate) const fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub(crate) const fn to(mut self, class: Class) -> Self {
        self.class = Some(class);
        self
    }

    const fn defines(mut self, class: Class) -> Self {
        self.class = Some(class);
        self.role = Role::Defines;
        self
    }

    pub(crate) const fn count(mut self) -> Self {
        self.role = Role::Count;
        self
    }

    pub(crate) const fn each(mut self) -> Self {
        self.role = Role::Each;
        self
    }

    const fn deprecated(mut self) -> Self {
        self.role = Role::Deprecated;
        self
    }

    const fn or(mut self, absent: Absent) -> Self {
        self.absent = absent;
        self
    }
}

impl Class {
    /// The class that mapping tables of this type are for.
    pub const fn of_mapping(mapping: MappingType) -> Option<Self> {
        // The types that are references have the same order.
        Self::of_type(Type(mapping.0.saturating_add(Type::STRING.0)))
    }

    /// The class that values of this type refer to.
    pub const fn of_type(value: Type) -> Option<Self> {
        Some(match value {
            Type::STRING => Self::String,
            Type::ATTRIBUTE => Self::Attribute,
            Type::LOCATION => Self::Location,
            Type::REGION => Self::Region,
            Type::GROUP => Self::Group,
            Type::METRIC => Self::Metric,
            Type::COMM => Self::Comm,
            Type::PARAMETER => Self::Parameter,
            Type::RMA_WIN => Self::RmaWin,
            Type::SOURCE_CODE_LOCATION => Self::SourceCodeLocation,
            Type::CALLING_CONTEXT => Self::CallingContext,
            Type::INTERRUPT_GENERATOR => Self::InterruptGenerator,
            Type::IO_FILE => Self::IoFile,
            Type::IO_HANDLE => Self::IoHandle,
            Type::LOCATION_GROUP => Self::LocationGroup,
            _ => return None,
        })
    }
}
