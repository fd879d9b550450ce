//! Clocks that were set together.
//!
//! Processes of a node read one clock, also where the trace gives a clock to each of them: as their
//! offsets were measured one by one, or as nothing is said of nodes. When that clock is set, all of
//! them are, at one time and by the same amount. That is one step, which costs as much as one, and
//! messages between these processes say nothing of it: they stay what they were, whether all were set
//! or none. Only messages to others are evidence.
//!
//! ```text
//!  clock 1  ----------/--------      by 42 us    one occasion
//!  clock 2  ---------/---------      by 41 us
//!  clock 3  ----\--------------      by -7 us    another one
//! ```

use super::effort::Gap;
use crate::{Alignment, ClockStep};
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;

/// Steps of one clock that several processes read differ by less than this share: each is known to what
/// messages leave open.
pub(super) const ALIKE: f64 = 0.25;

/// One time at which clocks were set by the same amount.
pub(super) struct Occasion {
    /// The numbers of the steps.
    pub(super) steps: Vec<usize>,
    pub(super) clocks: Vec<ClockId>,
    /// The common time that the gaps of all have in common or, where they miss each other by less than
    /// clocks were set, what lies between them; and the mean of the amounts.
    pub(super) gap: Gap,
}

impl Occasion {
    /// A step of one clock alone.
    pub(super) fn of(number: usize, clock: ClockId, gap: Gap) -> Self {
        Self {
            steps: vec![number],
            clocks: vec![clock],
            gap,
        }
    }

    /// True if a clock was set at the time of all others so far, as far as clocks are known that are
    /// set by so much, and by about as much.
    fn fits(&self, clock: ClockId, gap: &Gap) -> bool {
        let larger = self.gap.by.abs().max(gap.by.abs());
        let (after, until) = (self.gap.after.max(gap.after), self.gap.until.min(gap.until));
        let apart = after.saturating_sub(until);
        !self.clocks.contains(&clock)
            && (apart as f64) < larger
            && (self.gap.by - gap.by).abs() < ALIKE * larger
    }

    fn add(&mut self, number: usize, clock: ClockId, gap: &Gap) {
        let before = self.steps.len() as f64;
        self.steps.push(number);
        self.clocks.push(clock);
        // No message of a clock lies within its own gap, so whatever is before or behind the gap of
        // one of them is so for the time that all have in common.
        let ends = (self.gap.after.max(gap.after), self.gap.until.min(gap.until));
        self.gap = Gap {
            after: ends.0.min(ends.1),
            until: ends.0.max(ends.1),
            by: (self.gap.by * before + gap.by) / (before + 1.0),
        };
    }
}

/// The occasions on which clocks were set; each step is of one.
pub(super) fn occasions(alignment: &Alignment) -> Vec<Occasion> {
    let steps = alignment.steps.iter();
    of_gaps(steps.map(|it| (it.clock, gap(it, &alignment.estimate))))
}

/// The occasions on which clocks were set in these gaps.
pub(super) fn of_gaps(gaps: impl Iterator<Item = (ClockId, Gap)>) -> Vec<Occasion> {
    let mut occasions: Vec<Occasion> = Vec::new();
    for (number, (clock, gap)) in gaps.enumerate() {
        match occasions.iter_mut().find(|it| it.fits(clock, &gap)) {
            Some(occasion) => occasion.add(number, clock, &gap),
            None => occasions.push(Occasion::of(number, clock, gap)),
        }
    }
    occasions
}

impl Alignment {
    /// Per step: the other clocks, in order, that were set at that time and by as much, but for a
    /// quarter. Processes that read one clock are; dependencies between them tell nothing of it.
    pub fn set_together(&self) -> Vec<Vec<ClockId>> {
        let mut together = vec![Vec::new(); self.steps.len()];
        for occasion in occasions(self) {
            for (&step, clock) in occasion.steps.iter().zip(&occasion.clocks) {
                let others = occasion.clocks.iter().filter(|it| *it != clock);
                together[step] = others.copied().collect();
            }
        }
        together
    }
}

/// A step on the common time.
pub(super) fn gap(step: &ClockStep, estimate: &Estimate) -> Gap {
    let time = |stamp| estimate.common_time(step.clock, stamp);
    Gap {
        after: time(step.after),
        until: time(step.until),
        by: step.by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_were_set_at_one_time_by_as_much_were_set_together() {
        let step = |clock, after, until, by| ClockStep {
            clock: ClockId(clock),
            after,
            until,
            by,
            alternatives: Vec::new(),
        };
        let steps = [
            step(1, 100_000, 200_000, 42e3),
            step(2, 150_000, 260_000, 41e3),
            step(3, 120_000, 180_000, -7e3),
            step(1, 900_000, 950_000, 42e3),
            step(3, 190_000, 240_000, 40e3),
        ];
        let alignment = Alignment {
            steps: steps.to_vec(),
            ..Alignment::of_offsets(vec![None; 4])
        };
        let found = occasions(&alignment);
        let numbers: Vec<&[usize]> = found.iter().map(|it| &it.steps[..]).collect();
        assert_eq!(numbers, [&[0, 1, 4][..], &[2], &[3]]);
        assert_eq!((found[0].gap.after, found[0].gap.until), (190_000, 200_000));
        // Stamps may be anywhere.
        let far = [(i64::MIN, i64::MIN + 1), (i64::MAX - 1, i64::MAX)];
        let far = far.map(|(after, until)| Gap {
            after,
            until,
            by: 1.0,
        });
        assert_eq!(of_gaps((0..).map(ClockId).zip(far)).len(), 2);
        assert!((found[0].gap.by - 41e3).abs() < 1e-9);
        let others = [[2, 3].to_vec(), vec![1, 3], vec![], vec![], vec![1, 2]];
        assert_eq!(
            alignment.set_together(),
            others.map(|it| it.into_iter().map(ClockId).collect::<Vec<_>>())
        );
    }
}
