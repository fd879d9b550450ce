//! An order of little fill for sparse graphs: approximate minimum degree.
//!
//! Eliminating an unknown joins all its neighbours. So the one with the fewest
//! neighbours is eliminated next, again and again. The joined neighbours are not
//! linked to each other but to the eliminated unknown, now an *element*; unknowns are
//! neighbours if they are linked or share an element. An element whose neighbours all
//! belong to a newer one is absorbed by it. Degrees are not counted anew but bounded:
//!
//! ```text
//! d(i) = |L_p \ i| + min(d_before(i), |A_i| + sum over other elements e of i  |L_e \ L_p|)
//! ```
//!
//! where `L_e` are the neighbours of element `e`, `p` is the newest, `A_i` what `i` is still
//! linked to; and no degree exceeds the number of unknowns left. Unknowns with the same
//! neighbours stand for each other and are eliminated together.
//!
//! For example, of a star the leaves come first, each of degree 1. With the centre first
//! all leaves would be joined.
//!
//! Source: P. R. Amestoy, T. A. Davis, I. S. Duff, *An approximate minimum degree
//! ordering algorithm* (1996).

use super::graph::{Graph, NONE};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};

/// Unknowns with more neighbours than this many times the root of the size come last:
/// each step would look at them.
const DENSE: f64 = 10.0;
/// But not if they have no more than this.
const FEW: usize = 16;

/// The unknowns in the order found.
pub(super) fn minimum_degree(
    graph: &Graph<'_>,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, Cancelled> {
    let mut quotient = Quotient::new(graph);
    let mut pivots = Vec::new();
    let mut pace = Pace::of(monitor);
    while let Some(pivot) = quotient.queue.take_least() {
        pivots.push(pivot);
        quotient.eliminate(pivot);
        pace.events(quotient.lists[pivot as usize].len())?;
    }
    Ok(quotient.order(&pivots))
}

/// The graph that is left after some eliminations.
struct Quotient {
    /// Lists by node: for an unknown its elements, then the unknowns it is linked to; for an
    /// element its neighbours.
    lists: Vec<Vec<u32>>,
    /// How many elements the list of an unknown begins with.
    elements: Vec<u32>,
    /// How many unknowns each stands for; 0 if it is eliminated or another stands for it.
    weight: Vec<u32>,
    /// Degrees by node: for an unknown a bound, for an element the number of its neighbours; 0 if
    /// absorbed.
    degree: Vec<u32>,
    /// Unknowns not yet eliminated.
    left: u32,
    queue: Queue,
    /// Stamps by node: the newest one marks the members of the set at hand.
    marks: Vec<u64>,
    /// For each element the number of its neighbours outside of the newest, plus the stamp of its
    /// step.
    outside: Vec<u64>,
    stamp: u64,
    /// Who stands for others: the first of them, and of these the next.
    stands_for: Vec<u32>,
    next: Vec<u32>,
    /// Unknowns by a hash of their lists.
    buckets: Vec<u32>,
    hashes: Vec<u32>,
    chain: Vec<u32>,
    /// The unknowns that come last.
    dense: Vec<u32>,
}

impl Quotient {
    fn new(graph: &Graph<'_>) -> Self {
        let size = graph.size();
        let most = FEW.max((DENSE * (size as f64).sqrt()) as usize);
        let (dense, sparse): (Vec<u32>, Vec<u32>) =
            (0..size as u32).partition(|&it| graph.degree(it as usize) > most);
        let mut weight = vec![0; size];
        for &at in &sparse {
            weight[at as usize] = 1;
        }
        let mut quotient = Self {
            lists: vec![Vec::new(); size],
            elements: vec![0; size],
            degree: vec![0; size],
            left: sparse.len() as u32,
            queue: Queue::new(size),
            marks: vec![0; size],
            outside: vec![0; size],
            stamp: 0,
            stands_for: vec![NONE; size],
            next: vec![NONE; size],
            buckets: vec![NONE; size],
            hashes: vec![0; size],
            chain: vec![NONE; size],
            weight,
            dense,
        };
        for at in sparse {
            let others = graph.of(at as usize).map(|(other, _)| other);
            let list: Vec<u32> = others
                .filter(|&it| quotient.weight[it as usize] > 0)
                .collect();
            quotient.degree[at as usize] = list.len() as u32;
            quotient.queue.insert(at, list.len() as u32);
            quotient.lists[at as usize] = list;
        }
        quotient
    }

