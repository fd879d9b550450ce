//! Long work asks its monitor, and stops as soon as that says so.

use crate::common::case::Case;
use crate::common::hand::{causality, logs, ranks_on};
use crate::common::rounds::events;
use crate::common::watched::{After, askings, stops};
use crate::common::{Call, Sharing, Spec};
use retime::align::align_edges;
use retime::causality::{CausalityError, check};
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, DegressiveConstants, Gamma, LogicalTimes,
    MultiPass, Regulation, Steps, amortize, controlled, lamport_order, mirror_back, multi_pass,
    regulated, simple, unamortized,
};
use retime::estimate::{Estimate, learn_minimal_delay};
use retime::optimal::ErrorBounds;
use retime::pipeline::{
    Analysis, AnalysisOptions, Auto, BoundSearch, BoundedOffsets, ClockControl, ClockKind,
    DRIFT_BOUND, GentlestCorrection, LogicalClock, Method, MiddleOfBounds, Unsolved,
};
use retime::repair::repair;
use retime::{
    Causality, CausalityOptions, ClockId, Clocks, Correction, Distortion, Edge, Edges, Grouping,
    MinimalDelay, Stragglers, TickRate, Ticks, TraceInfo, compose,
};

fn analysis() -> Analysis {
    let case = Case::new(&Spec {
        locations: 4,
        steps: 2_000,
        seed: 7,
        threads: false,
        tick: 1,
        offset: 40_000,
        drift_ppm: 50,
        sharing: Sharing::Location,
    });
    Analysis::of(
        case.trace.info,
        case.causality,
        AnalysisOptions::default(),
        &(),
    )
    .unwrap()
}

#[test]
fn solving_stops_wherever_it_is_asked_to() {
    let analysis = analysis();
    let clock = LogicalClock::default();
    let by = |control| LogicalClock {
        control,
        ..clock.clone()
    };
    let clocks = [
        by(ClockControl::Passes(MultiPass::default())),
        by(ClockControl::ByEvent(Control::Degressive(
            DegressiveConstants::default(),
        ))),
        by(ClockControl::ByEvent(Control::Combined(
            CombinedConstants::default(),
        ))),
        LogicalClock {
            amortization: None,
            ..clock.clone()
        },
        LogicalClock {
            backward: true,
            ..clock.clone()
        },
        LogicalClock::of_kind(ClockKind::Simple),
        LogicalClock::of_kind(ClockKind::Lamport),
        clock,
    ];
    // A run, and the maps of four clocks at least.
    let clocks = clocks.map(|clock| (Method::clock(clock), 5));
    // Some walks, steps of Newton's method and rounds of a search each.
    let methods = [
        (Method::new(&Auto), 20),
        (Method::new(&GentlestCorrection), 5),
        (Method::new(&MiddleOfBounds), 20),
    ];
    for (method, least) in clocks.into_iter().chain(methods) {
        stops(least, |monitor| {
            let solved = analysis.solve(&method, monitor);
            solved.map_err(|unsolved| unsolved.reason)
        });
    }
}

#[test]
fn analysing_stops_wherever_it_is_asked_to() {
    let analysis = analysis();
    let (info, causality) = (analysis.info(), analysis.causality());
    // Two passes over each of four clocks but the last, which is the peer of all others.
    stops(6, |monitor| {
        let options = AnalysisOptions::default();
        Analysis::of(info.clone(), causality.clone(), options, monitor)
    });
}

#[test]
fn bounds_and_the_gentlest_correction_stop_wherever_they_are_asked_to() {
    let analysis = analysis();
    // One that was asked before knows how clocks differ.
    let unasked = || analysis.clone();
    stops(20, |monitor| unasked().bounds(DRIFT_BOUND, None, monitor));
    stops(20, |monitor| {
        unasked().bounded_offsets(BoundSearch::with_drift(DRIFT_BOUND), monitor)
    });
    stops(20, |monitor| unasked().least_distortion(None, monitor));
    let asked = unasked();
    assert!(asked.bounds(DRIFT_BOUND, None, &()).is_ok());
    let of = |it: &Analysis| askings(|monitor| it.least_distortion(None, monitor));
    assert!(of(&asked) < of(&unasked()));
    let found = |it: &Analysis| it.least_distortion(None, &()).unwrap();
    assert_eq!(found(&asked), found(&unasked()));
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    stops(10, |monitor| {
        analysis.bounds(DRIFT_BOUND, Some(&solution), monitor)
    });
}

