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
//! Ends of collective operations that another process hosts hear from it before which time
//! begins in other processes let them not lie ([`bounds_of_ends`]): what is told after a run
//! reaches the host, and at once what it comes to the guests.
//!
//! Chains that form a cycle would go on for ever: after [`MOST`] rounds the trace needs to
//! be in one process, which finds and names the cycle.
//!
//! Sources: Linford 2007, section 4 (parallel replay); the rounds are Jacobi's iteration
//! for an acyclic system (Bertsekas, Tsitsiklis: *Parallel and Distributed Computation*,
//! section 6.1).

use super::error::ClockError;
use super::guests::bounds_of_ends;
use super::times::{Jumped, LogicalTimes, UNKNOWN};
use crate::causality::{Causality, EventNode, Guests, Slot};
use crate::delay::MinimalDelay;
use crate::share::NeedsWhole;
use retime_model::{Cancelled, Monitor};

/// So many rounds are more than a clock takes that follows the others within a few
/// messages, and end soon enough where nothing is ever right.
const MOST: usize = 1_000;

/// What other processes have told so far.
#[derive(Default)]
pub(super) struct Heard {
    values: Column<EventNode>,
    bounds: Column<Slot>,
}

impl Heard {
    /// The values of borrowed nodes.
    pub(super) fn values(&self) -> impl Iterator<Item = (EventNode, i64)> {
        self.values.by_process.iter().flatten().copied()
    }

    /// The times before which own participants of operations that are hosted elsewhere
    /// cannot end for the sake of other processes.
    pub(super) fn bounds(&self) -> impl Iterator<Item = (Slot, i64)> {
        let all = self.bounds.by_process.iter().flatten().copied();
        all.filter(|it| it.1 != UNKNOWN)
    }
}

/// By process what it has told, in an order that both know.
struct Column<K> {
    by_process: Vec<Vec<(K, i64)>>,
}

impl<K> Default for Column<K> {
    fn default() -> Self {
        Self {
            by_process: Vec::new(),
        }
    }
}

impl<K: Copy> Column<K> {
    /// Takes up what has changed, and shows it.
    fn take_up(&mut self, news: Vec<Vec<(u32, i64)>>, mut show: impl FnMut(K, i64)) {
        for (known, news) in self.by_process.iter_mut().zip(news) {
            for (place, value) in news {
                if let Some(known) = known.get_mut(place as usize) {
                    known.1 = value;
                    show(known.0, value);
                }
            }
        }
    }
}

/// By process what it was told last.
struct Told(Vec<Vec<i64>>);

impl Told {
    /// What has changed, with its places.
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

/// Runs a clock, given what was heard, as often as there is something new to hear.
pub(super) fn in_rounds(
    causality: &Causality,
    delay: &MinimalDelay,
    monitor: &dyn Monitor,
    run: impl Fn(&Heard) -> Result<LogicalTimes, ClockError>,
) -> Result<LogicalTimes, ClockError> {
    let (nodes, share) = (causality.nodes(), causality.share());
    let Some(guests) = causality.collectives().guests() else {
        return run(&Heard::default());
    };
    let own_time = |node: EventNode| nodes.time(node).0;
    let (mut heard, mut told, mut told_bounds) = before(causality, guests);
    let own_times: Vec<i64> = nodes.all().map(own_time).collect();
    let tell_bounds = |told: &mut Told, heard: &mut Heard, values: &[i64]| {
        if !guests.are_any() {
            return Ok(false);
        }
        let bounds = bounds_of_ends(causality, delay, values, monitor)?;
        let news = told.news(guests.hosted(), |slot: Slot| bounds[slot.index()]);
        let heard_of = share.news(news);
        let is_news = heard_of.is_some();
        heard
            .bounds
            .take_up(heard_of.unwrap_or_default(), |_, _| ());
        Ok::<bool, Cancelled>(is_news)
    };
    tell_bounds(&mut told_bounds, &mut heard, &own_times)?;
    drop(own_times);
    for _ in 0..MOST {
        let found = run(&heard);
        if let Err(ClockError::Cancelled(cancelled)) = found {
            return Err(cancelled.into());
        }
        let found = share.one_cannot(found.ok(), NeedsWhole::Contradiction);
        let mut times = found.ok_or(Cancelled)?;
        let news = told.news(nodes.lent(), |node| times.get(node).0);
        let news = share.news(news);
        let is_news = news.is_some();
        let show = |node: EventNode, value| times.values[node.index()] = value;
        heard.values.take_up(news.unwrap_or_default(), show);
        let are_bounds_new = tell_bounds(&mut told_bounds, &mut heard, &times.values)?;
        share.check()?;
        if !is_news && !are_bounds_new {
            times.jumped = share.merged(times.jumped, Jumped::with);
            share.check()?;
            return Ok(times);
        }
    }
    share.needs_whole(NeedsWhole::Contradiction);
    Err(Cancelled.into())
}

/// Before anything is told, all take it that borrowed nodes are where their own clocks show
/// them.
fn before(causality: &Causality, guests: &Guests) -> (Heard, Told, Told) {
    let nodes = causality.nodes();
    let own_time = |node: EventNode| nodes.time(node).0;
    let (rank, size) = causality.share().place();
    let of = |from: usize| nodes.borrowed(from).filter(move |_| from != rank);
    let values = (0..size).map(|from| of(from).map(|it| (it, own_time(it))).collect());
    let bounds = { guests.away().iter() }.map(|it| it.iter().map(|&it| (it, UNKNOWN)).collect());
    let heard = Heard {
        values: Column {
            by_process: values.collect(),
        },
        bounds: Column {
            by_process: bounds.collect(),
        },
    };
    let told = |to: &Vec<EventNode>| to.iter().map(|&it| own_time(it)).collect();
    let told = Told(nodes.lent().iter().map(told).collect());
    let told_bounds = guests.hosted().iter().map(|it| vec![UNKNOWN; it.len()]);
    (heard, told, Told(told_bounds.collect()))
}