    fn eliminate(&mut self, pivot: u32) {
        let mut members = self.join(pivot);
        self.left -= std::mem::take(&mut self.weight[pivot as usize]);
        let size: u32 = members.iter().map(|&it| self.weight[it as usize]).sum();
        self.measure(&members);
        for &member in &members {
            self.prune(member, pivot);
        }
        for &member in &members {
            self.unite(member);
        }
        members.retain(|&it| self.weight[it as usize] > 0);
        // Some were eliminated with the pivot.
        let left: u32 = members.iter().map(|&it| self.weight[it as usize]).sum();
        self.left -= size - left;
        for &member in &members {
            let weight = self.weight[member as usize];
            let degree = &mut self.degree[member as usize];
            *degree = (*degree + left - weight).min(self.left - weight);
            self.queue.insert(member, *degree);
        }
        self.degree[pivot as usize] = left;
        self.lists[pivot as usize] = members;
    }

    /// The neighbours of a pivot, marked and out of the queue; its elements are absorbed.
    fn join(&mut self, pivot: u32) -> Vec<u32> {
        self.stamp += 1;
        self.marks[pivot as usize] = self.stamp;
        let mut members = Vec::new();
        let list = std::mem::take(&mut self.lists[pivot as usize]);
        let (elements, others) = list.split_at(self.elements[pivot as usize] as usize);
        for &element in elements {
            self.degree[element as usize] = 0;
            let list = std::mem::take(&mut self.lists[element as usize]);
            self.take_in(&list, &mut members);
        }
        self.take_in(others, &mut members);
        members
    }

    fn take_in(&mut self, list: &[u32], members: &mut Vec<u32>) {
        for &at in list {
            let mark = &mut self.marks[at as usize];
            if self.weight[at as usize] > 0 && *mark != self.stamp {
                *mark = self.stamp;
                self.queue.remove(at, self.degree[at as usize]);
                members.push(at);
            }
        }
    }

    /// How many neighbours of each element are not among these.
    fn measure(&mut self, members: &[u32]) {
        let base = self.stamp * self.marks.len() as u64;
        for &member in members {
            let elements = self.elements[member as usize] as usize;
            for &element in &self.lists[member as usize][..elements] {
                let outside = &mut self.outside[element as usize];
                if *outside < base {
                    *outside = base + u64::from(self.degree[element as usize]);
                }
                // Absorbed ones have none, and are not asked.
                *outside = outside.saturating_sub(self.weight[member as usize].into());
            }
        }
    }

    /// Replaces what a member shares with the pivot by the pivot, and bounds its degree
    /// outside of it.
    fn prune(&mut self, member: u32, pivot: u32) {
        let base = self.stamp * self.marks.len() as u64;
        let at = member as usize;
        let old = std::mem::take(&mut self.lists[at]);
        let (elements, others) = old.split_at(self.elements[at] as usize);
        let mut list = Vec::with_capacity(old.len() + 1);
        let (mut degree, mut hash) = (0, u64::from(pivot));
        list.push(pivot);
        for &element in elements {
            if self.degree[element as usize] == 0 {
                continue;
            }
            let outside = (self.outside[element as usize] - base) as u32;
            if outside == 0 {
                self.degree[element as usize] = 0;
                self.lists[element as usize] = Vec::new();
                continue;
            }
            list.push(element);
            degree += outside;
            hash += u64::from(element);
        }
        self.elements[at] = list.len() as u32;
        for &other in others {
            let weight = self.weight[other as usize];
            if weight > 0 && self.marks[other as usize] != self.stamp {
                list.push(other);
                degree += weight;
                hash += u64::from(other);
            }
        }
        if list.len() == 1 {
            // Nothing but the pivot: eliminated with it.
            self.stand_for(pivot, member);
            return;
        }
        self.lists[at] = list;
        self.degree[at] = self.degree[at].min(degree);
        let bucket = (hash % self.buckets.len() as u64) as usize;
        self.hashes[at] = bucket as u32;
        self.chain[at] = std::mem::replace(&mut self.buckets[bucket], member);
    }

