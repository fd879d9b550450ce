//! Who asks whom.
//!
//! In round `k` the first `2^k` processes answer the next `2^k`: a binomial tree. First the
//! first process of each node, over the network; then the others of each node ask among
//! themselves, from its first process on. So a node costs one measurement over the network,
//! and no process waits for more than `log2 N + log2 n` rounds, `N` nodes of `n` processes.
//!
//! Source: S. Hunold and A. Carpen-Amarie, *Hierarchical clock synchronization in MPI*, IEEE
//! Cluster 2018, section IV.

use std::collections::BTreeMap;

/// The tree in which processes ask each other; all are measured against its first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    references: Vec<Option<usize>>,
    clients: Vec<Vec<usize>>,
    nodes: Vec<usize>,
    rounds: u32,
}

impl Tree {
    /// The tree of processes of which each is on the node of that number; any numbers do.
    pub fn new(nodes: &[usize]) -> Self {
        let mut on_node: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut first = Vec::new();
        for (rank, &node) in nodes.iter().enumerate() {
            let members = on_node.entry(node).or_default();
            if members.is_empty() {
                first.push(rank);
            }
            members.push(rank);
        }
        let mut tree = Self {
            references: vec![None; nodes.len()],
            clients: vec![Vec::new(); nodes.len()],
            nodes: nodes.to_vec(),
            rounds: 0,
        };
        let between = tree.grow(&first);
        let within = on_node.values().map(|members| tree.grow(members)).max();
        tree.rounds = between + within.unwrap_or(0);
        tree
    }

    /// Lets these ask among themselves; in how many rounds.
    fn grow(&mut self, members: &[usize]) -> u32 {
        let mut rounds = 0;
        let mut served = 1;
        while served < members.len() {
            for (&reference, &client) in members.iter().zip(&members[served..]).take(served) {
                self.references[client] = Some(reference);
                self.clients[reference].push(client);
            }
            served *= 2;
            rounds += 1;
        }
        rounds
    }

    /// In how many rounds all are measured.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Whom a process asks; none of the first.
    pub fn reference(&self, rank: usize) -> Option<usize> {
        self.references[rank]
    }

    /// Whom it answers then, in order.
    pub fn clients(&self, rank: usize) -> &[usize] {
        &self.clients[rank]
    }

    /// True if both are on one node.
    pub fn share_a_node(&self, a: usize, b: usize) -> bool {
        self.nodes[a] == self.nodes[b]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of processes between a process and the first, itself included.
    fn depth(tree: &Tree, rank: usize) -> u32 {
        let next = |&rank: &usize| tree.reference(rank);
        std::iter::successors(Some(rank), next).count() as u32 - 1
    }

    #[test]
    fn a_thousand_processes() {
        for (per_node, rounds) in [(1, 10), (64, 4 + 6), (1_000, 10)] {
            let nodes: Vec<usize> = (0..1_000).map(|rank| rank / per_node).collect();
            let tree = Tree::new(&nodes);
            assert_eq!(tree.rounds(), rounds, "{per_node}");
            let pairs: usize = (0..1_000).map(|rank| tree.clients(rank).len()).sum();
            assert_eq!(pairs, 999);
            for rank in 0..1_000 {
                assert!(depth(&tree, rank) <= rounds);
                // It is measured before it answers, in a round each.
                let busy = tree.clients(rank).len() + usize::from(rank > 0);
                assert!(busy <= rounds as usize, "{rank}: {busy}");
                assert_eq!(tree.reference(rank).is_none(), rank == 0);
                for &client in tree.clients(rank) {
                    assert_eq!(tree.reference(client), Some(rank));
                }
            }
        }
    }

    #[test]
    fn one_of_each_node_asks_over_the_network() {
        let nodes: Vec<usize> = (0..60).map(|rank| rank % 7).collect();
        let tree = Tree::new(&nodes);
        let over = |&rank: &usize| {
            let reference = tree.reference(rank);
            reference.is_some_and(|it| !tree.share_a_node(it, rank))
        };
        assert_eq!((0..60).filter(over).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn alone() {
        let tree = Tree::new(&[3]);
        assert_eq!(tree.rounds(), 0);
        assert!(tree.clients(0).is_empty());
    }
}
