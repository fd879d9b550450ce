//! In which call each message was sent or received.
//!
//! A message is waited for from the entry of the call that receives it, not from its
//! receipt. So of every node the time since its call was entered is kept, and until it
//! was left, as single-precision ticks: 16 bytes a node, exact to seven digits. What is in
//! no call has no such times, which is NaN.
//!
//! A location that returns from a call within that call (a function called by `main`, say)
//! was busy there: the call counts as entered only when that one was left.

use retime::causality::EventNode;

use crate::call::{Moment, Open};

/// In no call.
const NONE: Around = Around {
    since: [f32::NAN; 2],
    until: [f32::NAN; 2],
};

/// The call around a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Around {
    /// Since it was entered, or since the last call within it was left; by recorded and by
    /// corrected times.
    pub(crate) since: [f32; 2],
    /// Until it is left; zero for an event that leaves it.
    pub(crate) until: [f32; 2],
}

impl Around {
    /// True if the event itself leaves the call.
    pub(crate) fn is_left_by_it(self) -> bool {
        self.until.iter().all(|&it| it <= 0.0)
    }
}

/// The nodes of a location, while its events are read.
#[derive(Default)]
pub(crate) struct LocationCalls {
    /// The event numbers of its nodes.
    events: Vec<u32>,
    around: Vec<Around>,
    /// Nodes in calls that are not left yet: how deep, which, and when.
    open: Vec<(usize, usize, Moment)>,
    /// When a call was left last.
    last_left: Option<Moment>,
}

impl LocationCalls {
    pub(crate) fn new(events: &[u32]) -> Self {
        Self {
            events: events.to_vec(),
            around: Vec::with_capacity(events.len()),
            open: Vec::new(),
            last_left: None,
        }
    }

    /// Takes up an event that happens in the innermost of these calls.
    pub(crate) fn event(&mut self, event: u64, at: Moment, stack: &[Open]) {
        let node = self.around.len();
        if self.events.get(node).map(|&it| u64::from(it)) != Some(event) {
            return;
        }
        let around = stack.last().map(|it| {
            let within = self
                .last_left
                .filter(|left| left.recorded > it.begin.recorded);
            let begin = within.unwrap_or(it.begin);
            let since = [
                at.recorded - begin.recorded,
                at.corrected() - begin.corrected(),
            ];
            Around {
                since: since.map(|it| it as f32),
                until: [0.0; 2],
            }
        });
        self.around.push(around.unwrap_or(NONE));
        if around.is_some() {
            self.open.push((stack.len(), node, at));
        }
    }

    /// The call in `depth` others is left.
    pub(crate) fn left(&mut self, depth: usize, end: Moment) {
        self.last_left = Some(end);
        while let Some(&(of, node, at)) = self.open.last()
            && of > depth
        {
            self.open.pop();
            if let Some(around) = self.around.get_mut(node) {
                let until = [end.recorded - at.recorded, end.corrected() - at.corrected()];
                around.until = until.map(|it| it as f32);
            }
        }
    }
}

/// The calls around all nodes.
pub(crate) struct Calls(Vec<Around>);

impl Calls {
    /// The calls of all locations, in order: so nodes are numbered.
    pub(crate) fn join(locations: impl Iterator<Item = LocationCalls>) -> Self {
        let mut all = Vec::new();
        // Each is given back before the next is taken over.
        for LocationCalls { events, around, .. } in locations {
            let missing = events.len().saturating_sub(around.len());
            all.extend(around);
            all.extend(std::iter::repeat_n(NONE, missing));
        }
        Self(all)
    }

    pub(crate) fn around(&self, node: EventNode) -> Option<Around> {
        let around = self.0.get(node.index()).copied();
        around.filter(|it| !it.since[0].is_nan())
    }
}
