//! From the results of the library to the report.

use std::collections::BTreeMap;

use retime::causality::{Check, Place};
use retime::estimate::Shown;
use retime::format::Unused;
use retime::optimal::{Coverage, Forcing, LeastDistortion};
use retime::pipeline::{
    Aligned, Analysis, Bounds, ClockRateChange, ClockSet, Examined, Method, Solution, UnfoundStep,
    related_clocks,
};
use retime::repair;
use retime::{Bandwidth, ClockAttribution, ClockId, Clocks, Grouping, Ticks, Timestamp, TraceInfo};

use super::clock_names;
use super::devices;
use super::ends;
use super::model::{
    AlignmentPart, BoundsPart, CheckPart, ClockBoundPart, ClockPart, ClocksPart, CoveragePart,
    DefectPart, DelayByLengthPart, DelayPart, Direction, EmptyCallsPart, ExaminedPart, ForcingPart,
    GentlestPart, HalfRoundTrips, LengthLinePart, MatchingPart, MethodPart, PairPart,
    RateChangePart, RelatedPart, RepairPart, SharedPart, StepPart, StretchPart, TracePart,
    UnfoundStepPart, UntiedPart, ViolationPart,
};
use super::place::PlacePart;
use super::quoted::quoted_path;
use crate::delay::DelaySource;
use crate::load::Opened;

/// How many pairs of clocks a report lists.
const PAIRS_LISTED: usize = 1000;

/// A trace of several files stands as what `--help` calls these: its directory may hold others.
fn word(opened: &Opened) -> String {
    if opened.is_of_files {
        "FILE...".into()
    } else {
        quoted_path(&opened.path)
    }
}

pub(crate) fn trace_part(opened: &Opened, analysis: &Analysis) -> TracePart {
    let info = analysis.info();
    let nodes = analysis.causality().nodes();
    let extents = || (0..nodes.locations()).filter_map(|location| nodes.extent(location));
    let first = extents()
        .map(|extent| nodes.relative(extent.first))
        .min()
        .unwrap_or_default();
    let last = extents()
        .map(|extent| nodes.relative(extent.last))
        .max()
        .unwrap_or_default();
    TracePart {
        path: opened.path.display().to_string(),
        word: word(opened),
        format: opened.trace.format(),
        locations: info.locations.len(),
        processes: processes(info),
        nodes: info.nodes.len(),
        events: (0..nodes.locations())
            .map(|location| nodes.event_count(location))
            .sum(),
        communicating_events: analysis.counts().nodes,
        ticks_per_second: info.rate.get(),
        began_at: nodes
            .absolute(first)
            .and_then(|it| opened.trace.time_of_day(it))
            .map(|it| humantime::format_rfc3339_seconds(it).to_string()),
        first_stamp: nodes.absolute(first),
        duration_seconds: info.rate.seconds(retime::Ticks(last.0 - first.0)),
    }
}

/// How many processes there are: what one has made, as a device, is none of its own.
fn processes(info: &TraceInfo) -> usize {
    let all = 0..info.processes.len();
    all.filter(|&it| info.family(it) == it).count()
}

/// The places of a kind of defect that a report names, however many are known.
const PLACES: usize = 5;

pub(crate) fn matching_part(analysis: &Analysis) -> MatchingPart {
    let (info, causality, counts) = (analysis.info(), analysis.causality(), analysis.counts());
    let defects = causality.defects().iter().map(|(kind, found)| DefectPart {
        kind,
        count: found.count,
        text: kind.describe(found.count),
        first: found
            .places
            .iter()
            .take(PLACES)
            .map(|&place| place_part(info, place))
            .collect(),
    });
    MatchingPart {
        messages: counts.messages,
        acknowledgements: counts.acknowledgements,
        collectives: counts.collectives,
        defects: defects.collect(),
    }
}

