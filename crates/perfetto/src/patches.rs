//! Parts of some bytes that are replaced, in room that is used again.

use std::ops::Range;

/// Parts of some bytes, each with its replacement.
#[derive(Default)]
pub(crate) struct Patches {
    parts: Vec<Patch>,
    /// All that comes in, one after the other.
    bytes: Vec<u8>,
}

/// A part that is replaced, and where that stands which comes instead.
struct Patch {
    replaces: Range<usize>,
    by: Range<usize>,
}

impl Patches {
    /// Lets go of all parts.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
        self.bytes.clear();
    }

    /// Replaces a part by what `write` appends. No two parts overlap.
    pub(crate) fn replace<T>(
        &mut self,
        replaces: Range<usize>,
        write: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> T {
        let from = self.bytes.len();
        let done = write(&mut self.bytes);
        let by = from..self.bytes.len();
        self.parts.push(Patch { replaces, by });
        done
    }

    /// The length that the bytes then have; nothing if no part of them is replaced.
    pub(crate) fn length(&self, bytes: &[u8]) -> Option<usize> {
        if self.parts.is_empty() {
            return None;
        }
        let gone: usize = self.parts.iter().map(|it| it.replaces.len()).sum();
        Some(bytes.len() + self.bytes.len() - gone)
    }

    /// Appends the bytes with their parts replaced.
    pub(crate) fn apply(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.parts.sort_by_key(|it| it.replaces.start);
        let mut from = 0;
        for part in &self.parts {
            out.extend_from_slice(bytes.get(from..part.replaces.start).unwrap_or_default());
            out.extend_from_slice(self.bytes.get(part.by.clone()).unwrap_or_default());
            from = part.replaces.end;
        }
        out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_replaced_wherever_they_stand() {
        let mut patches = Patches::default();
        for _ in 0..2 {
            patches.clear();
            assert_eq!(patches.length(b"abcdef"), None);
            patches.replace(4..5, |out| out.extend_from_slice(b"EEE"));
            patches.replace(1..3, |out| out.push(b'-'));
            assert_eq!(patches.length(b"abcdef"), Some(7));
            let mut out = b">".to_vec();
            patches.apply(b"abcdef", &mut out);
            assert_eq!(out, b">a-dEEEf");
        }
    }
}