    /// Lets one of those with the same lists stand for the others.
    fn unite(&mut self, member: u32) {
        if self.weight[member as usize] == 0 {
            return;
        }
        let bucket = self.hashes[member as usize] as usize;
        let mut first = std::mem::replace(&mut self.buckets[bucket], NONE);
        while first != NONE {
            let mut before = first;
            let mut at = self.chain[first as usize];
            if at != NONE {
                self.stamp += 1;
                for &it in &self.lists[first as usize] {
                    self.marks[it as usize] = self.stamp;
                }
            }
            while at != NONE {
                let next = self.chain[at as usize];
                if self.is_same(first, at) {
                    self.weight[first as usize] += self.weight[at as usize];
                    self.stand_for(first, at);
                    self.chain[before as usize] = next;
                } else {
                    before = at;
                }
                at = next;
            }
            first = self.chain[first as usize];
        }
    }

    /// True if another has the list of the first, which is marked.
    fn is_same(&self, first: u32, other: u32) -> bool {
        let (first, other) = (first as usize, other as usize);
        let marked = |it: &u32| self.marks[*it as usize] == self.stamp;
        self.elements[first] == self.elements[other]
            && self.lists[first].len() == self.lists[other].len()
            && self.lists[other].iter().all(marked)
    }

    fn stand_for(&mut self, one: u32, other: u32) {
        self.weight[other as usize] = 0;
        self.lists[other as usize] = Vec::new();
        let first = std::mem::replace(&mut self.stands_for[one as usize], other);
        self.next[other as usize] = first;
    }

    /// Each pivot, followed by what it stands for.
    fn order(self, pivots: &[u32]) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.lists.len());
        let mut stack = Vec::new();
        for &pivot in pivots {
            stack.push(pivot);
            while let Some(at) = stack.pop() {
                order.push(at);
                let mut other = self.stands_for[at as usize];
                while other != NONE {
                    stack.push(other);
                    other = self.next[other as usize];
                }
            }
        }
        order.extend(self.dense);
        order
    }
}

/// Unknowns by degree.
struct Queue {
    /// The first unknown of each degree; `next` and `previous` are the neighbours of an unknown in
    /// the list of its degree.
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// None is below.
    least: usize,
}

impl Queue {
    fn new(size: usize) -> Self {
        Self {
            first: vec![NONE; size],
            next: vec![NONE; size],
            previous: vec![NONE; size],
            least: 0,
        }
    }

    fn insert(&mut self, at: u32, degree: u32) {
        let first = std::mem::replace(&mut self.first[degree as usize], at);
        self.next[at as usize] = first;
        self.previous[at as usize] = NONE;
        if first != NONE {
            self.previous[first as usize] = at;
        }
        self.least = self.least.min(degree as usize);
    }

    fn remove(&mut self, at: u32, degree: u32) {
        let (previous, next) = (self.previous[at as usize], self.next[at as usize]);
        if next != NONE {
            self.previous[next as usize] = previous;
        }
        if previous == NONE {
            self.first[degree as usize] = next;
        } else {
            self.next[previous as usize] = next;
        }
    }

    fn take_least(&mut self) -> Option<u32> {
        let found = self.first[self.least..].iter().position(|&it| it != NONE)?;
        self.least += found;
        let at = self.first[self.least];
        self.remove(at, self.least as u32);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Pattern;
    use super::*;

    #[test]
    fn leaves_come_before_what_holds_them_together() {
        // A star: its centre last but one, for then it is a leaf as well.
        let star = Pattern::new(6, (1..6).map(|it| (0, it)).collect());
        let order = minimum_degree(&Graph::new(&star).unwrap(), &()).unwrap();
        assert!(order[4..].contains(&0), "{order:?}");
    }
}
