//! How long an effect needs at least after its cause.
//!
//! `mu(s, r) >= 0` bounds every dependency from below: a message cannot arrive
//! sooner than the network allows. One value for the whole trace is the common
//! case; a line adds what bytes take, and a table gives either per pair of locations, or per
//! class of pairs.
//!
//! ```text
//! mu = latency + bytes / bandwidth
//! ```
//!
//! What is rounded is the sum: a latency comes in whole ticks, and part of a tick that bytes
//! take is none. A message whose length is not known, and what is no message, needs the
//! latency: a collective operation is carried out by messages of which nothing tells who sent
//! how much to whom, so bytes bound none of its ends.
//!
//! ```
//! use retime_causality::Length;
//! use retime_causality::{DelayByLength, MinimalDelay};
//! use retime_model::{LocationIndex, TickRate, Ticks};
//! let line = DelayByLength::new(Ticks(1_000), "2GB/s".parse()?, TickRate::NANOSECONDS);
//! let mu = MinimalDelay::ByLength(line);
//! let (from, to) = (LocationIndex(0), LocationIndex(1));
//! // 4 kB take 2 us besides the latency of 1 us.
//! assert_eq!(mu.of_message(from, to, Length::of(4_000)), Ticks(3_000));
//! assert_eq!(mu.of_message(from, to, Length::UNKNOWN), Ticks(1_000));
//! assert_eq!(mu.between(from, to), Ticks(1_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 2000, section 4.2, (4.5): `mu` by pair; section 5.1: by the length of
//! messages.

use rustc_hash::FxHashMap;

use retime_model::{Bandwidth, Length, LocationIndex, TickRate, Ticks, TraceInfo};

/// The minimal delay of each dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MinimalDelay {
    /// One delay for all dependencies.
    Uniform(Ticks),
    /// One line for all dependencies.
    ByLength(DelayByLength),
    /// One entry per pair of locations.
    PerPair(DelayTable),
}

impl MinimalDelay {
    /// The delay of a dependency from an event of `from` to one of `to`, whatever its length.
    #[inline]
    pub fn between(&self, from: LocationIndex, to: LocationIndex) -> Ticks {
        match self {
            Self::Uniform(delay) => *delay,
            Self::ByLength(line) => line.latency,
            Self::PerPair(table) => table.between(from, to),
        }
    }

    /// The delay of a message of that length.
    #[inline]
    pub fn of_message(&self, from: LocationIndex, to: LocationIndex, length: Length) -> Ticks {
        match self {
            Self::Uniform(delay) => *delay,
            Self::ByLength(line) => line.of(length),
            Self::PerPair(table) => table.entry(from, to).of(length),
        }
    }

    /// The delay of what has no length, if it is the same for all pairs of locations.
    #[inline]
    pub const fn of_any_pair(&self) -> Option<Ticks> {
        match self {
            Self::Uniform(delay) => Some(*delay),
            Self::ByLength(line) => Some(line.latency),
            Self::PerPair(_) => None,
        }
    }

    /// True if it depends on the lengths of messages.
    pub fn is_by_length(&self) -> bool {
        match self {
            Self::Uniform(_) => false,
            Self::ByLength(line) => line.bandwidth().is_some(),
            Self::PerPair(table) => table.entries().any(|it| it.bandwidth().is_some()),
        }
    }

    /// Smallest and largest latency.
    pub fn range(&self) -> (Ticks, Ticks) {
        match self {
            Self::Uniform(delay) => (*delay, *delay),
            Self::ByLength(line) => (line.latency, line.latency),
            Self::PerPair(table) => table.range().unwrap_or_default(),
        }
    }

    /// Smallest and largest bandwidth, if it has any.
    pub fn bandwidths(&self) -> Option<(Bandwidth, Bandwidth)> {
        let all: Vec<Bandwidth> = match self {
            Self::Uniform(_) => Vec::new(),
            Self::ByLength(line) => line.bandwidth().into_iter().collect(),
            Self::PerPair(table) => table
                .entries()
                .filter_map(DelayByLength::bandwidth)
                .collect(),
        };
        all.iter().min().copied().zip(all.iter().max().copied())
    }

