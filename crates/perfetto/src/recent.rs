//! Things by key, where the one that was asked for last is most often asked for next: packets in
//! a row are of one machine, of one sequence and by one clock.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Things by key.
#[derive(Debug)]
pub(crate) struct Recent<K, T> {
    all: Vec<T>,
    places: FxHashMap<K, usize>,
    last: Option<(K, usize)>,
}

impl<K, T> Default for Recent<K, T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            places: FxHashMap::default(),
            last: None,
        }
    }
}

impl<K: Copy + Eq + Hash, T> Recent<K, T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The thing that was asked for last.
    #[inline]
    pub(crate) fn last(&self) -> Option<&T> {
        self.all.get(self.last?.1)
    }

    /// The thing of a key, if there is one.
    pub(crate) fn get(&self, key: K) -> Option<&T> {
        self.all.get(*self.places.get(&key)?)
    }

    /// The thing of a key, if there is one.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut T> {
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => {
                let place = *self.places.get(&key)?;
                self.last = Some((key, place));
                place
            }
        };
        self.all.get_mut(place)
    }
}

impl<K: Copy + Eq + Hash, T: Default> Recent<K, T> {
    /// The thing of a key, which is made where there is none; never nothing.
    #[inline]
    pub(crate) fn entry(&mut self, key: K) -> Option<&mut T> {
        let is_last = self.last.is_some_and(|it| it.0 == key);
        if !is_last && !self.places.contains_key(&key) {
            self.places.insert(key, self.all.len());
            self.all.push(T::default());
        }
        self.get_mut(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_thing_of_its_own() {
        let mut all: Recent<u32, Vec<u32>> = Recent::default();
        assert!(all.is_empty() && all.last().is_none() && all.get_mut(7).is_none());
        for key in [7, 7, 3, 7, 3, 3] {
            if let Some(it) = all.entry(key) {
                it.push(key);
            }
            assert_eq!(all.last().and_then(|it| it.last()), Some(&key));
        }
        assert_eq!(all.get(7), Some(&vec![7; 3]));
        assert_eq!(all.get_mut(3), Some(&mut vec![3; 3]));
        assert_eq!(all.get(9), None);
    }
}
