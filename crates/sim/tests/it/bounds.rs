//! Bounds of clock offsets on simulated programs: the truth is inside.

use retime::causality::{EventNode, PackedOption};
use retime::estimate::{Estimate, Offset};
use retime::optimal::{
    BoundOptions, ClockBounds, ClockErrorBound, ErrorBounds, OffsetBounds, Relaxed, coverage,
    gentlest, midpoint, offset_bounds, outside,
};
use retime::{
    Causality, ClockId, ClockMap, Clocks, Correction, Edge, Edges, Grouping, Knot, Timestamp,
    TraceInfo,
};
use retime_sim::{
    Clock, Duration, Experiment, HaloExchange, InMemory, Jump, Length, ProducerConsumer, Scenario,
    Spread,
};

const ITERATIONS: u64 = 400;

fn program() -> HaloExchange {
    HaloExchange {
        grid: HaloExchange::square_grid(4),
        iterations: ITERATIONS,
        ranks_per_node: 1,
        compute: Duration::exponential(1_000_000, 100_000.0),
        collective_every: 10,
        seed: 1,
        ..HaloExchange::default()
    }
}

fn drifting() -> Spread {
    Spread {
        offset: 100_000.0,
        drift: 20e-6,
        ..Spread::default()
    }
}

/// A simulated trace with straight lines as base, as an alignment gives them.
struct Trace {
    info: TraceInfo,
    causality: Causality,
    clocks: Clocks,
    truth: Vec<Timestamp>,
    edges: Edges,
    base: Estimate,
}

impl Trace {
    fn new(program: &HaloExchange, clocks: Vec<Clock>, grouping: Grouping) -> Self {
        let experiment = Experiment::new(program).clocks(clocks).timer(program.timer);
        Self::of(experiment.in_memory().unwrap(), grouping)
    }

    fn of(mut memory: InMemory, grouping: Grouping) -> Self {
        let causality = memory.causality().unwrap();
        let clocks = grouping.clocks(&memory.info, &causality);
        let base = lines(&causality, &clocks, &memory.truth);
        let edges = collect(&causality, &clocks, &base);
        Self {
            info: memory.info,
            causality,
            clocks,
            truth: memory.truth,
            edges,
            base,
        }
    }

    fn bounds(&self) -> OffsetBounds {
        offset_bounds(
            &self.edges,
            |_| 0,
            &self.base,
            &BoundOptions::default(),
            &(),
        )
        .unwrap()
    }

    /// Shares of events inside, and mean half width of the midpoint in us.
    fn measured(&self, bounds: &OffsetBounds) -> (f64, f64) {
        let inside = coverage(bounds, &self.causality, &self.clocks, &self.truth).unwrap();
        let middle = midpoint(bounds);
        let correction = middle
            .correction(&self.causality, &self.clocks, &self.edges)
            .unwrap();
        let nodes = self.causality.nodes();
        let errors = ErrorBounds::new(bounds, &correction, None, &self.edges, nodes, &()).unwrap();
        let (summary, _) = errors.summary(nodes, &self.clocks, &()).unwrap();
        let us = 1e6 / self.info.rate.get() as f64;
        (inside.share(), summary.mean_half_width * us)
    }
}

