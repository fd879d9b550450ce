//! All scenarios: their causality, their archives, and the same in memory.

use std::{collections::BTreeMap, fs, path::Path};

use crate::judge::{lines, otf2_print};
use retime::causality::{self, Causality, CausalityOptions, EventNode};
use retime::{Grouping, MinimalDelay, Ticks};
use retime_model::format::Format;
use retime_otf2_format::Otf2;
use retime_sim::{
    Clock, Congestion, Duration, Error, Experiment, FiniteElements, HaloExchange, Length, Load,
    Network, OpposingPair, ProducerConsumer, RandomTraffic, Recording, RingChain, Scenario, Spread,
    Victims,
};

/// Load that comes and goes as fast as the small scenarios do.
fn load(victims: Victims) -> Load {
    Load {
        share: 0.5,
        lasts: Duration::uniform(20_000, 200_000),
        turn: Duration::uniform(1_000, 10_000),
        victims,
    }
}

/// Every scenario, small, with what no message undercuts.
fn all() -> Vec<(&'static str, Box<dyn Scenario>, u64)> {
    let length = Length::iterations(30);
    let halo = HaloExchange {
        grid: (3, 3),
        iterations: 30,
        ranks_per_node: 2,
        seed: 5,
        ..HaloExchange::default()
    };
    let open = HaloExchange {
        periodic: false,
        threads: 3,
        threads_send: true,
        ..halo.clone()
    };
    let elements = FiniteElements {
        length,
        ..FiniteElements::default()
    };
    let producers = ProducerConsumer {
        producers: 2,
        consumers: 3,
        length,
        ..ProducerConsumer::default()
    };
    let random = RandomTraffic {
        ranks: 7,
        ranks_per_node: 3,
        length,
        network: Network::of(Duration::heavy(5_000, 20_000.0)),
        ..RandomTraffic::default()
    };
    let loaded = HaloExchange {
        load: load(Victims::Nodes),
        ..open.clone()
    };
    let congestion = Congestion {
        share: 0.5,
        lasts: 50_000,
        delay: Duration::exponential(0, 20_000.0),
        seed: 6,
    };
    let congested = RandomTraffic {
        network: Network {
            congestion: Some(congestion),
            ..random.network
        },
        load: load(Victims::Rank(3)),
        ..random.clone()
    };
    let ring = RingChain {
        length,
        ..RingChain::default()
    };
    let pair = OpposingPair {
        interval: 1_000,
        length,
    };
    vec![
        ("halo", Box::new(halo), 176),
        ("open halo", Box::new(open), 176),
        ("finite elements", Box::new(elements), 250_000),
        ("producer/consumer", Box::new(producers), 500),
        ("random", Box::new(random), 5_000),
        ("loaded halo", Box::new(loaded), 176),
        ("congested", Box::new(congested), 5_000),
        ("ring", Box::new(ring), 250_000),
        ("pair", Box::new(pair), 0),
    ]
}

fn skewed(scenario: &dyn Scenario) -> Vec<Clock> {
    let spread = Spread {
        offset: 100_000.0,
        drift: 20e-6,
        ..Spread::default()
    };
    spread.per_process(&scenario.layout(), 1)
}

#[test]
fn truth_is_causal_and_the_clocks_are_not() {
    for (name, scenario, least) in all() {
        let clocks = skewed(scenario.as_ref());
        let experiment = Experiment::new(scenario.as_ref()).clocks(clocks);
        let mut memory = experiment.in_memory().unwrap();
        let causality = memory.causality().unwrap();
        assert!(causality.defects().is_empty(), "{name}");
        let clocks = Grouping::Location.clocks(&memory.info, &causality);
        let harmless = least as i64 == 250_000;
        let least = MinimalDelay::Uniform(Ticks(least as i64));
        let truth = causality::check(&causality, &clocks, &least, &memory.truth, &()).unwrap();
        assert_eq!((truth.violated(), truth.short()), (0, 0), "{name}");
        assert_eq!(truth.messages.total, memory.statistics.messages, "{name}");
        let recorded = causality::check(&causality, &clocks, &least, &memory.stamps, &()).unwrap();
        assert!(harmless || recorded.violated() > 0, "{name}");
    }
}

