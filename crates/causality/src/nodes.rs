//! All events with a role of a trace, as columns.
//!
//! A *node* is an event that takes part in happened-before: it sends, receives,
//! or begins or ends a collective. Only nodes are visited by the algorithms.
//! They are numbered location by location, each location's in recorded order,
//! so that an [`EventNode`] says everything by three array look-ups.
//!
//! Where only a [part](crate::Whole) of a trace is here, there are ghosts: nodes of locations
//! that other parts have, as far as they are causes or effects of own ones, or belong to
//! collective operations that are joined here. They have numbers like all others, but are not
//! visited [by location](Nodes::of).

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::all_columns::AllColumns;
use crate::error::{CausalityError, RetimingError};
use crate::ids::{EventNode, Ids};
use crate::whole::{NeedsWhole, Whole};
use retime_model::Monitor;
use retime_model::pace::Pace;
use retime_model::{
    Correction, LocationIndex, LogColumns, LogNode, Place, Role, Ticks, Timestamp, TraceInfo,
    plural,
};

/// Stamps may span this many ticks at most, so that differences of corrected
/// stamps fit an `i64` with room to spare.
const MAX_SPAN: u64 = 1 << 61;

/// Nodes per entry of the table that says where to look for a node's location.
const BLOCK: usize = 256;

/// First and last stamp of a location and its number of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Smallest stamp.
    pub first: Timestamp,
    /// Largest stamp.
    pub last: Timestamp,
}

/// The columns.
#[derive(Clone, Debug)]
pub struct Nodes {
    times: Vec<Timestamp>,
    /// Shared with the same trace at other times.
    events: Arc<Vec<u32>>,
    roles: Arc<Vec<Role>>,
    /// True for events that only lie between those that take part; `None` where these are no
    /// nodes.
    between: Option<Arc<Vec<bool>>>,
    /// Nodes of location `l` are `first[l]..first[l + 1]`.
    first: Vec<EventNode>,
    /// Whose nodes are all here, and are to be visited.
    whole: Whole,
    /// How many nodes each location has where all of them are.
    counts: Arc<Vec<u32>>,
    /// Location of the first node of each [`BLOCK`], and of the last node.
    blocks: Vec<LocationIndex>,
    extents: Vec<Option<Extent>>,
    event_counts: Vec<u64>,
    base: u64,
    /// The largest stamp, if there are events.
    last: Option<Timestamp>,
}

impl Nodes {
    /// Moves the columns out of `logs`, one location after the other.
    pub(super) fn gather(
        info: &TraceInfo,
        logs: &mut [LogColumns],
        counts: Vec<u32>,
        whole: Whole,
    ) -> Result<Self, CausalityError> {
        let lengths: Vec<usize> = logs.iter().map(|log| log.times.len()).collect();
        let total: usize = lengths.iter().sum();
        // One number stands for none.
        if total >= u32::MAX as usize {
            return Err(CausalityError::TooManyNodes {
                nodes: total as u64,
            });
        }
        let times = taken(logs, |log| &mut log.times);
        let events = taken(logs, |log| &mut log.numbers);
        let roles = taken(logs, |log| &mut log.roles);
        // Half of the bytes are times.
        let (times, (events, roles)) = rayon::join(
            || joined(times, total),
            || (joined(events, total), joined(roles, total)),
        );
        let mut nodes = Self {
            times,
            events: Arc::new(events),
            roles: Arc::new(roles),
            between: None,
            first: vec![EventNode(0)],
            counts: Arc::new(counts),
            whole,
            blocks: Vec::new(),
            extents: Vec::new(),
            event_counts: Vec::new(),
            base: 0,
            last: None,
        };
        let mut end = 0;
        for (log, length) in logs.iter().zip(lengths) {
            end += length as u32;
            nodes.first.push(EventNode(end));
            let extent = |(first, last)| Extent { first, last };
            nodes.extents.push(log.range.map(extent));
            nodes.event_counts.push(log.events);
        }
        nodes.blocks = nodes.locations_of_blocks();
        if let Err((first, last)) = nodes.fix_base() {
            let apart = nodes.apart(info);
            return Err(CausalityError::SpanTooLarge { first, last, apart });
        }
        Ok(nodes)
    }

    fn locations_of_blocks(&self) -> Vec<LocationIndex> {
        let starts = self.all().step_by(BLOCK);
        let nodes = starts.chain(self.all().next_back());
        nodes
            .map(|node| self.search(node, 0, self.locations()))
            .collect()
    }

