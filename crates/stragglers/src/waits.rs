//! The waits of processes, of groups and in single operations.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use retime_causality::{Class, Place};
use retime_model::LocationIndex;

/// How often a process came last, and how long it waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessWaits {
    /// How often one of its locations took part.
    pub operations: u64,
    /// How often one of them came last,
    pub last: u64,
    /// and how often it certainly did.
    pub certainly_last: u64,
    /// The messages that it sent or got and of which is recorded since when they were awaited.
    pub messages: u64,
    /// The ticks that others waited until it came,
    pub waited_for: u64,
    /// of this, where it certainly came last,
    pub certainly_waited_for: u64,
    /// and when all other processes had come.
    pub waited_for_alone: u64,
    /// The longest that one other participant waited until it came, in one operation.
    pub waited_for_longest: u64,
    /// The ticks that it waited itself, for the last of operations and for messages. Of a location
    /// operations that go on beside each other are waited in at once, and no longer than it was
    /// recorded; where it is known when a device computed, it waited while that stood still.
    pub waited: u64,
    /// How long its locations that took part were recorded, together.
    pub recorded: u64,
    /// How long the one of them was recorded that was so longest.
    pub lasted: u64,
}

/// Waits of processes of which it is known when their devices computed. All times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenWaits {
    /// How long its device stood still in waits, each moment once; nothing where it is not known when
    /// that computed.
    pub stood_still: Option<u64>,
    /// How long others waited for it, as the last, while their devices computed.
    pub of_others: u64,
}

/// Operations of the same participants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWaits {
    /// Who takes part, in order of ranks.
    pub locations: Vec<LocationIndex>,
    /// The class of the operations, which says what they prove.
    pub class: Class,
    /// Operations.
    pub operations: u64,
    /// Operations in which it is certain who came last; none of those not judged.
    pub certain: u64,
    /// The ticks that were waited in them while nothing was computed, as far as that is known,
    pub waited: u64,
    /// and those that were waited beside computing.
    pub hidden: u64,
}

/// The last begin of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateBegin {
    /// The begin.
    pub last: Place,
    /// The last begin of another process.
    pub next: Place,
    /// The ticks by which it is later than the next.
    pub later: u64,
    /// The ticks by which it is later than any other whatever the bounds leave open, rounded down;
    /// `None` if they leave open who came last.
    pub beyond: Option<u64>,
    /// The ticks that all others waited until it came, together, while they computed nothing, as far as
    /// that is known,
    pub waited: u64,
    /// and of this, when all other processes had come.
    pub alone: u64,
    /// The longest that one of them waited, likewise.
    pub longest: u64,
    /// The ticks that others waited until it came while they computed.
    pub hidden: u64,
}

/// The key by which operations are sorted: of those that are as bad the first by who was last come
/// first, which is the same whoever has visited them.
pub(super) type Badness = (Reverse<u64>, Place);

impl LateBegin {
    pub(super) fn badness(&self) -> Badness {
        (Reverse(self.alone), self.last)
    }
}

impl ProcessWaits {
    pub(super) fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.last += other.last;
        self.certainly_last += other.certainly_last;
        self.messages += other.messages;
        self.waited_for_longest = self.waited_for_longest.max(other.waited_for_longest);
        self.lasted = self.lasted.max(other.lasted);
        for (own, its) in [
            (&mut self.waited_for, other.waited_for),
            (&mut self.certainly_waited_for, other.certainly_waited_for),
            (&mut self.waited_for_alone, other.waited_for_alone),
            (&mut self.waited, other.waited),
            (&mut self.recorded, other.recorded),
        ] {
            *own = own.saturating_add(its);
        }
    }

    /// Nobody waited longer for it than everybody was recorded.
    pub(super) fn limit_to(&mut self, all: u64) {
        for own in [
            &mut self.waited_for,
            &mut self.certainly_waited_for,
            &mut self.waited_for_alone,
            &mut self.waited_for_longest,
        ] {
            *own = (*own).min(all);
        }
    }

    /// True if others waited for it, or it for others, as far as that can be seen.
    pub fn takes_part(&self) -> bool {
        self.operations > 0 || self.messages > 0
    }

    /// The share of its time that it waited.
    pub fn share(&self) -> f64 {
        if self.recorded == 0 {
            return 0.0;
        }
        self.waited as f64 / self.recorded as f64
    }
}