/// The truth as a line through two events of each clock.
fn lines(causality: &Causality, clocks: &Clocks, truth: &[Timestamp]) -> Estimate {
    let nodes = causality.nodes();
    let points = |clock: ClockId| {
        let locations = clocks.locations(clock).iter();
        let own = locations.flat_map(|location| nodes.of(location.as_usize()));
        let mut points: Vec<(i64, i64)> = own
            .map(|node| {
                let true_ = nodes.relative(truth[node.index()]).0;
                (true_, nodes.time(node).0)
            })
            .collect();
        points.sort_unstable();
        points
    };
    // In the first third, where no clock has stepped yet.
    let third = |points: &[(i64, i64)]| (points[0], points[points.len() / 3]);
    let (first, last) = third(&points(ClockId(0)));
    let rate = (last.1 - first.1) as f64 / (last.0 - first.0) as f64;
    let shown = |time: i64| first.1 as f64 + (time - first.0) as f64 * rate;
    let line = |clock: ClockId| {
        let points = points(clock);
        let (first, last) = third(&points);
        let offset = |(true_, raw): (i64, i64)| shown(true_) - raw as f64;
        let slope = (offset(last) - offset(first)) / (last.1 - first.1) as f64;
        let end = points[points.len() - 1].1;
        let at_end = offset(first) + slope * (end - first.1) as f64;
        Some(Offset::line((first.1, offset(first)), (end, at_end)))
    };
    Estimate {
        offsets: clocks.iter().map(line).collect(),
        reference: ClockId(0),
    }
}

fn collect(causality: &Causality, clocks: &Clocks, base: &Estimate) -> Edges {
    let nodes = causality.nodes();
    Edges::collect(
        causality,
        clocks,
        |node| {
            let clock = clocks.of(nodes.location(node));
            let raw = nodes.time(node).0;
            let offset = base.offsets[clock.as_usize()].as_ref().unwrap();
            raw + offset.at(raw).round() as i64
        },
        &(),
    )
    .unwrap()
}

#[test]
fn the_truth_is_inside_the_bounds() {
    let layout = program().layout();
    let drift = |drift: f64| Spread {
        drift,
        ..drifting()
    };
    let wander = Spread {
        wander: 5_000.0,
        period: 1e9,
        ..drifting()
    };
    let coarse = |step: u64| Spread { step, ..drifting() };
    let cases = [
        ("offsets", drift(0.0), 1.5),
        ("2 ppm", drift(2e-6), 1.5),
        ("20 ppm", drift(20e-6), 1.5),
        ("100 ppm", drift(100e-6), 1.5),
        ("wander", wander, 1.5),
        ("1 us", coarse(1_000), 3.0),
        ("10 us", coarse(10_000), 13.0),
    ];
    for (name, spread, widest) in cases {
        let trace = Trace::new(
            &program(),
            spread.per_process(&layout, 1),
            Grouping::Process,
        );
        let bounds = trace.bounds();
        assert!(bounds.complete && bounds.relaxed.is_empty(), "{name}");
        let (inside, half) = trace.measured(&bounds);
        assert!(inside >= 0.999, "{name}: {inside}");
        assert!(half > 0.3 && half < widest, "{name}: {half} us");
    }
}

#[test]
fn shared_clocks_are_bounded_more_tightly() {
    let program = HaloExchange {
        ranks_per_node: 2,
        ..program()
    };
    let clocks = drifting().per_node(&program.layout(), 1);
    let [apart, shared] = [Grouping::Process, Grouping::Node].map(|grouping| {
        let trace = Trace::new(&program, clocks.clone(), grouping);
        let (inside, half) = trace.measured(&trace.bounds());
        assert!(inside >= 0.999, "{inside}");
        half
    });
    assert!(shared < apart, "{shared} {apart}");
}

#[test]
fn a_step_is_found_and_nothing_else_is_relaxed_for_long() {
    for (clock, by) in [(1, 50_000), (2, -50_000), (0, 50_000)] {
        let mut clocks = drifting().per_process(&program().layout(), 1);
        clocks[clock].jumps = vec![Jump {
            at: ITERATIONS * 500_000,
            by,
        }];
        let trace = Trace::new(&program(), clocks, Grouping::Process);
        let bounds = trace.bounds();
        assert!(bounds.complete);
        let mut stepped: Vec<usize> = bounds
            .relaxed
            .iter()
            .filter_map(|relaxed| match relaxed {
                Relaxed::Step { clock, .. } => Some(clock.as_usize()),
                Relaxed::Edge { .. } => None,
            })
            .collect();
        let edges = bounds.relaxed.len() - stepped.len();
        stepped.sort_unstable();
        stepped.dedup();
        assert_eq!(stepped, [clock]);
        assert!(edges < 10, "{edges}");
        let (inside, half) = trace.measured(&bounds);
        assert!(inside >= 0.999, "{inside}");
        assert!(half < 3.5, "{half} us");
    }
}

