//! Values of ghosts that are guessed, where hardly any event moves.
//!
//! A pass waits for each value that crosses between processes. Where clocks are aligned, most
//! dependencies change nothing, so that it need not: each process takes it that ghosts are where
//! they were recorded, runs all of its clocks to their end, and tells the others which of the
//! events of which they have ghosts came to lie elsewhere than they took them to be. With
//! that all run again:
//!
//! ```text
//!  x_0 = recorded values of ghosts,   x_(k+1) = what their processes compute with x_k
//! ```
//!
//! If nobody hears anything new, all values fit together, and since what follows from what has no
//! cycles they are those of one process: a node that depends on others by chains which
//! change processes at most `k` times has its value for good after round `k + 1`. A round takes
//! a message to each process for which there is news, whatever the length of the trace. If it
//! does not come to an end soon, what was guessed is forgotten, and a [pass](crate::replay)
//! follows.
//!
//! Source: Jacobi's iteration for an acyclic system (Bertsekas, Tsitsiklis: *Parallel and
//! Distributed Computation*, section 6.1).

use retime::causality::{EventNode, Ghosts, Progress, Replay, Slot, Stage};
use retime::merge::{All, Any};
use retime_model::Cancelled;

use crate::batch::Batch;
use crate::part::Part;

/// Guesses so many times at most; true if the last guess was right.
pub(crate) fn settles(
    part: &Part,
    replay: &mut dyn Replay,
    guesses: u32,
) -> Result<bool, Cancelled> {
    let mut guess = Guess::new(part);
    for _ in 0..guesses {
        let is_computed = guess.compute(replay)?;
        let news = guess.news();
        let is_news = news.iter().any(|it| !it.is_empty());
        let found = (All(is_computed), Any(is_news));
        let (All(are_computed), Any(is_news)) = part.distribution.all_reduce(found);
        part.distribution.check()?;
        if !is_news && are_computed {
            return Ok(true);
        }
        replay.restart();
        if !are_computed {
            break;
        }
        guess.exchange(news);
        part.distribution.check()?;
    }
    Ok(false)
}

/// Values that this process takes ghosts to have, and has told others of its own events.
struct Guess<'a> {
    part: &'a Part,
    /// Guesses of all ghosts, and of all ends that others own, process by process.
    ghosts: Ghosts,
    /// Per node, and per slot below: the value that was computed last.
    leads: Vec<i64>,
    bounds: Vec<Option<i64>>,
    /// Per process: the values that it was told last.
    told_leads: Vec<Vec<i64>>,
    told_bounds: Vec<Vec<Option<i64>>>,
}

impl<'a> Guess<'a> {
    /// All events are where they were recorded.
    fn new(part: &'a Part) -> Self {
        let nodes = part.sent.iter().flatten().map(|it: &EventNode| it.index());
        let slots = part.owned.iter().flatten().map(|it: &Slot| it.index());
        Self {
            part,
            ghosts: Ghosts {
                leads: part.ghosts.iter().flatten().map(|it| (*it, 0)).collect(),
                bounds: part.away.iter().flatten().map(|it| (*it, None)).collect(),
            },
            leads: vec![0; nodes.max().map_or(0, |it| it + 1)],
            bounds: vec![None; slots.max().map_or(0, |it| it + 1)],
            told_leads: part.sent.iter().map(|it| vec![0; it.len()]).collect(),
            told_bounds: part.owned.iter().map(|it| vec![None; it.len()]).collect(),
        }
    }

    /// Runs all clocks with what is guessed; false if some of them wait all the same.
    fn compute(&mut self, replay: &mut dyn Replay) -> Result<bool, Cancelled> {
        let mut stage = self.note(replay.advance(&self.ghosts)?);
        while stage == Stage::Runs {
            stage = self.note(replay.advance(&Ghosts::default())?);
        }
        Ok(stage == Stage::Done)
    }

    fn note(&mut self, progress: Progress<'_>) -> Stage {
        for told in progress.events {
            if let Some(lead) = self.leads.get_mut(told.node.index()) {
                *lead = told.lead;
            }
        }
        for (slot, bound) in progress.bounds {
            if let Some(known) = self.bounds.get_mut(slot.index()) {
                *known = *bound;
            }
        }
        progress.stage
    }

    /// For each process what has changed since it was told last.
    fn news(&mut self) -> Vec<Batch> {
        let Self {
            part,
            leads,
            bounds,
            told_leads,
            told_bounds,
            ..
        } = self;
        let new_leads = told_leads.iter_mut().zip(&part.sent);
        let new_leads = new_leads.map(|(told, of)| changed(told, of, |it| leads[it.index()]));
        let new_bounds = told_bounds.iter_mut().zip(&part.owned);
        let new_bounds = new_bounds.map(|(told, of)| changed(told, of, |it| bounds[it.index()]));
        let both = new_leads.zip(new_bounds);
        both.map(|(leads, bounds)| Batch { leads, bounds })
            .collect()
    }

    /// Tells others what is new for them, and takes up what they have.
    fn exchange(&mut self, news: Vec<Batch>) {
        let packed = |it: Batch| Vec::from_iter((!it.is_empty()).then(|| it.packed()));
        let news = news.into_iter().map(packed).collect();
        let heard = self.part.distribution.all_to_all(news);
        let (mut leads, mut bounds) = (&mut self.ghosts.leads[..], &mut self.ghosts.bounds[..]);
        let lists = self.part.ghosts.iter().zip(&self.part.away);
        for ((ghosts, away), heard) in lists.zip(heard) {
            let (own_leads, other_leads) = leads.split_at_mut(ghosts.len());
            let (own_bounds, other_bounds) = bounds.split_at_mut(away.len());
            for batch in heard.into_iter().map(Batch::unpacked) {
                take_up(own_leads, batch.leads);
                take_up(own_bounds, batch.bounds);
            }
            (leads, bounds) = (other_leads, other_bounds);
        }
    }
}

/// The values that have changed, with their places.
fn changed<K, T: Copy + PartialEq>(
    told: &mut [T],
    of: &[K],
    now: impl Fn(&K) -> T,
) -> Vec<(u32, T)> {
    let places = (0..).zip(told).zip(of);
    let changed = places.filter_map(|((place, told), of)| {
        let value = now(of);
        (std::mem::replace(told, value) != value).then_some((place, value))
    });
    changed.collect()
}

fn take_up<K, T>(known: &mut [(K, T)], news: Vec<(u32, T)>) {
    for (place, value) in news {
        if let Some(known) = known.get_mut(place as usize) {
            known.1 = value;
        }
    }
}
