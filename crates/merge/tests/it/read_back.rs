//! A merged file read again: each arrow between ranks is the dependency that it was, reversed ones
//! too, and what a rank draws within itself is none.

use std::fs;

use proptest::prelude::*;
use retime::Causality;
use retime::causality::{CausalityOptions, EventNode};
use retime::format::Format;
use retime_export::dependencies;
use retime_kineto::Kineto;
use retime_merge::{Arrow, ArrowEnd, Job, MergedKind, merge};
use retime_perfetto::Perfetto;

use crate::document::{events, job};

/// A rank and a time.
type At = (String, i64);

/// Cause and effect of all dependencies, in order, and how many ends of arrows are of no use.
fn read(path: &std::path::Path, format: &dyn Format) -> (Vec<(At, At)>, u64) {
    let trace = format.open(path).unwrap();
    let scan = trace.scan(&()).unwrap();
    let unused = trace.unused(&scan.contents);
    let unused = unused.iter().flat_map(|it| &it.records).sum();
    let options = CausalityOptions::default();
    let causality = Causality::build(&scan.info, scan.logs, options).unwrap();
    let nodes = causality.nodes();
    let at = |node: EventNode| {
        let location = &scan.info.locations[nodes.location(node).as_usize()];
        let process = &scan.info.processes[location.process].name;
        let time = nodes.timestamp(node).0.wrapping_sub(trace.zero().0) as i64;
        (process.clone(), time)
    };
    let all = dependencies(&causality).into_iter();
    let mut found: Vec<_> = all.map(|it| (at(it.cause), at(it.effect))).collect();
    found.sort();
    (found, unused)
}

fn arrows() -> impl Strategy<Value = Vec<(u32, i64, u32, i64)>> {
    let arrow = (0_u32..4, 0_i64..40, 1_u32..4, 0_i64..40);
    prop::collection::vec(arrow, 0..6)
}

/// The job with these arrows, each from one of its ranks to another.
fn with_arrows(mut job: Job, arrows: &[(u32, i64, u32, i64)]) -> Job {
    let count = job.documents.len() as u32;
    let end = |document: u32, at: i64| ArrowEnd {
        document,
        track: 0,
        at: 1_000_000 + 500 * at,
    };
    let all = arrows.iter().map(|&(from, begin, further, end_at)| {
        let from = from % count;
        let to = (from + 1 + further % (count - 1)) % count;
        Arrow {
            from: end(from, begin),
            to: end(to, end_at),
        }
    });
    job.arrows = all.collect();
    job.arrows.sort_by_key(|it| (it.from, it.to));
    job.arrows.dedup();
    job
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn arrows_are_the_dependencies_that_they_were(
        ranks in prop::collection::vec(events(), 2..4),
        arrows in arrows(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let job = with_arrows(job(directory.path(), &ranks), &arrows);
        let at = |end: &ArrowEnd| (format!("rank {}", end.document), end.at);
        let mut expected: Vec<_> = job.arrows.iter().map(|it| (at(&it.from), at(&it.to))).collect();
        expected.sort();
        for (kind, name, format) in [
            (MergedKind::Perfetto, "job.pftrace", &Perfetto as &dyn Format),
            (MergedKind::Chrome, "job.json", &Kineto),
        ] {
            let mut out = Vec::new();
            merge(&job, kind, None, &mut out, &()).unwrap();
            let path = directory.path().join(name);
            fs::write(&path, out).unwrap();
            let (found, unused) = read(&path, format);
            // Packets count from the beginning, JSON from its base.
            let shift = if kind == MergedKind::Perfetto { job.origin } else { 0 };
            let expected: Vec<_> = expected
                .iter()
                .map(|((from, begin), (to, end))| {
                    ((from.clone(), begin - shift), (to.clone(), end - shift))
                })
                .collect();
            prop_assert_eq!(found, expected, "{}", name);
            // Ends of arrows that ranks draw can be alone, and of no use.
            let draws = ranks.iter().flatten().any(|it| b"stf".contains(&it.ph));
            prop_assert!(draws || unused == 0, "{}", name);
        }
    }
}
