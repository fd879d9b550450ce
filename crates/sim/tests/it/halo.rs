//! The simulated halo exchange: its counts, its causality, its archives.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fs,
    path::{Path, PathBuf},
};

use crate::judge::{lines, otf2_print};
use retime_sim::{
    Clock, Collective, Error, Event, HaloExchange, Recording, Spread, Statistics, Timer,
};

fn record(program: &HaloExchange) -> (Recording, Statistics) {
    let mut recording = Recording::default();
    let statistics = program.run(&mut recording).unwrap();
    (recording, statistics)
}

/// Every shape a program can have, small.
fn variants() -> Vec<HaloExchange> {
    let plain = HaloExchange {
        iterations: 60,
        seed: 3,
        ..HaloExchange::default()
    };
    let vary = |change: fn(&mut HaloExchange)| {
        let mut program = plain.clone();
        change(&mut program);
        program
    };
    vec![
        vary(|_| {}),
        vary(|it| it.grid = (4, 4)),
        vary(|it| (it.grid, it.ranks_per_node) = ((2, 3), 1)),
        vary(|it| (it.grid, it.ranks_per_node) = ((1, 5), 2)),
        vary(|it| (it.collective_every, it.collective) = (7, Collective::Barrier)),
        vary(|it| it.collective_every = 0),
        vary(|it| it.threads = 3),
        vary(|it| (it.threads, it.threads_send) = (3, true)),
        vary(|it| it.grid = (1, 1)),
    ]
}

/// The recorded program this one imitates: 4 ranks, 3000 iterations.
#[test]
fn counts_are_those_of_the_real_recording() {
    let (recording, statistics) = record(&HaloExchange {
        iterations: 3000,
        ..HaloExchange::default()
    });
    assert_eq!(statistics.events, 456_040);
    assert_eq!(statistics.messages, 48_000);
    assert_eq!(statistics.collectives, 3_001);
    let mut counts = BTreeMap::new();
    for (_, event) in recording.locations.iter().flatten() {
        *counts.entry(kind(*event)).or_insert(0) += 1;
    }
    let expected = [
        ("begin", 12_004),
        ("end", 12_004),
        ("enter", 120_016),
        ("irecv", 48_000),
        ("isend", 48_000),
        ("leave", 120_016),
        ("posted", 48_000),
        ("sent", 48_000),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    assert!(recording.locations.iter().all(|it| it.len() == 114_010));
}

fn kind(event: Event) -> &'static str {
    match event {
        Event::Enter(_) => "enter",
        Event::Leave(_) => "leave",
        Event::Isend(..) => "isend",
        Event::IsendComplete(_) => "sent",
        Event::IrecvRequest(_) => "posted",
        Event::Irecv(..) => "irecv",
        Event::CollectiveBegin => "begin",
        Event::CollectiveEnd(_) => "end",
        other => panic!("{other:?}"),
    }
}

#[test]
fn truth_is_causal() {
    for program in variants() {
        let (recording, statistics) = record(&program);
        for events in &recording.locations {
            assert!(events.is_sorted_by_key(|it| it.0), "{program:?}");
        }
        check_messages(&program, &recording, statistics.messages);
        check_collectives(&program, &recording, statistics.collectives);
        check_nesting(&recording);
    }
}

/// No message is faster than the network, and some are nearly as fast.
fn check_messages(program: &HaloExchange, recording: &Recording, messages: u64) {
    let layout = program.layout();
    let mut sent: HashMap<_, VecDeque<u64>> = HashMap::new();
    let located = || recording.locations.iter().enumerate();
    for (location, events) in located() {
        for &(time, event) in events {
            if let Event::Isend(message, _) | Event::Send(message) = event {
                let channel = (layout.rank_of(location), message.peer, message.tag);
                sent.entry(channel).or_default().push_back(time);
            }
        }
    }
    let mut slack = Vec::new();
    for (location, events) in located() {
        let rank = layout.rank_of(location);
        for &(time, event) in events {
            if let Event::Irecv(message, _) = event {
                let channel = (message.peer, rank, message.tag);
                let sent = sent.get_mut(&channel).unwrap().pop_front().unwrap();
                let near = layout.node(rank) == layout.node(message.peer);
                let network = &program.network;
                let latency = if near {
                    network.within_node
                } else {
                    network.between_nodes
                };
                assert!(time >= sent + latency.least, "{program:?}");
                slack.push(time - sent - latency.least);
            }
        }
    }
    assert_eq!(slack.len() as u64, messages);
    assert!(sent.values().all(VecDeque::is_empty));
    assert!(slack.iter().min().is_none_or(|&it| it < 200), "{slack:?}");
}

