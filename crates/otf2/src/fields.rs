//! Decoding the payload of a record by its schema, lazily.
//!
//! The iterators here read straight from the chunk. What ends the record ends
//! them: fields of later versions take their defaults, bytes behind the known
//! fields are left alone, and nothing beyond the record is ever read.
//!
//! ```
//! use retime_otf2::{Cursor, Endian, FileKind, Fields, schema};
//!
//! // A communicator as written before flags existed: id 1, name 4, group 2, no parent.
//! let payload = [0x01, 1, 0x01, 4, 0x01, 2, 0xff];
//! let comm = schema::lookup(FileKind::GlobalDefinitions, 22).unwrap();
//! let fields = Fields::new(comm, Cursor::new(&payload, Endian::Little));
//! let shown: Vec<String> = fields
//!     .map(|field| field.map(|field| format!("{}={:?}", field.name(), field.value)))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(shown[2], "group=Unsigned(2)");
//! assert_eq!(shown[4], "flags=Unsigned(0)");
//! # Ok::<(), retime_otf2::WireError>(())
//! ```

use crate::attribute::{Attribute, AttributeValue};
use crate::enums::Type;
use crate::error::WireError;
use crate::framing::{ATTRIBUTE_LIST, Walker};
use crate::mapping::{IdMap, Mappings};
use crate::refs::AttributeRef;
use crate::schema::{Absent, Class, Field, RecordSchema, Role, Wire};
use crate::value::Value;
use crate::wire::Cursor;

/// A field with its value. Repeated fields come once per repetition.
#[derive(Clone, Copy, Debug)]
pub struct FieldValue<'a> {
    /// The field's entry in the schema: its name, encoding and role.
    pub field: &'static Field,
    /// The class of ids that the value belongs to, if it is a reference.
    pub class: Option<Class>,
    /// The value, mapped to global ids if the source of the record does so.
    pub value: Value<'a>,
}

impl FieldValue<'_> {
    /// The name of the field.
    #[inline]
    pub const fn name(&self) -> &'static str {
        self.field.name
    }
}

/// The fields of a record. Ends after an error.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    schema: &'static [Field],
    next: usize,
    cursor: Cursor<'a>,
    mappings: Option<&'a Mappings>,
    stop_time: Option<u64>,
    /// Repetitions of the current group that are left, the current included.
    repeat: usize,
    value_type: Type,
    deprecated: u64,
    name: u64,
}

impl<'a> Fields<'a> {
    /// The fields in a payload.
    #[inline]
    pub fn new(schema: &'static RecordSchema, payload: Cursor<'a>) -> Self {
        Self {
            schema: schema.fields,
            next: 0,
            cursor: payload,
            mappings: None,
            stop_time: None,
            repeat: 0,
            value_type: Type::NONE,
            deprecated: 0,
            name: 0,
        }
    }

    /// No fields, for records that are not known.
    pub(crate) fn none(payload: Cursor<'a>) -> Self {
        static NOTHING: RecordSchema = RecordSchema {
            code: 0,
            name: "",
            fields: &[],
        };
        Self::new(&NOTHING, payload)
    }

    /// Sends references through mapping tables.
    pub(crate) fn mapped(mut self, mappings: Option<&'a Mappings>) -> Self {
        self.mappings = mappings;
        self
    }

    /// Replaces the value of the only full-width field, the end of a flush.
    pub(crate) fn with_stop_time(mut self, time: Option<u64>) -> Self {
        self.stop_time = time;
        self
    }

