//! Ends against dependencies, each counted by how much it knows.
//!
//! The [consensus](super::consensus) of ends knows clock `c` to its spread `s_c`, and dependencies
//! that of two clocks `a` and `b` to half of their [freedom](super::freedom) `f_ab`. Between what
//! both say, the lines `d` are the best that make
//!
//! ```text
//! sum over clocks  ((d_c - e_c - common) / s_c)^2
//!   + sum over pairs ((d_a - d_b) / f_ab)^2 / n_ab
//! ```
//!
//! the least: where ends lie within 2 us of each other and dependencies leave 200, ends decide,
//! and where dependencies leave 0.2, ends say nothing new. A clock that always comes last is at one
//! edge of what dependencies leave, and not anywhere in between: so all of `f` counts as a standard
//! deviation. A clock is tied to `n_ab` others, or more, by dependencies of the same operations,
//! which together know hardly more than one. A spread is not made less by the number of ends, for ranks may end in the same order each time.
//! `common` is 0 where ends connect a clock to the reference, and else what is best.
//!
//! ```text
//! e_c = 100 us,  s_c = 2 us,  f = 200 us to the reference:   d_c = 100 / (1 + 2^2 / 200^2) = 99.99 us
//!                             f = 0.2 us                     d_c = 100 / (1 + 2^2 / 0.2^2) =  0.99 us
//! ```
//!
//! Source: the system is solved by conjugate gradients, M. R. Hestenes and E. Stiefel (1952).

use super::consensus::EvidenceLine;
use super::freedom::Freedom;
use crate::unbroken::RunLine;
use retime_model::ClockId;

/// A difference of clocks that is known to less than this many ticks is taken to be known to it.
const LEAST: f64 = 0.5;
/// The system is solved when what is left is this share of what was there.
const SOLVED: f64 = 1e-9;

/// The lines between both.
pub(super) struct Balanced {
    pub(super) lines: Vec<RunLine>,
    /// The share of ends in the line of each clock, from 0 to 1.
    pub(super) share: Vec<f64>,
    /// The freedom that dependencies leave each clock, on average over those that it is tied
    /// to; infinite where it is to none.
    pub(super) freedom: Vec<f64>,
}

/// The lines between those that are `told` and none at all, which dependencies speak for.
pub(super) fn balance(
    told: &[Option<EvidenceLine>],
    anchors: &[usize],
    pairs: &[Freedom],
    reference: ClockId,
) -> Balanced {
    let system = System::new(told, anchors, pairs, reference);
    let of = |value: fn(RunLine) -> f64| {
        let told: Vec<f64> = told
            .iter()
            .map(|it| it.map_or(0.0, |it| value(it.line)))
            .collect();
        system.solve(&told)
    };
    let (first, last) = (of(|line| line.first), of(|line| line.last));
    let ends = first.into_iter().zip(last);
    let lines = ends.map(|(first, last)| RunLine { first, last }).collect();
    let stiff = system.stiffness();
    let share = system.known.iter().zip(&stiff);
    Balanced {
        lines,
        share: share
            .map(|(known, stiff)| {
                if *known > 0.0 {
                    known / (known + stiff)
                } else {
                    0.0
                }
            })
            .collect(),
        freedom: stiff.iter().map(|it| it.sqrt().recip()).collect(),
    }
}

/// A spring between two clocks.
struct Spring {
    ends: [usize; 2],
    stiffness: f64,
}

struct System<'a> {
    /// The inverse square of the spread of each clock, 0 without a line.
    known: Vec<f64>,
    springs: Vec<Spring>,
    anchors: &'a [usize],
    reference: usize,
}

impl<'a> System<'a> {
    fn new(
        told: &[Option<EvidenceLine>],
        anchors: &'a [usize],
        pairs: &[Freedom],
        reference: ClockId,
    ) -> Self {
        let squared = |of: f64| of.max(LEAST).powi(2).recip();
        let mut tied = vec![0_u32; told.len()];
        for clock in pairs.iter().flat_map(|it| it.clocks) {
            tied[clock.as_usize()] += 1;
        }
        let spring = |pair: &Freedom| {
            let ends = pair.clocks.map(ClockId::as_usize);
            let fewer = ends.map(|it| tied[it]).into_iter().min().unwrap_or(1);
            Spring {
                ends,
                stiffness: squared(pair.half) / f64::from(fewer.max(1)),
            }
        };
        Self {
            known: told
                .iter()
                .map(|it| it.map_or(0.0, |it| squared(it.spread)))
                .collect(),
            springs: pairs.iter().map(spring).collect(),
            anchors,
            reference: reference.as_usize(),
        }
    }

