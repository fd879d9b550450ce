//! The relation of the calls of a rank to those of the one that recorded most.
//!
//! [Clocks](super::alignment) tell it, with iterations where these leave several possibilities, and where no
//! straight difference of clocks allows any, [two lines](super::stepped).

use super::alignment::{Known, Shift, align};
use super::bent::{self, Bent};
use super::by_ends;
use super::calls::Calls;
use super::item::Item;
use super::stepped::{self, Stepped};
use super::windows::InWindow;

/// The calls of a rank and those of the pivot, with their items.
pub(super) struct TwoRanks<'a> {
    pub(super) pivot: &'a InWindow,
    pub(super) items: &'a [Item],
    pub(super) own: &'a InWindow,
    pub(super) own_items: &'a [Item],
}

impl TwoRanks<'_> {
    /// The shift of the calls of the rank against those of the pivot.
    ///
    /// Iterations decide if clocks alone are ambiguous. They say that both recorded the same: so most
    /// calls of one of both have to lie on each other. Where clocks have a shift that iterations
    /// contradict, either can be wrong: clocks that differ by more than an iteration lasts, or programs
    /// that count apart. Then that is taken by which calls end together, if it is one of both.
    pub(super) fn shift(&self, calls: &Calls<'_>, known: &Known) -> Shift {
        let (items, own_items) = (self.items, self.own_items);
        let align = |known: &Known| {
            let pivot = self.pivot.windowed(items);
            align(pivot, self.own.windowed(own_items), known)
        };
        let by_clocks = align(known);
        if by_clocks == Shift::Impossible || known.is_proven() {
            return by_clocks;
        }
        let Some(difference) = self.iterations_differ_by(calls) else {
            return by_clocks;
        };
        let by_iterations = align(&known.of_iterations(difference));
        match (by_clocks, by_iterations) {
            (Shift::By(shift), Shift::By(other)) if shift != other => {
                let told = by_ends::told(items, own_items, &[shift, other]);
                told.map_or(Shift::Ambiguous, Shift::By)
            }
            // No clock that keeps its rate allows those of equal numbers.
            (Shift::By(shift), _) | (_, Shift::By(shift)) if self.are_apart(calls, shift) => {
                Shift::Impossible
            }
            (Shift::By(_), _) => by_clocks,
            (_, Shift::By(shift)) if !by_ends::is_most(items.len(), own_items.len(), shift) => {
                Shift::Ambiguous
            }
            _ => by_iterations,
        }
    }

    /// The shift where no straight difference of clocks has told one, but something else, and that clocks
    /// differ by none.
    pub(super) fn set_meanwhile(
        &self,
        calls: &Calls<'_>,
        known: &Known,
        by_line: Shift,
    ) -> (Shift, Option<Bent>) {
        let (items, own_items) = (self.items, self.own_items);
        let difference = self.iterations_differ_by(calls);
        let of_iterations = difference.map(|it| known.of_iterations(it));
        let (pivot, own) = (self.pivot.windowed(items), self.own.windowed(own_items));
        let by_two = stepped::align(pivot, own, of_iterations.as_ref().unwrap_or(known));
        if let Stepped::By(shift) = by_two
            && !self.are_apart(calls, shift)
        {
            return (Shift::By(shift), None);
        }
        let bent = match (by_line, by_two) {
            _ if bent::do_the_same(calls, self.pivot, self.own) => {
                difference.and_then(|it| Bent::of(items, own_items, it))
            }
            (_, Stepped::Several(differences)) => Some(Bent::by(differences)),
            (Shift::Impossible, _) => Bent::in_two(items, own_items),
            _ => None,
        };
        (by_line, bent)
    }

    fn iterations_differ_by(&self, calls: &Calls<'_>) -> Option<i64> {
        calls.iterations_differ_by(self.pivot.file, self.own.file)
    }

    fn are_apart(&self, calls: &Calls<'_>, shift: i64) -> bool {
        let iterations = |of: &InWindow| -> Vec<Option<u64>> {
            let iteration = |&call: &usize| calls.call(of.file, call)?.iteration;
            of.calls.iter().map(iteration).collect()
        };
        iterations_are_apart(&iterations(self.pivot), &iterations(self.own), shift)
    }
}

/// True if most of the calls that a shift lays on each other are of iterations of different numbers.
pub(super) fn iterations_are_apart(
    pivot: &[Option<u64>],
    other: &[Option<u64>],
    shift: i64,
) -> bool {
    let pairs = other.iter().zip(shift..).filter_map(|(own, at)| {
        let its = pivot.get(usize::try_from(at).ok()?)?;
        Some((*own)? == (*its)?)
    });
    let (equal, others): (Vec<bool>, Vec<bool>) = pairs.partition(|it| *it);
    others.len() > equal.len()
}
