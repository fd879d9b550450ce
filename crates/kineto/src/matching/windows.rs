//! Parts of the run that profiles recorded one after the other.
//!
//! A profiler that records again after a pause leaves calls out between, on each rank as many as
//! come to its pauses. So what lies before a pause and behind it is shifted by itself. Pauses are
//! told by [iterations](crate::iterations) whose numbers do not follow each other:
//!
//! ```text
//! rank 0   |#10 #11 #12|   |#22 #23|        two windows
//! rank 1   |#10 #11 #12|   |#22 #23|        the same, as they have iterations in common
//! rank 2   |#10 #11 #12|                    the first of them
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::alignment::Windowed;
use super::calls::{Calls, Sequence};
use super::item::Item;

/// The calls of a file in one window.
#[derive(Clone, Debug)]
pub(super) struct InWindow {
    pub(super) file: usize,
    pub(super) calls: Vec<usize>,
    /// From when to when the file has events there.
    pub(super) window: (i64, i64),
}

impl InWindow {
    /// Its calls, as items, with their window.
    pub(super) fn windowed<'a>(&self, items: &'a [Item]) -> Windowed<'a> {
        Windowed {
            items,
            window: self.window,
        }
    }
}

/// The parts of a run that several files recorded together, and the sequences of which that cannot
/// be told.
#[derive(Default)]
pub(super) struct Windows {
    pub(super) together: Vec<Vec<InWindow>>,
    pub(super) others: Vec<Sequence>,
}

/// Iterations of a file that follow each other.
struct Stretch {
    numbers: BTreeSet<u64>,
    begin: i64,
    end: i64,
}

impl Windows {
    pub(super) fn of(calls: &Calls<'_>, sequences: &[Sequence]) -> Self {
        let of_files: Vec<Vec<Stretch>> =
            sequences.iter().map(|it| stretches(calls, it.0)).collect();
        let mut windows = Self::default();
        if of_files.iter().all(|it| it.len() < 2) {
            let whole = |(file, its): &Sequence| InWindow {
                file: *file,
                calls: its.clone(),
                window: calls.window(*file),
            };
            windows.together.push(sequences.iter().map(whole).collect());
            return windows;
        }
        let parts = Parts::of(&of_files);
        let mut together: BTreeMap<usize, Vec<InWindow>> = BTreeMap::new();
        for ((file, its), stretches) in sequences.iter().zip(&of_files) {
            if stretches.is_empty() {
                windows.others.push((*file, its.clone()));
                continue;
            }
            for (part, it) in in_stretches(calls, *file, its, stretches)
                .into_iter()
                .zip(stretches)
            {
                let first = it.numbers.first().copied().unwrap_or_default();
                if !part.calls.is_empty() {
                    together
                        .entry(parts.of_number(first))
                        .or_default()
                        .push(part);
                }
            }
        }
        windows.together = together.into_values().collect();
        windows.leave_out_doubled();
        windows
    }

    /// Leaves out files of which one window has several parts, as where numbers of iterations begin anew: which of
    /// them belongs to those of others nothing tells.
    fn leave_out_doubled(&mut self) {
        for together in &mut self.together {
            let mut parts: BTreeMap<usize, usize> = BTreeMap::new();
            for it in together.iter() {
                *parts.entry(it.file).or_default() += 1;
            }
            let doubled = together.extract_if(.., |it| parts.get(&it.file) > Some(&1));
            self.others.extend(doubled.map(|it| (it.file, it.calls)));
        }
    }
}

/// The stretches of a file, in order.
fn stretches(calls: &Calls<'_>, file: usize) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for (number, begin, end) in calls.iterations(file) {
        match found.last_mut() {
            Some(last) if last.numbers.last() == Some(&number.wrapping_sub(1)) => {
                last.numbers.insert(number);
                last.end = last.end.max(end);
            }
            _ => found.push(Stretch {
                numbers: BTreeSet::from([number]),
                begin,
                end,
            }),
        }
    }
    found
}

/// The calls of a file by the stretch that they are next to.
fn in_stretches(
    calls: &Calls<'_>,
    file: usize,
    its: &[usize],
    stretches: &[Stretch],
) -> Vec<InWindow> {
    let (first, last) = calls.window(file);
    let bound = |two: &[Stretch]| i64::midpoint(two[0].end, two[1].begin);
    let bounds: Vec<i64> = stretches.windows(2).map(bound).collect();
    let mut parts: Vec<InWindow> = (0..stretches.len())
        .map(|number| InWindow {
            file,
            calls: Vec::new(),
            window: (
                number
                    .checked_sub(1)
                    .map_or(first, |_| stretches[number].begin),
                if number < bounds.len() {
                    stretches[number].end
                } else {
                    last
                },
            ),
        })
        .collect();
    for &call in its {
        let Some((begin, end)) = calls.span(file, call) else {
            continue;
        };
        let number = bounds.partition_point(|it| *it <= begin);
        if let Some(part) = parts.get_mut(number) {
            part.calls.push(call);
            part.window = (part.window.0.min(begin), part.window.1.max(end));
        }
    }
    parts
}

/// Numbers of iterations by the part of the run that they are in: some file has all between them.
struct Parts(Vec<u64>);

impl Parts {
    fn of(files: &[Vec<Stretch>]) -> Self {
        let spans = files
            .iter()
            .flatten()
            .filter_map(|it| Some((*it.numbers.first()?, *it.numbers.last()?)));
        let mut spans: Vec<(u64, u64)> = spans.collect();
        spans.sort_unstable();
        let mut firsts = Vec::new();
        let mut over = None;
        for (first, last) in spans {
            if over.is_none_or(|it| it < first) {
                firsts.push(first);
            }
            over = over.max(Some(last));
        }
        Self(firsts)
    }

    fn of_number(&self, number: u64) -> usize {
        self.0.partition_point(|it| *it <= number)
    }
}