    /// The sum of the stiffness of the springs of each clock.
    fn stiffness(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.known.len()];
        for spring in &self.springs {
            for end in spring.ends {
                sums[end] += spring.stiffness;
            }
        }
        sums
    }

    /// The pull of ends at clocks that are at `at`; the common part of those that nothing
    /// connects to the reference is no pull.
    fn pulled(&self, at: &[f64]) -> Vec<f64> {
        let mut common = vec![(0.0, 0.0); at.len()];
        for (clock, (&known, &anchor)) in self.known.iter().zip(self.anchors).enumerate() {
            if anchor != self.reference {
                common[anchor].0 += known * at[clock];
                common[anchor].1 += known;
            }
        }
        let mean = |anchor: usize| match common[anchor] {
            (sum, all) if all > 0.0 => sum / all,
            _ => 0.0,
        };
        let clocks = self.known.iter().zip(self.anchors).zip(at);
        let mut pulled: Vec<f64> = clocks
            .map(|((known, &anchor), at)| known * (at - mean(anchor)))
            .collect();
        if let Some(it) = pulled.get_mut(self.reference) {
            *it = 0.0;
        }
        pulled
    }

    /// The matrix of the system times a vector.
    fn times(&self, at: &[f64]) -> Vec<f64> {
        let mut all = self.pulled(at);
        for spring in &self.springs {
            let [a, b] = spring.ends;
            let pull = spring.stiffness * (at[a] - at[b]);
            all[a] += pull;
            all[b] -= pull;
        }
        // The reference stays.
        if let Some(it) = all.get_mut(self.reference) {
            *it = 0.0;
        }
        all
    }

    fn solve(&self, told: &[f64]) -> Vec<f64> {
        let mut at = vec![0.0; told.len()];
        let mut rest = self.pulled(told);
        let mut along = rest.clone();
        let mut left = dot(&rest, &rest);
        let enough = SOLVED * SOLVED * left;
        for _ in 0..2 * told.len() {
            if left <= enough {
                break;
            }
            let changes = self.times(&along);
            let step = left / dot(&along, &changes);
            if !step.is_finite() {
                break;
            }
            add(&mut at, step, &along);
            add(&mut rest, -step, &changes);
            let now = dot(&rest, &rest);
            let turn = now / left;
            for (along, rest) in along.iter_mut().zip(&rest) {
                *along = rest + turn * *along;
            }
            left = now;
        }
        at
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, other: &[f64]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to += factor * other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shift of a clock that ends want 100 us later, to 2 us, and dependencies where
    /// it is, to `half` nanoseconds.
    fn moved(half: f64) -> f64 {
        let told = |by: f64| {
            let line = RunLine {
                first: by,
                last: by,
            };
            let (spread, ends) = (2_000.0, 9);
            Some(EvidenceLine {
                line,
                spread,
                is_bent: false,
                jump: None,
                ends,
            })
        };
        let pair = Freedom {
            clocks: [ClockId(0), ClockId(1)],
            half,
        };
        let found = balance(&[told(0.0), told(100_000.0)], &[0, 0], &[pair], ClockId(0));
        assert!(found.lines[0].largest() < 1e-6);
        let line = found.lines[1];
        assert!((line.first - line.last).abs() < 1e-6);
        line.first
    }

    #[test]
    fn who_knows_more_decides() {
        assert!((moved(200_000.0) - 99_990.0).abs() < 0.1);
        assert!((moved(200.0) - 990.1).abs() < 0.1);
    }

    #[test]
    fn clocks_without_the_reference_are_moved_against_each_other_only() {
        let told = |by: f64| {
            let line = RunLine {
                first: by,
                last: -by,
            };
            Some(EvidenceLine {
                line,
                spread: 10.0,
                is_bent: false,
                jump: None,
                ends: 9,
            })
        };
        let told = [None, told(50.0), told(-30.0)];
        let found = balance(&told, &[0, 1, 1], &[], ClockId(0));
        let [_, a, b] = found.lines[..] else {
            panic!("three clocks");
        };
        assert!((a.first - b.first - 80.0).abs() < 1e-6 && (a.first + b.first).abs() < 1e-6);
        assert!((a.last - b.last + 80.0).abs() < 1e-6);
    }
}
