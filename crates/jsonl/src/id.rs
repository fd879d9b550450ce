//! Ids of locations, messages and operations in lines: numbers and strings.
//!
//! Strings are compared as they are written, so `"a"` and `"\u0061"` differ, and
//! a number is never the string of its digits.

use retime_model::FileMap;

/// A number or a string of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id<'a> {
    /// A whole number from 0 to 2^64 - 1.
    Number(u64),
    /// Anything else as it is written, a string with its quotes.
    Text(&'a str),
}

impl<'a> Id<'a> {
    /// The name of a location: a string, or a number that may have a fraction.
    pub(crate) fn of_location(raw: &'a str) -> Result<Self, String> {
        if let Ok(number) = raw.parse() {
            return Ok(Self::Number(number));
        }
        match raw.as_bytes().first() {
            Some(b'"' | b'0'..=b'9') => Ok(Self::Text(raw)),
            _ => Err(format!("{raw} is no location: give a number or a string")),
        }
    }

    /// The id that the events of a message or an operation have in common.
    pub(crate) fn of_event(raw: &'a str) -> Result<Self, String> {
        if let Ok(number) = raw.parse() {
            return Ok(Self::Number(number));
        }
        if raw.starts_with('"') {
            return Ok(Self::Text(raw));
        }
        Err(format!("{raw} is no id: give a number or a string"))
    }

    /// The text between the quotes, if the id is a string.
    pub fn string(self) -> Option<&'a str> {
        match self {
            Self::Number(_) => None,
            Self::Text(text) => text.strip_prefix('"')?.strip_suffix('"'),
        }
    }
}

impl std::fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Values by [`Id`].
#[derive(Clone, Debug)]
pub struct IdMap<V> {
    numbers: FileMap<u64, V>,
    texts: FileMap<Box<str>, V>,
}

impl<V> Default for IdMap<V> {
    fn default() -> Self {
        Self {
            numbers: FileMap::default(),
            texts: FileMap::default(),
        }
    }
}

impl<V> IdMap<V> {
    /// The value of an id.
    pub fn get(&self, id: Id<'_>) -> Option<&V> {
        match id {
            Id::Number(number) => self.numbers.get(&number),
            Id::Text(text) => self.texts.get(text),
        }
    }

    /// The value of an id, to change it.
    pub fn get_mut(&mut self, id: Id<'_>) -> Option<&mut V> {
        match id {
            Id::Number(number) => self.numbers.get_mut(&number),
            Id::Text(text) => self.texts.get_mut(text),
        }
    }

    /// Gives an id a value; returns the one it had.
    pub fn insert(&mut self, id: Id<'_>, value: V) -> Option<V> {
        match id {
            Id::Number(number) => self.numbers.insert(number, value),
            Id::Text(text) => self.texts.insert(text.into(), value),
        }
    }

    /// Takes the value of an id away.
    pub fn remove(&mut self, id: Id<'_>) -> Option<V> {
        match id {
            Id::Number(number) => self.numbers.remove(&number),
            Id::Text(text) => self.texts.remove(text),
        }
    }
}
