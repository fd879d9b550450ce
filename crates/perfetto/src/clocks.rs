//! The clocks of a machine, and what each shows when the clock of the trace shows something.
//!
//! A packet is stamped by a clock that it names, or its sequence does. Snapshots say what
//! several clocks showed at one moment, and between them a clock goes on as the clock of the
//! trace does:
//!
//! ```text
//! trace = stamp - own reading + reading of the trace's clock      of the last snapshot before
//! ```
//!
//! An *incremental* clock belongs to a sequence, and its stamps are steps from the one before.
//!
//! ```text
//! snapshot: trace 1000, clock 64 500 (incremental)
//! stamps of clock 64:  7, 5      -->  507, 512 of that clock, 1007, 1012 of the trace's
//! ```
//!
//! Source: `protos/perfetto/trace/clock_snapshot.proto` of
//! <https://github.com/google/perfetto>, and `docs/concepts/clock-sync.md` there.

use retime_perfetto_wire::fields::{clock, clock_snapshot};
use retime_perfetto_wire::read::{Damaged, Fields, Value};

use crate::recent::Recent;

/// The number that stands for the clock of the trace, whichever that is.
pub(crate) const OF_TRACE: u32 = 0;

/// The clock of the day.
pub(crate) const REALTIME: u32 = 1;

/// The clock of a trace where nothing else is said: the time since the machine was booted.
pub(crate) const BOOTTIME: u32 = 6;

/// Clocks of one sequence have such numbers.
const OF_SEQUENCE: std::ops::Range<u32> = 64..128;

/// A clock: its number, and the sequence if it belongs to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClockKey {
    sequence: u32,
    number: u32,
}

impl ClockKey {
    pub(crate) fn of(number: u32, sequence: u32) -> Self {
        let sequence = if OF_SEQUENCE.contains(&number) {
            sequence
        } else {
            0
        };
        Self { sequence, number }
    }
}

/// The reading of a clock in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) key: ClockKey,
    /// The reading of the clock, in units of its own.
    pub(crate) shows: u64,
    unit: u64,
    is_incremental: bool,
    /// True if it stands there what the clock shows, as a number that can be replaced.
    is_written: bool,
}

/// The readings of several clocks at one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) readings: Vec<Reading>,
    trace_clock: Option<u32>,
}

impl Snapshot {
    /// The snapshot in a packet of a sequence.
    pub(crate) fn of(message: &[u8], sequence: u32) -> Result<Self, Damaged> {
        let mut snapshot = Self::default();
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (clock_snapshot::CLOCKS, Value::Bytes(it)) => {
                    snapshot.readings.push(reading(it, sequence)?);
                }
                (clock_snapshot::PRIMARY_TRACE_CLOCK, Value::Varint(it)) => {
                    snapshot.trace_clock = Some(it as u32);
                }
                _ => {}
            }
        }
        Ok(snapshot)
    }
}

impl Snapshot {
    /// The clock of the trace, if it says which that is.
    pub(crate) fn trace_clock(&self) -> Option<u32> {
        self.trace_clock
    }

    /// True if a clock has to be moved by so many nanoseconds that says nothing of what it shows.
    pub(crate) fn is_silent(&self, by: i64) -> bool {
        by != 0 && self.readings.iter().any(|it| !it.is_written)
    }

    /// The unit of a clock that cannot be moved by so many nanoseconds, if there is one.
    pub(crate) fn uneven(&self, by: i64) -> Option<u64> {
        let units = self.readings.iter().map(|it| it.unit);
        units.into_iter().find(|it| *it != 1 && by != 0)
    }
}

fn reading(message: &[u8], sequence: u32) -> Result<Reading, Damaged> {
    let (mut number, mut shows, mut unit, mut is_incremental) = (0, 0, 1, false);
    let mut is_written = false;
    for field in Fields::of(message) {
        let field = field?;
        is_written |= matches!(
            (field.number, field.value),
            (clock::TIMESTAMP, Value::Varint(_))
        );
        match (field.number, field.value.number()) {
            (clock::CLOCK_ID, Some(it)) => number = it as u32,
            (clock::TIMESTAMP, Some(it)) => shows = it,
            (clock::UNIT_MULTIPLIER_NS, Some(it)) => unit = it.max(1),
            (clock::IS_INCREMENTAL, Some(it)) => is_incremental = it != 0,
            _ => {}
        }
    }
    Ok(Reading {
        key: ClockKey::of(number, sequence),
        shows,
        unit,
        is_incremental,
        is_written,
    })
}

