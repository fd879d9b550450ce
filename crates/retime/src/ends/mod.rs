//! Ends as evidence: operations that end together tell how clocks differ where dependencies leave
//! that open.
//!
//! Nobody leaves an all-reduce before all have come. That is all that is certain, and where one host always comes
//! last, its clock may be ahead by as long as the others waited for it: for milliseconds. But the kernels of an
//! operation poll memory, and all end as soon as the last data are there: within 1 to 22 us of
//! each other in recordings of NCCL, however far apart they began. So
//!
//! ```text
//!  observers   whose ends count, and how much
//!  observed    when each clock saw an operation end
//!  sets        constants by which sets of clocks agree, and how well
//!  consensus   a line for each clock by which these ends agree, and their spread
//!  apart       operations that end too far apart for chance
//!  jump        a clock that was set, where that explains by far what a line does not
//!  freedom     what dependencies leave open between two clocks
//!  balance     lines between both, each counted by what it knows
//!  nearest     those next to them that break no dependency
//! ```
//!
//! are added to an alignment. It is evidence, no proof. Bounds are those of dependencies as
//! ever; what is *likely* is stated apart. With `s` the spread of a clock's ends, `f` the freedom that
//! dependencies leave it, and `w` the share by which ends decided,
//!
//! ```text
//! likely within  2 s w + f (1 - w) + by how much dependencies kept it from where ends would have it
//! ```
//!
//! and no less than `2 s` where ends hang together, as those of a clock that was set do: freedom is that
//! of a line, and no line tells such a clock.
//!
//! And it is no evidence at all where dependencies keep a clock from it by more than 4 spreads:
//! then ends are not together, and the alignment stays as it is.
//!
//! [Streams](retime_model::TraceInfo::streams) that a format names count as they are, threads that wait
//! in MPI or gloo [far less](observers): they have to be woken.

mod apart;
mod balance;
mod consensus;
mod freedom;
mod jump;
mod observed;
mod observers;
mod sets;

use retime_model::{Cancelled, ClockId};
use serde::{Deserialize, Serialize};

pub use self::apart::{ApartPlace, EndsApart};
use self::balance::{Balanced, balance};
use self::consensus::{Consensus, EvidenceLine, consensus};
use self::freedom::freedom;
use self::jump::Jump;
use self::observed::ObservedEnds;
pub(crate) use self::observers::Observers;
use crate::unbroken::{AlignedRun, AlignedTrace, Demand, Judge, RunLine};
use retime_clocks::estimate::Estimate;

/// Spreads by which dependencies may keep a clock from where ends would have it.
const REFUTED: f64 = 4.0;

/// The evidence of ends of operations about clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndsEvidence {
    /// Operations that several clocks saw end.
    pub operations: usize,
    /// The spread of the ends of one operation: a standard deviation that outliers do not change, in
    /// ticks.
    pub spread: f64,
    /// How many clocks ends decide on more than dependencies do.
    pub decided: usize,
    /// The ticks within which corrected times of each clock, on the time of the reference, are likely to
    /// lie; `None` where ends tell nothing of it, as those of threads never do.
    pub likely: Vec<Option<f64>>,
    /// Operations that end far apart on their clocks, if there are any.
    pub apart: Option<EndsApart>,
    /// Clocks that seem to have been set, the most first, though nothing that is certain shows it.
    pub steps: Vec<EndsStep>,
}

/// A step of a clock that only ends of operations show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndsStep {
    /// The clock.
    pub clock: ClockId,
    /// The ticks of the run that had passed at the last end before the step,
    pub after: f64,
    /// and at the first end behind it.
    pub until: f64,
    /// The ticks by which the clock shows more from then on.
    pub by: f64,
    /// Other clocks of which one may have been set instead, by as much the other way.
    pub alternatives: Vec<ClockId>,
}

/// Steps smaller than this share of the largest are its echo: the others are off when one is.
const ECHO: f64 = 0.6;

