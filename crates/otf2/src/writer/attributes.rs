//! Attributes: further values attached to an event.

use super::{
    encode::Payload,
    failure::{Error, Result},
    handles::AttributeRef,
};

/// The value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// An unsigned 8-bit integer.
    U8(u8),
    /// An unsigned 16-bit integer.
    U16(u16),
    /// An unsigned 32-bit integer.
    U32(u32),
    /// An unsigned 64-bit integer.
    U64(u64),
    /// A signed 8-bit integer.
    I8(i8),
    /// A signed 16-bit integer.
    I16(i16),
    /// A signed 32-bit integer.
    I32(i32),
    /// A signed 64-bit integer.
    I64(i64),
    /// A single precision number.
    F32(f32),
    /// A double precision number.
    F64(f64),
    /// A location, by its id.
    Location(u64),
    /// Any other definition, by its number.
    Definition(DefinitionType, u32),
}

/// The kind of definition an attribute refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum DefinitionType {
    /// A string.
    String = 11,
    /// An attribute.
    Attribute = 12,
    /// A region.
    Region = 14,
    /// A group.
    Group = 15,
    /// A metric.
    Metric = 16,
    /// A communicator.
    Comm = 17,
    /// A parameter.
    Parameter = 18,
    /// A window.
    RmaWin = 19,
    /// A source code location.
    SourceCodeLocation = 20,
    /// A calling context.
    CallingContext = 21,
    /// An interrupt generator.
    InterruptGenerator = 22,
    /// A file.
    IoFile = 23,
    /// A file handle.
    IoHandle = 24,
    /// A location group.
    LocationGroup = 25,
}

impl Value {
    /// The number of the value's type, as it stands in definitions of
    /// attributes.
    pub fn type_code(self) -> u8 {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
            Self::U32(_) => 3,
            Self::U64(_) => 4,
            Self::I8(_) => 5,
            Self::I16(_) => 6,
            Self::I32(_) => 7,
            Self::I64(_) => 8,
            Self::F32(_) => 9,
            Self::F64(_) => 10,
            Self::Location(_) => 13,
            Self::Definition(kind, _) => kind as u8,
        }
    }

    /// Appends the type and the value.
    fn encode(self, payload: &mut Payload) {
        payload.u8(self.type_code());
        match self {
            Self::U8(value) => payload.u8(value),
            Self::U16(value) => payload.u16(value),
            Self::U32(value) | Self::Definition(_, value) => payload.c32(value),
            Self::U64(value) | Self::Location(value) => payload.c64(value),
            Self::I8(value) => payload.u8(value.cast_unsigned()),
            Self::I16(value) => payload.u16(value.cast_unsigned()),
            Self::I32(value) => payload.s32(value),
            Self::I64(value) => payload.s64(value),
            Self::F32(value) => payload.f32(value),
            Self::F64(value) => payload.f64(value),
        };
    }
}

/// The attributes of the next event.
#[derive(Debug, Default)]
pub(super) struct Pending {
    attributes: Vec<u32>,
    values: Payload,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    pub(super) fn attach(&mut self, attribute: AttributeRef, value: Value) -> Result<()> {
        // libotf2 stops reading a location at a list with a repeated attribute.
        if self.attributes.contains(&attribute.0) {
            return Err(Error::RepeatedAttribute(attribute.0));
        }
        self.attributes.push(attribute.0);
        self.values.c32(attribute.0);
        value.encode(&mut self.values);
        Ok(())
    }

    /// Moves the payload of the attribute list to `payload`.
    pub(super) fn take(&mut self, payload: &mut Payload) {
        payload.c32(self.attributes.len() as u32);
        payload.raw(self.values.as_bytes());
        self.attributes.clear();
        self.values.clear();
    }
}