/// A clock of a machine.
#[derive(Debug, Default)]
struct Clock {
    unit: u64,
    is_incremental: bool,
    /// The stamp before, of an incremental clock.
    last: i64,
    /// The readings of the clock and of that of the trace in each snapshot, in nanoseconds.
    pairs: Vec<(i64, i64)>,
}

impl Clock {
    /// The reading of the clock of the trace when this one shows so many nanoseconds.
    fn to_trace(&self, own: i64) -> Option<i64> {
        let at = self.pairs.partition_point(|it| it.0 <= own);
        let (shown, trace) = self.pairs.get(at.saturating_sub(1))?;
        own.checked_sub(*shown)?.checked_add(*trace)
    }

    /// The reading of this clock when the clock of the trace shows `trace`; the nearest if it
    /// never does.
    fn of_trace(&self, trace: i64) -> Option<i64> {
        // Readings of a clock that is set can go back, so the nearest place need not be it.
        let near = self.pairs.partition_point(|it| it.1 <= trace);
        let places = [near.wrapping_sub(1), near, near.wrapping_sub(2), near + 1];
        let mut nearest = None;
        for at in places.into_iter().filter(|it| *it < self.pairs.len()) {
            let (shown, of_trace) = self.pairs.get(at)?;
            let own = trace.checked_sub(*of_trace)?.checked_add(*shown)?;
            let off = self.to_trace(own)?.abs_diff(trace);
            if nearest.is_none_or(|(other, _)| off < other) {
                nearest = Some((off, own));
            }
        }
        nearest.map(|it| it.1)
    }
}

/// The clocks of a machine, as far as its snapshots said.
#[derive(Debug)]
pub(crate) struct Clocks {
    trace_clock: u32,
    clocks: Recent<ClockKey, Clock>,
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            trace_clock: BOOTTIME,
            clocks: Recent::default(),
        }
    }
}

/// A stamp that cannot be written as its clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uncounted {
    /// The clock counts in units of so many nanoseconds.
    Units(u64),
    /// No snapshot leads to such a time, or it does not fit into 64 bits.
    Nowhere,
}

impl Clocks {
    /// True if a packet of this clock has the time of the trace.
    fn is_of_trace(&self, key: Option<ClockKey>) -> bool {
        key.is_none_or(|it| it == ClockKey::of(self.trace_clock, 0) || it.number == OF_TRACE)
    }

    /// True if stamps of a clock are steps from one to the next.
    pub(crate) fn is_incremental(&self, key: Option<ClockKey>) -> bool {
        let clock = key.and_then(|it| self.clocks.get(it));
        clock.is_some_and(|it| it.is_incremental)
    }

    /// The time by the clock of the trace of the next stamp of a clock; nothing if no snapshot
    /// says.
    #[inline]
    pub(crate) fn time(&mut self, key: Option<ClockKey>, stamp: u64) -> Option<i64> {
        if self.is_of_trace(key) {
            return Some(stamp as i64);
        }
        if self.clocks.is_empty() {
            // Without snapshots a file has one clock, whatever it is called.
            return key.filter(|it| it.sequence == 0).map(|_| stamp as i64);
        }
        let clock = self.clocks.get_mut(key?)?;
        let mut own = (stamp as i64).checked_mul(clock.unit as i64)?;
        if clock.is_incremental {
            own = clock.last.checked_add(own)?;
            clock.last = own;
        }
        clock.to_trace(own)
    }

