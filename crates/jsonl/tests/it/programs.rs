//! Random programs, written as lines: what is read is what was meant.

use std::collections::HashMap;

use proptest::prelude::*;
use retime::format::Scan;

use crate::common::{Input, causality, correction};

const NAMES: [&str; 4] = ["0", "\"0\"", "17", "\"é\\\"\""];
/// These names in reports.
const SHOWN: [&str; 4] = ["0", "\"0\"", "17", "é\""];
const IDS: [&str; 3] = ["5", "\"5\"", "\"a long name, with escapes \\u00e9\""];

/// A line of location `at`.
#[derive(Clone, Debug)]
struct Line {
    at: usize,
    time: u64,
    does: Does,
    /// Padding, before the fields and behind them.
    odd: bool,
}

#[derive(Clone, Debug)]
enum Does {
    Internal,
    Heartbeat,
    Send(usize),
    Receive(usize),
    SendTo(usize),
    ReceiveFrom(usize),
    Barrier(bool),
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        Just(Does::Internal),
        Just(Does::Heartbeat),
        (0..IDS.len()).prop_map(Does::Send),
        (0..IDS.len()).prop_map(Does::Receive),
        (0..NAMES.len()).prop_map(Does::SendTo),
        (0..NAMES.len()).prop_map(Does::ReceiveFrom),
        any::<bool>().prop_map(Does::Barrier),
    ]
}

fn program() -> impl Strategy<Value = Vec<Line>> {
    let line = (0..NAMES.len(), 0_u64..1_000, does(), any::<bool>());
    let line = line.prop_map(|(at, time, does, odd)| Line {
        at,
        time,
        does,
        odd,
    });
    proptest::collection::vec(line, 1..60)
}

fn write(line: &Line, time: u64) -> String {
    let says = match line.does {
        Does::Internal => String::new(),
        Does::Heartbeat => ",\"type\":\"heartbeat\"".into(),
        Does::Send(id) => format!(",\"type\":\"send\",\"message\":{}", IDS[id]),
        Does::Receive(id) => format!(",\"message\":{},\"type\":\"receive\"", IDS[id]),
        Does::SendTo(peer) => format!(",\"type\":\"send\",\"to\":{}", NAMES[peer]),
        Does::ReceiveFrom(peer) => format!(",\"type\":\"receive\",\"from\":{}", NAMES[peer]),
        Does::Barrier(is_begin) => format!(
            ",\"type\":\"collective-{}\",\"collective\":1,\"participants\":2",
            if is_begin { "begin" } else { "end" }
        ),
    };
    let name = NAMES[line.at];
    if line.odd {
        format!(
            " {{\"x\":{{\"time\":[1.5e3,\"}}\\\"\"]}} ,\"time\": {time}{says},\"location\":{name} }}\r\n"
        )
    } else {
        format!("{{\"location\":{name},\"time\":{time}{says}}}\n")
    }
}

fn text(program: &[Line]) -> String {
    program.iter().map(|line| write(line, line.time)).collect()
}

/// Position of a line in the order of its location's events, by place in the file.
fn numbers(program: &[Line]) -> Vec<u64> {
    let mut next = [0; NAMES.len()];
    let number = |line: &Line| {
        let number = next[line.at];
        next[line.at] += u64::from(!matches!(line.does, Does::Heartbeat));
        number
    };
    program.iter().map(number).collect()
}

/// Send and receive of each message, by place in the file: the n-th send of an id or
/// a channel with the n-th receive.
fn pairs(program: &[Line]) -> Vec<(usize, usize)> {
    let mut ends: HashMap<(usize, usize, usize), [Vec<usize>; 2]> = HashMap::new();
    for (place, line) in program.iter().enumerate() {
        let (key, side) = match line.does {
            Does::Send(id) => ((id, 99, 99), 0),
            Does::Receive(id) => ((id, 99, 99), 1),
            Does::SendTo(peer) => ((99, line.at, peer), 0),
            Does::ReceiveFrom(peer) => ((99, peer, line.at), 1),
            _ => continue,
        };
        ends.entry(key).or_default()[side].push(place);
    }
    let mut pairs = Vec::new();
    for ((id, ..), [sends, mut receives]) in ends {
        if id == 99 {
            // Where a channel has lost sends, the first receives stay alone.
            receives.drain(..receives.len().saturating_sub(sends.len()));
        }
        pairs.extend(sends.into_iter().zip(receives));
    }
    pairs.sort_unstable();
    pairs
}