/// The stretch of time that is looked at, where that is not all of the trace.
pub(crate) fn stretch_part(analysis: &Analysis) -> Option<StretchPart> {
    let (from, to) = analysis.options().window?;
    let nodes = analysis.causality().nodes();
    let seconds = |at: Timestamp| analysis.info().rate.seconds(nodes.relative(at));
    let (messages, collectives) = (
        &analysis.recorded().messages,
        &analysis.recorded().collectives,
    );
    Some(StretchPart {
        from_seconds: (from > nodes.base()).then(|| seconds(from)),
        to_seconds: (to < Timestamp(u64::MAX)).then(|| seconds(to)),
        dependencies: messages.total + collectives.total,
    })
}

pub(crate) fn examined_part(examined: Examined, stretch: Option<StretchPart>) -> ExaminedPart {
    ExaminedPart {
        stretch,
        verdict: examined.verdict(),
        recorded: examined.recorded(),
        used: examined.used(),
        within_clock: examined.within_clock(),
        examined,
        unrelated: Vec::new(),
    }
}

/// The sets of clocks that nothing relates to each other, if there are several.
pub(crate) fn unrelated_parts(
    info: &TraceInfo,
    clocks: &Clocks,
    check: &Check,
    unused: &[Unused],
) -> Vec<RelatedPart> {
    let sets = related_clocks(info, clocks, check, unused);
    if sets.len() < 2 {
        return Vec::new();
    }
    let names = clock_names::names(info, clocks);
    let name = |clock: &ClockId| {
        let name = names.get(clock.as_usize()).cloned().flatten();
        name.unwrap_or_else(|| format!("clock {}", clock.0))
    };
    let part = |set: Vec<ClockId>| RelatedPart {
        names: set.iter().map(name).collect(),
        clocks: set.iter().map(|it| it.0).collect(),
    };
    sets.into_iter().map(part).collect()
}

pub(crate) fn place_part(info: &TraceInfo, place: Place) -> PlacePart {
    let location = info.locations.get(place.location.as_usize());
    PlacePart {
        location: location.map_or(u64::MAX, |location| location.id),
        event: place.event,
    }
}

pub(crate) fn clocks_part(
    analysis: &Analysis,
    grouping: Grouping,
    advance: &[Option<retime::Ticks>],
) -> ClocksPart {
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let id = |location: &retime::LocationIndex| info.locations[location.as_usize()].id;
    let mut names = clock_names::names(info, clocks);
    let list = clocks.iter().map(|clock| ClockPart {
        name: names[clock.as_usize()].take(),
        locations: clocks.locations(clock).iter().map(id).collect(),
        final_advance_ticks: advance
            .get(clock.as_usize())
            .copied()
            .flatten()
            .map(|ticks| ticks.0),
    });
    ClocksPart {
        grouping,
        count: clocks.len(),
        refuted_groups: clocks.refuted(),
        untied: untied_part(analysis),
        list: list.collect(),
    }
}

fn untied_part(analysis: &Analysis) -> UntiedPart {
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let causality = analysis.causality();
    let mut part = UntiedPart::default();
    if clocks.len() < 2 {
        return part;
    }
    let attributions = analysis.attributions();
    // Where no two clocks are tied none moves, and a warning says that nothing is known.
    if !attributions.contains(&ClockAttribution::Tied) {
        return part;
    }
    for (number, (location, attribution)) in info.locations.iter().zip(attributions).enumerate() {
        if causality.nodes().event_count(number) == 0 {
            continue;
        }
        match attribution {
            ClockAttribution::Tied => {}
            ClockAttribution::OfProcess => part.of_process += 1,
            ClockAttribution::OfCreator => part.of_creator += 1,
            ClockAttribution::OfNode => part.of_node += 1,
            ClockAttribution::OfNearest => part.of_nearest += 1,
            ClockAttribution::Unknown => part.unknown.push(location.id),
        }
    }
    part
}

