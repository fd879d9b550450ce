//! Clocks that look at every event, over a trace of which each process has a part, have the
//! results of one process.

use std::sync::Arc;

use proptest::prelude::*;
use retime::clock::{Control, DegressiveConstants, MultiPass, Steps};
use retime::pipeline::{Analysis, AnalysisOptions, ClockControl, ClockKind, LogicalClock, Method};
use retime::{Ticks, Timestamp};
use retime_distributed::{Broken, Distribution, Peers, analyse};

use crate::all_events::stamps;
use crate::common::{Trace, cases, specs};
use crate::processes::{Thread, together};
use crate::shared::{Outcome, outcome, owners, same};

/// Clocks that do something at each event.
fn clocks() -> Vec<LogicalClock> {
    let apart = |kind, ticks| LogicalClock {
        distance: Ticks(ticks).into(),
        ..LogicalClock::of_kind(kind)
    };
    let control = ClockControl::ByEvent(Control::Degressive(DegressiveConstants::default()));
    let stepping = LogicalClock {
        control,
        steps: Steps::Every,
        ..LogicalClock::default()
    };
    let backward = |clock: LogicalClock| LogicalClock {
        backward: true,
        ..clock
    };
    vec![
        apart(ClockKind::Simple, 3),
        backward(apart(ClockKind::Simple, 40)),
        apart(ClockKind::Controlled, 7),
        backward(apart(ClockKind::Controlled, 7)),
        LogicalClock {
            amortization: None,
            ..apart(ClockKind::Controlled, 2)
        },
        LogicalClock {
            control: ClockControl::Passes(MultiPass::default()),
            ..apart(ClockKind::Controlled, 5)
        },
        stepping.clone(),
        LogicalClock {
            distance: Ticks(4).into(),
            ..stepping
        },
        backward(LogicalClock::of_kind(ClockKind::Lamport)),
    ]
}

/// The result of one process, which is shown the times of its own events only.
fn shown(
    analysis: Option<Analysis>,
    distribution: Distribution,
    times: &[Vec<Timestamp>],
    clock: &LogicalClock,
) -> Outcome {
    let own = (0..).zip(times).map(|(location, times)| {
        let is_own = distribution.owns(location);
        times.iter().copied().filter(|_| is_own).collect()
    });
    let own: Vec<Vec<Timestamp>> = own.collect();
    let analysis = analysis.map(|mut analysis| {
        let all = analysis.causality().with_all_events(&own).unwrap();
        analysis.show_all_events(all);
        analysis
    });
    outcome(distribution, analysis, &Method::clock(clock.clone()), &())
}

fn in_processes(
    trace: &Trace,
    owners: &[u32],
    size: usize,
    options: &AnalysisOptions,
    clock: &LogicalClock,
) -> Vec<Outcome> {
    let (logs, times) = (trace.logs(), stamps(trace));
    let run = |peer: Thread| {
        let rank = peer.rank() as u32;
        let distribution = Distribution::new(Arc::new(peer), owners.to_vec());
        let own = logs.iter().cloned();
        let own = own.filter(|log| owners[log.location().as_usize()] == rank);
        let (info, options) = (trace.info.clone(), options.clone());
        let analysis = analyse(info, own.collect(), options, &distribution, &()).ok();
        shown(analysis, distribution, &times, clock)
    };
    together(size, run)
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn any_number_of_processes_comes_to_the_same(
        spec in specs(300),
        clock in prop::sample::select(clocks()),
        size in 2..6_usize,
        seed in 0..20_usize,
    ) {
        let trace = spec.trace();
        let options = AnalysisOptions {
            grouping: spec.grouping(),
            ..AnalysisOptions::default()
        };
        let owners = owners(&trace.info, true, seed, size);
        let whole = Analysis::new(trace.info.clone(), trace.logs(), options.clone(), &());
        let alone = Distribution::default();
        let whole = shown(Some(whole.unwrap()), alone, &stamps(&trace), &clock);
        let parts = in_processes(&trace, &owners, size, &options, &clock);
        if let Some(Broken::NeedsWhole(_) | Broken::Failed) = parts[0].distribution.broken() {
            return Ok(());
        }
        for (rank, part) in parts.iter().enumerate() {
            prop_assert_eq!(part.distribution.broken(), None);
            same(&whole, part, rank == 0)?;
            let kept = |it: &Outcome| it.solution.as_ref().map(|it| it.correction.distance().clone());
            prop_assert!(rank > 0 || kept(&whole) == kept(part));
        }
    }
}

/// The property above says something: mostly no trace has to be in one process.
#[test]
fn most_traces_need_not_be_in_one_process() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for clock in clocks() {
        let together = (0..20).filter(|&seed| {
            let spec = specs(150).new_tree(&mut runner).unwrap().current();
            let trace = spec.trace();
            let options = AnalysisOptions {
                grouping: spec.grouping(),
                ..AnalysisOptions::default()
            };
            let owners = owners(&trace.info, true, seed, 3);
            let parts = in_processes(&trace, &owners, 3, &options, &clock);
            let several = owners.iter().any(|it| *it != owners[0]);
            several && parts.iter().all(|it| it.solution.is_some())
        });
        let together = together.count();
        assert!(together > 3, "{together} of 20: {clock:?}");
    }
}
