//! A target under random inputs for a while.

use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::mutate::mutate;
use crate::random::Random;
use crate::targets::Target;

/// Longer than any input here may take: they have some hundred events.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many inputs are kept to mutate further.
const KEPT: usize = 2_000;

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Inputs that were tried.
    pub tried: u64,
    /// How many of them were taken, not refused.
    pub taken: u64,
    /// How many different things were said.
    pub said: usize,
    /// Where inputs lie that break a promise.
    pub crashers: Vec<PathBuf>,
}

/// How many inputs are tried.
#[derive(Clone, Copy, Debug)]
pub enum Effort {
    /// As many as a time is enough for.
    For(Duration),
    /// So many, on any machine.
    Inputs(u64),
}

/// Tries inputs; those that break a promise go to `crashers`.
pub fn run(target: &Target, effort: Effort, seed: u64, crashers: &Path) -> Outcome {
    let start = Instant::now();
    let mut random = Random(seed);
    let mut corpus = (target.seeds)();
    let mut said = HashSet::new();
    let mut outcome = Outcome::default();
    let seeds = corpus.len();
    let goes_on = |tried: u64| match effort {
        Effort::For(time) => start.elapsed() < time,
        Effort::Inputs(count) => tried < count,
    };
    while goes_on(outcome.tried) {
        let number = outcome.tried as usize;
        let mut input = corpus[if number < seeds {
            number
        } else {
            random.below(corpus.len())
        }]
        .clone();
        if number >= seeds {
            let other = corpus[random.below(corpus.len())].clone();
            mutate(&mut input, &other, &mut random);
        }
        outcome.tried += 1;
        let begin = Instant::now();
        let words = catch_unwind(AssertUnwindSafe(|| (target.check)(&input)));
        match words {
            Ok(words) if begin.elapsed() < PATIENCE || is_quick(target, &input) => {
                outcome.taken += u64::from(!words.starts_with("refused"));
                if said.insert(kind(&words)) && corpus.len() < KEPT {
                    corpus.push(input);
                }
            }
            _ => {
                let path = crashers.join(format!("{}-{seed}-{number}", target.name));
                let written = fs::create_dir_all(crashers).and_then(|()| fs::write(&path, input));
                written.unwrap();
                outcome.crashers.push(path);
            }
        }
    }
    outcome.said = said.len();
    outcome
}

/// Whether an input that took long does so again: a machine may have slept, or somebody may
/// have stopped this process for a while.
fn is_quick(target: &Target, input: &[u8]) -> bool {
    let begin = Instant::now();
    let again = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    again.is_ok() && begin.elapsed() < PATIENCE
}

/// An answer without what it takes from the input: numbers, and what it quotes.
fn kind(words: &str) -> String {
    let unquoted = words.split(['"', '`']).step_by(2);
    unquoted
        .flat_map(str::chars)
        .filter(|it| !it.is_ascii_digit())
        .collect()
}
