//! Chance: a process that is behind others time after time is told from one that is so now and then.
//!
//! By chance one of `n` comes last in every `n`-th operation, now this one and now that, and in any
//! trace somebody does more often than others. Who is slow is behind again and again. So each is
//! compared with those that did the same, time after time:
//!
//! ```text
//! behind(p, i) = took(p, i) - mean of took(q, i)         over all other q that took part in i
//! ```
//!
//! If nobody is slow, all are as likely to take any of these lengths, so that its mean is 0, however
//! they are distributed. In the order of time they are averaged in ten batches `b`, which depend less
//! on each other than single ones do. Of the batches of all processes the variance `v` and the correlation `r`
//! of neighbours are known:
//!
//! ```text
//! t(p) = mean of b(p) / sqrt(max(v, variance of b(p)) / batches * (1 + r) / (1 - r))
//! ```
//!
//! It is no chance if Student's distribution exceeds `t(p)` in less than one of 100 traces, of which
//! each has as many processes and comparisons as this one. That `b(p)` varies itself counts
//! because what happened only once is no habit: a single delay, whatever its length, makes `t(p)` no
//! larger than 1. Since `n` values of `behind` sum to 0, those of two are one, so half as many
//! degrees of freedom are left as there are values.
//!
//! What is compared is how long each worked in an [operation](Comparisons::meeting) since it was
//! released from the one before, on its own clock, and how long it stood still in the tenths of the
//! time in which [all took part](super::working), which tells of processes that never meet, as
//! stages of a pipeline.
//!
//! Of two ranks that are late by 9 and 0 in turns, `behind` is 9, -9, 9, -9, and its mean 0. Of one that is
//! late by 9, 8, 9, 8 beside another that never is, the mean is 8.5 and the variance 1/3, so that `t`
//! is 29.
//!
//! Source: batch means of correlated values (Schmeiser, "Batch size effects in the analysis of
//! simulation output", 1982: ten to thirty batches); for several tests at once the level is divided
//! by their number (Bonferroni). What is compared is ours.

use retime_numerics::student::upper_tail;

/// Values in the order of time are averaged in so many batches.
pub(super) const BATCHES: usize = 10;
/// A variance is known of so many values.
const FEWEST: usize = 3;
/// In so many traces in which nobody is slow, somebody seems to be so in one.
const LEVEL: f64 = 0.01;
/// The tail hardly changes with more degrees of freedom than these, and they take time.
const MOST_DEGREES: u32 = 1_000;
/// Neighbours correlate by no more, which leaves a twentieth of the values.
const MOST_ALIKE: f64 = 0.9;

/// How far processes were behind others, each in the order of time.
pub(super) struct Comparisons {
    behind: Vec<Vec<f64>>,
}

impl Comparisons {
    /// No comparisons yet, of so many processes.
    pub(super) fn of(processes: usize) -> Self {
        Self {
            behind: vec![Vec::new(); processes],
        }
    }

    /// Processes, each of which is named once, did the same and took so long.
    pub(super) fn meeting(&mut self, took: &[(u32, f64)]) {
        if took.len() < 2 {
            return;
        }
        let sum: f64 = took.iter().map(|it| it.1).sum();
        let others = (took.len() - 1) as f64;
        for &(process, took) in took {
            if let Some(behind) = self.behind.get_mut(process as usize) {
                behind.push(took - (sum - took) / others);
            }
        }
    }

    /// Per process: the probability that, of all of them, anybody is as far behind by chance.
    fn chances(&self) -> Vec<f64> {
        let batches: Vec<Vec<f64>> = self.behind.iter().map(|it| batches(it)).collect();
        let spread = Spread::of(&batches);
        let compared = batches.iter().filter(|it| !it.is_empty()).count().max(1);
        let chance = |it: &Vec<f64>| (spread.chance(it) * compared as f64).min(1.0);
        batches.iter().map(chance).collect()
    }
}

/// Per process: true if it is behind others in any of several comparisons, by more than chance.
pub(super) fn significant(all: &[Comparisons]) -> Vec<bool> {
    let mut is_so = Vec::new();
    for comparisons in all {
        let chances = comparisons.chances();
        is_so.resize(is_so.len().max(chances.len()), false);
        for (is_so, chance) in is_so.iter_mut().zip(chances) {
            *is_so |= chance * (all.len() as f64) < LEVEL;
        }
    }
    is_so
}

/// The averages of so many batches of values; nothing of too few.
fn batches(values: &[f64]) -> Vec<f64> {
    let number = BATCHES.min(values.len());
    if number < FEWEST {
        return Vec::new();
    }
    let end = |batch: usize| values.len() * batch / number;
    let batch = |it: usize| values.get(end(it)..end(it + 1)).unwrap_or_default();
    (0..number).map(|it| mean(batch(it))).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The sum of squares of what values are from their mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|it| (it - mean).powi(2)).sum()
}

/// The sum of products of what neighbours are from the mean.
fn products(values: &[f64]) -> f64 {
    let mean = mean(values);
    let product = |it: &[f64]| it.iter().map(|it| it - mean).product::<f64>();
    values.windows(2).map(product).sum()
}