#[test]
fn misread_clocks_are_named() {
    let clocks = drifting().per_process(&program().layout(), 1);
    let mut trace = Trace::new(&program(), clocks, Grouping::Process);
    let wanted = trace.measured(&trace.bounds()).1;
    let nodes = trace.causality.nodes().len() as u32;
    let wrong: Vec<PackedOption<EventNode>> = (1..=5)
        .map(|part| EventNode(part * nodes / 6).into())
        .collect();
    let mut edges: Vec<Edge> = trace.edges.all().to_vec();
    for (node, by) in wrong.iter().zip([50_000, -50_000].into_iter().cycle()) {
        for edge in &mut edges {
            edge.sent += if edge.cause == *node { by } else { 0 };
            edge.received += if edge.effect == *node { by } else { 0 };
        }
    }
    let extents = trace.clocks.iter().map(|clock| trace.edges.extent(clock));
    trace.edges = Edges::new(edges, extents.collect());
    let bounds = trace.bounds();
    let mut named = Vec::new();
    for relaxed in &bounds.relaxed {
        let Relaxed::Edge { edge, .. } = relaxed else {
            panic!("{relaxed:?}");
        };
        let edge = trace.edges.get(*edge).unwrap();
        assert!(
            wrong.contains(&edge.cause) || wrong.contains(&edge.effect),
            "{edge:?}"
        );
        named.push(relaxed.describe(
            &trace.info,
            &trace.clocks,
            &trace.edges,
            trace.causality.nodes(),
        ));
    }
    assert!(!named.is_empty());
    assert!(named[0].contains(" -> ") && named[0].contains("contradicts the others by"));
    let (inside, half) = trace.measured(&bounds);
    assert!(inside >= 0.999, "{inside}");
    assert!(half < 1.01 * wanted, "{half} {wanted}");
}

/// Simplified and saved as they are, error bounds hold for every event.
#[test]
fn error_bounds_are_never_narrower_than_the_bounds() {
    let mut clocks = drifting().per_process(&program().layout(), 1);
    clocks[1].jumps = vec![Jump {
        at: ITERATIONS * 500_000,
        by: 50_000,
    }];
    let trace = Trace::new(&program(), clocks, Grouping::Process);
    let bounds = trace.bounds();
    let correction = trace
        .base
        .correction(&trace.causality, &trace.clocks, &trace.edges)
        .unwrap();
    let nodes = trace.causality.nodes();
    let errors = ErrorBounds::new(&bounds, &correction, None, &trace.edges, nodes, &()).unwrap();
    let corrected = trace.causality.retimed(&correction, &()).unwrap();
    // All that is added to the reference is a shift.
    let first = nodes.all().first().unwrap();
    let shift = corrected.nodes().timestamp(first).0 as i64 - nodes.timestamp(first).0 as i64;
    let saved = errors.save(&trace.info, &trace.clocks);
    assert_eq!(saved.len(), 4);
    let mut widest = 0.0_f64;
    for clock in trace.clocks.iter() {
        let of = bounds.clocks[clock.as_usize()].as_ref().unwrap();
        let bound = ClockErrorBound::through(saved[clock.as_usize()].knots.clone());
        let location = trace.clocks.locations(clock)[0];
        for node in nodes.of(location.as_usize()) {
            let raw = nodes.timestamp(node);
            let x = (corrected.nodes().timestamp(node).0 as i64 - raw.0 as i64 - shift) as f64;
            let (low, high) = of.at(nodes.time(node).0);
            let (before, after) = bound.at(raw);
            assert!(x - before <= low + 1e-6 && high <= x + after + 1e-6);
            widest = widest.max((before + after) / (high - low).max(100.0));
        }
    }
    assert!(widest < 1.5, "{widest}");
    let knots: usize = saved.iter().map(|clock| clock.knots.len()).sum();
    assert!(knots < 2_000, "{knots}");
}