/// The least delay that is reported is that of some dependency, and no other
/// is shorter.
#[test]
fn the_least_delay_is_that_of_a_dependency() {
    for (name, scenario, least) in all() {
        let memory = Experiment::new(scenario.as_ref()).in_memory().unwrap();
        let time = |node: EventNode| memory.truth[node.index()].0;
        let messages = memory.messages.iter().copied();
        let collectives = memory.collectives.iter().flat_map(|parts| {
            let last = parts.iter().map(|it| it.0).max_by_key(|&begin| time(begin));
            parts.iter().filter_map(move |it| Some((last?, it.1)))
        });
        let all = messages.chain(collectives);
        let shortest = all.map(|(cause, effect)| time(effect) - time(cause)).min();
        assert_eq!(memory.statistics.least_delay, shortest, "{name}");
        assert!(shortest.is_some_and(|it| it >= least), "{name}");
    }
}

/// What the simulation knows, and what the library finds out.
#[test]
fn true_dependencies_are_found() {
    for (name, scenario, _) in all() {
        let experiment = Experiment::new(scenario.as_ref());
        let mut memory = experiment
            .clocks(skewed(scenario.as_ref()))
            .in_memory()
            .unwrap();
        let causality = memory.causality().unwrap();
        let nodes = causality.nodes();
        assert_eq!(nodes.timestamps(), memory.stamps, "{name}");
        for location in 0..nodes.locations() {
            let ours = memory.of_location(location);
            assert_eq!(nodes.of(location).range(), ours);
        }
        let mut known = memory.messages.clone();
        known.sort_unstable_by_key(|it| it.1);
        let found: Vec<_> = nodes
            .all()
            .filter_map(|receive| Some((causality.message_source(receive)?, receive)))
            .collect();
        assert_eq!(known, found, "{name}");
        assert_eq!(
            memory.statistics.collectives,
            memory.collectives.len() as u64,
            "{name}"
        );
        let ranks = scenario.layout().ranks as usize;
        assert!(memory.collectives.iter().all(|it| it.len() == ranks));
    }
}

/// Whatever random traffic looks like, its truth is sound and its matching is
/// the one the library finds.
#[test]
fn random_traffic_of_every_kind() {
    for seed in 0..60 {
        let program = RandomTraffic {
            ranks: 2 + seed as u32 % 9,
            ranks_per_node: 1 + seed as u32 % 4,
            length: Length::iterations(1 + seed % 40),
            seed,
            non_blocking: (seed % 5) as f64 / 4.0,
            size_bits: seed as u32 % 45,
            network: Network {
                uphill: 1.0 + (seed % 3) as f64,
                per_byte: 0.01,
                ..Network::of(Duration::heavy(seed, 1_000.0))
            },
            ..RandomTraffic::default()
        };
        let mut memory = Experiment::new(&program).in_memory().unwrap();
        let causality = memory.causality().unwrap();
        assert!(causality.defects().is_empty(), "{program:?}");
        assert_eq!(causality.messages(), memory.statistics.messages);
        for &(send, receive) in &memory.messages {
            assert_eq!(causality.message_source(receive), Some(send), "{program:?}");
            let sent = memory.truth[send.index()].0;
            assert!(memory.truth[receive.index()].0 >= sent + program.network.least());
        }
    }
}

/// The causality of a trace in words, but for since when messages were awaited: calls tell that, and a
/// trace in memory has none.
fn without_waits(causality: &Causality) -> String {
    let all = format!("{causality:?}");
    let (before, rest) = all.split_once(", waits: ").unwrap();
    let (_, behind) = rest.split_once(", overlaps: ").unwrap();
    format!("{before}, overlaps: {behind}")
}

