//! Collective operations under way.

use rustc_hash::FxHashMap;

use crate::event::{Collective, MessageId};
use crate::kept::Kept;
use crate::matching::UNKNOWN;
use retime_model::ClockId;
use retime_numerics::top_two::TopTwo;

/// A begin that is computed.
#[derive(Clone, Copy, Debug)]
struct Begun {
    place: u32,
    clock: ClockId,
    value: i64,
    simple: i64,
    gate: u64,
}

/// An operation under way, by its number among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperationNumber(u32);

impl OperationNumber {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation.
#[derive(Clone, Debug, Default)]
struct Operation {
    id: Option<MessageId>,
    begins: u32,
    ends: u32,
    is_prefix: bool,
    /// How many begins have come at all, and of prefix operations their places.
    arrived: u32,
    arrived_places: Vec<u32>,
    ended: u32,
    latest: TopTwo<ClockId, ()>,
    latest_simple: TopTwo<ClockId, ()>,
    /// The two earliest ends, negated, so that they are the largest.
    earliest: TopTwo<ClockId, ()>,
    begun: Vec<Begun>,
    /// How many of them have left the filter.
    left: u32,
    /// Ends of prefix operations: place, clock, time.
    ends_by_place: Vec<(u32, ClockId, i64)>,
    /// Clocks whose end may wait.
    waiting: Vec<ClockId>,
    since: i64,
}

/// How far a begin may move: its clock, its gate, its limit.
pub(crate) type Limit = (ClockId, u64, i64);

/// All operations under way.
#[derive(Debug, Default)]
pub(crate) struct Collectives {
    by_id: FxHashMap<MessageId, OperationNumber>,
    operations: Vec<Operation>,
    free: Vec<OperationNumber>,
    /// Operations of which all that has come has gone through the filter, and how many
    /// begins they have.
    kept: Kept,
    kept_begins: usize,
}

impl Collectives {
    /// A begin has come; its operation.
    pub(crate) fn begin(&mut self, what: &Collective, raw: i64) -> OperationNumber {
        let number = self.find(what, raw);
        let operation = &mut self.operations[number.index()];
        operation.arrived += 1;
        let place = what.prefix.map(|prefix| prefix.place);
        operation.arrived_places.extend(place);
        number
    }

    /// An end of `clock` has come; its operation.
    pub(crate) fn end(&mut self, what: &Collective, clock: ClockId, raw: i64) -> OperationNumber {
        let number = self.find(what, raw);
        self.operations[number.index()].waiting.push(clock);
        number
    }

    fn find(&mut self, what: &Collective, raw: i64) -> OperationNumber {
        if let Some(&number) = self.by_id.get(&what.id) {
            self.no_longer_kept(number);
            return number;
        }
        let new = OperationNumber(self.operations.len() as u32);
        let number = self.free.pop().unwrap_or(new);
        let operation = Operation {
            id: Some(what.id),
            begins: what.begins,
            ends: what.ends,
            is_prefix: what.prefix.is_some(),
            since: raw,
            ..Operation::default()
        };
        if number == new {
            self.operations.push(operation);
        } else {
            self.operations[number.index()] = operation;
        }
        self.by_id.insert(what.id, number);
        number
    }

    /// A begin is computed: its place among them, and the clocks that may go on now.
    pub(crate) fn begun(
        &mut self,
        number: OperationNumber,
        place: u32,
        clock: ClockId,
        value: i64,
        simple: i64,
        gate: u64,
    ) -> (u32, &[ClockId]) {
        let operation = &mut self.operations[number.index()];
        operation.latest.push(value, (), clock);
        operation.latest_simple.push(simple, (), clock);
        operation.begun.push(Begun {
            place,
            clock,
            value,
            simple,
            gate,
        });
        // Nobody waits any more when the last one has been computed.
        let is_last = operation.begun.len() == operation.begins as usize;
        let woken: &[_] = if is_last || operation.is_prefix {
            &operation.waiting
        } else {
            &[]
        };
        (operation.begun.len() as u32 - 1, woken)
    }

    /// A begin of the operation was given out at a time later than computed.
    pub(crate) fn released(
        &mut self,
        number: OperationNumber,
        place: u32,
        clock: ClockId,
        time: i64,
    ) {
        let operation = &mut self.operations[number.index()];
        operation.latest.push(time, (), clock);
        operation.left += 1;
        if let Some(begun) = operation.begun.get_mut(place as usize) {
            begun.value = time;
            // Too late to move it.
            begun.gate = 0;
        }
    }

    /// True if an end can be computed.
    pub(crate) fn is_ready(&self, number: OperationNumber, what: &Collective) -> bool {
        let operation = &self.operations[number.index()];
        match what.prefix {
            None => operation.begun.len() >= operation.begins as usize,
            Some(prefix) => {
                let before = operation.begun.iter();
                before.filter(|begun| begun.place < prefix.place).count() >= prefix.before as usize
            }
        }
    }

    /// True if all begins that an end depends on have come, computed or not.
    pub(crate) fn is_complete(&self, number: OperationNumber, what: &Collective) -> bool {
        let operation = &self.operations[number.index()];
        match what.prefix {
            None => operation.arrived >= operation.begins,
            Some(prefix) => {
                let places = operation.arrived_places.iter();
                places.filter(|place| **place < prefix.place).count() >= prefix.before as usize
            }
        }
    }

