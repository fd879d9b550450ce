//! Values of fields and attributes.
//!
//! Fields of fixed type and values whose type is named beside them come out
//! as the same [`Value`]. Values of types that are not known are promised to be
//! compressed integers.
//!
//! ```
//! use retime_otf2::{Cursor, Endian, Type, Value};
//!
//! let mut cursor = Cursor::new(b"\xfe\x01\x07", Endian::Little);
//! assert_eq!(Value::read(Type::INT8, &mut cursor)?, Value::Signed(-2));
//! assert_eq!(Value::read(Type::REGION, &mut cursor)?, Value::Unsigned(7));
//! # Ok::<(), retime_otf2::WireError>(())
//! ```

use crate::enums::Type;
use crate::error::WireError;
use crate::mapping::IdMap;
use crate::schema::Class;
use crate::wire::Cursor;

/// A decoded value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// An unsigned integer, a set of bits, an enumerator or a reference.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A floating-point number of 32 bits.
    Float(f32),
    /// A floating-point number of 64 bits.
    Double(f64),
    /// A string. UTF-8 by convention, not checked.
    Text(&'a [u8]),
    /// Pairs of local and global ids.
    IdMap(IdMap<'a>),
}

impl<'a> Value<'a> {
    /// Reads a value of a type that was named beside it.
    pub fn read(kind: Type, cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(match kind {
            Type::UINT8 => Self::Unsigned(u64::from(cursor.u8()?)),
            Type::UINT16 => Self::Unsigned(u64::from(cursor.u16()?)),
            Type::UINT32 => Self::Unsigned(u64::from(cursor.c32()?)),
            Type::INT8 => Self::Signed(i64::from(cursor.i8()?)),
            Type::INT16 => Self::Signed(i64::from(cursor.u16()?.cast_signed())),
            Type::INT32 => Self::Signed(i64::from(cursor.s32()?)),
            Type::INT64 => Self::Signed(cursor.s64()?),
            Type::FLOAT => Self::Float(cursor.f32()?),
            Type::DOUBLE => Self::Double(cursor.f64()?),
            Type::LOCATION => Self::Unsigned(cursor.c64()?),
            reference if Class::of_type(reference).is_some() => {
                Self::Unsigned(u64::from(cursor.c32()?))
            }
            _ => Self::Unsigned(cursor.c64()?),
        })
    }

    /// The value if it is an unsigned integer.
    #[inline]
    pub const fn unsigned(self) -> Option<u64> {
        match self {
            Self::Unsigned(value) => Some(value),
            _ => None,
        }
    }

    /// The value if it is a signed integer.
    #[inline]
    pub const fn signed(self) -> Option<i64> {
        match self {
            Self::Signed(value) => Some(value),
            _ => None,
        }
    }

    /// The value if it is a string.
    #[inline]
    pub const fn text(self) -> Option<&'a [u8]> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }
}