    /// The location of `node`, one of `from..to`.
    fn search(&self, node: EventNode, from: usize, to: usize) -> LocationIndex {
        let ends = &self.first[from + 1..to];
        LocationIndex((from + ends.partition_point(|&end| end <= node)) as u32)
    }

    /// Fails with the first and the last stamp if they lie too far apart.
    fn fix_base(&mut self) -> Result<(), (Timestamp, Timestamp)> {
        let first = self
            .extents
            .iter()
            .flatten()
            .map(|extent| extent.first)
            .min();
        let last = self
            .extents
            .iter()
            .flatten()
            .map(|extent| extent.last)
            .max();
        if let (Some(first), Some(last)) = (first, last) {
            if last.0.saturating_sub(first.0) > MAX_SPAN {
                return Err((first, last));
            }
            self.base = first.0;
        }
        self.last = last;
        Ok(())
    }

    /// The stamps that lie apart, in words: those that are further than half of the span that there
    /// may be from where the location in the middle begins. If there were none, all would be
    /// near enough to each other.
    fn apart(&self, info: &TraceInfo) -> String {
        let extents = (0..).map(LocationIndex).zip(&self.extents);
        let extents = extents.filter_map(|(at, extent)| Some((at, (*extent)?)));
        let mut firsts: Vec<Timestamp> = extents.clone().map(|it| it.1.first).collect();
        firsts.sort_unstable();
        let middle = firsts.get(firsts.len() / 2).copied().unwrap_or_default();
        let is_apart = |stamp: Timestamp| stamp.0.abs_diff(middle.0) > MAX_SPAN / 2;
        let mut apart = extents.filter(|it| is_apart(it.1.first) || is_apart(it.1.last));
        let Some((location, extent)) = apart.next() else {
            return String::new();
        };
        let mut own = self.span(location.as_usize()).range();
        let known = own.find(|&it| self.times.get(it).is_some_and(|it| is_apart(*it)));
        let from = match known.and_then(|it| self.events.get(it)) {
            _ if is_apart(extent.first) => "from its first event on".into(),
            Some(event) => format!("from event {event} on at the latest"),
            None => "at its end".into(),
        };
        let others = match apart.count() as u64 {
            0 => String::new(),
            1 => ", and so does 1 other location".into(),
            others => format!(", and so do {}", plural(others, "other location")),
        };
        format!("{} lies apart {from}{others}", info.describe(location))
    }

    /// The columns of the mirrored trace.
    pub(super) fn mirrored(&self) -> Self {
        // The sum of smallest and largest stamp stays the same, so none overflows.
        let mirror = |stamp: Timestamp| self.mirror_time(stamp).unwrap_or(stamp);
        let mut mirrored = Self {
            times: Vec::with_capacity(self.len()),
            ..self.clone_without_times()
        };
        let mut events = Vec::with_capacity(self.len());
        let mut roles = Vec::with_capacity(self.len());
        let mut between = self.between.as_ref().map(|it| Vec::with_capacity(it.len()));
        for location in 0..self.locations() {
            let range = self.span(location).range();
            let last = self.event_counts[location].saturating_sub(1) as u32;
            mirrored.times.extend(
                self.times[range.clone()]
                    .iter()
                    .rev()
                    .map(|&time| mirror(time)),
            );
            events.extend(
                self.events[range.clone()]
                    .iter()
                    .rev()
                    .map(|event| last - event),
            );
            if let (Some(mirrored), Some(all)) = (&mut between, &self.between) {
                mirrored.extend(all[range.clone()].iter().rev());
            }
            roles.extend(self.roles[range].iter().rev().map(|role| role.mirrored()));
            let extent = self.extents[location];
            mirrored.extents.push(extent.map(|extent| Extent {
                first: mirror(extent.last),
                last: mirror(extent.first),
            }));
        }
        (mirrored.events, mirrored.roles) = (Arc::new(events), Arc::new(roles));
        mirrored.between = between.map(Arc::new);
        mirrored
    }