    /// These delays, each longer by a margin.
    #[must_use]
    pub fn with_margin(&self, margin: Ticks) -> Self {
        match self {
            Self::Uniform(delay) => Self::Uniform(Ticks(delay.0.saturating_add(margin.0))),
            Self::ByLength(line) => Self::ByLength(line.with_margin(margin)),
            Self::PerPair(table) => Self::PerPair(table.with_margin(margin)),
        }
    }

    /// These delays for the [mirrored](crate::Causality::mirrored) trace.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        match self {
            Self::PerPair(table) => Self::PerPair(DelayTable {
                mirrored: !table.mirrored,
                ..table.clone()
            }),
            for_all => for_all.clone(),
        }
    }
}

/// A delay that grows with the length of messages, along a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayByLength {
    /// The ticks that every dependency needs,
    pub latency: Ticks,
    /// and those that bytes need besides, in ticks of this rate.
    transfer: Option<(Bandwidth, TickRate)>,
}

impl DelayByLength {
    /// A latency, and a bandwidth, in a trace of so many ticks per second.
    pub const fn new(latency: Ticks, bandwidth: Bandwidth, rate: TickRate) -> Self {
        Self {
            latency,
            transfer: Some((bandwidth, rate)),
        }
    }

    /// This line, higher by a margin.
    fn with_margin(self, margin: Ticks) -> Self {
        Self {
            latency: Ticks(self.latency.0.saturating_add(margin.0)),
            ..self
        }
    }

    /// The delay of a message of that length.
    #[inline]
    pub fn of(&self, length: Length) -> Ticks {
        let bytes = self.transfer.map(|(it, rate)| it.ticks(length, rate));
        Ticks(self.latency.0.saturating_add(bytes.unwrap_or_default().0))
    }

    /// The bandwidth, if bytes count.
    pub fn bandwidth(&self) -> Option<Bandwidth> {
        self.transfer.map(|it| it.0)
    }
}

impl From<Ticks> for DelayByLength {
    fn from(latency: Ticks) -> Self {
        Self {
            latency,
            transfer: None,
        }
    }
}

/// A class of pairs of locations, by the place that both share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PairClass {
    /// They are threads of one process.
    WithinProcess,
    /// Their processes are on one node.
    WithinNode,
    /// Their processes are on different nodes.
    BetweenNodes,
}

/// Delays by pair of locations; the more specific entry wins.
///
/// ```
/// use retime_causality::{DelayTable, PairClass};
/// use retime_model::{LocationIndex, Ticks};
/// let trace = retime_testing::trace("0 on 0:\n1 on 0:\n2 on 1:")?;
/// let mut table = DelayTable::of(&trace.info);
/// table.set(None, None, Ticks(5));
/// table.set_class(PairClass::BetweenNodes, Ticks(6));
/// table.set(Some(LocationIndex(0)), None, Ticks(7));
/// table.set(Some(LocationIndex(0)), Some(LocationIndex(2)), Ticks(9));
/// let between = |from, to| table.between(LocationIndex(from), LocationIndex(to)).0;
/// assert_eq!((between(1, 0), between(1, 2), between(0, 1), between(0, 2)), (5, 6, 7, 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayTable {
    entries: FxHashMap<(Option<LocationIndex>, Option<LocationIndex>), DelayByLength>,
    classes: FxHashMap<PairClass, DelayByLength>,
    /// The process of each location, and the node of that.
    homes: Vec<(usize, Option<usize>)>,
    /// For a mirrored trace, in which effects are causes.
    mirrored: bool,
}

impl DelayTable {
    /// Without entries, for the locations of a trace.
    pub fn of(info: &TraceInfo) -> Self {
        let home = |process: usize| (process, info.processes.get(process).and_then(|it| it.node));
        Self {
            homes: info.locations.iter().map(|it| home(it.process)).collect(),
            ..Self::default()
        }
    }