    /// The field of this name, or the first of its repetitions.
    pub fn get(mut self, name: &str) -> Result<Option<Value<'a>>, WireError> {
        self.find_map(|field| match field {
            Ok(field) if field.name() == name => Some(Ok(field.value)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
        .transpose()
    }

    /// Moves on to the next field to read, over empty and repeated groups.
    #[inline]
    fn advance(&mut self) -> Option<&'static Field> {
        let mut field = self.schema.get(self.next)?;
        if field.is_repeated() && self.repeat == 0 {
            self.next += self.group_len(self.next);
            field = self.schema.get(self.next)?;
        }
        self.next += 1;
        if field.is_repeated() && !self.schema.get(self.next).is_some_and(Field::is_repeated) {
            self.repeat -= 1;
            if self.repeat > 0 {
                self.next = self.group_start();
            }
        }
        Some(field)
    }

    fn group_len(&self, start: usize) -> usize {
        let group = self.schema.get(start..).unwrap_or_default();
        group.iter().take_while(|field| field.is_repeated()).count()
    }

    fn group_start(&self) -> usize {
        let before = self.schema.get(..self.next).unwrap_or_default();
        let len = before.iter().rev().take_while(|f| f.is_repeated()).count();
        self.next - len
    }

    fn read(&mut self, field: &'static Field) -> Result<FieldValue<'a>, WireError> {
        let class = match field.wire {
            Wire::Val => Class::of_type(self.value_type),
            _ => field.class,
        };
        let added_later = !matches!(field.absent, Absent::Never);
        let mut value = if added_later && self.cursor.is_empty() {
            Value::Unsigned(self.default(field.absent))
        } else {
            self.decode(field.wire)?
        };
        if let Value::Unsigned(number) = &mut value {
            self.remember(field, *number)?;
            if let (Some(class), Some(mappings)) = (class, self.mappings) {
                *number = mappings.apply(class, *number);
            }
        }
        Ok(FieldValue {
            field,
            class,
            value,
        })
    }

    fn decode(&mut self, wire: Wire) -> Result<Value<'a>, WireError> {
        let cursor = &mut self.cursor;
        Ok(match wire {
            Wire::U8 | Wire::Type => Value::Unsigned(u64::from(cursor.u8()?)),
            Wire::C32 => Value::Unsigned(u64::from(cursor.c32()?)),
            Wire::C64 => Value::Unsigned(cursor.c64()?),
            Wire::S64 => Value::Signed(cursor.s64()?),
            Wire::X64 => {
                let time = cursor.x64()?;
                Value::Unsigned(self.stop_time.unwrap_or(time))
            }
            Wire::F64 => Value::Double(cursor.f64()?),
            Wire::Str => Value::Text(cursor.str()?),
            Wire::Val => Value::read(self.value_type, cursor)?,
            Wire::IdMap => Value::IdMap(IdMap::read(cursor)?),
        })
    }

    /// Keeps what later fields depend on.
    fn remember(&mut self, field: &Field, number: u64) -> Result<(), WireError> {
        if field.role == Role::Count {
            self.repeat = self.cursor.check_count(number, self.group_len(self.next))?;
        }
        if field.wire == Wire::Type {
            self.value_type = Type(number as u8);
        }
        if field.role == Role::Deprecated {
            self.deprecated = number;
        }
        if field.name == "name" {
            self.name = number;
        }
        Ok(())
    }

    fn default(&self, absent: Absent) -> u64 {
        match absent {
            Absent::Never => 0,
            Absent::Value(value) => value,
            Absent::Deprecated => self.deprecated,
            Absent::FromDeprecated(convert) => convert(self.deprecated),
            Absent::Name => self.name,
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<FieldValue<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let field = self.advance()?;
            let value = self.read(field);
            if value.is_err() {
                self.schema = &[];
            } else if field.role == Role::Deprecated {
                continue;
            }
            return Some(value);
        }
    }
}

/// The attributes of an event or snapshot record. Ends after an error.
#[derive(Clone)]
pub struct Attributes<'a> {
    bytes: &'a [u8],
    lists: Walker,
    end: usize,
    cursor: Cursor<'a>,
    left: usize,
    mappings: Option<&'a Mappings>,
}

impl<'a> Attributes<'a> {
    /// The attributes in the lists between the walker and a position.
    pub(crate) fn new(
        bytes: &'a [u8],
        lists: Walker,
        end: usize,
        mappings: Option<&'a Mappings>,
    ) -> Self {
        Self {
            bytes,
            lists,
            end,
            cursor: Cursor::within(bytes, 0..0, lists.endian()),
            left: 0,
            mappings,
        }
    }

    /// Opens the next list. `false` when there is none.
    fn open_list(&mut self) -> Result<bool, WireError> {
        while self.lists.position() < self.end {
            let Some(record) = self.lists.step(self.bytes)? else {
                return Ok(false);
            };
            if record.code != ATTRIBUTE_LIST {
                continue;
            }
            let endian = self.lists.endian();
            self.cursor = Cursor::within(self.bytes, record.payload_range(), endian);
            let count = u64::from(self.cursor.c32()?);
            // Id, type and value take a byte each at least.
            self.left = self.cursor.check_count(count, 3)?;
            if self.left > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read(&mut self) -> Result<Option<Attribute>, WireError> {
        if self.left == 0 && !self.open_list()? {
            return Ok(None);
        }
        self.left -= 1;
        let mut id = u64::from(self.cursor.c32()?);
        let kind = Type(self.cursor.u8()?);
        let mut value = Value::read(kind, &mut self.cursor)?;
        if let Some(mappings) = self.mappings {
            id = mappings.apply(Class::Attribute, id);
            if let (Some(class), Value::Unsigned(id)) = (Class::of_type(kind), &mut value) {
                *id = mappings.apply(class, *id);
            }
        }
        Ok(Some(Attribute {
            attribute: AttributeRef::new(id),
            value: AttributeValue::new(kind, value),
        }))
    }
}

impl Iterator for Attributes<'_> {
    type Item = Result<Attribute, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let attribute = self.read();
        if attribute.is_err() {
            self.left = 0;
            self.end = 0;
        }
        attribute.transpose()
    }
}
