//! Files are written again with other times, and nothing else.

use retime::format::{Shape, Undo};
use retime::{ClockMap, Clocks, Correction, Knot, LocationIndex, Step, Timestamp};

use crate::common::{Input, correction, uncompressed};

/// Rewrites to what is expected and back.
fn rewrites(from: &str, correction: &Correction, to: &str) -> Undo {
    let input = Input::new(from);
    let (corrected, undo) = input.rewrite(correction).unwrap();
    assert_eq!(String::from_utf8(corrected).unwrap(), to);
    let restored = Input::new(to).restore(correction, &undo).unwrap();
    assert_eq!(String::from_utf8(restored).unwrap(), from);
    let (corrected, compressed_undo) = Input::gzip(from).rewrite(correction).unwrap();
    assert_eq!(uncompressed(&corrected), to);
    assert_eq!(compressed_undo, undo);
    // However the corrected file was compressed.
    let restored = Input::gzip(to).restore(correction, &undo).unwrap();
    assert_eq!(uncompressed(&restored), from);
    undo
}

#[test]
fn only_the_digits_of_times_change() {
    rewrites(
        "{\"retime-stream\":1}\r\n\r\n\t{\"time\" : 8 , \"location\":\"time\", \"a\":{\"time\":8}, \"x\":\"\\u0031\"}  \r\n \
         {\"location\":\"time\",\"ti\\u006de\":9,\"raw_time\":9,\"note\":\"\\\"time\\\":9\"}",
        &correction(&[&[(0, 995)]]),
        "{\"retime-stream\":1}\r\n\r\n\t{\"time\" : 1003 , \"location\":\"time\", \"a\":{\"time\":8}, \"x\":\"\\u0031\"}  \r\n \
         {\"location\":\"time\",\"ti\\u006de\":1004,\"raw_time\":9,\"note\":\"\\\"time\\\":9\"}",
    );
}

#[test]
fn files_without_events() {
    for nothing in ["{\"retime-stream\":1}", "\r\n \n{\"retime-stream\":1}\n"] {
        rewrites(nothing, &correction(&[]), nothing);
        let scan = Input::new(nothing).scan().unwrap();
        assert_eq!(scan.info.rate.get(), 1_000_000_000);
        assert!(scan.logs.is_empty() && scan.info.locations.is_empty());
    }
}

#[test]
fn who_is_only_spoken_to_is_a_location() {
    let line = "{\"location\":0,\"time\":5,\"type\":\"send\",\"to\":1}\n";
    rewrites(line, &correction(&[&[], &[(0, 1)]]), line);
    let scan = Input::new(line).scan().unwrap();
    assert_eq!(scan.logs[1].columns().events, 0);
    assert_eq!(scan.contents[1].kinds, []);
}

#[test]
fn events_stamped_before_their_predecessors_wait_for_them() {
    let undo = rewrites(
        "{\"location\":0,\"time\":50}\n{\"location\":0,\"time\":40}\n{\"location\":0,\"time\":60}\n",
        &correction(&[&[(0, 5)]]),
        "{\"location\":0,\"time\":55}\n{\"location\":0,\"time\":55}\n{\"location\":0,\"time\":65}\n",
    );
    assert!(undo.0.contains("[1,-10]"), "{}", undo.0);
}

fn event(time: u64) -> String {
    format!("{{\"location\":0,\"time\":{time}}}\n")
}

#[test]
fn stamps_that_became_one_come_apart_again() {
    // Half the speed, then a stretch in which time stands still.
    let corrected = |time| match time {
        10..20 => 10 + (time - 10) / 2,
        20..30 => 15,
        _ => time - 15,
    };
    rewrites(
        &(10..40).map(event).collect::<String>(),
        &correction(&[&[(10, 10), (20, 15), (30, 15)]]),
        &(10..40).map(corrected).map(event).collect::<String>(),
    );
}

/// Nothing earlier comes after it than it says.
#[test]
fn heartbeats_stay_true() {
    // At stamp 10 the clock steps from 20 to 30, from the second event on.
    let knot = Knot {
        raw: Timestamp(10),
        arrive: Timestamp(20),
        leave: Timestamp(30),
    };
    let step = |event, corrected| Step {
        raw: Timestamp(10),
        location: LocationIndex(0),
        event,
        corrected: Timestamp(corrected),
    };
    let map = ClockMap::new(vec![knot], vec![step(1, 25), step(3, 30)]).unwrap();
    let correction = Correction::new(Clocks::each_location(1), vec![map]);
    let heartbeat = |time| format!("{{\"location\":0,\"type\":\"heartbeat\",\"time\":{time}}}\n");
    let end = |time| format!("{{\"location\":0,\"type\":\"end\",\"time\":{time}}}\n");
    rewrites(
        &[
            heartbeat(10),
            event(10),
            heartbeat(10),
            event(10),
            event(10),
            heartbeat(10),
            event(10),
            heartbeat(0),
            end(12),
        ]
        .concat(),
        &correction,
        &[
            heartbeat(20),
            event(20),
            heartbeat(25),
            event(25),
            event(25),
            heartbeat(30),
            event(30),
            heartbeat(10),
            end(32),
        ]
        .concat(),
    );
}

