//! How the types of typed records are encoded.
//!
//! A [`Part`] is the Rust type of one member of a typed record. It says which
//! fields of the schema it stands for (one, or a count and what is counted),
//! and reads and writes just those. The tables of records in
//! [`schema`](crate::schema) name the types only, so schema, decoder and
//! encoder follow from one line and cannot disagree.

use retime_model::Timestamp;

use crate::enums::{
    CollectiveOp, CollectiveRoot, IoAccessMode, IoCreationFlags, IoOperationFlags, IoOperationMode,
    IoSeekOption, IoStatusFlags, LockType, MeasurementMode, Paradigm, RmaAtomicType, RmaSyncLevel,
    RmaSyncType, Type,
};
use crate::error::WireError;
use crate::mapping::Mappings;
use crate::refs::{
    CallingContextRef, CommRef, GroupRef, InterruptGeneratorRef, IoFileRef, IoHandleRef,
    IoParadigmRef, MetricRef, ParameterRef, RegionRef, RmaWinRef, StringRef,
};
use crate::schema::{Class, Field, Wire, f};
use crate::wire::Cursor;
use crate::writer::Payload;

/// Reads the members of a record in their order.
pub(crate) struct Decoder<'a> {
    pub(crate) cursor: Cursor<'a>,
    /// From local to global ids.
    pub(crate) mappings: Option<&'a Mappings>,
    /// The time to take in place of the only full-width time of events, that of the end of a flush;
    /// `None` if the recorded one stands.
    pub(crate) stop_time: Option<u64>,
}

impl Decoder<'_> {
    #[inline]
    fn id(&self, class: Class, local: u32) -> u32 {
        match self.mappings {
            Some(mappings) => mappings.apply(class, local.into()) as u32,
            None => local,
        }
    }
}

/// More elements than the count of a record can express.
pub(crate) struct TooMany(pub(crate) usize);

/// A member of a typed record.
pub(crate) trait Part: Sized {
    /// The fields it stands for, without their names.
    const FIELDS: &'static [Field];

    /// Reads its fields.
    fn read(from: &mut Decoder<'_>) -> Result<Self, WireError>;

    /// Writes its fields.
    fn write(&self, to: &mut Payload) -> Result<(), TooMany>;
}

/// Names the fields that the parts of a record stand for.
pub(crate) const fn fields<const N: usize>(
    parts: &[(&'static [Field], &[&'static str])],
) -> [Field; N] {
    let mut fields = [f("", Wire::U8); N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let (unnamed, names) = parts[part];
        assert!(unnamed.len() == names.len(), "one name for each field");
        let mut i = 0;
        while i < names.len() {
            fields[next] = unnamed[i].named(names[i]);
            (i, next) = (i + 1, next + 1);
        }
        part += 1;
    }
    fields
}

macro_rules! numbers {
    ($($type:ty: $wire:ident by $method:ident,)*) => {$(
        impl Part for $type {
            const FIELDS: &'static [Field] = &[f("", Wire::$wire)];

            // As the cursor does.
            #[inline(always)]
            fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
                from.cursor.$method()
            }

            #[inline]
            fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
                to.$method(*self);
                Ok(())
            }
        }
    )*};
}

numbers! {
    u32: C32 by c32,
    u64: C64 by c64,
    i64: S64 by s64,
}

macro_rules! enumerations {
    ($($wire:ident by $method:ident: $($type:ty),*;)*) => {$($(
        impl Part for $type {
            const FIELDS: &'static [Field] = &[f("", Wire::$wire)];

            #[inline]
            fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
                from.cursor.$method().map(Self)
            }

            #[inline]
            fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
                to.$method(self.0);
                Ok(())
            }
        }
    )*)*};
}

enumerations! {
    U8 by u8: CollectiveOp, IoAccessMode, IoOperationMode, IoSeekOption, LockType,
        MeasurementMode, Paradigm, RmaAtomicType, RmaSyncType;
    C32 by c32: IoCreationFlags, IoOperationFlags, IoStatusFlags, RmaSyncLevel;
}

