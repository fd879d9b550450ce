//! How far a command is, and how long it will still take.
//!
//! Some stages say how many bytes they are through; aligning and bounding cannot tell how
//! far they are. So each stage has a weight, which is what it took in proportion to
//! reading, and a command is through
//!
//! ```text
//! (weights of the stages before + weight of this one * its part) / all weights
//! ```
//!
//! The part of a stage without bytes is its time over what its weight lets expect, by the
//! stages before it. Once it takes longer than that the weights have been wrong for this
//! trace: the bar stands still then, and no remaining time is given.

use std::time::Duration;

/// A stage of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Reading,
    Matching,
    Aligning,
    Bounding,
    Drawing,
    Writing,
    Verifying,
    Copying,
    Exporting,
    Restoring,
}

impl Stage {
    /// In one word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Matching => "matching",
            Self::Aligning => "aligning",
            Self::Bounding => "bounding",
            Self::Drawing => "drawing",
            Self::Writing => "writing",
            Self::Verifying => "verifying",
            Self::Copying => "copying",
            Self::Exporting => "exporting",
            Self::Restoring => "restoring",
        }
    }

    /// How long it takes, in times of reading: about the mean over archives of 4 and of 16
    /// processes with 10^7 events. Aligning and bounding depend on how many clocks there
    /// are as well, and take up to 30 times as long for hundreds of clocks.
    const fn weight(self) -> f64 {
        match self {
            Self::Reading | Self::Restoring | Self::Drawing => 1.0,
            Self::Matching | Self::Verifying | Self::Copying => 0.5,
            Self::Aligning => 1.5,
            Self::Bounding | Self::Writing => 0.6,
            Self::Exporting => 2.0,
        }
    }
}

/// The stages of a command, and which is under way.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// Weights of the stages that are over.
    done: f64,
    /// How long these took.
    took: Duration,
    current: Option<Stage>,
    /// The stages that come.
    ahead: Vec<Stage>,
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reached {
    /// From 0 to 1.
    pub(super) part: f64,
    /// How long it will still take, if that can be told.
    pub(super) remaining: Option<Duration>,
}

/// No remaining time is told by less than this: the first milliseconds say nothing.
const SETTLED: Duration = Duration::from_millis(500);
/// A stage that does not say how far it is is never through before its end.
const MOST: f64 = 0.95;

impl Course {
    pub(super) fn of(stages: &[Stage]) -> Self {
        Self {
            done: 0.0,
            took: Duration::ZERO,
            current: None,
            ahead: stages.to_vec(),
        }
    }

    pub(super) fn stage(&self) -> Option<Stage> {
        self.current
    }

    /// A stage begins or goes on, so long after the command began. Those before it are over or will not
    /// come; after one that nobody has foreseen nothing more is foreseen.
    pub(super) fn enter(&mut self, stage: Stage, since_start: Duration) {
        if self.current == Some(stage) {
            return;
        }
        self.done += self.current.map_or(0.0, Stage::weight);
        self.took = since_start;
        self.current = Some(stage);
        let place = self.ahead.iter().position(|&it| it == stage);
        self.ahead
            .drain(..place.map_or(self.ahead.len(), |it| it + 1));
    }

    /// How far the command is so long after its start, with this stage through so far; a
    /// stage that does not say so is through as time tells.
    pub(super) fn reached(&self, through: Option<f64>, since_start: Duration) -> Reached {
        let weight = self.current.map_or(0.0, Stage::weight);
        let all = self.done + weight + self.ahead.iter().map(|it| it.weight()).sum::<f64>();
        let (through, known) = match through {
            Some(through) => (through.clamp(0.0, 1.0), true),
            None => self.by_time(weight, since_start),
        };
        let done = self.done + weight * through;
        let told = known && since_start >= SETTLED && done > 0.0;
        Reached {
            part: if all > 0.0 { done / all } else { 0.0 },
            remaining: told.then(|| since_start.mul_f64((all - done).max(0.0) / done)),
        }
    }

    /// How far the stage is by its time, and whether that is what was expected.
    fn by_time(&self, weight: f64, since_start: Duration) -> (f64, bool) {
        let expected = self.took.as_secs_f64() * weight / self.done;
        let part = since_start.saturating_sub(self.took).as_secs_f64() / expected;
        if part < MOST {
            (part, true)
        } else {
            (if self.done > 0.0 { MOST } else { 0.0 }, false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn through(course: &Course, part: Option<f64>, seconds: u32) -> (u32, Option<u64>) {
        let reached = course.reached(part, SECOND * seconds);
        let remaining = reached.remaining.map(|it| it.as_secs_f64().round() as u64);
        ((reached.part * 100.0).round() as u32, remaining)
    }

    #[test]
    fn a_stage_counts_by_its_weight() {
        let mut course = Course::of(&[Stage::Reading, Stage::Aligning, Stage::Verifying]);
        course.enter(Stage::Reading, Duration::ZERO);
        assert_eq!(through(&course, Some(0.0), 1), (0, None));
        // Half of 1 in 3.
        assert_eq!(through(&course, Some(0.5), 2), (17, Some(10)));
        // Reading took 4 s, so aligning will take 6, and all 12.
        course.enter(Stage::Aligning, SECOND * 4);
        assert_eq!(through(&course, None, 4), (33, Some(8)));
        assert_eq!(through(&course, None, 7), (58, Some(5)));
        // That was wrong.
        assert_eq!(through(&course, None, 11), (81, None));
        course.enter(Stage::Verifying, SECOND * 20);
        assert_eq!(through(&course, Some(0.0), 20), (83, Some(4)));
        assert_eq!(through(&course, Some(1.0), 24), (100, Some(0)));
    }

    #[test]
    fn what_is_left_out_does_not_count() {
        let mut course = Course::of(&[Stage::Reading, Stage::Aligning, Stage::Verifying]);
        course.enter(Stage::Reading, Duration::ZERO);
        course.enter(Stage::Verifying, SECOND);
        assert_eq!(through(&course, Some(0.0), 1), (67, Some(1)));
        let mut course = Course::of(&[Stage::Reading, Stage::Aligning]);
        course.enter(Stage::Reading, Duration::ZERO);
        course.enter(Stage::Copying, SECOND);
        assert_eq!(through(&course, Some(1.0), 2), (100, Some(0)));
    }

    #[test]
    fn nothing_is_told_of_a_first_stage_without_bytes() {
        let mut course = Course::of(&[Stage::Aligning]);
        course.enter(Stage::Aligning, Duration::ZERO);
        assert_eq!(through(&course, None, 5), (0, None));
    }
}
