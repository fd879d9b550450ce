//! Times in any spelling: moved, read again, and brought back byte for byte.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use retime::format::{Format, Trace, Undo};
use retime::{ClockMap, Clocks, Correction, Knot, Timestamp};
use retime_kineto::Kineto;

/// A number of microseconds, as somebody could write it.
fn number() -> impl Strategy<Value = String> {
    let plain = "-?(0|[1-9][0-9]{0,8})(\\.[0-9]{1,12})?";
    let odd = "[+-]?0{0,3}[0-9]{1,7}(\\.[0-9]{0,60})?([eE][+-]?[0-9]{1,2})?";
    let tiny = "-?0\\.0{0,8}[0-9]{0,3}";
    let zero = prop::sample::select(vec![
        "-0", "0", "-0.0", "0.000", "-0.0004", "0e9", "-0.0054",
    ]);
    prop_oneof![plain, odd, tiny, zero.prop_map(str::to_owned)]
        .prop_filter("beyond what is computed with", |text| {
            text.parse::<f64>().is_ok_and(|it| it.abs() < 1e13)
        })
}

/// A time as it stands in a file.
fn time() -> impl Strategy<Value = String> {
    (number(), 0..4_u8).prop_map(|(number, form)| match form {
        0 => format!("\"{number}\""),
        1 => format!("\" {number}\\t\"").replace("\\t", " "),
        _ => number,
    })
}

fn file() -> impl Strategy<Value = String> {
    let event = (
        prop::sample::select(vec!["X", "i", "M", "s"]),
        0..2_u8,
        time(),
        time(),
        any::<bool>(),
    );
    let event = event.prop_map(|(ph, pid, ts, dur, is_turned)| {
        let (ts, dur) = (format!(r#""ts" : {ts}"#), format!(r#""dur":{dur}"#));
        let [first, then] = if is_turned { [dur, ts] } else { [ts, dur] };
        format!(r#"{{"ph":"{ph}","pid":{pid},"tid":1, {first},{then},"name":"a"}}"#)
    });
    let base = prop::sample::select(vec!["", "0", "1000", "-1000", "1700000000000000000"]);
    (prop::collection::vec(event, 1..12), base).prop_map(|(events, base)| {
        let events = events.join(",\n");
        match base {
            "" => format!("[{events}"),
            _ => format!("{{\"baseTimeNanoseconds\":{base},\"traceEvents\": [{events}]}}\n"),
        }
    })
}

/// For each location a map that moves its times, and stretches or squeezes them by some share.
fn correction(trace: &dyn Trace, by: i64, parts: i64) -> Correction {
    let info = trace.scan(&()).unwrap().info;
    let none: Vec<&[u32]> = vec![&[]; info.locations.len()];
    let timelines = trace.timelines(&none, &()).unwrap();
    let maps = timelines.iter().zip(0_i64..).map(|(timeline, location)| {
        let (first, last) = timeline.range.unwrap();
        let length = (last.0 - first.0) as i64;
        let start = first.0.saturating_add_signed(by + location);
        let end = start.saturating_add_signed((length + length / parts).max(0));
        let mut knots = vec![Knot::at(first, Timestamp(start))];
        if length > 0 {
            knots.push(Knot::at(last, Timestamp(end)));
        }
        ClockMap::new(knots, vec![]).unwrap()
    });
    Correction::new(Clocks::each_location(timelines.len()), maps.collect())
}

/// Corrects, reads the copy again, and takes it back.
fn there_and_back(directory: &Path, text: &str, by: i64, parts: i64) -> Result<(), TestCaseError> {
    let at = |name: &str| directory.join(name);
    fs::write(at("t.json"), text).unwrap();
    let trace = Kineto.open(&at("t.json")).unwrap();
    let correction = correction(&*trace, by, parts);
    let undo: Undo = match trace
        .rewriting()
        .unwrap()
        .rewrite(&correction, &at("new.json"), &())
    {
        Ok(undo) => undo,
        // A time that is moved below what 64 bits hold is refused.
        Err(error) => {
            prop_assert!(error.to_string().contains("64 bits"), "{}", error);
            return Ok(());
        }
    };
    let copy = trace
        .rewriting()
        .unwrap()
        .open_copy(&at("new.json"), &())
        .unwrap()
        .unwrap();
    let locations = correction.clocks().by_location().len();
    let events = |it: &dyn Trace| {
        let none: Vec<&[u32]> = vec![&[]; locations];
        let timelines = it.timelines(&none, &()).unwrap();
        timelines
            .into_iter()
            .map(|it| (it.events, it.contents))
            .collect::<Vec<_>>()
    };
    prop_assert_eq!(events(&*trace), events(&*copy));
    // Undo knows nothing of the trace that the copy was made of.
    let copy = Kineto.open(&at("new.json")).unwrap();
    copy.rewriting()
        .unwrap()
        .restore(&correction, &undo, &at("back.json"), &())
        .unwrap();
    prop_assert_eq!(fs::read_to_string(at("back.json")).unwrap(), text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_moved_comes_back(
        text in file(),
        by in prop_oneof![Just(0_i64), -20..20_i64, -2_000_000_000..2_000_000_000_i64],
        parts in prop_oneof![Just(i64::MAX), -100_000..-1000_i64, 1000..100_000_i64],
    ) {
        let directory = tempfile::tempdir().unwrap();
        there_and_back(directory.path(), &text, by, parts)?;
    }
}

/// The times of the events of a location.
fn times(path: &Path) -> Vec<u64> {
    let trace = Kineto.open(path).unwrap();
    trace.scan(&()).unwrap();
    let timelines = trace.timelines(&[&[0, 1, 2]], &()).unwrap();
    timelines[0].times.iter().map(|it| it.0).collect()
}

#[test]
fn times_below_zero_keep_their_differences() {
    let directory = tempfile::tempdir().unwrap();
    let write = |times: [&str; 3]| {
        let path = directory.path().join("t.json");
        let event = |ts: &str| format!(r#"{{"ph":"i","pid":1,"tid":1,"ts":{ts}}}"#);
        fs::write(&path, format!("[{}]", times.map(event).join(","))).unwrap();
        path
    };
    let below = times(&write(["-3.25", "\"-0.001\"", "2"]));
    assert_eq!([below[1] - below[0], below[2] - below[1]], [3249, 2001]);
    assert_eq!(times(&write(["3.25", "4", "5"])), [3250, 4000, 5000]);
}

#[test]
fn a_time_that_nothing_holds_is_named_by_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.json");
    let said = |ts: &str| {
        let text = format!("[{{\"ph\":\"i\",\"ts\":1}},\n{{\"ph\":\"i\",\"ts\":{ts}}}]");
        fs::write(&path, text).unwrap();
        let trace = Kineto.open(&path).unwrap();
        trace.scan(&()).unwrap_err().to_string()
    };
    for ts in ["-9e15", "\"soon\"", "1e30", "\"\"", "null"] {
        let said = said(ts);
        assert!(said.contains("t.json: line 2, byte 3"), "{ts}: {said}");
    }
}
