//! Words by the numbers that a sequence gives to them. Writers count from 1, so that nearly all are
//! found by their place.

use rustc_hash::FxHashMap;

/// Places that are made at once; more than these are as many again as there are, so that a large
/// number does not take room for all below it.
const PLACES: usize = 64;

/// Words by number.
#[derive(Default)]
pub(crate) struct Words {
    placed: Vec<Box<[u8]>>,
    others: FxHashMap<u64, Box<[u8]>>,
}

impl Words {
    /// Gives a number to a word, in the place of the one that had it.
    pub(crate) fn insert(&mut self, number: u64, word: Box<[u8]>) {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        if place >= 2 * self.placed.len() + PLACES {
            self.others.insert(number, word);
            return;
        }
        if self.placed.len() <= place {
            self.placed.resize_with(place + 1, Box::default);
        }
        if let Some(it) = self.placed.get_mut(place) {
            *it = word;
        }
        if !self.others.is_empty() {
            self.others.remove(&number);
        }
    }

    /// The word of a number; empty if there is none.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> &[u8] {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        match self.placed.get(place) {
            Some(word) if !word.is_empty() => word,
            _ => self.others.get(&number).map_or(&[], |it| it),
        }
    }
}

/// Bytes as text, with a sign in the place of what is none.
pub(crate) fn text(bytes: &[u8]) -> String {
    // Nearly all are text, which is found out in long strides.
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_any_number() {
        let mut words = Words::default();
        // The second stands apart until there are places up to it.
        let numbers = [3, 100, 63, u64::MAX, 1 << 32, 101];
        for number in numbers {
            assert_eq!(words.get(number), b"");
            words.insert(number, Box::from(number.to_le_bytes()));
        }
        for number in numbers {
            assert_eq!(words.get(number), number.to_le_bytes());
        }
        for number in [3, 100] {
            words.insert(number, Box::from(*b"other"));
            assert_eq!(words.get(number), b"other");
        }
        assert!(words.others.len() == 2 && words.placed.len() < 200);
        assert_eq!([words.get(0), words.get(4)], [b""; 2]);
    }
}
