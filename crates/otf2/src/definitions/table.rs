//! Definitions of one kind, in file order and by id.
//!
//! Files define ids twice now and then. All of them are kept; a look-up by id
//! gives the first one, as every OTF2 tool does.

use std::collections::HashMap;

/// Something that is defined under an id.
pub trait Identified {
    /// The type of references to it.
    type Id: Copy + Into<u64>;

    /// The id.
    fn id(&self) -> Self::Id;
}

/// Definitions of one kind.
#[derive(Clone, Debug)]
pub struct Table<T> {
    items: Vec<T>,
    first: HashMap<u64, usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            first: HashMap::new(),
        }
    }
}

impl<T: Identified> Table<T> {
    /// Adds a definition. `false` if its id was defined before.
    pub(crate) fn add(&mut self, item: T) -> bool {
        let position = self.items.len();
        let first = *self.first.entry(item.id().into()).or_insert(position);
        self.items.push(item);
        first == position
    }

    /// The first definition of an id.
    pub fn get(&self, id: T::Id) -> Option<&T> {
        let position = *self.first.get(&id.into())?;
        self.items.get(position)
    }

    /// The first definition of an id, to be completed.
    pub(crate) fn get_mut(&mut self, id: T::Id) -> Option<&mut T> {
        let position = *self.first.get(&id.into())?;
        self.items.get_mut(position)
    }

    /// All definitions of an id, in file order.
    pub fn all(&self, id: T::Id) -> impl Iterator<Item = &T> {
        let id: u64 = id.into();
        let start = self.first.get(&id).copied().unwrap_or(self.items.len());
        let from_first = self.items.get(start..).unwrap_or_default();
        from_first.iter().filter(move |item| item.id().into() == id)
    }

    /// All definitions, in file order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// How many there are, duplicates included.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<'a, T: Identified> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