/// The clocks that seem to have been set.
fn steps(told: &Consensus, reference: ClockId, length: f64) -> Vec<EndsStep> {
    let jumps = told.told.iter().enumerate();
    let mut jumps: Vec<(usize, Jump)> = jumps
        .filter_map(|(clock, it)| Some((clock, it.as_ref()?.jump?)))
        .collect();
    let most = jumps.iter().map(|it| it.1.by.abs()).fold(0.0, f64::max);
    jumps.retain(|it| it.1.by.abs() >= ECHO * most);
    let is_other = |a: &Jump, b: &Jump| {
        let overlap = a.after < b.until && b.after < a.until;
        overlap && a.by.signum() != b.by.signum()
    };
    let step = |(at, (clock, jump)): (usize, &(usize, Jump))| {
        let others = || jumps.iter().enumerate().filter(|it| it.0 != at);
        let twins = others().filter(|it| is_other(jump, &it.1.1));
        let twins: Vec<ClockId> = twins.map(|it| ClockId(it.1.0 as u32)).collect();
        let own = ClockId(*clock as u32);
        // Of two that may have been set the one is named that is not the reference, or the second.
        let is_named = twins
            .first()
            .is_none_or(|&it| own != reference && (it == reference || it < own));
        is_named.then_some(EndsStep {
            clock: own,
            after: jump.after * length,
            until: jump.until * length,
            by: jump.by,
            alternatives: twins,
        })
    };
    let mut steps: Vec<EndsStep> = jumps.iter().enumerate().filter_map(step).collect();
    steps.sort_by(|a, b| b.by.abs().total_cmp(&a.by.abs()));
    steps
}

/// The estimate of an aligned trace with what ends tell, as `observers` see them, and how much that
/// is; `None` where it is nothing.
pub(crate) fn by_ends(
    trace: &AlignedTrace<'_>,
    observers: Observers<'_>,
) -> Result<Option<(Estimate, EndsEvidence)>, Cancelled> {
    if trace.clocks.len() < 2 {
        return Ok(None);
    }
    let extents = trace.extents();
    let Some(run) = AlignedRun::new(trace.estimate, &extents) else {
        return Ok(None);
    };
    let ends = ObservedEnds::of_trace(trace.causality, trace.clocks, observers, &run)?;
    let work = || told(trace, observers, &run, &ends);
    let told = trace.edges().at_root::<Estimate, _>(work)?;
    Ok(told.map(|(lines, evidence)| (trace.moved(&extents, &run, &lines), evidence)))
}

/// The lines that `ends` and dependencies tell together, and the evidence for them.
fn told(
    trace: &AlignedTrace<'_>,
    observers: Observers<'_>,
    run: &AlignedRun<'_>,
    ends: &ObservedEnds,
) -> Result<Option<(Vec<RunLine>, EndsEvidence)>, Cancelled> {
    let (estimate, monitor) = (trace.estimate, trace.monitor);
    let extents = trace.extents();
    let recorded: Vec<f64> = { trace.clocks.iter() }
        .map(|it| -run.gains(it, &extents))
        .collect();
    let told = consensus(ends, &recorded, run.length(), estimate.reference, monitor)?;
    let Some(told) = told else {
        return Ok(None);
    };
    let told = told.known_to(observers.known_to());
    let edges = trace.edges();
    let source = edges.dependencies(estimate)?;
    let judge = Judge {
        run,
        delay: trace.delay,
        causality: trace.causality,
        monitor,
    };
    let ties = judge.least(&source, |tie| Some(tie.slack))?;
    let between = balance(
        &told.told,
        &told.anchors,
        &freedom(&ties),
        estimate.reference,
    );
    let decided = decided(&told.told, &between.share);
    let are_threads = matches!(observers, Observers::Threads);
    if are_threads && decided == 0 {
        return Ok(None);
    }
    for demand in [Demand::All, Demand::Kept] {
        let lines = trace.unbroken(run, between.lines.clone(), demand)?;
        let Some(likely) = lines.as_ref().and_then(|it| likely(&told, &between, it)) else {
            continue;
        };
        let mut evidence = EndsEvidence {
            operations: ends.operations.len(),
            spread: told.spread,
            decided,
            likely,
            apart: told.apart,
            steps: steps(&told, estimate.reference, run.length()),
        };
        if are_threads {
            evidence.likely.fill(None);
            evidence.steps.clear();
        }
        return Ok(Some((lines.unwrap_or_default(), evidence)));
    }
    Ok(None)
}

