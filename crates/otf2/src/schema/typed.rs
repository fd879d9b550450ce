//! Typed records, from the table that is their schema.
//!
//! A row has the code of a record, its name, and its members with their types
//! and the names that the specification gives to their fields:
//!
//! ```text
//! /// A blocking send.
//! 14 MpiSend {
//!     receiver: u32 = "receiver",
//!     communicator: CommRef = "communicator",
//!     tag: u32 = "msgTag",
//!     length: u64 = "msgLength",
//! },
//! ```
//!
//! From the types follow the encoding of the fields and what they refer to; see
//! [`Part`](crate::parts::Part).

/// For counting the names in a table.
pub(super) const fn one(_: &str) -> usize {
    1
}

macro_rules! records {
    (
        $(#[$doc:meta])*
        enum $name:ident in $table:ident, $codes:ident {
            $(
                $(#[$record_doc:meta])*
                $code:literal $record:ident $({
                    $($member:ident: $type:ty = $($field:literal)+,)+
                })?,
            )+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[$record_doc])*
                $record $({
                    $(
                        #[doc = concat!($("`", $field, "` "),+, "in the specification.")]
                        $member: $type,
                    )+
                })?,
            )+
            /// A record that is not known here; later versions of the format
            /// have more.
            Unknown {
                /// Its code.
                code: u8,
            },
        }

        impl $name {
            /// The code of the record.
            pub const fn code(&self) -> u8 {
                match self {
                    $(Self::$record { .. } => $code,)+
                    Self::Unknown { code } => *code,
                }
            }

            /// Reads the record with this code.
            // Where the code is a constant, one case remains of the whole.
            #[inline(always)]
            #[allow(clippy::inline_always)]
            pub(crate) fn read(
                code: u8,
                from: &mut crate::parts::Decoder<'_>,
            ) -> Result<Self, crate::error::WireError> {
                Ok(match code {
                    $($code => Self::$record $({
                        $($member: crate::parts::Part::read(from)?,)+
                    })?,)+
                    _ => Self::Unknown { code },
                })
            }

            /// Writes the members.
            #[allow(dead_code)] // Not all kinds of files are written.
            pub(crate) fn write(
                &self,
                to: &mut crate::writer::Payload,
            ) -> Result<(), crate::parts::TooMany> {
                match self {
                    $(Self::$record $({ $($member,)+ })? => {
                        $($(crate::parts::Part::write($member, to)?;)+)?
                    })+
                    Self::Unknown { .. } => {}
                }
                Ok(())
            }
        }

        #[doc = concat!("The codes of [`", stringify!($name), "`], by the names of the records.")]
        #[allow(non_upper_case_globals)] // They are the names in the specification.
        pub mod $codes {
            $($(#[$record_doc])* pub const $record: u8 = $code;)+
        }

        pub(super) static $table: &[super::field::RecordSchema] = &[$({
            const COUNT: usize = 0 $($($(+ super::typed::one($field))+)+)?;
            const FIELDS: [super::field::Field; COUNT] = crate::parts::fields(&[$($((
                <$type as crate::parts::Part>::FIELDS,
                &[$($field),+],
            ),)+)?]);
            super::field::rec($code, stringify!($record), &FIELDS)
        },)+];
    };
}

pub(super) use records;
