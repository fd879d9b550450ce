//! Clocks that something is to be done about.

use retime_model::ClockId;

/// Some of the clocks, each once, the last one first.
#[derive(Debug, Default)]
pub(crate) struct Marked {
    clocks: Vec<ClockId>,
    is_marked: Vec<bool>,
}

impl Marked {
    /// None of so many clocks.
    pub(crate) fn of(clocks: usize) -> Self {
        Self {
            clocks: Vec::new(),
            is_marked: vec![false; clocks],
        }
    }

    /// There is another clock, not marked.
    pub(crate) fn grow(&mut self) {
        self.is_marked.push(false);
    }

    #[inline]
    pub(crate) fn add(&mut self, clock: ClockId) {
        if !std::mem::replace(&mut self.is_marked[clock.as_usize()], true) {
            self.clocks.push(clock);
        }
    }

    /// Takes one of them.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<ClockId> {
        let clock = self.clocks.pop()?;
        self.is_marked[clock.as_usize()] = false;
        Some(clock)
    }

    /// Leaves those that are still wanted, and lists them by their numbers.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(ClockId) -> bool) -> Vec<ClockId> {
        let is_marked = &mut self.is_marked;
        self.clocks.retain(|&clock| {
            let stays = is_wanted(clock);
            is_marked[clock.as_usize()] = stays;
            stays
        });
        self.clocks.sort_unstable();
        self.clocks.clone()
    }
}