pub(crate) fn check_part(
    info: &TraceInfo,
    clocks: &Clocks,
    check: &Check,
    out_of_order: u64,
) -> CheckPart {
    let worst = check.worst.iter().map(|violation| ViolationPart {
        kind: violation.kind,
        latency_ticks: violation.latency.0,
        cause: place_part(info, violation.cause),
        effect: place_part(info, violation.effect),
        caused_at: violation.caused_at,
        cause_on: info.describe(violation.cause.location),
        effect_on: info.describe(violation.effect.location),
    });
    let mut pairs = pair_parts(clocks, check);
    let reversed_pairs = pairs.iter().filter(|it| it.reversed > 0).count() as u64;
    let half_round_trips = half_round_trips(&pairs);
    pairs.truncate(PAIRS_LISTED);
    CheckPart {
        reversed: check.violated(),
        out_of_order,
        short: check.short(),
        shortest_by_ticks: shortest_by(clocks, check),
        reversed_within_clock: check.violated_within_clock(),
        messages: check.messages,
        collectives: check.collectives,
        smallest_latency_ticks: check.pairs.values().map(|pair| pair.smallest.0).min(),
        reversed_pairs,
        half_round_trips,
        pairs,
        worst: worst.collect(),
    }
}

/// The largest time by which a dependency between clocks is faster than the minimal delay; `None`
/// if none is, or all of the worst dependencies are within a clock.
fn shortest_by(clocks: &Clocks, check: &Check) -> Option<i64> {
    let clock = |place: Place| clocks.of(place.location);
    let mut worst = check.worst.iter();
    let short = worst.find(|it| clock(it.cause) != clock(it.effect))?;
    Some(-short.slack.0)
}

/// All pairs of clocks, worst first.
fn pair_parts(clocks: &Clocks, check: &Check) -> Vec<PairPart> {
    let mut by_clock: BTreeMap<(u32, u32), (u64, u64, i64)> = BTreeMap::new();
    for (&(from, to), tally) in &check.pairs {
        let key = (clocks.of(from).0, clocks.of(to).0);
        let (total, reversed, smallest) = by_clock.entry(key).or_insert((0, 0, i64::MAX));
        *total += tally.total;
        *reversed += tally.violated;
        *smallest = tally.smallest.0.min(*smallest);
    }
    let parts =
        by_clock.iter().map(
            |(&(from, to), &(dependencies, reversed, smallest))| PairPart {
                from_clock: from,
                to_clock: to,
                dependencies,
                reversed,
                smallest_latency_ticks: smallest,
                smallest_round_trip_ticks: by_clock
                    .get(&(to, from))
                    .map(|&(.., back)| smallest.saturating_add(back)),
            },
        );
    let mut parts: Vec<PairPart> = parts.collect();
    parts.sort_by_key(|pair| pair.smallest_latency_ticks);
    parts
}

/// Half round trips, each pair of clocks taken once; `None` if no two have messages both ways.
fn half_round_trips(pairs: &[PairPart]) -> Option<HalfRoundTrips> {
    let once = pairs.iter().filter(|it| it.from_clock < it.to_clock);
    let halves = once.filter_map(|it| Some(it.smallest_round_trip_ticks? / 2));
    let (mut count, mut sum) = (0, 0_i128);
    let mut ends: Option<(i64, i64)> = None;
    for half in halves {
        let (least, most) = ends.unwrap_or((half, half));
        ends = Some((least.min(half), most.max(half)));
        (count, sum) = (count + 1, sum + i128::from(half));
    }
    let (smallest_ticks, largest_ticks) = ends?;
    Some(HalfRoundTrips {
        smallest_ticks,
        // Between the smallest and the largest, so that it fits.
        mean_ticks: (sum / count) as i64,
        largest_ticks,
    })
}

/// The most ticks that the common time is ahead of its reference, or behind it.
fn ahead_of_reference(aligned: &Aligned) -> Option<f64> {
    aligned.reference?;
    let common = aligned.common.as_ref()?;
    let all = common.knots().iter().map(|it| it.1.abs());
    Some(all.fold(0.0, f64::max))
}

