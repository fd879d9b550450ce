//! An endless stream of events: locations in a ring whose clocks disagree, in
//! the order in which things truly happen.

use retime::{LocationIndex, Timestamp};
use retime_stream::{Event, EventKind, MessageId};

/// Nanoseconds of one round, in which every location has six events.
pub const ROUND: u64 = 120_000;
/// No message takes less.
pub const LEAST_DELAY: u64 = 1_000;
/// Clocks differ by no more.
pub const LARGEST_DIFFERENCE: u64 = 5_000_000;

/// What happens in a round, one thing after the other.
#[derive(Clone, Copy)]
enum Step {
    Internal,
    Send,
    Receive,
}

pub struct Ring {
    locations: u64,
    round: u64,
    /// True time, location and step of the events of a round, the last first.
    ahead: Vec<(u64, u64, Step)>,
}

impl Ring {
    pub fn new(locations: u32) -> Self {
        Self {
            locations: u64::from(locations),
            round: 0,
            ahead: Vec::new(),
        }
    }

    fn plan(&mut self) {
        let start = self.round * ROUND;
        for location in 0..self.locations {
            let noise = |step: u64| mix((self.round << 16) + (location << 4) + step);
            let sent = start + 1_000 + noise(0) % 20_000;
            let arrived = start + 21_000 + LEAST_DELAY + noise(1) % 20_000;
            self.ahead.push((sent, location, Step::Send));
            self.ahead.push((arrived, location, Step::Receive));
            for step in 0..4 {
                let at = start + 45_000 + step * 15_000 + noise(2 + step) % 15_000;
                self.ahead.push((at, location, Step::Internal));
            }
        }
        self.ahead
            .sort_unstable_by_key(|event| std::cmp::Reverse((event.0, event.1)));
        self.round += 1;
    }
}

/// Every clock is off by up to 3 ms, and swings by 1 ms and 10 ppm.
fn stamp(location: u64, truth: u64) -> u64 {
    const SWING: u64 = 1_000_000;
    let phase = (truth / 100_000 + location * 317_000) % (2 * SWING);
    let swing = if phase < SWING {
        phase
    } else {
        2 * SWING - phase
    };
    1_000_000_000 + truth + mix(location) % 3_000_000 + swing
}

fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((key ^ (key >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)) >> 33
}

impl Iterator for Ring {
    type Item = Event<u64>;

    /// The payload is the true time.
    fn next(&mut self) -> Option<Event<u64>> {
        if self.ahead.is_empty() {
            self.plan();
        }
        let (truth, location, step) = self.ahead.pop()?;
        let own = LocationIndex(location as u32);
        let at = |distance: u64| LocationIndex(((location + distance) % self.locations) as u32);
        let channel = |from, to| MessageId::channel(from, to, 0, 1);
        Some(Event {
            location: own,
            time: Timestamp(stamp(location, truth)),
            kind: match step {
                Step::Internal => EventKind::Internal,
                Step::Send => EventKind::Send(channel(own, at(1))),
                Step::Receive => EventKind::Receive(channel(at(self.locations - 1), own)),
            },
            payload: truth,
        })
    }
}
