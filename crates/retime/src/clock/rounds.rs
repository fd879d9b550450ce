//! A logical clock over a trace that several processes share.
//!
//! The parallel replay of the sources sends the clock's value along with each message of
//! the program, and waits for it at each receive: processes go through the trace in lock
//! step, and every dependency between them costs a message. But most dependencies change
//! nothing. So each process first takes it that what it has borrowed is where its own
//! clock shows it, runs all of its clocks to their end, and tells the others which of the
//! nodes they have borrowed came to lie elsewhere than they know. Who hears something new
//! runs again:
//!
//! ```text
//!  x_0 = own times of borrowed nodes,   x_(k+1) = what their processes compute with x_k
//! ```
//!
//! until nobody hears anything new. Then all values fit together, and since what follows
//! from what has no cycles they are those of one process: a node that depends on others by
//! chains which change processes at most `k` times has its value for good after round
//! `k + 1`. Mostly it takes as many rounds as there are processes between the fastest
//! clock and the slowest, whatever the length of the trace, with one message to each other
//! process in each round.
//!
//! Chains that form a cycle would go on for ever: after [`MOST`] rounds the trace needs to
//! be in one process, which finds and names the cycle.
//!
//! Sources: Linford 2007, section 4 (parallel replay); the rounds are Jacobi's iteration
//! for an acyclic system (Bertsekas, Tsitsiklis: *Parallel and Distributed Computation*,
//! section 6.1).

use super::error::ClockError;
use super::times::{Jumped, LogicalTimes};
use crate::causality::{Causality, EventNode};
use crate::share::NeedsWhole;
use retime_model::Cancelled;

/// So many rounds are more than a clock takes that follows the others within a few
/// messages, and end soon enough where nothing is ever right.
const MOST: usize = 1_000;

/// The values of borrowed nodes, as far as their processes have told.
pub(super) struct Heard {
    /// By process the nodes that it has lent, with their values.
    by_process: Vec<Vec<(EventNode, i64)>>,
}

impl Heard {
    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = (EventNode, i64)> {
        self.by_process.iter().flatten().copied()
    }
}

/// Runs a clock, given what was heard, as often as there is something new to hear.
pub(super) fn in_rounds(
    causality: &Causality,
    run: impl Fn(&Heard) -> Result<LogicalTimes, ClockError>,
) -> Result<LogicalTimes, ClockError> {
    let (nodes, share) = (causality.nodes(), causality.share());
    let own_time = |node: EventNode| (node, nodes.time(node).0);
    let (rank, size) = share.place();
    let others = (0..size).filter(|_| !share.is_whole());
    let of = |from: usize| nodes.borrowed(from).filter(move |_| from != rank);
    let mut heard = Heard {
        by_process: others
            .map(|from| of(from).map(own_time).collect())
            .collect(),
    };
    if share.is_whole() {
        return run(&heard);
    }
    let told = |to: &Vec<EventNode>| to.iter().map(|&it| own_time(it).1).collect();
    let mut told: Vec<Vec<i64>> = nodes.lent().iter().map(told).collect();
    for _ in 0..MOST {
        let found = run(&heard);
        if let Err(ClockError::Cancelled(cancelled)) = found {
            return Err(cancelled.into());
        }
        let found = share.one_cannot(found.ok(), NeedsWhole::Contradiction);
        let mut times = found.ok_or(Cancelled)?;
        let mut news: Vec<Vec<(u32, i64)>> = vec![Vec::new(); size];
        for ((to, lent), told) in news.iter_mut().zip(nodes.lent()).zip(&mut told) {
            for ((place, &node), told) in (0..).zip(lent).zip(told) {
                let value = times.get(node).0;
                if std::mem::replace(told, value) != value {
                    to.push((place, value));
                }
            }
        }
        let settled = share.all(news.iter().all(Vec::is_empty));
        if settled {
            times.jumped = share.merged(times.jumped, Jumped::with);
            share.check()?;
            return Ok(times);
        }
        let received = share.exchanged_columns(news);
        share.check()?;
        for (heard, news) in heard.by_process.iter_mut().zip(received) {
            for (place, value) in news {
                if let Some(known) = heard.get_mut(place as usize) {
                    known.1 = value;
                }
            }
        }
    }
    share.needs_whole(NeedsWhole::Contradiction);
    Err(Cancelled.into())
}