/// The clocks for which ends count more than dependencies, and which these have elsewhere by more than
/// ends can be off.
fn decided(told: &[Option<EvidenceLine>], share: &[f64]) -> usize {
    let is_decided = |(told, share): &(&Option<EvidenceLine>, &f64)| {
        **share > 0.5 && told.is_some_and(|it| it.line.largest() > it.spread)
    };
    told.iter().zip(share).filter(is_decided).count()
}

/// The ticks within which the line of each clock is likely right; `None` if dependencies keep one
/// too far from where ends would have it.
fn likely(told: &Consensus, between: &Balanced, lines: &[RunLine]) -> Option<Vec<Option<f64>>> {
    let of_clock = |(clock, told): (usize, &Option<EvidenceLine>)| {
        let Some(told) = told else {
            return Some(None);
        };
        let kept = (lines[clock] - between.lines[clock]).largest();
        let share = between.share[clock];
        let open = if share < 1.0 {
            (1.0 - share) * between.freedom[clock]
        } else {
            0.0
        };
        let likely = 2.0 * told.spread * share + open + kept;
        let least = if told.is_bent { 2.0 * told.spread } else { 0.0 };
        (kept <= REFUTED * told.spread).then_some(Some(likely.max(least)))
    };
    told.told.iter().enumerate().map(of_clock).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_decide_where_they_say_something_else() {
        let told = |by: f64, spread: f64| {
            Some(EvidenceLine {
                line: RunLine {
                    first: by,
                    last: by,
                },
                spread,
                is_bent: false,
                jump: None,
                ends: 9,
            })
        };
        // By 200 to within 20; the same where dependencies know as much; by less than they are spread;
        // and nothing at all.
        let all = [
            told(200.0, 20.0),
            told(200.0, 20.0),
            told(-10.0, 20.0),
            None,
        ];
        assert_eq!(decided(&all, &[0.9, 0.4, 0.9, 0.9]), 1);
    }

    #[test]
    fn of_clocks_that_jump_against_each_other_one_is_named() {
        let told = |by: f64| {
            (by != 0.0).then(|| EvidenceLine {
                line: RunLine::default(),
                spread: 1.0,
                is_bent: true,
                jump: Some(Jump {
                    after: 0.4,
                    until: 0.5,
                    by,
                }),
                ends: 40,
            })
        };
        let named = |jumps: &[f64]| {
            let told = Consensus {
                told: jumps.iter().map(|by| told(*by)).collect(),
                anchors: vec![0; jumps.len()],
                spread: 1.0,
                apart: None,
            };
            let steps = steps(&told, ClockId(0), 1_000.0);
            let instead = |it: &EndsStep| it.alternatives.iter().map(|it| it.0).collect();
            let named = steps.iter().map(|it| (it.clock.0, it.by, instead(it)));
            named.collect::<Vec<(u32, f64, Vec<u32>)>>()
        };
        assert_eq!(named(&[0.0, 900.0, 0.0]), [(1, 900.0, vec![])]);
        // The others are off by a part of it when one is.
        assert_eq!(named(&[-450.0, 900.0, -450.0]), [(1, 900.0, vec![])]);
        // Of two nobody can tell which it was.
        assert_eq!(named(&[-450.0, 450.0]), [(1, 450.0, vec![0])]);
        assert!(named(&[0.0, 0.0]).is_empty());
    }
}
