//! All that this library knows of the program it runs in.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use retime_measure::Measured;
use retime_model::{TickRate, printable_path};

use crate::clock::LocalClock;
use crate::event_log::EventLog;
use crate::offsets::Offsets;
use crate::rider::Rider;
use crate::settings::{MeasuredClock, Settings};

/// So often lines of events are written.
const WRITING: Duration = Duration::from_millis(20);
/// So long the counter of the processor is looked at to learn its rate.
const LEARNING: Duration = Duration::from_millis(20);

/// One process of a running program.
#[derive(Debug)]
pub(crate) struct Session {
    settings: Settings,
    clock: LocalClock,
    rank: u32,
    size: u32,
    rider: Mutex<Option<Rider>>,
    /// The offsets, in the first process.
    offsets: Mutex<Offsets>,
    began: Instant,
}

impl Session {
    /// The session of the process of that rank among so many; `counter` reads that of the
    /// processor.
    pub(crate) fn new(settings: Settings, rank: u32, size: u32, counter: fn() -> u64) -> Self {
        let clock = match settings.measured {
            MeasuredClock::System(clock) => LocalClock::System(clock),
            MeasuredClock::Counter => LocalClock::Counter {
                read: counter,
                rate: rate_of(counter),
            },
        };
        // The program may go to another directory.
        let offsets_file = std::path::absolute(&settings.offsets_file);
        let offsets_file = offsets_file.as_ref().unwrap_or(&settings.offsets_file);
        Self {
            offsets: Mutex::new(Offsets::new(offsets_file, clock)),
            settings,
            clock,
            rank,
            size,
            rider: Mutex::new(None),
            began: Instant::now(),
        }
    }

    pub(crate) fn clock(&self) -> LocalClock {
        self.clock
    }

    /// Writes what was measured of each rank.
    pub(crate) fn add(&self, ranks: &[Option<Measured>]) -> io::Result<()> {
        let mut offsets = self.offsets.lock().unwrap_or_else(PoisonError::into_inner);
        offsets.add(ranks)
    }

    /// True if a clock is to ride along.
    pub(crate) fn rides(&self) -> bool {
        self.settings.riding.is_some()
    }

    /// True if it is time to measure for the `times`th time, from 1 on.
    pub(crate) fn is_due(&self, times: u32) -> bool {
        let every = self.settings.offsets_every;
        every.is_some_and(|every| {
            self.began.elapsed().as_secs() / u64::from(every) >= u64::from(times)
        })
    }

    /// True if offsets are to be measured now and then.
    pub(crate) fn measures_on_the_way(&self) -> bool {
        self.settings.offsets_every.is_some()
    }

    /// Lets the clock that was asked for begin to ride.
    pub(crate) fn ride(&'static self, measured: Option<Measured>) -> io::Result<()> {
        let Some(riding) = self.settings.riding else {
            return Ok(());
        };
        let events = self.settings.events.as_deref().map(|directory| {
            EventLog::new(directory, self.rank, self.size, self.clock.rate().get()).map_err(
                |error| {
                    let path = printable_path(directory);
                    io::Error::new(
                        error.kind(),
                        format!("cannot write events to {path}: {error}"),
                    )
                },
            )
        });
        let events = events.transpose()?;
        let writes = events.is_some();
        let offset = measured.filter(|_| self.settings.adds_offsets);
        let offset = offset.map_or(0, |it| it.offset.0);
        let delay = self.settings.min_delay;
        let rider = Rider::new(riding, self.clock, offset, delay, self.rank, events);
        *self.rider() = Some(rider);
        if writes {
            thread::Builder::new().spawn(|| self.write_now_and_then())?;
        }
        Ok(())
    }

    fn write_now_and_then(&self) {
        loop {
            thread::sleep(WRITING);
            match self.rider().as_mut() {
                Some(rider) => rider.heartbeat(),
                None => return,
            }
        }
    }

    /// The clock that rides along, if one does, for this thread alone.
    pub(crate) fn rider(&self) -> MutexGuard<'_, Option<Rider>> {
        self.rider.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time of the program in nanoseconds: that of the clock that rides along, else of the
    /// physical one.
    pub(crate) fn now(&self) -> i64 {
        let rider = self.rider();
        rider.as_ref().map_or_else(
            || {
                let ticks = i128::from(self.clock.now().0);
                let ns = ticks * 1_000_000_000 / i128::from(self.clock.rate().get());
                i64::try_from(ns).unwrap_or(i64::MAX)
            },
            Rider::now,
        )
    }
}

/// Ticks per second of a counter, by the clock of the system.
fn rate_of(counter: fn() -> u64) -> TickRate {
    let start = Instant::now();
    let first = counter();
    thread::sleep(LEARNING);
    let ticks = u128::from(counter().saturating_sub(first));
    let rate = ticks * 1_000_000_000 / start.elapsed().as_nanos().max(1);
    let rate = u64::try_from(rate).ok().and_then(TickRate::per_second);
    rate.unwrap_or(TickRate::NANOSECONDS)
}
