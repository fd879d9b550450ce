//! Evidence enough to say that nothing contradicts.
//!
//! No contradiction found is not the same as none looked for. What is recorded of
//! communication falls into records that dependencies rest on, ends of messages and
//! calls of collectives that could not be matched, and [kinds](Unused) that nothing
//! is concluded from. With `u` of the first and `m` of the others
//!
//! ```text
//!  u + m = 0          nothing is recorded: there is nothing to look at
//!  u = 0 < m          nothing of it could be used
//!  0 < u, a < m       a small part could be used: fewer than half
//!  a >= m             most of it could be used
//! ```
//!
//! Below one half, a dependency that the trace records was rather not looked at
//! than looked at, and "no contradiction" says more of retime than of the trace. What
//! relates only locations of one [family](families), a process with what it has made, says
//! nothing of how processes differ; so where some records are used, neither those of it
//! count that are not used nor, if there are several families, those that are: a thousand
//! locks of threads do not make up for ten lost messages. Nor is anything missed of what has
//! [no order](Unused::is_ordered) that could be looked at, as accesses to the memory of others.
//!
//! Which families there are follows from the description of the trace, not from its times: clocks that disagreed as recorded agree once they are
//! corrected, and that alone makes nothing more or less looked at.
//!
//! ```
//! use retime::causality::{Usage, Used};
//! use retime::pipeline::{Examined, UnusedKind, Verdict};
//!
//! let usage = Usage {
//!     message_ends: Used { recorded: 40, used: 30 },
//!     calls: Used { recorded: 0, used: 0 },
//!     maybe_dense: 0,
//! };
//! let kind = |records, within_clock| UnusedKind {
//!     kind: "lock event",
//!     records,
//!     within_clock,
//!     is_ordered: true,
//! };
//! let verdict = |unused| Examined { usage, used_within_clock: 0, unused }.verdict();
//! assert_eq!(verdict(vec![]), Verdict::MostUsed); // 30 against 10
//! assert_eq!(verdict(vec![kind(21, 0)]), Verdict::SmallPart); // 30 against 31
//! assert_eq!(verdict(vec![kind(900, 890)]), Verdict::MostUsed); // 30 against 20
//! let accesses = UnusedKind { is_ordered: false, ..kind(900, 0) };
//! assert_eq!(verdict(vec![accesses]), Verdict::MostUsed); // 30 against 10
//! ```

use retime_model::format::{Reach, Unused};
use retime_model::{Clocks, TraceInfo};
use serde::Serialize;

use retime_causality::{Causality, Usage, used_within};

/// How much of the communication that a trace records was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// Messages and collectives.
    #[serde(flatten)]
    pub usage: Usage,
    /// How many of the used records relate only locations of one [family](families), if
    /// there are several.
    pub used_within_clock: u64,
    /// Records of other kinds.
    pub unused: Vec<UnusedKind>,
}

/// A kind of records that nothing is concluded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UnusedKind {
    /// The name of one of them.
    pub kind: &'static str,
    /// How many there are.
    pub records: u64,
    /// How many of them relate only locations of one [family](families).
    pub within_clock: u64,
    /// True if they have [an order](Unused::is_ordered) with the events of others.
    pub is_ordered: bool,
}

/// The verdict on a trace in which no contradiction was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is recorded that could contradict.
    NothingRecorded,
    /// Something is, and none of it could be used.
    NothingUsed,
    /// Fewer than half of it could be used.
    SmallPart,
    /// Half of it or more was used.
    MostUsed,
}

/// The locations of each process and of what it has made.
pub fn families(info: &TraceInfo) -> Clocks {
    let locations = info.locations.iter();
    let owners: Vec<usize> = locations.map(|it| info.family(it.process)).collect();
    Clocks::from_owners(&owners).0
}

impl Examined {
    /// How much of the communication in a trace leads to dependencies, given what its format
    /// knows [of other kinds](retime_model::format::Trace::unused).
    pub fn new(info: &TraceInfo, causality: &Causality, unused: &[Unused]) -> Self {
        let families = families(info);
        let within = used_within(causality, &families);
        Self::told(&families, causality.usage(), within, unused)
    }

    pub(super) fn told(
        families: &Clocks,
        usage: Usage,
        used_within_clock: u64,
        unused: &[Unused],
    ) -> Self {
        let within = |reach: Reach| match reach {
            Reach::Trace => families.len() < 2,
            Reach::Process => true,
        };
        let kind = |of: &Unused| {
            let records = of.records.iter().sum();
            UnusedKind {
                kind: of.kind,
                records,
                within_clock: if within(of.reach) { records } else { 0 },
                is_ordered: of.is_ordered,
            }
        };
        Self {
            usage,
            used_within_clock,
            unused: unused.iter().map(kind).collect(),
        }
    }

    /// Records that dependencies rest on.
    pub fn used(&self) -> u64 {
        self.usage.message_ends.used + self.usage.calls.used
    }

    /// All records that tell of communication.
    pub fn recorded(&self) -> u64 {
        let others = self.unused.iter().map(|it| it.records);
        self.usage.message_ends.recorded + self.usage.calls.recorded + others.sum::<u64>()
    }

    /// Records that relate only locations of one clock, of kinds that are not used.
    pub fn within_clock(&self) -> u64 {
        self.unused.iter().map(|it| it.within_clock).sum()
    }

    /// Used records that can show that clocks disagree.
    pub fn telling(&self) -> u64 {
        self.used().saturating_sub(self.used_within_clock)
    }

    /// Records that are not used, and could show that clocks disagree.
    pub fn missed(&self) -> u64 {
        let ordered = self.unused.iter().filter(|it| it.is_ordered);
        let of_kinds: u64 = ordered.map(|it| it.records - it.within_clock).sum();
        self.usage.message_ends.unused() + self.usage.calls.unused() + of_kinds
    }

    /// The meaning of it that no contradiction was found.
    pub fn verdict(&self) -> Verdict {
        match self.used() {
            _ if self.recorded() == 0 => Verdict::NothingRecorded,
            0 => Verdict::NothingUsed,
            _ if self.telling() < self.missed() => Verdict::SmallPart,
            _ => Verdict::MostUsed,
        }
    }
}