    /// These nodes at the times that `correction` gives them.
    pub(super) fn retimed(
        &self,
        correction: &Correction,
        monitor: &dyn Monitor,
    ) -> Result<Self, RetimingError> {
        let mut times = vec![Timestamp(0); self.len()];
        let mut rest = &mut times[..];
        let mut columns = Vec::with_capacity(self.locations());
        for location in 0..self.locations() {
            let (own, others) = rest.split_at_mut(self.span(location).len());
            columns.push((location, own));
            rest = others;
        }
        let retime = |(location, times): (usize, &mut [Timestamp])| {
            if !self.whole.has(location) {
                return Ok(None);
            }
            let mut pace = Pace::of(monitor);
            let index = LocationIndex(location as u32);
            let mut events = correction.events(index);
            for (node, time) in self.span(location).zip(times) {
                pace.event()?;
                let corrected = events.at(self.event(node), self.timestamp(node));
                *time = corrected.ok_or(RetimingError::TooFar)?;
            }
            let Some(Extent { first, last }) = self.extents[location] else {
                return Ok(None);
            };
            let end = self.event_counts[location].saturating_sub(1);
            let mut map = correction.map_of(index).cursor(index);
            let ends = map.map(0, first).zip(events.at(end, last));
            let (first, last) = ends.ok_or(RetimingError::TooFar)?;
            Ok(Some(Extent { first, last }))
        };
        // Not into a `Result` at once: which of several errors that gives depends on threads.
        let extents: Vec<_> = columns.into_par_iter().map(retime).collect();
        monitor.check()?;
        let extents: Result<Vec<Option<Extent>>, RetimingError> = extents.into_iter().collect();
        let extents = self.whole.if_all_can(extents.ok(), NeedsWhole::TooFar);
        let extents = extents.ok_or(RetimingError::TooFar)?;
        if let Some(rest) = self.whole.rest() {
            rest.update_ghosts(&mut times);
        }
        let extents = self.whole.by_location(extents);
        let mut retimed = Self {
            times,
            extents,
            ..self.clone_without_times()
        };
        retimed.fix_base().map_err(|_| RetimingError::TooFar)?;
        Ok(retimed)
    }

    fn clone_without_times(&self) -> Self {
        Self {
            times: Vec::new(),
            events: Arc::clone(&self.events),
            roles: Arc::clone(&self.roles),
            between: self.between.clone(),
            first: self.first.clone(),
            whole: self.whole.clone(),
            counts: Arc::clone(&self.counts),
            blocks: self.blocks.clone(),
            extents: Vec::new(),
            event_counts: self.event_counts.clone(),
            base: self.base,
            last: self.last,
        }
    }

    /// These nodes replaced by those of all events, and the new number of each.
    pub(super) fn replaced_by(&self, all: AllColumns) -> (Self, Vec<EventNode>) {
        // No log has more events than `u32` counts.
        let counts = self.event_counts.iter().map(|it| *it as u32);
        let mut nodes = Self {
            counts: Arc::new(counts.collect()),
            times: all.times,
            events: Arc::new(all.events),
            roles: Arc::new(all.roles),
            between: Some(Arc::new(all.between)),
            first: all.first,
            extents: self.extents.clone(),
            blocks: Vec::new(),
            ..self.clone_without_times()
        };
        nodes.blocks = nodes.locations_of_blocks();
        (nodes, all.numbers)
    }

    /// True if every event of the trace is a node.
    #[inline]
    pub fn are_all_events(&self) -> bool {
        self.between.is_some()
    }

    /// True if nothing depends on `node`, and it on nothing: it only lies between others.
    #[inline]
    pub fn is_between(&self, node: EventNode) -> bool {
        let between = self.between.as_ref();
        between.is_some_and(|it| it[node.index()])
    }

    /// True if every event is a node, and that with this number in its location only lies
    /// between others.
    pub fn has_between(&self, location: LocationIndex, event: u64) -> bool {
        let first = self.first[location.as_usize()].index();
        let between = self.between.as_ref();
        let of_event = between.and_then(|it| it.get(first + event as usize));
        of_event.is_some_and(|it| *it)
    }

    /// A stamp as seen in the mirror, and back; `None` outside of 64 bits.
    pub fn mirror_time(&self, stamp: Timestamp) -> Option<Timestamp> {
        let sum = u128::from(self.base) + u128::from(self.last?.0);
        let mirrored = sum.checked_sub(u128::from(stamp.0))?;
        u64::try_from(mirrored).ok().map(Timestamp)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True if no event has a role.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Number of locations.
    pub fn locations(&self) -> usize {
        self.extents.len()
    }

    /// All nodes, ghosts too.
    pub fn all(&self) -> Ids<EventNode> {
        Ids::of_column(self.times.len())
    }

    /// Nodes of the location at position `location`; none if another part has them.
    #[inline]
    pub fn of(&self, location: usize) -> Ids<EventNode> {
        if self.whole.has(location) {
            self.span(location)
        } else {
            Ids::new(self.first[location], self.first[location])
        }
    }

    /// Nodes of a location that are here, ghosts too.
    #[inline]
    pub fn span(&self, location: usize) -> Ids<EventNode> {
        Ids::new(self.first[location], self.first[location + 1])
    }

    /// True if a node is no ghost.
    pub fn is_own(&self, node: EventNode) -> bool {
        self.whole.has(self.location(node).as_usize())
    }

    /// Nodes that are no ghosts.
    pub fn own(&self) -> impl Iterator<Item = EventNode> + '_ {
        (0..self.locations()).flat_map(|location| self.of(location))
    }

