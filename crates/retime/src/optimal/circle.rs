//! Whether the parents of nodes run in a circle through several processes.
//!
//! A way to a node that is lent to others either begins in this process, or enters it at a node
//! that it has borrowed itself. So the ways between processes are a list of pointers, from each
//! lent node to another one. Where pointers end is found by doubling: each takes over the
//! pointer of what it points to, so that it spans twice as many hops, and one that still points
//! somewhere after more hops than there are nodes never ends.
//!
//! ```text
//!  a -> b -> c -> d -> end       hops 1: a->b  b->c  c->d  d->end
//!                                     2: a->c  b->d  c->end
//!                                     4: a->end  b->end
//! ```
//!
//! Parents run in a circle only if the constraints along it can never be satisfied: each node
//! has at most what its parent has, and the arc between them; and the last that rose of a circle
//! rose after the one whose parent it is had heard of it.
//!
//! Source: J. C. Wyllie, *The complexity of parallel computations* (1979), on lists; B. V.
//! Cherkassky and A. V. Goldberg, *Negative-cycle detection algorithms* (1999), on parents.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::jointly::Half;
use crate::share::Share;
use retime_model::Cancelled;

/// A lent node, as all processes can name it.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Lent {
    holder: u32,
    borrower: u32,
    /// Its place among those that the one has lent the other.
    place: u32,
}

/// Asks all processes.
pub(super) fn runs_in_a_circle(share: &Share, half: &Half) -> Result<bool, Cancelled> {
    let mut ways = ways(share, half);
    let count = |of: fn(&Option<Lent>) -> bool, ways: &[Vec<Option<Lent>>]| {
        share.sum(ways.iter().flatten().filter(|&it| of(it)).count() as u64)
    };
    let nodes = count(|_| true, &ways);
    let mut hops = 1;
    while hops <= nodes && count(Option::is_some, &ways) > 0 {
        double(share, &mut ways)?;
        hops *= 2;
    }
    let unended = count(Option::is_some, &ways);
    share.check()?;
    Ok(unended > 0)
}

/// By borrower and place, at which lent node of another process the way to it enters this one.
fn ways(share: &Share, half: &Half) -> Vec<Vec<Option<Lent>>> {
    let borrower = share.place().0 as u32;
    let mut names = FxHashMap::default();
    for (holder, borrowed) in (0..).zip(&half.borrowed) {
        for (place, &node) in (0..).zip(borrowed) {
            let lent = Lent {
                holder,
                borrower,
                place,
            };
            names.insert(node, lent);
        }
    }
    let entries = half.graph.entries(&half.state);
    let way = |&(node, _): &(u32, i128)| {
        let entry = entries[node as usize]?;
        names.get(&entry).copied()
    };
    let lent = half.lent.iter();
    lent.map(|lent| lent.iter().map(way).collect()).collect()
}

/// Each way takes over where the way to its entry enters the process of that.
fn double(share: &Share, ways: &mut [Vec<Option<Lent>>]) -> Result<(), Cancelled> {
    let mut asked = vec![Vec::new(); share.place().1];
    for it in ways.iter().flatten().flatten() {
        asked[it.holder as usize].push((it.borrower, it.place));
    }
    let asked = share.exchanged_columns(asked);
    let answer =
        |(borrower, place): (u32, u32)| *ways.get(borrower as usize)?.get(place as usize)?;
    let answers = asked
        .into_iter()
        .map(|of| of.into_iter().map(answer).collect());
    let mut answers: Vec<_> = { share.exchanged(answers.collect()).into_iter() }
        .map(Vec::into_iter)
        .collect();
    share.check()?;
    for way in ways.iter_mut().flatten() {
        *way = way.and_then(|it| answers.get_mut(it.holder as usize)?.next()?);
    }
    Ok(())
}