#[test]
fn a_heartbeat_that_bounds_everything_may_be_moved_beyond_64_bits() {
    let heartbeat =
        |time: u64| format!("{{\"location\":0,\"type\":\"heartbeat\",\"time\":{time}}}\n");
    rewrites(
        &heartbeat(u64::MAX),
        &correction(&[&[(0, 5)]]),
        &heartbeat(u64::MAX),
    );
    rewrites(&heartbeat(3), &correction(&[&[(10, 5)]]), &heartbeat(0));
}

#[test]
fn an_end_needs_no_time_and_may_have_any() {
    let lines =
        "{\"location\":0,\"type\":\"end\"}\n{\"location\":1,\"type\":\"end\",\"time\":\"now\"}\n";
    rewrites(lines, &correction(&[&[(0, 5)], &[]]), lines);
}

#[test]
fn a_copy_is_the_same_bytes() {
    let input = Input::gzip("{\"location\":0,\"time\":5}\n");
    let trace = input.open().unwrap();
    let copy = input.beside("copy");
    trace.rewriting().unwrap().copy(&copy, &()).unwrap();
    assert_eq!(
        std::fs::read(copy).unwrap(),
        std::fs::read(&input.path).unwrap()
    );
    assert_eq!(trace.rewriting().unwrap().shape(), Shape::File);
    assert_eq!(trace.bytes(), std::fs::metadata(&input.path).unwrap().len());
}

#[test]
fn an_empty_file_is_no_trace() {
    for content in [&b""[..], b"\n", b" \n\n"] {
        let message = "events.jsonl: is empty, so it is no trace; was the program killed before \
                       it wrote, or the file cut off by a copy?";
        assert_eq!(Input::new(content).error(), message);
    }
    let packed = Input::gzip("").error();
    assert!(packed.contains("is empty"), "{packed}");
}

#[test]
fn a_correction_lies_beside_its_file() {
    let input = Input::new("{\"location\":0,\"time\":5}\n");
    let trace = input.open().unwrap();
    assert_eq!(
        trace.rewriting().unwrap().correction_path(),
        input.beside("events.jsonl.retime")
    );
    assert_eq!(
        trace.rewriting().unwrap().copy_at(&input.beside("out")),
        input.beside("out")
    );
}

#[test]
fn whatever_else_changes_is_noticed() {
    let original =
        "{\"location\":0,\"time\":5,\"x\":1}\n{\"location\":1,\"time\":50,\"type\":\"end\"}\n\n";
    let rest = |text: &str| {
        let timelines = Input::new(text).open().unwrap().timelines(&[&[], &[]], &());
        timelines.unwrap()[0].contents.clone()
    };
    let scanned = Input::new(original).scan().unwrap().contents;
    assert_eq!(rest(original), scanned[0]);
    assert_eq!(rest(&original.replace('5', "123")), scanned[0]);
    for other in [
        original.replace("\"x\":1", "\"x\":2"),
        original.replace("\n\n", "\n"),
        original.replace("}\n{", "}\r\n{"),
        original.replace("\"x\":1", "\"raw_time\":5"),
    ] {
        assert_ne!(rest(&other), scanned[0], "{other}");
    }
    let (first, second) = original.trim_end().split_once('\n').unwrap();
    assert_ne!(
        rest(&format!("{second}\n{first}\n\n")).rest,
        scanned[0].rest
    );
}

#[test]
fn many_lines_of_many_locations() {
    let line = |number: u64| {
        let (location, time) = (number % 7, 1_000 + 3 * number);
        format!(
            "{{\"location\":{location},\"time\":{time},\"name\":\"{}\"}}\n",
            "x".repeat(number as usize % 100)
        )
    };
    let text: String = (0..100_000).map(line).collect();
    let input = Input::new(&text);
    let scan = input.scan().unwrap();
    let events: u64 = scan.logs.iter().map(|log| log.columns().events).sum();
    assert_eq!((scan.logs.len(), events), (7, 100_000));
    let maps: Vec<[(u64, u64); 2]> = (0..7)
        .map(|at| [(1_000, 2_000 + at), (100_000, 90_000)])
        .collect();
    let maps: Vec<&[(u64, u64)]> = maps.iter().map(|map| &map[..]).collect();
    let correction = correction(&maps);
    let (corrected, undo) = input.rewrite(&correction).unwrap();
    let restored = Input::new(corrected).restore(&correction, &undo).unwrap();
    assert!(restored == text.as_bytes());
}
