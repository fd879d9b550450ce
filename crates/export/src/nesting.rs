//! In which regions a location is, from enters and leaves that may not fit together.
//!
//! Slices of a viewer are nested, or it draws nonsense. A recording has gaps, begins in the
//! middle, or ends there. So a leave closes the innermost slice of its region, and with it
//! all that was entered since; one of a region that is not open is dropped; what is open at
//! the end is closed there.

use crate::encoder::Name;

/// A region that a location is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// The name of its slice.
    pub(crate) name: Name,
    /// True if it was the innermost one all the time.
    pub(crate) is_leaf: bool,
}

/// The regions that a location is in, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting {
    open: Vec<Open>,
}

impl Nesting {
    /// The regions that are open, outermost first.
    pub(crate) fn open(&self) -> &[Open] {
        &self.open
    }

    /// True if it is in a region that has no other in it.
    #[inline]
    pub(crate) fn in_leaf(&self) -> bool {
        self.open.last().is_some_and(|it| it.is_leaf)
    }

    /// A region is entered.
    #[inline]
    pub(crate) fn enter(&mut self, name: Name) {
        if let Some(around) = self.open.last_mut() {
            around.is_leaf = false;
        }
        self.open.push(Open {
            name,
            is_leaf: true,
        });
    }

    /// A region is left; how many are closed by that, none if it is not open.
    #[inline]
    pub(crate) fn leave(&mut self, name: Name) -> usize {
        let place = self.open.iter().rposition(|it| it.name == name);
        let closed = place.map_or(0, |place| self.open.len() - place);
        self.open.truncate(self.open.len() - closed);
        closed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_leave_closes_what_was_entered_since() {
        let mut nesting = Nesting::default();
        let [main, solve, send] = [1, 2, 3].map(Name::Region);
        for name in [main, solve, send] {
            nesting.enter(name);
        }
        assert!(nesting.in_leaf());
        assert_eq!(nesting.leave(solve), 2);
        assert!(!nesting.in_leaf());
        assert_eq!(nesting.leave(send), 0);
        assert_eq!(
            nesting.open(),
            [Open {
                name: main,
                is_leaf: false
            }]
        );
    }

    proptest! {
        #[test]
        fn no_more_is_closed_than_was_entered(
            passages in prop::collection::vec((any::<bool>(), 0_u32..4), 0..60),
        ) {
            let mut nesting = Nesting::default();
            let mut depth = 0;
            for (enters, region) in passages {
                let name = Name::Region(region);
                if enters {
                    nesting.enter(name);
                    depth += 1;
                } else {
                    let was_open = nesting.open().iter().any(|it| it.name == name);
                    let closed = nesting.leave(name);
                    prop_assert_eq!(closed > 0, was_open);
                    depth -= closed;
                }
                prop_assert_eq!(nesting.open().len(), depth);
            }
        }
    }
}