/// A trace whose clocks contradict each other, and what stages of its correction need.
struct Long {
    info: TraceInfo,
    events: [Vec<(u64, Call)>; 3],
    causality: Causality,
    mirror: Causality,
    /// One of each node, and one of each process.
    clocks: Clocks,
    processes: Clocks,
    delay: MinimalDelay,
    estimate: Estimate,
    times: LogicalTimes,
    /// Jumps and all.
    correction: Correction,
    /// Bends at nearly every event.
    bent: Correction,
    mirrored: Correction,
    /// With whose correction nothing is violated.
    sound: Causality,
    /// All dependencies by processes.
    edges: Edges,
    analysis: Analysis,
    offsets: BoundedOffsets,
}

impl Long {
    /// Three ranks, two of them of one node, that send to the next one in each round and
    /// meet in each fourth.
    fn of(rounds: u64) -> Self {
        let info = ranks_on(&[(0, 0), (1, 0), (2, 1)]);
        let events = [0, 1, 2].map(|rank| events(rank, rounds));
        let causality = causality(&info, &events);
        let processes = Grouping::Process.clocks(&info, &causality);
        let delay = MinimalDelay::Uniform(Ticks(3));
        let gamma = Gamma::default();
        let times = controlled(&causality, &processes, &delay, gamma, &()).unwrap();
        let correction = unamortized(&causality, &processes, &times, &()).unwrap();
        let mirror = causality.mirrored();
        let back = controlled(&mirror, &processes, &delay, gamma, &()).unwrap();
        let options = AnalysisOptions {
            grouping: Grouping::Process,
            ..AnalysisOptions::default()
        };
        let analysis = Analysis::of(info.clone(), causality.clone(), options, &()).unwrap();
        Self {
            clocks: Grouping::Node.clocks(&info, &causality),
            mirrored: unamortized(&mirror, &processes, &back, &()).unwrap(),
            bent: lamport_order(&causality, &()).unwrap(),
            sound: causality.retimed(&correction, &()).unwrap(),
            estimate: Estimate {
                offsets: vec![None; 3],
                reference: retime::ClockId(0),
            },
            offsets: analysis
                .bounded_offsets(BoundSearch::with_drift(DRIFT_BOUND), &())
                .unwrap()
                .unwrap(),
            edges: {
                let time = |node| causality.nodes().time(node).0;
                Edges::collect(&causality, &processes, time, &()).unwrap()
            },
            info,
            mirror,
            causality,
            processes,
            delay,
            times,
            correction,
            analysis,
            events,
        }
    }
}

type Stage = fn(&Long, &After) -> Result<(), Unsolved>;

/// Everything that goes over all events, dependencies or collectives.
const STAGES: [(&str, Stage); 23] = [
    ("controlled clock", |it, monitor| {
        controlled(
            &it.causality,
            &it.processes,
            &it.delay,
            Gamma::default(),
            monitor,
        )?;
        Ok(())
    }),
    ("simple clock", |it, monitor| {
        simple(
            &it.causality,
            &it.processes,
            &it.delay,
            &Ticks(1).into(),
            monitor,
        )?;
        Ok(())
    }),
    ("Lamport's clock", |it, monitor| {
        lamport_order(&it.causality, monitor)?;
        Ok(())
    }),
    ("several passes", |it, monitor| {
        let limits = MultiPass::default();
        multi_pass(&it.causality, &it.processes, &it.delay, limits, monitor)?;
        Ok(())
    }),
    ("regulated clock", |it, monitor| {
        let regulation = Regulation {
            delay: it.delay.clone(),
            distance: Ticks(1).into(),
            control: Control::Degressive(DegressiveConstants::default()),
            steps: Steps::default(),
        };
        regulated(
            &it.causality,
            &it.processes,
            it.info.rate,
            &regulation,
            monitor,
        )?;
        Ok(())
    }),
    ("amortisation", |it, monitor| {
        let rate = AmortizationRate::default();
        amortize(
            &it.causality,
            &it.processes,
            &it.delay,
            rate,
            &it.times,
            monitor,
        )?;
        Ok(())
    }),
    ("jumps as they are", |it, monitor| {
        unamortized(&it.causality, &it.processes, &it.times, monitor)?;
        Ok(())
    }),
    ("mirror", |it, monitor| {
        mirror_back(&it.causality, &it.processes, &it.mirrored, monitor)?;
        Ok(())
    }),
    ("run over the mirror", |it, monitor| {
        controlled(
            &it.mirror,
            &it.processes,
            &it.delay,
            Gamma::default(),
            monitor,
        )?;
        Ok(())
    }),
    ("repair", |it, monitor| {
        repair(&it.causality, &it.processes, &it.delay, monitor)?;
        Ok(())
    }),
    ("repair of nothing", |it, monitor| {
        repair(&it.sound, &it.processes, &it.delay, monitor)?;
        Ok(())
    }),
    ("composition", |it, monitor| {
        compose(&it.correction, &it.correction, &it.causality, monitor)?;
        Ok(())
    }),
    ("common clocks", |it, monitor| {
        let (all, own) = (&it.clocks, &it.processes);
        retime::align::sharing(&it.info, &it.causality, all, own, &it.estimate, monitor)?;
        Ok(())
    }),
    ("minimal delay", |it, monitor| {
        learn_minimal_delay(&it.causality, &it.processes, it.info.rate, monitor)?;
        Ok(())
    }),
    ("list of dependencies", |it, monitor| {
        let time = |node| it.causality.nodes().time(node).0;
        Edges::collect(&it.causality, &it.processes, time, monitor)?;
        Ok(())
    }),
    ("error bounds", |it, monitor| {
        let bounds = it
            .analysis
            .bounds_by(&it.offsets, &it.correction, None, monitor)?;
        assert!(bounds.is_some());
        Ok(())
    }),
    ("who comes last", |it, monitor| {
        let times = it.causality.nodes().timestamps();
        Stragglers::find(&it.causality, &it.info, &it.processes, times, None, monitor)?;
        Ok(())
    }),
    ("error bounds by clock", |it, monitor| {
        let known = it
            .analysis
            .bounds_by(&it.offsets, &it.correction, None, &())?;
        let offsets = known.unwrap().offsets;
        let time = |node| it.causality.nodes().time(node).0;
        let edges = Edges::collect(&it.causality, &it.processes, time, &())?;
        let nodes = it.causality.nodes();
        ErrorBounds::new(&offsets, &it.bent, None, &edges, nodes, monitor)?;
        Ok(())
    }),
    ("joined logs", |it, monitor| {
        let logs = logs(&it.events);
        let built = Causality::build_watched(&it.info, logs, CausalityOptions::default(), monitor);
        built.map_err(|error| match error {
            CausalityError::Cancelled(cancelled) => Unsolved::Cancelled(cancelled),
            other => panic!("{other}"),
        })?;
        Ok(())
    }),
    ("check", |it, monitor| {
        let times = it.causality.nodes().timestamps();
        check(&it.causality, &it.processes, &it.delay, times, monitor)?;
        Ok(())
    }),
    ("corrected times", |it, monitor| {
        it.causality.retimed(&it.bent, monitor)?;
        Ok(())
    }),
    ("distortion", |it, monitor| {
        Distortion::measure(&it.causality, it.sound.nodes().timestamps(), monitor)?;
        Ok(())
    }),
    ("pairs of clocks", |it, monitor| {
        it.edges.pairs(monitor)?;
        Ok(())
    }),
];