/// Without files, the same as through files.
#[test]
fn memory_and_archive_agree() {
    let dir = tempfile::tempdir().unwrap();
    for (name, scenario, _) in all() {
        let anchor = dir.path().join(name).join("traces.otf2");
        let experiment = Experiment::new(scenario.as_ref()).clocks(skewed(scenario.as_ref()));
        let written = experiment.write(&anchor).unwrap();
        let mut memory = experiment.in_memory().unwrap();
        assert_eq!(written.statistics, memory.statistics);
        let scan = Otf2.open(&anchor).unwrap().scan(&()).unwrap();
        assert_eq!(format!("{:?}", scan.info), format!("{:?}", memory.info));
        let options = CausalityOptions::default();
        let scanned = Causality::build(&scan.info, scan.logs, options).unwrap();
        let ours = memory.causality().unwrap();
        assert_eq!(without_waits(&scanned), without_waits(&ours), "{name}");
    }
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn the_same_configuration_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    for (name, scenario, _) in all() {
        let write = |run: &str| {
            let home = dir.path().join(name).join(run);
            let experiment = Experiment::new(scenario.as_ref()).clocks(skewed(scenario.as_ref()));
            let (anchor, truth) = (home.join("a/traces.otf2"), home.join("b/traces.otf2"));
            experiment.write_with_truth(&anchor, &truth).unwrap();
            (files(&home.join("a")), files(&home.join("b")))
        };
        let first = write("1");
        assert_eq!(first, write("2"), "{name}");
        assert_ne!(first.0, first.1, "{name}");
    }
}

#[test]
fn otf2_print_accepts_every_scenario() {
    let dir = tempfile::tempdir().unwrap();
    for (name, scenario, _) in all() {
        let anchor = dir.path().join(name).join("traces.otf2");
        let written = Experiment::new(scenario.as_ref()).write(&anchor).unwrap();
        let Some(text) = otf2_print(&anchor, &["-A"]) else {
            return;
        };
        assert!(!text.contains("UNKNOWN"), "{name}");
        let sent = lines(&text, "MPI_ISEND").len() + lines(&text, "MPI_SEND").len();
        let received = lines(&text, "MPI_IRECV").len() + lines(&text, "MPI_RECV").len();
        assert_eq!(sent as u64, written.statistics.messages, "{name}");
        assert_eq!(sent, received, "{name}");
    }
}

#[test]
fn runs_are_as_long_as_asked() {
    let run = |length| {
        let program = RandomTraffic {
            length,
            ..RandomTraffic::default()
        };
        program.run(&mut Recording::default()).unwrap()
    };
    assert!((5_000..5_200).contains(&run(Length::events(5_000)).events));
    let lasting = run(Length::time(1_000_000)).end;
    assert!((1_000_000..1_300_000).contains(&lasting), "{lasting}");
    assert_eq!(run(Length::iterations(9)).messages, 36);
    let both = Length {
        iterations: 1,
        events: 4_000,
        time: 0,
    };
    assert!(run(both).events >= 4_000);
}

#[test]
fn the_way_up_can_be_longer() {
    let program = FiniteElements {
        network: Network {
            uphill: 3.0,
            ..Network::of(Duration::constant(250_000))
        },
        interior: Duration::constant(0),
        border: Duration::constant(0),
        ..FiniteElements::default()
    };
    assert_eq!(program.network.least(), 250_000);
    let memory = Experiment::new(&program).in_memory().unwrap();
    let rank = |node: EventNode| (0..20).find(|&it| memory.of_location(it).contains(&node.index()));
    for &(send, receive) in &memory.messages {
        let took = memory.truth[receive.index()].0 - memory.truth[send.index()].0;
        let least = if rank(send) < rank(receive) {
            750_000
        } else {
            250_000
        };
        assert!(took >= least);
    }
}

#[test]
fn impossible_scenarios_are_refused() {
    let sink = || Recording::default();
    let alone = RandomTraffic {
        ranks: 1,
        ..RandomTraffic::default()
    };
    let idle = ProducerConsumer {
        consumers: 0,
        ..ProducerConsumer::default()
    };
    let still = OpposingPair {
        interval: 0,
        length: Length::iterations(1),
    };
    let scenarios: [&dyn Scenario; 3] = [&alone, &idle, &still];
    for scenario in scenarios {
        assert!(matches!(scenario.run(&mut sink()), Err(Error::Zero(_))));
    }
    let program = FiniteElements::default();
    let few = Experiment::new(&program).clocks(vec![Clock::TRUE; 19]);
    assert!(matches!(few.in_memory(), Err(Error::Clocks { .. })));
}

#[test]
fn a_run_can_be_stopped() {
    let program = FiniteElements {
        length: Length::time(u64::MAX),
        ..FiniteElements::default()
    };
    let stopped = Experiment::new(&program).stop_if(|| true).in_memory();
    assert!(matches!(stopped, Err(Error::Stopped)));
}
