//! The fields of records, and how the tables say them.

use super::class::Class;

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

/// The role of a field in its record.
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
    /// The class of things that its value refers to, if it is a reference.
    pub class: Option<Class>,
    /// Its role in the record.
    pub role: Role,
    /// Its value where a record ends before it.
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

/// All bits set in 32 bits: no reference.
pub(super) const UNDEFINED: Absent = Absent::Value(u32::MAX as u64);
/// The type code of string references.
pub(super) const STRING_TYPE: Absent = Absent::Value(11);

/// A row of the tables.
pub(super) const fn rec(code: u8, name: &'static str, fields: &'static [Field]) -> RecordSchema {
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
    /// True if it comes once per repetition.
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

    pub(super) const fn defines(mut self, class: Class) -> Self {
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

    pub(super) const fn deprecated(mut self) -> Self {
        self.role = Role::Deprecated;
        self
    }

    pub(super) const fn or(mut self, absent: Absent) -> Self {
        self.absent = absent;
        self
    }
}
