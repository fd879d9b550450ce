//! How stamps and lengths were written, so that they can be written so again.
//!
//! A stamp is moved by as much as its time, unless its clock counts otherwise: then the rest is
//! kept. A varint takes no more bytes than it needs, unless a writer left room: then how many it
//! takes is kept.
//!
//! Both lists are of pairs: a value, and how many in a row have it.

use retime_perfetto_wire::read::LONGEST_VARINT;
use serde::{Deserialize, Serialize};

/// The forms in which stamps and lengths of a file were written.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forms {
    /// The nanoseconds by which each stamp was moved beyond its time.
    pub(crate) beyond: Runs,
    /// The bytes that each varint took, or 0 for as few as it needs.
    pub(crate) widths: Runs,
    /// Lengths of stages of GPUs that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lengths: Vec<LengthWas>,
}

/// The length of a stage as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LengthWas {
    pub(crate) event: u32,
    /// The length, in nanoseconds; nothing if it was not written, as one of 0.
    pub(crate) length: Option<u64>,
    /// The bytes that it took.
    pub(crate) width: usize,
}

/// Values of which many in a row are equal.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Runs(Vec<(i64, u64)>);

impl Runs {
    pub(crate) fn note(&mut self, value: i64) {
        match self.0.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ => self.0.push((value, 1)),
        }
    }

    /// All values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        let one = |&(value, count): &(i64, u64)| {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            std::iter::repeat_n(value, count)
        };
        self.0.iter().flat_map(one)
    }
}

/// The number of bytes that a number needs.
pub(crate) fn needs(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends a number in so many bytes, or as few as it needs if these are fewer.
pub(crate) fn put(out: &mut Vec<u8>, value: u64, width: usize) {
    let width = width.clamp(needs(value), LONGEST_VARINT);
    for place in 0..width {
        let bits = (value >> (7 * place)) as u8 & 0x7f;
        out.push(if place + 1 < width { bits | 0x80 } else { bits });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use proptest::prelude::*;
    use retime_perfetto_wire::read::varint;
    use retime_perfetto_wire::write;

    use super::*;

    proptest! {
        #[test]
        fn numbers_take_the_room_they_had(value: u64, shift in 0_u32..64, width in 0_usize..11) {
            let value = value >> shift;
            let mut out = Vec::new();
            put(&mut out, value, width);
            prop_assert_eq!(out.len(), width.max(needs(value)).min(10));
            let mut at = 0;
            prop_assert_eq!(varint(&out, &mut at), Ok(value));
            prop_assert_eq!(at, out.len());
            let mut least = Vec::new();
            write::varint(&mut least, value);
            prop_assert_eq!(least.len(), needs(value));
        }

        #[test]
        fn runs_are_what_was_noted(all in prop::collection::vec(-2_i64..3, 0..50)) {
            let mut runs = Runs::default();
            for it in &all {
                runs.note(*it);
            }
            prop_assert_eq!(runs.iter().collect::<Vec<_>>(), all);
        }
    }
}