/// No process leaves a collective before the last has entered.
fn check_collectives(program: &HaloExchange, recording: &Recording, collectives: u64) {
    let least = program.network.collective.least;
    let mut begins = vec![0; collectives as usize];
    let mut ends = vec![u64::MAX; collectives as usize];
    for events in &recording.locations {
        let times = |wanted: fn(&Event) -> bool| {
            events.iter().filter(move |it| wanted(&it.1)).map(|it| it.0)
        };
        for (begin, time) in begins
            .iter_mut()
            .zip(times(|it| *it == Event::CollectiveBegin))
        {
            *begin = time.max(*begin);
        }
        for (end, time) in ends
            .iter_mut()
            .zip(times(|it| matches!(it, Event::CollectiveEnd(_))))
        {
            *end = time.min(*end);
        }
    }
    assert!(
        begins
            .iter()
            .zip(&ends)
            .all(|(begin, end)| *end >= begin + least)
    );
}

/// Every region entered is left, in the opposite order.
fn check_nesting(recording: &Recording) {
    for events in &recording.locations {
        let mut open = Vec::new();
        for (_, event) in events {
            match event {
                Event::Enter(region) => open.push(*region),
                Event::Leave(region) => assert_eq!(open.pop(), Some(*region)),
                _ => {}
            }
        }
        assert!(open.is_empty());
    }
}

fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

fn skewed(seed: u64) -> HaloExchange {
    let mut program = HaloExchange {
        grid: (2, 3),
        iterations: 40,
        seed,
        ..HaloExchange::default()
    };
    let spread = Spread {
        offset: 100_000.0,
        drift: 2e-6,
        wander: 3_000.0,
        period: 1e6,
        step: 10,
        ..Spread::default()
    };
    program.clocks = spread.per_process(&program.layout(), seed);
    program
}

#[test]
fn a_seed_determines_every_byte() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (name, seed) in [("a", 5), ("b", 5), ("c", 6)] {
        let home = dir.path().join(name);
        skewed(seed).write(&home.join("traces.otf2")).unwrap();
        all.push(files(&home).into_values().collect::<Vec<_>>());
    }
    assert_eq!(all[0].len(), 2 + 2 * 6);
    assert_eq!(all[0], all[1]);
    assert_ne!(all[0], all[2]);
}

#[test]
fn otf2_print_accepts_every_variant() {
    let dir = tempfile::tempdir().unwrap();
    for (number, program) in variants().into_iter().enumerate() {
        let anchor = dir.path().join(format!("{number}/traces.otf2"));
        let written = program.write(&anchor).unwrap();
        assert_eq!(written.trace.events, written.statistics.events);
        assert_eq!(written.trace.locations, program.layout().locations() as u64);
        let size: usize = files(anchor.parent().unwrap()).values().map(Vec::len).sum();
        assert_eq!(written.trace.bytes, size as u64);
        let Some(text) = otf2_print(&anchor, &["-A"]) else {
            return;
        };
        assert!(!text.contains("UNKNOWN"), "{program:?}");
        let sends = lines(&text, "MPI_ISEND").len() + lines(&text, "MPI_SEND").len();
        assert_eq!(sends as u64, written.statistics.messages);
        assert_eq!(lines(&text, "MPI_IRECV").len(), sends);
        let ranks = program.layout().ranks as usize;
        let nodes = ranks.div_ceil(program.ranks_per_node as usize);
        assert_eq!(lines(&text, "LOCATION_GROUP").len(), ranks);
        assert_eq!(lines(&text, "SYSTEM_TREE_NODE").len(), 1 + nodes);
    }
}

