//! Smallest and largest of values that change one at a time.

/// A tree of matches: each inner node holds the smallest and the largest of its
/// two children, so a change costs `O(log n)` and the root says both at once.
///
/// Controller B needs the extremes of all clocks' leads after every event. The
/// source's running sum of 16th powers would lose all digits by cancellation.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// The root is 1, the children of `n` are `2n` and `2n + 1`.
    nodes: Vec<Option<(i64, i64)>>,
    leaves: usize,
}

impl Tournament {
    /// `count` players, all with value 0.
    pub(super) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two().max(1);
        let mut tree = Self {
            nodes: vec![None; 2 * leaves],
            leaves,
        };
        for player in 0..count {
            tree.set(player, Some(0));
        }
        tree
    }

    /// Gives a player another value, or takes it out.
    pub(super) fn set(&mut self, player: usize, value: Option<i64>) {
        let mut at = self.leaves + player;
        self.nodes[at] = value.map(|value| (value, value));
        while at > 1 {
            at /= 2;
            let joined = match (self.nodes[2 * at], self.nodes[2 * at + 1]) {
                (Some((low, high)), Some((other_low, other_high))) => {
                    Some((low.min(other_low), high.max(other_high)))
                }
                (one, other) => one.or(other),
            };
            self.nodes[at] = joined;
        }
    }

    /// Smallest and largest value of all players; `None` without players.
    pub(super) fn extremes(&self) -> Option<(i64, i64)> {
        self.nodes[1]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn extremes_are_those_of_the_values(changes in proptest::collection::vec((0_usize..7, proptest::option::of(-50_i64..50)), 0..80)) {
            let mut tree = Tournament::new(7);
            let mut values = [Some(0); 7];
            for (player, value) in changes {
                tree.set(player, value);
                values[player] = value;
                let present = || values.iter().flatten().copied();
                prop_assert_eq!(tree.extremes(), present().min().zip(present().max()));
            }
        }
    }
}
