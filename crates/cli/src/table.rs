//! A table of formats or methods that a program may give the command before it reads a
//! command line.
//!
//! There is one for the whole process, since the command line is one too: what an option
//! can be named is asked for in many places, from many threads.

use std::sync::OnceLock;

/// A table; the one that is built in, unless another was given in time.
pub(crate) struct Table<T: 'static> {
    built_in: &'static [T],
    given: OnceLock<Vec<T>>,
}

impl<T: Clone> Table<T> {
    pub(crate) const fn new(built_in: &'static [T]) -> Self {
        let given = OnceLock::new();
        Self { built_in, given }
    }

    /// Replaces the table; false if it was given or looked at before.
    pub(crate) fn give(&self, table: &[T]) -> bool {
        self.given.set(table.to_vec()).is_ok()
    }

    pub(crate) fn all(&'static self) -> &'static [T] {
        self.given.get_or_init(|| self.built_in.to_vec())
    }
}

/// Why a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTable {
    /// It has nothing in it.
    #[error("a table of {0} is empty")]
    Empty(&'static str),
    /// Two of its entries have one name.
    #[error("a table of {what} has two that are named {name}")]
    SameName {
        /// Formats or methods.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A table was given before, or a command line was read.
    #[error("tables of formats and methods are given once, before a command line is read")]
    Late,
}

/// Refuses a table from which no name leads to one entry.
pub(crate) fn check<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), BadTable> {
    let mut names: Vec<&str> = names.collect();
    if names.is_empty() {
        return Err(BadTable::Empty(what));
    }
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(BadTable::SameName {
            what,
            name: pair[0].into(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_given_once_and_before_it_is_looked_at() {
        static FIRST: Table<u8> = Table::new(&[1, 2]);
        static SECOND: Table<u8> = Table::new(&[1, 2]);
        assert!(FIRST.give(&[3]));
        assert_eq!(FIRST.all(), [3]);
        assert!(!FIRST.give(&[4]));
        assert_eq!(SECOND.all(), [1, 2]);
        assert!(!SECOND.give(&[3]));
    }

    #[test]
    fn names_are_not_ambiguous() {
        let check = |names: &[&'static str]| check("methods", names.iter().copied());
        assert_eq!(check(&["b", "a"]), Ok(()));
        assert_eq!(check(&[]), Err(BadTable::Empty("methods")));
        let what = "methods";
        let name = "b".into();
        assert_eq!(
            check(&["b", "a", "b"]),
            Err(BadTable::SameName { what, name })
        );
    }
}
