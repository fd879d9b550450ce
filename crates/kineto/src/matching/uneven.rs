//! Who waits for whom in an exchange of unequal sizes, in which parts may be empty.
//!
//! Nobody waits for what is empty. An operation has one set of those who are waited for, and one of
//! those who wait for all of these: so the largest such pair is taken, by how many dependencies it
//! has. Where a member sends or receives nothing, or all send to all, these are all there are:
//!
//! ```text
//! parts      from 0  1  2       causes {0, 1}, effects {0, 1, 2}:
//!   to 0          4  5  0       2 sends nothing, and waits for both others
//!   to 1          1  3  0
//!   to 2          2  2  0
//! ```

use std::collections::BTreeSet;

/// A member, as it describes the exchange.
pub(super) struct ExchangeMember<'a> {
    pub(super) rank: u32,
    /// The ranks from which nothing comes, in order; `None` if it does not say.
    pub(super) nothing_from: Option<&'a [u32]>,
}

impl ExchangeMember<'_> {
    /// True if something comes from each of these that is another.
    fn gets_from(&self, causes: &BTreeSet<u32>) -> bool {
        let gets = |empty: &[u32]| {
            !empty
                .iter()
                .any(|it| *it != self.rank && causes.contains(it))
        };
        self.nothing_from.is_some_and(gets)
    }

    fn others(&self, causes: &BTreeSet<u32>) -> usize {
        causes.len() - usize::from(causes.contains(&self.rank))
    }
}

/// The ranks that are waited for, and those that wait for all others of these.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) causes: BTreeSet<u32>,
    pub(super) effects: BTreeSet<u32>,
}

impl Exchange {
    pub(super) fn of(members: &[ExchangeMember<'_>]) -> Self {
        let all: BTreeSet<u32> = members.iter().map(|it| it.rank).collect();
        let from = |it: &ExchangeMember<'_>| {
            let empty = it.nothing_from?.iter();
            let mut causes = all.clone();
            for rank in empty.filter(|rank| **rank != it.rank) {
                causes.remove(rank);
            }
            (it.others(&causes) > 0).then_some(causes)
        };
        let mut sets: BTreeSet<BTreeSet<u32>> = members.iter().filter_map(from).collect();
        let common = sets.iter().cloned().reduce(|a, b| &a & &b);
        sets.extend(common);
        let exchange = |causes: BTreeSet<u32>| {
            let waits = |it: &&ExchangeMember<'_>| it.others(&causes) > 0 && it.gets_from(&causes);
            let effects: Vec<&ExchangeMember<'_>> = members.iter().filter(waits).collect();
            let dependencies: usize = effects.iter().map(|it| it.others(&causes)).sum();
            let effects = effects.iter().map(|it| it.rank).collect();
            (dependencies, Self { causes, effects })
        };
        let all = sets.into_iter().map(exchange);
        // Of equal ones the first.
        let best = all.reduce(|best, it| if it.0 > best.0 { it } else { best });
        best.map(|it| it.1).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The causes and effects of an exchange, by the ranks that each member gets nothing from.
    fn exchange(nothing_from: &[Option<&[u32]>]) -> (Vec<u32>, Vec<u32>) {
        let members = (0..).zip(nothing_from);
        let member = |(rank, &nothing_from)| ExchangeMember { rank, nothing_from };
        let members: Vec<ExchangeMember<'_>> = members.map(member).collect();
        let Exchange { causes, effects } = Exchange::of(&members);
        (causes.into_iter().collect(), effects.into_iter().collect())
    }

    #[test]
    fn the_largest_part_in_which_all_wait_for_all_is_taken() {
        type Case<'a> = (&'a [Option<&'a [u32]>], &'a [u32], &'a [u32]);
        let cases: [Case<'_>; 8] = [
            // Something for everybody, nothing from oneself or not.
            (&[Some(&[]), Some(&[1]), Some(&[])], &[0, 1, 2], &[0, 1, 2]),
            // The last sends nothing, and then receives nothing.
            (&[Some(&[2]), Some(&[2]), Some(&[])], &[0, 1], &[0, 1, 2]),
            (
                &[Some(&[]), Some(&[]), Some(&[0, 1, 2])],
                &[0, 1, 2],
                &[0, 1],
            ),
            // Somebody does not say what comes.
            (&[Some(&[]), None, Some(&[])], &[0, 1, 2], &[0, 2]),
            (&[None, None, None], &[], &[]),
            // Two halves, and a ring: the first of what is equally large.
            (
                &[Some(&[2, 3]), Some(&[2, 3]), Some(&[0, 1]), Some(&[0, 1])],
                &[0, 1],
                &[0, 1],
            ),
            (&[Some(&[1]), Some(&[2]), Some(&[0])], &[0, 1], &[1]),
            (&[Some(&[1, 2]), Some(&[0, 2]), Some(&[0, 1])], &[], &[]),
        ];
        for (nothing_from, causes, effects) in cases {
            let expected = (causes.to_vec(), effects.to_vec());
            assert_eq!(exchange(nothing_from), expected, "{nothing_from:?}");
        }
    }
}