#[test]
fn messages_one_way_leave_one_side_open() {
    let program = ProducerConsumer {
        length: Length::iterations(200),
        ..ProducerConsumer::default()
    };
    let clocks = drifting().per_process(&program.layout(), 1);
    let memory = Experiment::new(&program).clocks(clocks).in_memory();
    let trace = Trace::of(memory.unwrap(), Grouping::Process);
    let bounds = trace.bounds();
    let sides: Vec<(bool, bool)> = bounds
        .clocks
        .iter()
        .flatten()
        .map(ClockBounds::sides)
        .collect();
    assert_eq!(sides, [(true, true), (true, false)]);
    let (inside, _) = trace.measured(&bounds);
    assert!(inside >= 0.999, "{inside}");
}

#[test]
fn drift_is_what_forces_a_distortion() {
    let clocks = drifting().per_process(&program().layout(), 1);
    let trace = Trace::new(&program(), clocks, Grouping::Process);
    let found = gentlest(&trace.edges, |_| 0, 6_000_000_000, &()).unwrap();
    assert!(found.complete);
    // Two clocks part by 40 ppm at most; both may give way.
    assert!(
        found.distortion > 5e-6 && found.distortion < 20e-6,
        "{}",
        found.distortion
    );
    let cycle = found.forced_by.as_ref().unwrap();
    let lines = cycle.describe(
        &trace.info,
        &trace.clocks,
        &trace.edges,
        trace.causality.nodes(),
    );
    assert_eq!(lines.len(), cycle.parts.len());
    assert!(lines.iter().any(|line| line.contains("needs")), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("to change")),
        "{lines:?}"
    );
}

/// The truth as a correction, on a common time that is as wrong as said: lines between
/// the first and the last event of each clock, the third of them `ahead`.
fn as_correction(trace: &Trace, common: impl Fn(u64) -> u64, ahead: u64) -> Correction {
    let nodes = trace.causality.nodes();
    let map = |clock: ClockId| {
        let mut own = nodes.of(clock.as_usize());
        let ends = [own.next(), own.next_back()].map(Option::unwrap);
        let wrong = if clock == ClockId(2) { ahead } else { 0 };
        let knot = |node: EventNode| {
            let to = common(trace.truth[node.index()].0 + wrong);
            Knot::at(nodes.timestamp(node), Timestamp(to))
        };
        ClockMap::new(ends.map(knot).to_vec(), Vec::new()).unwrap()
    };
    let maps = trace.clocks.iter().map(map).collect();
    Correction::new(trace.clocks.clone(), maps)
}

#[test]
fn what_lies_outside_does_not_depend_on_the_common_time() {
    let program = program();
    let clocks = drifting().per_process(&program.layout(), 7);
    let trace = Trace::new(&program, clocks, Grouping::Location);
    let bounds = trace.bounds();
    let found = |common: fn(u64) -> u64, ahead| {
        let correction = as_correction(&trace, common, ahead);
        let retimed = trace.causality.retimed(&correction, &()).unwrap();
        let nodes = trace.causality.nodes();
        let times = retimed.nodes().timestamps();
        outside(&bounds, &correction, nodes, &trace.clocks, times, 0.0)
    };
    for common in [|true_| true_, |true_| true_ * 10_003 / 10_000 + 5_000_000] {
        let right = found(common, 0);
        assert!(right.events > 1_000);
        assert_eq!(right.outside, 0, "{right:?}");
        // One of the three clocks that are not the reference is far off.
        let wrong = found(common, 50_000);
        assert_eq!(wrong.events, right.events);
        assert!((wrong.share() - 1.0 / 3.0).abs() < 0.02, "{wrong:?}");
        assert!((40_000.0..51_000.0).contains(&wrong.furthest), "{wrong:?}");
    }
}
