//! A simulated program, in memory and as lines: the same dependencies give the same
//! times.

use std::fmt::Write;

use retime::causality::{EventNode, Extent, Role};
use retime::pipeline::{Analysis, AnalysisOptions, ClockKind, Method};
use retime::{Causality, Timestamp};
use retime_sim::{Clock, Experiment, HaloExchange, RandomTraffic, Scenario};

use crate::common::Input;

/// The events with a role as lines, in the order of their stamps, between the first
/// and the last event of each location.
fn lines(causality: &Causality, locations: usize) -> String {
    let nodes = causality.nodes();
    let collectives = causality.collectives();
    let mut all: Vec<EventNode> = nodes.all().collect();
    all.sort_by_key(|&node| (nodes.timestamp(node), node));
    let ids: Vec<String> = (0..locations).map(|it| it.to_string()).collect();
    let mut text = format!(
        "{{\"retime-stream\":1,\"locations\":[{}]}}\n",
        ids.join(",")
    );
    let extents = |end: fn(Extent) -> Timestamp| {
        let extents = (0..locations).filter_map(|at| Some((at, end(nodes.extent(at)?))));
        let line = |(at, time)| format!("{{\"location\":{at},\"time\":{time}}}\n");
        extents.map(line).collect::<String>()
    };
    text += &extents(|it| it.first);
    for node in all {
        let (location, time) = (nodes.location(node).0, nodes.timestamp(node));
        let says = match nodes.role(node) {
            Role::Send => format!("\"send\",\"message\":{}", node.0),
            Role::Receive => {
                let send = causality.message_source(node).unwrap();
                format!("\"receive\",\"message\":{}", send.0)
            }
            role => {
                let (instance, _) = collectives.locate(causality.slot(node).unwrap());
                let (number, all) = (instance.0, collectives.participants(instance).len());
                let type_ = if role == Role::CollectiveBegin {
                    "begin"
                } else {
                    "end"
                };
                format!("\"collective-{type_}\",\"collective\":{number},\"participants\":{all}")
            }
        };
        writeln!(
            text,
            "{{\"location\":{location},\"time\":{time},\"type\":{says}}}"
        )
        .unwrap();
    }
    text + &extents(|it| it.last)
}

fn agrees(scenario: &dyn Scenario, clocks: Vec<Clock>) {
    let mut memory = Experiment::new(scenario)
        .clocks(clocks)
        .in_memory()
        .unwrap();
    let locations = memory.info.locations.len();
    let causality = memory.causality().unwrap();
    let input = Input::new(lines(&causality, locations));
    let scan = input.scan().unwrap();
    let options = AnalysisOptions {
        grouping: retime::Grouping::Location,
        ..AnalysisOptions::default()
    };
    let from_lines = Analysis::new(scan.info, scan.logs, options.clone(), &()).unwrap();
    let in_memory = Analysis::of(memory.info, causality, options, &()).unwrap();
    assert_eq!(
        from_lines.recorded().violated(),
        in_memory.recorded().violated()
    );
    assert!(in_memory.recorded().violated() > 0);
    for method in [Method::new(&ClockKind::Controlled), Method::default()] {
        let [expected, found] = [&in_memory, &from_lines].map(|it| it.solve(&method, &()).unwrap());
        assert!(expected.times == found.times);
        let (corrected, undo) = input.rewrite(&found.correction).unwrap();
        let corrected = Input::new(corrected);
        let times = corrected.scan().unwrap().logs;
        let times: Vec<_> = times
            .iter()
            .flat_map(|log| log.columns().times.clone())
            .collect();
        assert!(times == expected.times);
        let restored = corrected.restore(&found.correction, &undo).unwrap();
        assert!(restored == std::fs::read(&input.path).unwrap());
    }
}

fn clocks(count: i64) -> Vec<Clock> {
    let clock = |number: i64| Clock {
        offset: number % 3 * 200_000,
        drift: number as f64 * 3e-6,
        ..Clock::TRUE
    };
    (0..count).map(clock).collect()
}

#[test]
fn a_halo_exchange_with_barriers() {
    let halo = HaloExchange {
        grid: (3, 2),
        iterations: 40,
        seed: 5,
        ..HaloExchange::default()
    };
    agrees(&halo, clocks(6));
}

#[test]
fn random_traffic() {
    let random = RandomTraffic {
        ranks: 5,
        ..RandomTraffic::default()
    };
    agrees(&random, clocks(5));
}