    /// This table, with entries longer by a margin, which pairs without an entry need, too.
    fn with_margin(&self, margin: Ticks) -> Self {
        let mut longer = self.clone();
        longer.entries.entry((None, None)).or_default();
        let all = longer
            .entries
            .values_mut()
            .chain(longer.classes.values_mut());
        all.for_each(|it| *it = it.with_margin(margin));
        longer
    }

    /// Sets the delay from one location to another; `None` means any.
    pub fn set(
        &mut self,
        from: Option<LocationIndex>,
        to: Option<LocationIndex>,
        delay: impl Into<DelayByLength>,
    ) {
        self.entries.insert((from, to), delay.into());
    }

    /// Sets the delay of all pairs of a class.
    pub fn set_class(&mut self, class: PairClass, delay: impl Into<DelayByLength>) {
        self.classes.insert(class, delay.into());
    }

    /// The delay of a pair: its own entry, else that of its source, else that
    /// of its destination, else that of its class, else the general one, else 0.
    pub fn between(&self, from: LocationIndex, to: LocationIndex) -> Ticks {
        self.entry(from, to).latency
    }

    /// The entry that [`Self::between`] takes.
    pub fn entry(&self, from: LocationIndex, to: LocationIndex) -> DelayByLength {
        let (from, to) = if self.mirrored {
            (to, from)
        } else {
            (from, to)
        };
        let own = [(Some(from), Some(to)), (Some(from), None), (None, Some(to))];
        let own = own.iter().find_map(|key| self.entries.get(key));
        let class = || self.classes.get(&self.class(from, to)?);
        let found = own.or_else(class);
        let found = found.or_else(|| self.entries.get(&(None, None)));
        found.copied().unwrap_or_default()
    }

    /// The class of two locations; `None` if nothing tells.
    fn class(&self, from: LocationIndex, to: LocationIndex) -> Option<PairClass> {
        // Most tables have none, and then nobody needs to know.
        if self.classes.is_empty() {
            return None;
        }
        let home = |it: LocationIndex| self.homes.get(it.as_usize());
        let (from, to) = (home(from)?, home(to)?);
        if from.0 == to.0 {
            return Some(PairClass::WithinProcess);
        }
        Some(if from.1? == to.1? {
            PairClass::WithinNode
        } else {
            PairClass::BetweenNodes
        })
    }

    /// Its entries, in no order.
    fn entries(&self) -> impl Iterator<Item = &DelayByLength> {
        self.entries.values().chain(self.classes.values())
    }

    /// The pairs that have an entry of their own, rising.
    pub fn pairs(&self) -> Vec<(Option<LocationIndex>, Option<LocationIndex>, DelayByLength)> {
        let all = self.entries.iter();
        let mut all: Vec<_> = all.map(|(&(from, to), &delay)| (from, to, delay)).collect();
        all.sort_unstable_by_key(|it| (it.0, it.1));
        all
    }

    /// The delay of a class, if it has an entry.
    pub fn of_class(&self, class: PairClass) -> Option<DelayByLength> {
        self.classes.get(&class).copied()
    }

    /// Smallest and largest latency given; `None` without entries.
    pub fn range(&self) -> Option<(Ticks, Ticks)> {
        let all = || self.entries().map(|it| it.latency);
        all().min().zip(all().max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_asked_of_all() {
        let [own, others] = [1, 2].map(|it| (LocationIndex(0), LocationIndex(it)));
        let mut table = DelayTable::default();
        table.set(Some(own.0), Some(own.1), Ticks(10));
        for (delay, own_needs, others_need) in [
            (MinimalDelay::Uniform(Ticks(7)), 10, 10),
            (MinimalDelay::ByLength(Ticks(8).into()), 11, 11),
            (MinimalDelay::PerPair(table), 13, 3),
        ] {
            let delay = delay.with_margin(Ticks(3));
            assert_eq!(delay.between(own.0, own.1), Ticks(own_needs));
            assert_eq!(delay.between(others.0, others.1), Ticks(others_need));
        }
    }
}
