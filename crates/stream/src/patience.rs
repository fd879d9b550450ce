//! How long the filter waits: for causes, for silent locations, for the other
//! half of a message, and for certainty.
//!
//! Time is the newest raw time of the stream. With clocks that differ by at most
//! `d` and events that come at most `t` late:
//!
//! - nothing comes from a silent location before `now - d - t`;
//! - the send of a receive at `C` has come when `now > C + d + t`, or is lost;
//! - an event leaves when `now` is beyond its time by equation 7.1; without its
//!   last term, the way to the filter, where nothing is missing but the end of
//!   the funnel.
//!
//! Looking at all clocks that have something to wait for costs time, so it is done 64
//! times per span. Events leave at the last look before their time is over, so none stays
//! longer, as long as the time of the stream does not leap.

use crate::options::{DelayBound, FilterOptions};

/// The spans, in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    /// How long a location may be silent.
    pub(crate) silence: i64,
    /// How long an event may stay.
    pub(crate) delay: i64,
    /// How long one may stay of which all that bounds it is known.
    pub(crate) settling: i64,
    /// How long events whose causes have come may wait for them: longer only
    /// where events wait for each other.
    pub(crate) hopeless: i64,
    timeout: i64,
    /// When all clocks were looked at last.
    looked: i64,
    forgot: i64,
}

impl Patience {
    /// `None` where there is no hurry.
    pub(crate) fn new(options: &FilterOptions) -> Option<Self> {
        let delay = options.delay_bound()?.0.max(0);
        let silence = options
            .max_difference
            .0
            .saturating_add(options.transfer.0)
            .max(0);
        Some(Self {
            silence,
            delay,
            settling: match options.delay {
                DelayBound::Explained => delay.saturating_sub(options.transfer.0.max(0)),
                DelayBound::Ticks(_) | DelayBound::Unlimited => delay,
            },
            hopeless: silence.max(delay).saturating_mul(4),
            timeout: options.message_timeout.0.max(silence),
            looked: i64::MIN,
            forgot: i64::MIN,
        })
    }

    /// True if it is time to look at all clocks again.
    pub(crate) fn is_due(&mut self, now: i64) -> bool {
        let due = now.saturating_sub(self.looked) >= self.pause();
        if due {
            self.looked = now;
        }
        due
    }

    /// From one look at all clocks to the next, in ticks.
    pub(crate) const fn pause(&self) -> i64 {
        self.delay / 64
    }

    /// The time before which messages are forgotten, if it is time for that.
    pub(crate) fn forget_before(&mut self, now: i64) -> Option<i64> {
        if now.saturating_sub(self.forgot) < self.timeout / 4 {
            return None;
        }
        self.forgot = now;
        Some(now.saturating_sub(self.timeout))
    }
}