/// As [`pairs`], from what was read.
fn found(program: &[Line], scan: Scan) -> Vec<(usize, usize)> {
    // Locations in the order in which they are met.
    let met: Vec<String> = scan
        .info
        .locations
        .iter()
        .map(|it| it.name.clone())
        .collect();
    let places: HashMap<(usize, u64), usize> = numbers(program)
        .into_iter()
        .zip(program)
        .enumerate()
        .filter(|(_, (_, line))| !matches!(line.does, Does::Heartbeat))
        .map(|(place, (number, line))| {
            let location = met.iter().position(|it| it == SHOWN[line.at]).unwrap();
            ((location, number), place)
        })
        .collect();
    let causality = causality(scan);
    let nodes = causality.nodes();
    let place = |node| places[&(nodes.location(node).as_usize(), nodes.event(node))];
    let mut found: Vec<(usize, usize)> = nodes
        .all()
        .filter_map(|node| Some((place(causality.message_source(node)?), place(node))))
        .collect();
    found.sort_unstable();
    found
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_read_is_what_was_meant(program in program(), compress: bool) {
        let text = text(&program);
        let input = if compress { Input::gzip(&text) } else { Input::new(&text) };
        let scan = input.scan().unwrap();
        for (location, log) in scan.info.locations.iter().zip(&scan.logs) {
            let own = program.iter();
            let own = own.filter(|line| SHOWN[line.at] == location.name);
            let own = own.filter(|line| !matches!(line.does, Does::Heartbeat));
            prop_assert_eq!(log.columns().events, own.clone().count() as u64);
            // Of an event with a role the greatest time so far.
            let mut latest = 0;
            let times = own.filter_map(|line| {
                latest = latest.max(line.time);
                (!matches!(line.does, Does::Internal)).then_some(latest)
            });
            let times: Vec<u64> = times.collect();
            let read: Vec<u64> = log.columns().times.iter().map(|time| time.0).collect();
            prop_assert_eq!(read, times);
        }
        prop_assert_eq!(found(&program, scan), pairs(&program));
    }

    #[test]
    fn only_times_change_and_come_back(
        program in program(),
        rises in proptest::collection::vec((0_u64..100, 0_u64..100), 1..20),
    ) {
        let text = text(&program);
        let input = Input::new(&text);
        let count = input.scan().unwrap().logs.len();
        let knots = rises.iter().scan((0, 50), |at, rise| {
            *at = (at.0 + 1 + rise.0, at.1 + rise.1);
            Some(*at)
        });
        let knots: Vec<(u64, u64)> = knots.collect();
        // Stamps before the first knot must not fall below 0.
        let first = (0, knots[0].1.saturating_sub(knots[0].0));
        let knots = [&[first], &knots[..]].concat();
        let correction = correction(&vec![&knots[..]; count]);
        let (corrected, undo) = input.rewrite(&correction).unwrap();
        let corrected = String::from_utf8(corrected).unwrap();
        prop_assert_eq!(corrected.lines().count(), program.len());
        let mut latest = [0; NAMES.len()];
        for (new, line) in corrected.split_inclusive('\n').zip(&program) {
            let mut raw = line.time;
            if !matches!(line.does, Does::Heartbeat) {
                raw = raw.max(latest[line.at]);
                latest[line.at] = raw;
            }
            let mut cursor = correction.map_of(retime::LocationIndex(0)).cursor(retime::LocationIndex(0));
            let time = cursor.map_time(retime::Timestamp(raw)).unwrap();
            prop_assert_eq!(new, write(line, time.0));
        }
        let corrected = Input::new(corrected);
        let restored = corrected.restore(&correction, &undo).unwrap();
        prop_assert_eq!(restored, text.as_bytes());
        let (before, after) = (input.scan().unwrap(), corrected.scan().unwrap());
        prop_assert_eq!(&before.contents, &after.contents);
        let events: Vec<&[u32]> = after.logs.iter().map(|log| &log.columns().numbers[..]).collect();
        let timelines = corrected.open().unwrap().timelines(&events, &()).unwrap();
        for (timeline, log) in timelines.iter().zip(&after.logs) {
            prop_assert_eq!(&timeline.times, &log.columns().times);
            prop_assert_eq!(timeline.backwards, 0);
            let range = (log.columns().events, log.columns().range);
            prop_assert_eq!((timeline.events, timeline.range), range);
        }
        for (timeline, contents) in timelines.iter().zip(&before.contents) {
            prop_assert_eq!(&timeline.contents, contents);
        }
    }
}
