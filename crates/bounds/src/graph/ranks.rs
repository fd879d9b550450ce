//! Nodes in order of time, and which of them are waiting, as one bit each, so that the next one is
//! found fast.

use crate::link::Moment;
use retime_model::{Cancelled, Monitor};
use retime_numerics::sorting::sort_by_key;

/// Nodes by place, whatever their clocks.
#[derive(Debug)]
pub(super) struct NodesInTime {
    nodes: Vec<u32>,
    /// Where in that order each node is.
    ranks: Vec<u32>,
}

impl NodesInTime {
    pub(super) fn of(moments: &[Moment], monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let mut nodes: Vec<u32> = (0..moments.len() as u32).collect();
        sort_by_key(&mut nodes, |&it| (moments[it as usize].2, it), monitor)?;
        let mut ranks = vec![0; moments.len()];
        for (rank, &node) in (0..).zip(&nodes) {
            ranks[node as usize] = rank;
        }
        Ok(Self { nodes, ranks })
    }

    #[inline]
    pub(super) fn node(&self, rank: usize) -> usize {
        self.nodes[rank] as usize
    }

    #[inline]
    pub(super) fn rank(&self, node: usize) -> usize {
        self.ranks[node] as usize
    }
}

/// A set of ranks, as one bit each.
pub(super) struct Ranks(Vec<u64>);

impl Ranks {
    /// None of those below a number.
    pub(super) fn none(count: usize) -> Self {
        Self(vec![0; count / 64 + 1])
    }

    /// All below a number.
    pub(super) fn full(count: usize) -> Self {
        let mut words = vec![u64::MAX; count / 64];
        words.push((1 << (count % 64)) - 1);
        Self(words)
    }

    #[inline]
    pub(super) fn insert(&mut self, rank: usize) {
        self.0[rank / 64] |= 1 << (rank % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, rank: usize) {
        self.0[rank / 64] &= !(1 << (rank % 64));
    }

    /// The first of a rank and those after it.
    #[inline]
    pub(super) fn from(&self, rank: usize) -> Option<usize> {
        let mut word = rank / 64;
        let mut bits = self.0.get(word)? & (u64::MAX << (rank % 64));
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(64 * word + bits.trailing_zeros() as usize)
    }

    /// The last of those before a rank.
    #[inline]
    pub(super) fn before(&self, rank: usize) -> Option<usize> {
        let mut word = rank / 64;
        let mut bits = self.0.get(word)? & ((1 << (rank % 64)) - 1);
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = self.0[word];
        }
        Some(64 * word + 63 - bits.leading_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways over words that are empty, full and in part.
    #[test]
    fn what_is_next_either_way() {
        let mut ranks = Ranks::full(200);
        assert_eq!((ranks.from(0), ranks.before(200)), (Some(0), Some(199)));
        assert_eq!((ranks.from(200), ranks.before(0)), (None, None));
        for rank in 0..200 {
            ranks.remove(rank);
        }
        assert_eq!((ranks.from(0), ranks.before(200)), (None, None));
        for rank in [3, 63, 64, 190] {
            ranks.insert(rank);
        }
        let forwards = [0, 4, 64, 65, 191].map(|it| ranks.from(it));
        assert_eq!(forwards, [Some(3), Some(63), Some(64), Some(190), None]);
        let backwards = [200, 190, 64, 63, 3].map(|it| ranks.before(it));
        assert_eq!(backwards, [Some(190), Some(64), Some(63), Some(3), None]);
        assert_eq!(Ranks::full(64).before(64), Some(63));
        assert_eq!(Ranks::full(0).from(0), None);
    }
}