/// The trace and its truth hold the same events; the clocks make all the
/// difference.
#[test]
fn traces_are_stamped_by_the_clocks() {
    let dir = tempfile::tempdir().unwrap();
    let program = skewed(9);
    let anchor = dir.path().join("trace/traces.otf2");
    let truth = dir.path().join("truth/traces.otf2");
    let written = program.write_with_truth(&anchor, &truth).unwrap();
    assert_eq!(written.trace.events, written.truth.unwrap().events);
    let (recording, _) = record(&program);
    for rank in 0..6 {
        let location = rank.to_string();
        let (Some(trace), Some(truth)) = (
            otf2_print(&anchor, &["-L", &location]),
            otf2_print(&truth, &["-L", &location]),
        ) else {
            return;
        };
        let (trace, truth) = (events(&trace), events(&truth));
        assert_eq!(trace.len(), recording.locations[rank].len());
        for ((ours, true_one), (time, _)) in
            trace.iter().zip(&truth).zip(&recording.locations[rank])
        {
            let shown = program.clocks[rank].show(*time);
            assert_eq!(Some(ours.0), Timer::default().ticks(shown));
            assert_eq!(true_one.0, 1_000_000_000 + time);
            assert_eq!(ours.1, true_one.1);
        }
    }
}

/// Time and everything else of each printed event.
fn events(text: &str) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if let [kind, location, time, rest @ ..] = &words[..]
            && let (Ok(_), Ok(time)) = (location.parse::<u64>(), time.parse())
        {
            found.push((time, format!("{kind} {}", rest.join(" "))));
        }
    }
    found
}

#[test]
fn enough_iterations_and_no_more() {
    for program in variants() {
        for wanted in [0, 1, 5_000, 12_345] {
            let mut program = program.clone();
            program.iterations = program.iterations_for(wanted).unwrap();
            assert!(record(&program).1.events >= wanted, "{program:?}");
            let cycle = program.collective_every.max(1);
            if let Some(fewer) = program.iterations.checked_sub(cycle) {
                program.iterations = fewer;
                assert!(record(&program).1.events < wanted, "{program:?}");
            }
        }
    }
}

#[test]
fn late_epochs_and_other_resolutions() {
    let dir = tempfile::tempdir().unwrap();
    let program = HaloExchange {
        timer: Timer {
            resolution: 2_095_197_216,
            epoch: (1 << 63) - 2_500_000,
        },
        ..HaloExchange::default()
    };
    let anchor = dir.path().join("traces.otf2");
    let (first, last) = program.write(&anchor).unwrap().trace.times.unwrap();
    assert!(first < 1 << 63 && last > 1 << 63);
    if let Some(text) = otf2_print(&anchor, &["-A"]) {
        assert!(text.contains("Ticks per Seconds: 2095197216"));
        assert!(events(&text).iter().any(|it| it.0 == last));
    }
}

#[test]
fn impossible_programs_are_refused() {
    let refused = |program: HaloExchange| program.run(&mut Recording::default()).unwrap_err();
    let plain = HaloExchange::default;
    for zero in [
        HaloExchange {
            grid: (0, 2),
            ..plain()
        },
        HaloExchange {
            grid: (2, 0),
            ..plain()
        },
        HaloExchange {
            threads: 0,
            ..plain()
        },
        HaloExchange {
            ranks_per_node: 0,
            ..plain()
        },
    ] {
        assert!(matches!(refused(zero), Error::Zero(_)));
    }
    let few = HaloExchange {
        clocks: vec![Clock::TRUE],
        ..plain()
    };
    assert!(matches!(
        refused(few),
        Error::Clocks {
            clocks: 1,
            ranks: 4
        }
    ));
}

#[test]
fn clocks_before_time_zero_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let behind = Clock {
        offset: -2_000_000_000,
        ..Clock::TRUE
    };
    let program = HaloExchange {
        clocks: vec![Clock::TRUE, Clock::TRUE, behind, Clock::TRUE],
        ..HaloExchange::default()
    };
    let error = program.write(&dir.path().join("traces.otf2")).unwrap_err();
    assert!(
        matches!(error, Error::OutOfRange { rank: 2, .. }),
        "{error}"
    );
    assert!(!dir.path().join("traces.otf2").exists());
}

#[test]
fn grids_are_as_square_as_they_can_be() {
    let cases = [
        (1, (1, 1)),
        (4, (2, 2)),
        (6, (2, 3)),
        (7, (1, 7)),
        (16, (4, 4)),
        (12, (3, 4)),
    ];
    for (ranks, grid) in cases {
        assert_eq!(HaloExchange::square_grid(ranks), grid);
    }
}