#[test]
fn each_stage_asks_more_often_the_longer_the_trace() {
    let (short, long) = (Long::of(6_000), Long::of(24_000));
    for (name, stage) in STAGES {
        let of = |it: &Long| askings(|monitor| stage(it, monitor));
        let (few, many) = (of(&short), of(&long));
        assert!(many > few, "{name}: {few} and {many} times");
    }
}

#[test]
fn each_stage_stops_wherever_it_is_asked_to() {
    let long = Long::of(6_000);
    for (_, stage) in STAGES {
        stops(1, |monitor| stage(&long, monitor));
    }
}

/// A torus of clocks, each off by something, that send to two neighbours and back.
fn torus(side: u32) -> Edges {
    let off = |clock: u32| i64::from(clock.wrapping_mul(2_654_435_769) >> 16) - (1 << 15);
    let message = |from: u32, to: u32, round: i64| {
        let sent = 10_000 * round;
        let received = sent + 500 + i64::from((from * 7 + to * 13) % 400);
        Edge::message(
            ClockId(from),
            sent + off(from),
            ClockId(to),
            received + off(to),
        )
    };
    let ways = |at: u32| {
        let (row, column) = (at / side, at % side);
        let others = [
            row * side + (column + 1) % side,
            (row + 1) % side * side + column,
        ];
        others
            .into_iter()
            .flat_map(move |other| [(at, other), (other, at)])
    };
    let edges = (0..side * side).flat_map(ways);
    let edges = edges.flat_map(|(from, to)| (0..4).map(move |round| message(from, to, round)));
    let extent = |clock| Some((off(clock), off(clock) + 40_000));
    Edges::new(edges.collect(), (0..side * side).map(extent).collect())
}

#[test]
fn an_alignment_of_many_clocks_stops_wherever_it_is_asked_to() {
    let rate = TickRate::per_second(1_000_000_000).unwrap();
    let align = |edges: &Edges, monitor: &After| align_edges(edges, rate, ClockId(0), monitor);
    let (few, many) = (torus(4), torus(30));
    // Each line of a pair, each front of a linear system and each clock that is tied asks,
    // so that the time from one asking to the next does not grow with the clocks.
    let asked = |edges: &Edges| askings(|monitor| align(edges, monitor));
    let (of_few, of_many) = (asked(&few), asked(&many));
    assert!(of_many > 10 * of_few, "{of_few} and {of_many} times");
    stops(1_000, |monitor| align(&many, monitor));
}
