//! Attributes: further values attached to an event.
//!
//! A value has its type beside it, so any event can carry anything. Reader and
//! writer use the same [`AttributeValue`].

use crate::enums::Type;
use crate::refs::{
    AttributeRef, CallingContextRef, CommRef, GroupRef, InterruptGeneratorRef, IoFileRef,
    IoHandleRef, LocationGroupRef, MetricRef, ParameterRef, RegionRef, RmaWinRef,
    SourceCodeLocationRef, StringRef,
};
use crate::value::Value;
use crate::writer::Payload;

/// An attribute of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attribute {
    /// The definition of the attribute, which gives the value its name and meaning.
    pub attribute: AttributeRef,
    /// The value.
    pub value: AttributeValue,
}

macro_rules! attribute_values {
    (
        plain { $($(#[$doc:meta])* $plain:ident($type:ty) = $code:ident: $value:ident by $method:ident,)* }
        references { $($(#[$to:meta])* $class:ident($reference:ty) = $class_code:ident,)* }
    ) => {
        /// The value of an attribute.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub enum AttributeValue {
            $($(#[$doc])* $plain($type),)*
            $($(#[$to])* $class($reference),)*
            /// A value of a type that is not known here.
            Other(Type, u64),
        }

        impl AttributeValue {
            /// Its type.
            pub const fn kind(self) -> Type {
                match self {
                    $(Self::$plain(_) => Type::$code,)*
                    $(Self::$class(_) => Type::$class_code,)*
                    Self::Other(kind, _) => kind,
                }
            }

            /// A value of this type; zero if it is not of that kind.
            pub(crate) fn new(kind: Type, value: Value<'_>) -> Self {
                match (kind, value) {
                    $((Type::$code, Value::$value(value)) => Self::$plain(value as $type),)*
                    $((Type::$class_code, Value::Unsigned(id)) => {
                        Self::$class(<$reference>::new(id))
                    })*
                    (kind, value) => Self::Other(kind, value.unsigned().unwrap_or(0)),
                }
            }

            /// The value without its type.
            #[allow(clippy::cast_lossless)] // Some are 64 bits wide already.
            pub fn value(self) -> Value<'static> {
                match self {
                    $(Self::$plain(value) => Value::$value(value as _),)*
                    $(Self::$class(reference) => Value::Unsigned(reference.into()),)*
                    Self::Other(_, value) => Value::Unsigned(value),
                }
            }

            /// Appends the type and the value.
            pub(crate) fn write(self, payload: &mut Payload) {
                payload.u8(self.kind().0);
                match self {
                    $(Self::$plain(value) => payload.$method(value),)*
                    $(Self::$class(reference) => payload.c32(reference.0),)*
                    Self::Other(_, value) => payload.c64(value),
                };
            }
        }
    };
}

attribute_values! {
    plain {
        /// An unsigned 8-bit integer.
        U8(u8) = UINT8: Unsigned by u8,
        /// An unsigned 16-bit integer.
        U16(u16) = UINT16: Unsigned by u16,
        /// An unsigned 32-bit integer.
        U32(u32) = UINT32: Unsigned by c32,
        /// An unsigned 64-bit integer.
        U64(u64) = UINT64: Unsigned by c64,
        /// A signed 8-bit integer.
        I8(i8) = INT8: Signed by i8,
        /// A signed 16-bit integer.
        I16(i16) = INT16: Signed by i16,
        /// A signed 32-bit integer.
        I32(i32) = INT32: Signed by s32,
        /// A signed 64-bit integer.
        I64(i64) = INT64: Signed by s64,
        /// A single precision number.
        F32(f32) = FLOAT: Float by f32,
        /// A double precision number.
        F64(f64) = DOUBLE: Double by f64,
        /// A location, by its id.
        Location(u64) = LOCATION: Unsigned by c64,
    }
    references {
        /// A string.
        String(StringRef) = STRING,
        /// An attribute.
        Attribute(AttributeRef) = ATTRIBUTE,
        /// A region.
        Region(RegionRef) = REGION,
        /// A group.
        Group(GroupRef) = GROUP,
        /// A metric.
        Metric(MetricRef) = METRIC,
        /// A communicator.
        Comm(CommRef) = COMM,
        /// A parameter.
        Parameter(ParameterRef) = PARAMETER,
        /// A window.
        RmaWin(RmaWinRef) = RMA_WIN,
        /// A source code location.
        SourceCodeLocation(SourceCodeLocationRef) = SOURCE_CODE_LOCATION,
        /// A calling context.
        CallingContext(CallingContextRef) = CALLING_CONTEXT,
        /// An interrupt generator.
        InterruptGenerator(InterruptGeneratorRef) = INTERRUPT_GENERATOR,
        /// A file.
        IoFile(IoFileRef) = IO_FILE,
        /// A file handle.
        IoHandle(IoHandleRef) = IO_HANDLE,
        /// A location group.
        LocationGroup(LocationGroupRef) = LOCATION_GROUP,
    }
}