    /// The latest begins on other clocks that an end depends on: controlled and
    /// simple time.
    pub(crate) fn bound(
        &self,
        number: OperationNumber,
        what: &Collective,
        clock: ClockId,
    ) -> Option<(i64, i64)> {
        let operation = &self.operations[number.index()];
        match what.prefix {
            None => {
                let (value, ()) = operation.latest.outside(clock)?;
                let (simple, ()) = operation.latest_simple.outside(clock)?;
                Some((value, simple))
            }
            Some(prefix) => {
                let begun = operation.begun.iter();
                let causes = begun.filter(|it| it.place < prefix.place && it.clock != clock);
                causes.fold(None, |latest: Option<(i64, i64)>, it| {
                    let (value, simple) = latest.unwrap_or((UNKNOWN, UNKNOWN));
                    Some((value.max(it.value), simple.max(it.simple)))
                })
            }
        }
    }

    /// An end is computed.
    pub(crate) fn ended(
        &mut self,
        number: OperationNumber,
        what: &Collective,
        clock: ClockId,
        value: i64,
    ) {
        let operation = &mut self.operations[number.index()];
        operation.ended += 1;
        match what.prefix {
            None => operation.earliest.push(-value, (), clock),
            Some(prefix) => operation.ends_by_place.push((prefix.place, clock, value)),
        }
    }

    /// If all begins and ends of an operation are computed, what that means for
    /// the begins.
    pub(crate) fn completed(&mut self, number: OperationNumber, delay: i64) -> Vec<Limit> {
        let operation = &self.operations[number.index()];
        // Nobody who has come must find the operation gone.
        let ends = operation.ends.max(operation.waiting.len() as u32);
        let begins = operation.begins.max(operation.arrived);
        if operation.ended < ends || operation.begun.len() < begins as usize {
            return Vec::new();
        }
        let limits = operation.limits(delay);
        self.finish(number);
        limits
    }

    /// How far a begin may move by the ends computed so far.
    pub(crate) fn limit(&self, number: OperationNumber, place: u32, delay: i64) -> i64 {
        let operation = &self.operations[number.index()];
        let begun = operation.begun.get(place as usize);
        begun.map_or(i64::MAX, |begun| operation.limit(begun, delay))
    }

    /// Forgets operations that began before `time` and are not complete;
    /// returns how many, and tells the gates of their begins.
    pub(crate) fn forget_before(&mut self, time: i64, mut open: impl FnMut(Limit)) -> u64 {
        let old: Vec<OperationNumber> = self
            .by_id
            .values()
            .copied()
            .filter(|&number| {
                let it = &self.operations[number.index()];
                // Somebody who waits will still ask.
                it.since < time && it.is_computed()
            })
            .collect();
        for &number in &old {
            for begun in &self.operations[number.index()].begun {
                open((begun.clock, begun.gate, i64::MAX));
            }
            self.finish(number);
        }
        old.len() as u64
    }

    /// Keeps an operation for those who have not come, unless some of those who have are
    /// still in the filter.
    pub(crate) fn keep(&mut self, number: OperationNumber) {
        let operation = &self.operations[number.index()];
        let has_left = operation.left as usize == operation.begun.len();
        if operation.id.is_some() && has_left && operation.is_computed() {
            let weight = operation.weight();
            self.no_longer_kept(number);
            self.kept.add(number.0);
            self.kept_begins += weight;
        }
    }

    fn no_longer_kept(&mut self, number: OperationNumber) {
        if self.kept.remove(number.0) {
            self.kept_begins -= self.operations[number.index()].weight();
        }
    }

    /// Forgets the oldest of the operations that are kept until no more than `most` begins
    /// are, if they were over by `until`. Returns how many operations.
    pub(crate) fn forget_beyond(&mut self, most: usize, until: i64) -> u64 {
        let mut forgotten = 0;
        while self.kept_begins > most
            && let Some(number) = self.kept.oldest().map(OperationNumber)
        {
            let latest = self.operations[number.index()].latest.largest();
            if latest > Some(until) {
                break;
            }
            self.finish(number);
            forgotten += 1;
        }
        forgotten
    }

    fn finish(&mut self, number: OperationNumber) {
        self.no_longer_kept(number);
        let operation = std::mem::take(&mut self.operations[number.index()]);
        if let Some(id) = operation.id {
            self.by_id.remove(&id);
            self.free.push(number);
        }
    }

    /// How many operations are under way.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }
}

impl Operation {
    /// True if all that has come is computed.
    fn is_computed(&self) -> bool {
        self.ended as usize >= self.waiting.len() && self.arrived as usize == self.begun.len()
    }

    /// The weight of the operation among those that are kept: its begins, and at least 1.
    fn weight(&self) -> usize {
        self.begun.len().max(1)
    }

    fn limits(&self, delay: i64) -> Vec<Limit> {
        let open = self.begun.iter().filter(|begun| begun.gate != 0);
        open.map(|begun| (begun.clock, begun.gate, self.limit(begun, delay)))
            .collect()
    }

    /// How far a begin may move before one of its effects comes too early.
    fn limit(&self, begun: &Begun, delay: i64) -> i64 {
        let earliest = if self.is_prefix {
            let ends = self.ends_by_place.iter();
            let effects = ends.filter(|end| end.0 > begun.place && end.1 != begun.clock);
            effects.map(|end| end.2).min()
        } else {
            let earliest = self.earliest.outside(begun.clock);
            earliest.map(|(negated, ())| -negated)
        };
        earliest.map_or(i64::MAX, |end| end - delay - begun.value)
    }
}
