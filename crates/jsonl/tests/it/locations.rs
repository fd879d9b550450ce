//! Who the locations of a file are.

use retime::causality::{Causality, CausalityOptions};
use retime::{ClockId, Grouping};

use crate::common::Input;

const LINES: &str = r#"{"retime-stream":1,"ticks_per_second":1000,"locations":["b",7,"7",0],"clocks":[4,5,4,6]}
{"location":"late","time":1}
{"location":7,"time":2,"type":"receive","from":2}
{"location":1.5,"time":3}
"#;

#[test]
fn they_are_numbered_as_they_are_met() {
    let info = Input::new(LINES).scan().unwrap().info;
    let found: Vec<(u64, &str, usize)> = info
        .locations
        .iter()
        .map(|it| (it.id, &*it.name, it.process))
        .collect();
    // Strings get the numbers that are free, in order.
    let expected = [
        (1, "b", 0),
        (7, "7", 1),
        (3, "\"7\"", 0),
        (0, "0", 2),
        (4, "late", 3),
        (2, "2", 4),
        (5, "1.5", 5),
    ];
    assert_eq!(found, expected);
    assert_eq!(info.rate.get(), 1000);
    assert!(info.nodes.is_empty() && info.processes.iter().all(|it| it.node.is_none()));
}

#[test]
fn those_of_one_clock_stay_together() {
    let scan = Input::new(LINES).scan().unwrap();
    let info = scan.info;
    let causality = Causality::build(&info, scan.logs, CausalityOptions::default()).unwrap();
    for grouping in [Grouping::Auto, Grouping::Process] {
        let clocks = grouping.clocks(&info, &causality);
        let expected = [0, 1, 0, 2, 3, 4, 5].map(ClockId);
        assert_eq!(clocks.by_location(), expected);
    }
}

#[test]
fn they_are_not_known_before_lines_are_read() {
    assert!(Input::new(LINES).open().unwrap().describe().is_none());
}
