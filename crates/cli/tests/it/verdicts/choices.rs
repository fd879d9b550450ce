//! Random choices that are the same in every run.

use std::ops::Range;

use retime_sim::Random;

/// How a random choice is made.
pub(super) struct Choices(pub(super) Random);

impl Choices {
    pub(super) fn of(&mut self, range: Range<u64>) -> u64 {
        let width = (range.end - range.start) as f64;
        range.start + (self.0.uniform() * width) as u64
    }

    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.of(0..many) == 0
    }

    /// One of some.
    pub(super) fn one<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.of(0..some.len() as u64) as usize]
    }
}
