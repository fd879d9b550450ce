//! A monitor that gives up after so many questions, and work that has to heed it.

use std::sync::atomic::{AtomicU64, Ordering};

use retime::pipeline::Unsolved;
use retime::{Cancelled, Monitor};

/// Gives up when it is asked once more than so often.
pub struct After {
    allowed: u64,
    asked: AtomicU64,
}

impl After {
    pub fn new(allowed: u64) -> Self {
        let asked = AtomicU64::new(0);
        Self { allowed, asked }
    }
}

impl Monitor for After {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.allowed
    }
}

/// Work that asks `n` times if it is let go on has to stop whenever it is asked, with
/// whatever thread; and it has to ask at least `least` times.
pub fn stops<T, E: Into<Unsolved>>(least: u64, work: impl Fn(&After) -> Result<T, E>) {
    let stopped = |allowed: u64| {
        let found = work(&After::new(allowed));
        let reason = found.err().map(Into::into);
        assert_eq!(reason, Some(Unsolved::Cancelled(Cancelled)), "{allowed}");
    };
    let asked = askings(&work);
    assert!(asked >= least, "asked {asked} times");
    (0..asked)
        .step_by((asked as usize / 50).max(1))
        .for_each(stopped);
    stopped(asked - 1);
    assert!(work(&After::new(asked)).is_ok());
}

/// How often work asks that is let go on.
pub fn askings<T, E: Into<Unsolved>>(work: impl Fn(&After) -> Result<T, E>) -> u64 {
    let watching = After::new(u64::MAX);
    assert!(work(&watching).is_ok());
    watching.asked.into_inner()
}