    /// The next stamp of a clock for a time of the trace's.
    pub(crate) fn stamp(&mut self, key: Option<ClockKey>, time: i64) -> Result<u64, Uncounted> {
        if self.is_of_trace(key) || self.clocks.is_empty() {
            return Ok(time as u64);
        }
        let clock = key.and_then(|it| self.clocks.get_mut(it));
        let clock = clock.ok_or(Uncounted::Nowhere)?;
        if clock.unit != 1 {
            return Err(Uncounted::Units(clock.unit));
        }
        let own = clock
            .of_trace(time)
            .filter(|it| clock.to_trace(*it) == Some(time));
        let own = own.ok_or(Uncounted::Nowhere)?;
        if !clock.is_incremental {
            return Ok(own as u64);
        }
        let step = own.wrapping_sub(clock.last);
        clock.last = own;
        Ok(step as u64)
    }

    /// Takes a snapshot; the moment of it by the clock of the trace, if that is known.
    pub(crate) fn take(&mut self, snapshot: &Snapshot) -> Option<i64> {
        if let Some(clock) = snapshot.trace_clock {
            self.trace_clock = clock;
        }
        let in_ns = |it: &Reading| (it.shows as i64).checked_mul(it.unit as i64);
        let key = ClockKey::of(self.trace_clock, 0);
        let said = snapshot.readings.iter().find(|it| it.key == key);
        let known = || {
            snapshot.readings.iter().find_map(|it| {
                let clock = self.clocks.get(it.key)?;
                clock.to_trace(in_ns(it)?)
            })
        };
        let moment = said.and_then(in_ns).or_else(known)?;
        for reading in &snapshot.readings {
            let Some(own) = in_ns(reading) else {
                continue;
            };
            let clock = self.clocks.entry(reading.key)?;
            clock.unit = reading.unit;
            clock.is_incremental = reading.is_incremental;
            clock.last = own;
            if clock.pairs.last().is_some_and(|it| it.0 > own) {
                // It was set back: what it showed before says nothing of what it shows now.
                clock.pairs.clear();
            }
            clock.pairs.push((own, moment));
        }
        Some(moment)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    fn read(number: u32, shows: u64, unit: u64, is_incremental: bool) -> Reading {
        Reading {
            key: ClockKey::of(number, 9),
            shows,
            unit,
            is_incremental,
            is_written: true,
        }
    }

    #[test]
    fn stamps_are_times_of_the_trace_and_back() {
        let mut clocks = Clocks::default();
        let mut again = Clocks::default();
        let (real, step) = (Some(ClockKey::of(1, 9)), Some(ClockKey::of(64, 9)));
        assert_eq!(clocks.time(real, 70), Some(70));
        for (boot, wall, own) in [(1000, 50_000, 500), (2000, 51_100, 1_400)] {
            let snapshot = Snapshot {
                readings: vec![
                    read(BOOTTIME, boot, 1, false),
                    read(1, wall, 1, false),
                    read(64, own, 1, true),
                ],
                trace_clock: None,
            };
            assert_eq!(clocks.take(&snapshot), Some(boot as i64));
            again.take(&snapshot);
            for (key, stamp, time) in [
                (real, wall + 5, boot + 5),
                (step, 7, boot + 7),
                (step, 5, boot + 12),
            ] {
                assert_eq!(clocks.time(key, stamp), Some(time as i64));
                assert_eq!(again.stamp(key, time as i64), Ok(stamp));
            }
        }
        // The first snapshot counts before the second.
        assert_eq!(clocks.time(real, 50_100), Some(1100));
        assert_eq!(again.stamp(real, 1100), Ok(50_100));
        // The wall clock was set forward by 100 meanwhile: both its stamps lead there.
        assert_eq!(clocks.time(real, 51_050), Some(2050));
        assert_eq!(clocks.time(None, 8), Some(8));
        assert_eq!(clocks.time(Some(ClockKey::of(64, 10)), 8), None);
    }

    #[test]
    fn units_can_be_read() {
        let mut clocks = Clocks::default();
        let snapshot = Snapshot {
            readings: vec![read(BOOTTIME, 9_000, 1, false), read(65, 4, 1000, true)],
            trace_clock: None,
        };
        clocks.take(&snapshot);
        let key = Some(ClockKey::of(65, 9));
        assert_eq!(clocks.time(key, 3), Some(12_000));
        assert_eq!(clocks.stamp(key, 13_000), Err(Uncounted::Units(1000)));
    }
}