macro_rules! references {
    ($($type:ty),*) => {$(
        impl Part for $type {
            const FIELDS: &'static [Field] = &[f("", Wire::C32).to(Self::CLASS)];

            // Where ids are not mapped, which the compiler sees, this is a number.
            #[inline(always)]
            fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
                let local = from.cursor.c32()?;
                Ok(Self(from.id(Self::CLASS, local)))
            }

            #[inline]
            fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
                to.c32(self.0);
                Ok(())
            }
        }
    )*};
}

references!(
    CallingContextRef,
    CommRef,
    GroupRef,
    InterruptGeneratorRef,
    IoFileRef,
    IoHandleRef,
    MetricRef,
    ParameterRef,
    RegionRef,
    RmaWinRef,
    StringRef
);

/// These have one byte, and no mapping tables.
impl Part for IoParadigmRef {
    const FIELDS: &'static [Field] = &[f("", Wire::U8).to(Self::CLASS)];

    fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
        Ok(Self::new(from.cursor.u8()?.into()))
    }

    fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
        to.u8(self.0);
        Ok(())
    }
}

impl Part for CollectiveRoot {
    const FIELDS: &'static [Field] = u32::FIELDS;

    #[inline]
    fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
        u32::read(from).map(Self::from_code)
    }

    #[inline]
    fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
        self.code().write(to)
    }
}

/// A time inside of a record has its full width, so that it can be replaced.
impl Part for Timestamp {
    const FIELDS: &'static [Field] = &[f("", Wire::X64)];

    fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
        let written = from.cursor.x64()?;
        Ok(Self(from.stop_time.unwrap_or(written)))
    }

    fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
        to.x64(self.0);
        Ok(())
    }
}

/// The smallest number means that nothing is known.
impl Part for Option<i64> {
    const FIELDS: &'static [Field] = i64::FIELDS;

    fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
        Ok(Some(i64::read(from)?).filter(|&value| value != i64::MIN))
    }

    fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
        self.unwrap_or(i64::MIN).write(to)
    }
}

impl Part for Vec<StringRef> {
    const FIELDS: &'static [Field] = &[
        f("", Wire::C32).count(),
        f("", Wire::C32).to(Class::String).each(),
    ];

    fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
        let count = from.cursor.c32()?;
        let count = from.cursor.check_count(count.into(), 1)?;
        (0..count).map(|_| StringRef::read(from)).collect()
    }

    fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
        to.c32(u32::try_from(self.len()).map_err(|_| TooMany(self.len()))?);
        self.iter().try_for_each(|string| string.write(to))
    }
}

/// One value of a metric event. All are stored as patterns of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricValue {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// The bits of a value of another type.
    Other(Type, u64),
}

impl MetricValue {
    /// From type and bit pattern.
    pub(crate) const fn from_bits(kind: Type, bits: u64) -> Self {
        match kind {
            Type::UINT64 => Self::Unsigned(bits),
            Type::INT64 => Self::Signed(bits.cast_signed()),
            Type::DOUBLE => Self::Float(f64::from_bits(bits)),
            other => Self::Other(other, bits),
        }
    }

    /// Type and bit pattern.
    const fn to_bits(self) -> (Type, u64) {
        match self {
            Self::Unsigned(value) => (Type::UINT64, value),
            Self::Signed(value) => (Type::INT64, value.cast_unsigned()),
            Self::Float(value) => (Type::DOUBLE, value.to_bits()),
            Self::Other(kind, bits) => (kind, bits),
        }
    }
}

impl Part for Vec<MetricValue> {
    const FIELDS: &'static [Field] = &[
        f("", Wire::U8).count(),
        f("", Wire::U8).each(),
        f("", Wire::C64).each(),
    ];

    fn read(from: &mut Decoder<'_>) -> Result<Self, WireError> {
        let cursor = &mut from.cursor;
        let count = cursor.u8()?;
        let count = cursor.check_count(count.into(), 2)?;
        let mut value = || Ok(MetricValue::from_bits(Type(cursor.u8()?), cursor.c64()?));
        (0..count).map(|_| value()).collect()
    }

    fn write(&self, to: &mut Payload) -> Result<(), TooMany> {
        to.u8(u8::try_from(self.len()).map_err(|_| TooMany(self.len()))?);
        for value in self {
            let (kind, bits) = value.to_bits();
            to.u8(kind.0).c64(bits);
        }
        Ok(())
    }
}
