//! Numbers in the place of what joins events of a document, which those of other documents do
//! not have.
//!
//! A small number stays what it is below that of its document; everything else that may stand
//! there, text or a large number, gets the next that is free. All fit into the 53 bits that
//! readers of JSON take whole.

use rustc_hash::FxHashMap;

use crate::survey::without_quotes;

/// Numbers below it are kept.
const SMALL: u64 = 1 << 31;

/// The numbers of one document.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    document: u64,
    given: FxHashMap<Box<[u8]>, u64>,
}

impl Ids {
    pub(crate) fn of(document: u32) -> Self {
        Self {
            document: u64::from(document) + 1,
            given: FxHashMap::default(),
        }
    }

    /// The number of a value.
    pub(crate) fn number(&mut self, value: &[u8]) -> u64 {
        let first = self.document << 32;
        let text = without_quotes(value);
        let small = std::str::from_utf8(text).ok().and_then(|it| {
            let plain = it.strip_prefix("0x");
            let number = plain.map_or(it.parse().ok(), |it| u64::from_str_radix(it, 16).ok());
            number.filter(|it| *it < SMALL)
        });
        if let Some(small) = small {
            return first + small;
        }
        let next = SMALL + self.given.len() as u64;
        first + *self.given.entry(text.into()).or_insert(next)
    }
}

/// The number of an arrow between documents.
pub(crate) fn arrow(number: usize) -> u64 {
    number as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_have_one_number() {
        let (mut first, mut second) = (Ids::of(0), Ids::of(1));
        let values: [&[u8]; 6] = [b"7", b"0x1f", b"\"a\"", b"\"b\"", b"99999999999", b"-1"];
        let mut all: Vec<u64> = values.iter().map(|it| first.number(it)).collect();
        all.extend(values.iter().map(|it| second.number(it)));
        assert_eq!(all[0], (1 << 32) + 7);
        let again: Vec<u64> = values.iter().map(|it| first.number(it)).collect();
        assert_eq!(again, all[..6]);
        assert_eq!(first.number(b"31"), all[1]);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12);
        assert!(all.iter().all(|it| *it < 1 << 53 && *it > 1 << 31));
    }
}
