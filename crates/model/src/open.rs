//! Things that have begun under a number and are not over: requests, of which few are open at a
//! time.
//!
//! A recorded program posts some requests, waits for them, and posts the next. So the few
//! that are open are looked through one after the other, which is faster than hashing as
//! long as they share a cache line or two; only those beyond are hashed.

use rustc_hash::FxHashMap;

/// So many are looked through one after the other.
const FEW: usize = 16;

/// Values by number, each until it is taken out.
#[derive(Debug)]
pub(crate) struct Open<T> {
    few: Vec<(u64, T)>,
    more: FxHashMap<u64, T>,
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            more: FxHashMap::default(),
        }
    }
}

impl<T> Open<T> {
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.more.len()
    }

    #[inline]
    fn place(&self, number: u64) -> Option<usize> {
        self.few.iter().position(|it| it.0 == number)
    }

    /// Opens a number; the value that it had, if it was open.
    #[inline]
    pub(crate) fn insert(&mut self, number: u64, value: T) -> Option<T> {
        if let Some(place) = self.place(number) {
            let known = self.few.get_mut(place)?;
            return Some(std::mem::replace(&mut known.1, value));
        }
        if self.few.len() < FEW && self.more.is_empty() {
            self.few.push((number, value));
            return None;
        }
        self.insert_more(number, value)
    }

    #[inline(never)]
    fn insert_more(&mut self, number: u64, value: T) -> Option<T> {
        self.more.insert(number, value)
    }

    /// Takes out the value of a number, if it is open.
    #[inline]
    pub(crate) fn remove(&mut self, number: u64) -> Option<T> {
        match self.place(number) {
            Some(place) => Some(self.few.swap_remove(place).1),
            None if self.more.is_empty() => None,
            None => self.remove_more(number),
        }
    }

    #[inline(never)]
    fn remove_more(&mut self, number: u64) -> Option<T> {
        self.more.remove(&number)
    }

    /// The values that are open, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        let few = self.few.iter().map(|it| &it.1);
        few.chain(self.more.values())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Numbers that look random, below `end`.
    fn draw(state: &mut u64, end: u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*state >> 33) % end
    }

    #[test]
    fn it_is_a_map() {
        let mut state = 1;
        // So many numbers that all are among the few, some beyond, and most beyond.
        for numbers in [8, 24, 200] {
            let (mut open, mut map) = (Open::default(), BTreeMap::new());
            for at in 0..4_000 {
                let number = draw(&mut state, numbers);
                // Now and then all are closed.
                let closes = if at % 1_000 < 600 { 2 } else { 4 };
                if draw(&mut state, 5) < closes {
                    assert_eq!(open.remove(number), map.remove(&number));
                } else {
                    assert_eq!(open.insert(number, at), map.insert(number, at));
                }
                assert_eq!(open.len(), map.len());
                let mut values: Vec<u64> = open.values().copied().collect();
                values.sort_unstable();
                let mut expected: Vec<u64> = map.values().copied().collect();
                expected.sort_unstable();
                assert_eq!(values, expected);
            }
        }
    }
}
