//! Values that follow from each other across processes.
//!
//! The parallel replay of the sources sends the clock's value along with each message of
//! the program, and waits for it at each receive: processes go through the trace in lock
//! step, and every dependency between them costs a message. But most dependencies change
//! nothing. So each process first takes it that ghosts are where they were recorded, runs
//! all of its clocks to their end, and tells the others which of the events of which they
//! have ghosts came to lie elsewhere than they know. Who hears something new runs again:
//!
//! ```text
//!  x_0 = recorded values of ghosts,   x_(k+1) = what their processes compute with x_k
//! ```
//!
//! until nobody hears anything new. Then all values fit together, and since what follows
//! from what has no cycles they are those of one process: a node that depends on others by
//! chains which change processes at most `k` times has its value for good after round
//! `k + 1`. Mostly it takes as many rounds as there are processes between the fastest
//! clock and the slowest, whatever the length of the trace, with one message to each other
//! process in each round.
//!
//! Ends of collective operations that another process owns hear from it before which time
//! begins in other processes let them not lie: what is told after a run reaches the owner, and
//! at once what it comes to the others.
//!
//! Chains that form a cycle would go on for ever: after [`MOST`] rounds the trace needs to
//! be in one process, which finds and names the cycle.
//!
//! Sources: Linford 2007, section 4 (parallel replay); the rounds are Jacobi's iteration
//! for an acyclic system (Bertsekas, Tsitsiklis: *Parallel and Distributed Computation*,
//! section 6.1).

use retime::causality::{EventNode, Ghosts, Iteration, NO_BOUND, NeedsWhole, Slot};
use retime_model::Cancelled;

use crate::part::Part;

/// So many rounds are more than a clock takes that follows the others within a few
/// messages, and end soon enough where nothing is ever right.
const MOST: usize = 1_000;

/// The values that each process was told last.
struct Told(Vec<Vec<i64>>);

impl Told {
    /// The values that have changed, with their places.
    fn news<K: Copy>(&mut self, of: &[Vec<K>], now: impl Fn(K) -> i64) -> Vec<Vec<(u32, i64)>> {
        let told = self.0.iter_mut().zip(of);
        let news = told.map(|(told, of)| {
            let places = (0..).zip(told).zip(of);
            let changed = places.filter_map(|((place, told), &of)| {
                let value = now(of);
                (std::mem::replace(told, value) != value).then_some((place, value))
            });
            changed.collect()
        });
        news.collect()
    }
}

/// Takes up what other processes have told of what lies in `known` process by process, so many
/// of each, and shows it.
fn take_up<K: Copy>(
    known: &mut [(K, i64)],
    counts: &[Vec<K>],
    news: Vec<Vec<(u32, i64)>>,
    mut show: impl FnMut(K, i64),
) {
    let mut rest = known;
    for (of, news) in counts.iter().zip(news) {
        let (own, others) = rest.split_at_mut(of.len());
        for (place, value) in news {
            if let Some(known) = own.get_mut(place as usize) {
                known.1 = value;
                show(known.0, value);
            }
        }
        rest = others;
    }
}

/// An iteration, as one process takes part in it.
struct Rounds<'a> {
    part: &'a Part,
    ghosts: Ghosts,
    told: Told,
    told_bounds: Told,
}

/// Runs what is to be computed as often as there is something new to hear.
pub(crate) fn iterate(part: &Part, it: &mut dyn Iteration) -> Result<(), Cancelled> {
    let mut rounds = Rounds::new(part, &it.recorded());
    rounds.tell_bounds(it)?;
    for _ in 0..MOST {
        let is_found = it.compute(&rounds.ghosts)?;
        if !part.distribution.all(is_found) {
            part.distribution.needs_whole(NeedsWhole::Contradiction);
            return Err(Cancelled);
        }
        let is_news = rounds.tell_values(it);
        let are_bounds_new = rounds.tell_bounds(it)?;
        part.distribution.check()?;
        if !is_news && !are_bounds_new {
            return Ok(());
        }
    }
    part.distribution.needs_whole(NeedsWhole::Contradiction);
    Err(Cancelled)
}

impl<'a> Rounds<'a> {
    /// Before anything is told, all take it that ghosts are where they were recorded.
    fn new(part: &'a Part, recorded: &[i64]) -> Self {
        let value = |it: &EventNode| recorded[it.index()];
        let told = part.sent.iter().map(|to| to.iter().map(value).collect());
        let told_bounds = part.owned.iter().map(|it| vec![NO_BOUND; it.len()]);
        let values = part.ghosts.iter().flatten().map(|it| (*it, value(it)));
        let bounds = part.away.iter().flatten().map(|it| (*it, NO_BOUND));
        Self {
            part,
            ghosts: Ghosts {
                values: values.collect(),
                bounds: bounds.collect(),
            },
            told: Told(told.collect()),
            told_bounds: Told(told_bounds.collect()),
        }
    }

    /// Exchanges values of ghosts; true if any process had news.
    fn tell_values(&mut self, it: &mut dyn Iteration) -> bool {
        let values = it.values();
        let news = self.told.news(&self.part.sent, |node| values[node.index()]);
        let news = self.part.distribution.news(news);
        let is_news = news.is_some();
        let show = |node: EventNode, value| values[node.index()] = value;
        let known = &mut self.ghosts.values;
        take_up(known, &self.part.ghosts, news.unwrap_or_default(), show);
        is_news
    }

    /// Exchanges bounds of ends, if operations have owners; true if any process had news.
    fn tell_bounds(&mut self, it: &dyn Iteration) -> Result<bool, Cancelled> {
        if !self.part.joins_apart {
            return Ok(false);
        }
        let bounds = it.bounds()?;
        let now = |slot: Slot| bounds[slot.index()];
        let news = self.told_bounds.news(&self.part.owned, now);
        let news = self.part.distribution.news(news);
        let is_news = news.is_some();
        let known = &mut self.ghosts.bounds;
        take_up(known, &self.part.away, news.unwrap_or_default(), |_, _| ());
        Ok(is_news)
    }
}
