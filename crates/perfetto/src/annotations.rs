//! The annotations of an event as the arguments of a profile.
//!
//! ```text
//! debug_annotations { name: "Seq" int_value: 7 }
//! debug_annotations { name: "grid" array_values { int_value: 24 } array_values { int_value: 1 } }
//!                                                            --> {"Seq": 7, "grid": [24, 1]}
//! ```

use retime_kineto::Arguments;
use retime_perfetto_wire::fields::{debug_annotation as number, track_event};
use retime_perfetto_wire::read::{Fields, Value};
use serde_json::{Map, Value as Json};

use crate::interned::Sequence;
use crate::words::text;

/// Annotations within one another, at most.
const DEEPEST: usize = 32;

/// The annotations of a track event.
pub(crate) struct Annotations<'a> {
    pub(crate) event: &'a [u8],
    pub(crate) sequence: &'a Sequence,
    /// The number of the launch, if it was found already.
    pub(crate) correlation: Option<u64>,
}

/// The facts that are looked for in the annotations of every event.
#[derive(Clone, Copy, Default)]
pub(crate) struct Glance {
    pub(crate) correlation: Option<u64>,
    pub(crate) is_kernel: bool,
}

impl Glance {
    /// Takes an annotation.
    #[inline]
    pub(crate) fn take(&mut self, annotation: &[u8], sequence: &Sequence) {
        match Fact::of(annotation, sequence) {
            Some((Fact::Correlation, Some(number @ 1..))) => self.correlation = Some(number),
            Some((Fact::IsKernel, _)) => self.is_kernel = true,
            _ => {}
        }
    }
}

/// A fact that an annotation states.
#[derive(Clone, Copy)]
enum Fact {
    /// The number that a kernel and its launch have in common.
    Correlation,
    /// The slice is a kernel: these alone have such annotations.
    IsKernel,
}

impl Fact {
    /// The fact that an annotation states, and its number; nothing if it is called otherwise. Most
    /// are, and writers begin with the name, so the rest of these is not read.
    #[inline]
    fn of(annotation: &[u8], sequence: &Sequence) -> Option<(Self, Option<u64>)> {
        let (mut fact, mut value) = (None, None);
        for field in Fields::of(annotation).map_while(Result::ok) {
            match (field.number, field.value) {
                (number::NAME, Value::Bytes(it)) => fact = Some(Self::named(it)?),
                (number::NAME_IID, Value::Varint(it)) => {
                    fact = Some(Self::named(sequence.annotation_names.get(it))?);
                }
                (number::UINT_VALUE | number::INT_VALUE, Value::Varint(it)) => value = Some(it),
                _ => {}
            }
        }
        Some((fact?, value))
    }

    #[inline]
    fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"correlation" | b"corr_id" => Some(Self::Correlation),
            b"grid" | b"grid_size" => Some(Self::IsKernel),
            _ => None,
        }
    }
}

impl Arguments for Annotations<'_> {
    fn all(&self) -> Json {
        let mut all = Map::new();
        for field in Fields::of(self.event).map_while(Result::ok) {
            if let (track_event::DEBUG_ANNOTATIONS, Value::Bytes(it)) = (field.number, field.value)
            {
                let (name, value) = self.annotation(it, DEEPEST);
                all.insert(name, value);
            }
        }
        Json::Object(all)
    }

    fn correlation(&self) -> Option<u64> {
        self.correlation
    }
}

impl Annotations<'_> {
    /// Name and value of an annotation.
    fn annotation(&self, message: &[u8], depth: usize) -> (String, Json) {
        let mut name = String::new();
        let mut value = Json::Null;
        let (mut members, mut elements) = (Map::new(), Vec::new());
        for field in Fields::of(message).map_while(Result::ok) {
            match (field.number, field.value) {
                (number::NAME, Value::Bytes(it)) => name = text(it),
                (number::NAME_IID, Value::Varint(it)) => {
                    name = text(self.sequence.annotation_names.get(it));
                }
                (number::BOOL_VALUE, Value::Varint(it)) => value = Json::Bool(it != 0),
                (number::UINT_VALUE | number::POINTER_VALUE, Value::Varint(it)) => {
                    value = it.into();
                }
                (number::INT_VALUE, Value::Varint(it)) => value = (it as i64).into(),
                (number::DOUBLE_VALUE, Value::Eight(it)) => value = f64::from_bits(it).into(),
                (number::STRING_VALUE, Value::Bytes(it)) => value = text(it).into(),
                (number::STRING_VALUE_IID, Value::Varint(it)) => {
                    value = text(self.sequence.annotation_texts.get(it)).into();
                }
                (number::LEGACY_JSON_VALUE, Value::Bytes(it)) => {
                    value = serde_json::from_slice(it).unwrap_or_default();
                }
                (number::DICT_ENTRIES, Value::Bytes(it)) if depth > 0 => {
                    let (name, value) = self.annotation(it, depth - 1);
                    members.insert(name, value);
                }
                (number::ARRAY_VALUES, Value::Bytes(it)) if depth > 0 => {
                    elements.push(self.annotation(it, depth - 1).1);
                }
                _ => {}
            }
        }
        if !members.is_empty() {
            value = Json::Object(members);
        } else if !elements.is_empty() {
            value = Json::Array(elements);
        }
        (name, value)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use retime_perfetto_wire::write::{bytes, double, uint};

    use super::*;

    #[test]
    fn annotations_are_arguments() {
        let annotation = |name: &str, fill: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            if !name.is_empty() {
                bytes(&mut out, number::NAME, name.as_bytes());
            }
            fill(&mut out);
            out
        };
        let element = |value| annotation("", &|out| uint(out, number::INT_VALUE, value));
        let all = [
            annotation("Seq", &|out| uint(out, number::INT_VALUE, 7)),
            annotation("below", &|out| uint(out, number::INT_VALUE, -7_i64 as u64)),
            annotation("dtype", &|out| bytes(out, number::STRING_VALUE, b"Float")),
            annotation("share", &|out| double(out, number::DOUBLE_VALUE, 0.5)),
            annotation("grid", &|out| {
                for value in [24, 1] {
                    bytes(out, number::ARRAY_VALUES, &element(value));
                }
            }),
            annotation("correlation", &|out| uint(out, number::UINT_VALUE, 41)),
        ];
        let (mut event, mut glance) = (Vec::new(), Glance::default());
        let sequence = Sequence::default();
        for it in &all {
            bytes(&mut event, track_event::DEBUG_ANNOTATIONS, it);
            glance.take(it, &sequence);
        }
        assert!(glance.is_kernel);
        assert_eq!(glance.correlation, Some(41));
        let annotations = Annotations {
            event: &event,
            sequence: &sequence,
            correlation: None,
        };
        let expected = r#"{"Seq": 7, "below": -7, "dtype": "Float", "share": 0.5,
            "grid": [24, 1], "correlation": 41}"#;
        let expected: Json = serde_json::from_str(expected).unwrap();
        assert_eq!(annotations.all(), expected);
        // A dictionary in a dictionary, and so on, has an end.
        let mut deep = element(1);
        for _ in 0..100 {
            deep = annotation("d", &|out| bytes(out, number::DICT_ENTRIES, &deep));
        }
        event.clear();
        bytes(&mut event, track_event::DEBUG_ANNOTATIONS, &deep);
        let annotations = Annotations {
            event: &event,
            sequence: &sequence,
            correlation: None,
        };
        assert!(annotations.all().is_object());
    }
}