pub(crate) fn method_part(method: &Method, solution: &Solution) -> MethodPart {
    let repaired = solution.repaired.as_ref();
    MethodPart {
        name: method.to_string(),
        option: method.name().into(),
        offsets: None,
        jumps: repaired.map_or(0, |it| it.jumps),
        largest_jump_ticks: repaired.map_or(0, |it| it.largest_jump.0),
        knots: solution.correction.knots(),
        alignment: solution.aligned.as_ref().map(|aligned| AlignmentPart {
            reference_clock: aligned.reference.map(|clock| clock.0),
            ahead_of_reference_ticks: ahead_of_reference(aligned),
            moved_later_ticks: Some(aligned.moved_later.0).filter(|it| *it > 0),
            pieces: aligned.pieces,
            unrelated_clocks: aligned.unrelated.iter().map(|clock| clock.0).collect(),
            one_way_clocks: aligned.one_way.iter().map(|clock| clock.0).collect(),
            left_out: aligned.outliers,
            steps: aligned.steps.iter().map(step_part).collect(),
            rate_changes: aligned.rate_changes.iter().map(rate_change_part).collect(),
            half_were_set_at_once: aligned.half_were_set_at_once,
            ends: aligned.ends.as_ref().map(ends::part),
        }),
        repair: repaired.map(|it| RepairPart {
            direction: it.direction.map(|direction| match direction {
                repair::Direction::Forward => Direction::Forward,
                repair::Direction::Backward => Direction::Backward,
            }),
        }),
    }
}

/// Says of the steps that a method found how far bounds know them, and where they can have been.
pub(crate) fn bound_steps(steps: &mut [StepPart], bounded: &Bounds) {
    for step in steps {
        let set = ClockSet {
            clock: ClockId(step.clock),
            after: Timestamp(step.after),
            until: Timestamp(step.until),
            by: Ticks(step.by_ticks),
            within: None,
            alternatives: Vec::new(),
            together: Vec::new(),
        };
        let bound = bounded.of_step(&set);
        (step.after, step.until) = (bound.after.0, bound.until.0);
        (step.known_to_ticks, step.how) = (bound.known_to(), bound.how());
    }
}

fn step_part(step: &ClockSet) -> StepPart {
    StepPart {
        clock: step.clock.0,
        after: step.after.0,
        until: step.until.0,
        by_ticks: step.by.0,
        how: step.how(),
        known_to_ticks: step.known_to(),
        alternatives: step.alternatives.iter().map(|it| it.0).collect(),
        together: step.together.iter().map(|it| it.0).collect(),
    }
}

fn rate_change_part(change: &ClockRateChange) -> RateChangePart {
    RateChangePart {
        clock: change.clock.0,
        after: change.after.0,
        until: change.until.0,
        at: change.at.0,
        by_ppm: change.by * 1e6,
        known_to_ppm: Some(change.known_to() * 1e6).filter(|it| it.is_finite()),
    }
}

const fn unfound_part(step: &UnfoundStep) -> UnfoundStepPart {
    UnfoundStepPart {
        clock: step.clock.0,
        after: step.after.0,
        until: step.until.0,
    }
}

pub(crate) fn bounds_part(
    analysis: &Analysis,
    bounded: &Bounds,
    truth: Option<&Coverage>,
) -> BoundsPart {
    let shared = analysis.shared_clocks().into_iter().map(|it| SharedPart {
        clock: it.clock.0,
        node: analysis
            .info()
            .nodes
            .get(it.node)
            .cloned()
            .unwrap_or_default(),
        processes: it.processes,
    });
    BoundsPart {
        drift_bound: bounded.drift,
        refuted_drift_bound: bounded.refuted,
        reference_clock: bounded.offsets.reference.0,
        all: bounded.all,
        largest_over_run: bounded.largest_over_run,
        complete: bounded.offsets.complete,
        given_up_clocks: bounded.given_up(),
        left_out: bounded.offsets.relaxed.len(),
        contradicted: bounded.contradicted.iter().map(step_part).collect(),
        if_set: bounded.if_set.iter().map(step_part).collect(),
        if_rates_change: { bounded.if_rates_change.iter() }
            .map(rate_change_part)
            .collect(),
        set_back: bounded.set_back.iter().map(unfound_part).collect(),
        if_shared: shared.collect(),
        if_with_host: devices::left_with_hosts(analysis.info(), analysis.clocks()),
        truth: truth.map(|coverage| CoveragePart {
            events: coverage.events,
            inside: coverage.inside,
            share: coverage.share(),
            worst_ticks: coverage.worst,
        }),
        clocks: { bounded.by_clock.iter().zip(&bounded.steps) }
            .map(|(&all, &steps)| ClockBoundPart { all, steps })
            .collect(),
        one_sided: (0..)
            .zip(&bounded.by_clock)
            .filter(|(clock, _)| {
                let (below, above) = bounded.sides(ClockId(*clock));
                below != above
            })
            .map(|(_, all)| all.events + all.unbounded)
            .sum(),
    }
}

