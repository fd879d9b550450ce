//! Columns of numbers as bytes, for processes that send them to each other.
//!
//! A format that names what it writes, or makes small numbers short, looks at each number by
//! itself. A column of some hundred thousand of them is sent many times as fast as a
//! block in which each takes the bytes that it has anyway, the lowest first. Where people may
//! read what is written it stays a list:
//!
//! ```
//! use retime_model::{Timestamp, packed};
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Column {
//!     #[serde(with = "packed")]
//!     times: Vec<Timestamp>,
//! }
//! let column = Column { times: vec![Timestamp(7), Timestamp(1 << 40)] };
//! assert_eq!(serde_json::to_string(&column)?, r#"{"times":[7,1099511627776]}"#);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! What is a [`Packed`] number, or made of some by [`packed_fields!`](crate::packed_fields), can be
//! in such a column.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A value that always takes the same number of bytes.
pub trait Packed: Copy {
    /// How many.
    const BYTES: usize;

    /// Writes them to a place of at least as many.
    fn put(self, to: &mut [u8]);

    /// Reads them again, from at least as many; `None` if they are those of no value.
    fn take(from: &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Packed for $number {
            const BYTES: usize = size_of::<$number>();

            #[inline]
            fn put(self, to: &mut [u8]) {
                if let Some(place) = to.first_chunk_mut() {
                    *place = self.to_le_bytes();
                }
            }

            #[inline]
            fn take(from: &[u8]) -> Option<Self> {
                from.first_chunk().map(|it| Self::from_le_bytes(*it))
            }
        }
    )*};
}

numbers!(u8, u32, u64, i64, i128, f64);

impl<A: Packed, B: Packed> Packed for (A, B) {
    const BYTES: usize = A::BYTES + B::BYTES;

    #[inline]
    fn put(self, to: &mut [u8]) {
        self.0.put(to);
        self.1.put(&mut to[A::BYTES..]);
    }

    #[inline]
    fn take(from: &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from.get(A::BYTES..)?)?))
    }
}

/// Makes a struct [`Packed`] whose fields are.
#[macro_export]
macro_rules! packed_fields {
    ($name:ident { $($field:tt : $kind:ty),* $(,)? }) => {
        impl $crate::packed::Packed for $name {
            const BYTES: usize = 0 $(+ <$kind as $crate::packed::Packed>::BYTES)*;

            #[inline]
            fn put(self, to: &mut [u8]) {
                let mut at = 0;
                $(
                    $crate::packed::Packed::put(self.$field, &mut to[at..]);
                    at += <$kind as $crate::packed::Packed>::BYTES;
                )*
                debug_assert_eq!(at, Self::BYTES, "all fields have been put there");
            }

            #[inline]
            fn take(from: &[u8]) -> Option<Self> {
                let mut at = 0;
                let packed = Self {
                    $($field: {
                        let field = $crate::packed::Packed::take(from.get(at..)?)?;
                        at += <$kind as $crate::packed::Packed>::BYTES;
                        field
                    }),*
                };
                debug_assert_eq!(at, Self::BYTES, "all fields have been taken");
                Some(packed)
            }
        }
    };
}

/// Writes a column.
pub fn serialize<T: Packed + Serialize, S: Serializer>(
    column: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return column.serialize(serializer);
    }
    let mut bytes = vec![0; column.len() * T::BYTES];
    for (place, value) in bytes.chunks_exact_mut(T::BYTES).zip(column) {
        value.put(place);
    }
    serializer.serialize_bytes(&bytes)
}

/// Reads a column.
pub fn deserialize<'de, T: Packed + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    if deserializer.is_human_readable() {
        return Vec::deserialize(deserializer);
    }
    deserializer.deserialize_bytes(Column(PhantomData))
}

struct Column<T>(PhantomData<T>);

impl<T: Packed> Visitor<'_> for Column<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a column of values of {} bytes", T::BYTES)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        let values = bytes.chunks_exact(T::BYTES);
        let is_whole = values.remainder().is_empty();
        // As long as what has been received.
        let mut column = Vec::with_capacity(values.len());
        column.extend(values.map_while(T::take));
        if is_whole && column.len() == bytes.len() / T::BYTES {
            return Ok(column);
        }
        Err(E::invalid_length(bytes.len(), &self))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde::de::value::BytesDeserializer;
    use serde::de::value::Error as Said;

    use super::{Packed, deserialize};
    use crate::{LogNode, Role, Timestamp};

    #[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
    struct Both {
        time: Timestamp,
        node: LogNode,
    }

    packed_fields!(Both {
        time: Timestamp,
        node: LogNode
    });

    /// The values of a column that were packed as these bytes.
    fn taken<T: Packed>(bytes: &[u8]) -> Option<Vec<T>> {
        use serde::de::Visitor;
        super::Column(std::marker::PhantomData)
            .visit_bytes::<Said>(bytes)
            .ok()
    }

    #[test]
    fn fields_lie_side_by_side() {
        let both = Both {
            time: Timestamp(0x0102),
            node: LogNode(3),
        };
        let mut bytes = [9; 12];
        both.put(&mut bytes);
        assert_eq!(bytes, [2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(taken(&bytes), Some(vec![both]));
    }

    #[test]
    fn bytes_that_are_no_column_are_refused() {
        assert_eq!(taken::<Both>(&[0; 13]), None);
        assert_eq!(taken::<u32>(&[]), Some(vec![]));
        assert_eq!(taken(&[0, 3]), Some(vec![Role::Send, Role::CollectiveEnd]));
        assert_eq!(taken::<Role>(&[4]), None);
    }

    #[test]
    fn for_people_it_is_a_list() {
        // A deserializer of serde's own takes itself to be for people.
        let bytes = BytesDeserializer::<Said>::new(&[0; 8]);
        assert!(deserialize::<u64, _>(bytes).is_err());
    }
}