/// How much batches vary that are as they are by chance.
struct Spread {
    variance: f64,
    degrees: u32,
    /// The number of batches that vary as much in their mean as one that depends on no other.
    alike: f64,
}

impl Spread {
    fn of(all: &[Vec<f64>]) -> Self {
        let sum = |of: fn(&[f64]) -> f64| all.iter().map(|it| of(it)).sum::<f64>();
        let degrees: usize = all.iter().map(|it| it.len().saturating_sub(1)).sum();
        let (squares, products) = (sum(squares), sum(products));
        let correlation = if squares > 0.0 {
            (products / squares).clamp(0.0, MOST_ALIKE)
        } else {
            0.0
        };
        let degrees = u32::try_from(degrees / 2).unwrap_or(u32::MAX);
        Self {
            variance: squares / (2.0 * f64::from(degrees.max(1))),
            degrees: degrees.clamp(1, MOST_DEGREES),
            alike: (1.0 + correlation) / (1.0 - correlation),
        }
    }

    /// The probability that batches have by chance a mean as large.
    fn chance(&self, batches: &[f64]) -> f64 {
        let mean = mean(batches);
        if batches.len() < FEWEST || mean <= 0.0 {
            return 1.0;
        }
        let own = squares(batches) / (batches.len() - 1) as f64;
        let variance = self.variance.max(own) * self.alike / batches.len() as f64;
        upper_tail(mean / variance.sqrt(), self.degrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between 0 and 1, each value as often as any other.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// A length with many short and few long ones.
        fn exponential(&mut self) -> f64 {
            -(1.0 - self.next()).ln()
        }
    }

    /// The comparisons of so many processes, which take in each meeting what `took` says.
    fn met(processes: u32, meetings: u32, mut took: impl FnMut(u32, u32) -> f64) -> Comparisons {
        let mut all = Comparisons::of(processes as usize);
        for meeting in 0..meetings {
            let took: Vec<(u32, f64)> = (0..processes)
                .map(|process| (process, took(process, meeting)))
                .collect();
            all.meeting(&took);
        }
        all
    }

    fn found(all: Comparisons) -> Vec<usize> {
        let is_so = significant(&[all]);
        (0..is_so.len()).filter(|it| is_so[*it]).collect()
    }

    #[test]
    fn the_examples_by_hand() {
        let turns = met(2, 4, |process, meeting| {
            f64::from(9 * u32::from((process + meeting) % 2 == 0))
        });
        assert!(found(turns).is_empty());
        let late = |process, meeting| f64::from((9 - meeting % 2) * u32::from(process == 0));
        let slow = met(2, 4, late);
        assert_eq!(
            slow.behind,
            [[9.0, 8.0, 9.0, 8.0], [-9.0, -8.0, -9.0, -8.0]]
        );
        assert_eq!(found(slow), [0]);
        // Of two meetings nothing is known.
        assert!(found(met(2, 2, late)).is_empty());
    }

    #[test]
    fn chance_seldom_makes_anybody_slow() {
        let mut random = Random(4_711);
        let mut wrong = 0;
        for trace in 0..2_000 {
            let processes = [2, 3, 8, 16][trace % 4];
            let all = met(processes, 40, |_, _| random.exponential());
            wrong += usize::from(!found(all).is_empty());
        }
        assert!(wrong <= 20, "{wrong} of 2,000");
    }

    #[test]
    fn who_takes_longer_again_and_again_is_found() {
        let mut random = Random(815);
        let mut right = 0;
        for trace in 0..200 {
            let processes = [2, 3, 8, 16][trace % 4];
            let all = met(processes, 60, |process, _| {
                let slow = if process == 1 { 1.3 } else { 1.0 };
                slow * (1.0 + 0.2 * random.next())
            });
            right += usize::from(found(all) == [1]);
        }
        assert_eq!(right, 200);
    }

    #[test]
    fn what_happened_once_is_no_habit() {
        let mut random = Random(99);
        let once = met(16, 40, |process, meeting| {
            let stalls = process == 3 && meeting == 17;
            random.next() + if stalls { 1e6 } else { 0.0 }
        });
        assert!(found(once).is_empty());
    }

    #[test]
    fn meetings_that_hang_together_count_less() {
        // Of three steps each of fifty meetings has the same delays.
        let mut wrong = 0;
        let mut random = Random(2_024);
        for _ in 0..500 {
            let steps: Vec<f64> = (0..12).map(|_| random.next()).collect();
            let all = met(4, 150, |process, meeting| {
                steps[(4 * (meeting / 50) + process) as usize] + 0.1 * random.next()
            });
            wrong += usize::from(!found(all).is_empty());
        }
        assert!(wrong <= 50, "{wrong} of 500");
    }

    #[test]
    fn equal_lengths_are_no_reason() {
        assert!(found(met(4, 50, |_, _| 7.0)).is_empty());
        // Who always takes the same, and longer, is slow.
        assert_eq!(found(met(4, 50, |process, _| f64::from(process / 3))), [3]);
    }
}