    /// The whole trace, of which parts may be elsewhere.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// These nodes, with other parts elsewhere.
    pub(super) fn in_whole(&mut self, whole: Whole) {
        self.whole = whole;
    }

    /// How many nodes a location has where all of them are.
    pub fn count(&self, location: usize) -> usize {
        self.counts[location] as usize
    }

    /// The node that `node` of the log at position `log` has become.
    #[inline]
    pub fn of_log(&self, log: usize, node: LogNode) -> EventNode {
        EventNode(self.first[log].0 + node.0)
    }

    /// The location of `node`.
    #[inline]
    pub fn location(&self, node: EventNode) -> LocationIndex {
        let block = node.index() / BLOCK;
        let (from, to) = (self.blocks[block], self.blocks[block + 1]);
        // Seldom more than one location shares a block.
        if from == to {
            from
        } else {
            self.search(node, from.as_usize(), to.as_usize() + 1)
        }
    }

    /// Where it is.
    pub fn place(&self, node: EventNode) -> Place {
        Place {
            location: self.location(node),
            event: self.event(node),
        }
    }

    /// Number of the event within its location, from 0.
    #[inline]
    pub fn event(&self, node: EventNode) -> u64 {
        u64::from(self.events[node.index()])
    }

    /// Event numbers of nodes that follow each other.
    pub fn events(&self, nodes: &Ids<EventNode>) -> &[u32] {
        &self.events[nodes.range()]
    }

    /// Event numbers of all nodes, for callers that drop the other columns.
    pub fn event_numbers(&self) -> Arc<Vec<u32>> {
        Arc::clone(&self.events)
    }

    /// The part `node` plays.
    #[inline]
    pub fn role(&self, node: EventNode) -> Role {
        self.roles[node.index()]
    }

    /// Its stamp relative to [`Self::base`].
    #[inline]
    pub fn time(&self, node: EventNode) -> Ticks {
        self.relative(self.times[node.index()])
    }

    /// Its stamp as recorded.
    #[inline]
    pub fn timestamp(&self, node: EventNode) -> Timestamp {
        self.times[node.index()]
    }

    /// All stamps by node.
    pub fn timestamps(&self) -> &[Timestamp] {
        &self.times
    }

    pub(super) fn into_timestamps(self) -> Vec<Timestamp> {
        self.times
    }

    /// A stamp relative to the smallest of the trace.
    #[inline]
    pub fn relative(&self, stamp: Timestamp) -> Ticks {
        Ticks(stamp.0.wrapping_sub(self.base) as i64)
    }

    /// The stamp at `ticks` after the smallest of the trace; `None` outside of
    /// what 64 bits hold.
    #[inline]
    pub fn absolute(&self, ticks: Ticks) -> Option<Timestamp> {
        self.base.checked_add_signed(ticks.0).map(Timestamp)
    }

    /// The smallest stamp of the trace.
    pub fn base(&self) -> Timestamp {
        Timestamp(self.base)
    }

    /// Stamps between which the location's events lie; `None` without events.
    pub fn extent(&self, location: usize) -> Option<Extent> {
        self.extents[location]
    }

    /// How many events the location has, with or without a role.
    pub fn event_count(&self, location: usize) -> u64 {
        self.event_counts[location]
    }
}

/// A column of each log, moved out.
fn taken<T>(
    logs: &mut [LogColumns],
    column: impl Fn(&mut LogColumns) -> &mut Vec<T>,
) -> Vec<Vec<T>> {
    let columns = logs.iter_mut().map(|log| std::mem::take(column(log)));
    columns.collect()
}

/// Columns one after the other, `total` long.
fn joined<T>(columns: Vec<Vec<T>>, total: usize) -> Vec<T> {
    let mut all = Vec::with_capacity(total);
    for mut column in columns {
        all.append(&mut column);
    }
    all
}