pub(crate) fn gentlest_part(analysis: &Analysis, least: &LeastDistortion) -> GentlestPart {
    let part = |place| place_part(analysis.info(), place);
    let dependency = |it: &Forcing| ForcingPart {
        cause: part(it.cause),
        effect: part(it.effect),
        needed_ticks: it.needed.0,
    };
    let ticks = |of: i128| i64::try_from(of).unwrap_or(i64::MAX);
    GentlestPart {
        distortion: Some(least.distortion).filter(|it| it.is_finite()),
        complete: least.complete,
        needed_ticks: ticks(least.needed),
        width_ticks: ticks(least.width),
        forced_by: least.forced_by.iter().map(dependency).collect(),
    }
}

pub(crate) fn delay_part(analysis: &Analysis, source: DelaySource) -> DelayPart {
    let used = analysis.delay();
    let (smallest, largest) = used.delay.range();
    let by_length = used.delay.bandwidths().map(|(smallest, largest)| {
        let causality = analysis.causality();
        DelayByLengthPart {
            smallest_bytes_per_second: smallest.get(),
            largest_bytes_per_second: largest.get(),
            without_length: causality.messages() - causality.messages_with_length(),
        }
    });
    let (line, calls) = match used.shown {
        Some(Shown::Line(line)) => (Some(line), None),
        Some(Shown::Calls(calls)) => (None, Some(calls)),
        None => (None, None),
    };
    let rate = analysis.info().rate;
    DelayPart {
        source,
        is_condition: used.is_given(),
        by_length,
        line: line.map(|it| LengthLinePart {
            latency_ticks: it.latency,
            bytes_per_second: it.shown(rate).map(Bandwidth::get),
        }),
        calls: calls.map(|it| EmptyCallsPart {
            count: it.calls,
            most_frequent_ticks: it.most_frequent.0,
        }),
        smallest_ticks: smallest.0,
        largest_ticks: largest.0,
        half_round_trip_ticks: used.half_round_trip.map(|ticks| ticks.0),
        of_aligned_clocks: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_round_trips_are_of_each_pair_of_clocks_and_of_no_clock_with_itself() {
        let pair = |from_clock, to_clock, trip| PairPart {
            from_clock,
            to_clock,
            dependencies: 1,
            reversed: 0,
            smallest_latency_ticks: 1,
            smallest_round_trip_ticks: trip,
        };
        let alone = [pair(0, 0, Some(2)), pair(0, 1, None)];
        assert_eq!(half_round_trips(&alone), None);
        // More pairs than a report lists.
        let last = PAIRS_LISTED as u32 + 1;
        let there = (1..=last).map(|it| pair(0, it, Some(2 * i64::from(it))));
        let back = (1..=last).map(|it| pair(it, 0, Some(2 * i64::from(it))));
        let pairs: Vec<PairPart> = there.chain(back).chain(alone).collect();
        let found = HalfRoundTrips {
            smallest_ticks: 1,
            mean_ticks: i64::from(last).midpoint(1),
            largest_ticks: i64::from(last),
        };
        assert_eq!(half_round_trips(&pairs), Some(found));
    }
}
