//! The progress of all processes, of which one is heard.

use std::sync::atomic::{AtomicU64, Ordering};

use retime_model::Monitor;

/// A monitor of all processes that hears of one.
pub(crate) struct Scaled<'a> {
    monitor: &'a dyn Monitor,
    own: u64,
    all: u64,
    done: AtomicU64,
}

impl<'a> Scaled<'a> {
    /// One that takes it that all are as far with `all` bytes as this process with its own.
    pub(crate) fn new(monitor: &'a dyn Monitor, own: u64, all: u64) -> Self {
        Self {
            monitor,
            own,
            all,
            done: AtomicU64::new(0),
        }
    }
}

impl Monitor for Scaled<'_> {
    fn advance(&self, bytes: u64) {
        let before = self.done.fetch_add(bytes, Ordering::Relaxed);
        let scale = |it: u64| u128::from(it) * u128::from(self.all) / u128::from(self.own.max(1));
        let more = scale(before + bytes) - scale(before);
        self.monitor.advance(more as u64);
    }

    fn notice(&self, notice: &str) {
        self.monitor.notice(notice);
    }

    fn cancelled(&self) -> bool {
        self.monitor.cancelled()
    }
}
