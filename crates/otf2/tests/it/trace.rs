//! The fast ways over all events of a trace.

use retime_model::{LocationIndex, Monitor};
use retime_otf2::{Error, Trace};

use crate::common::unpack;

/// The general reader is slow and simple; the fast walks must agree with it on
/// every event.
fn compare_with_the_general_reader(trace: &Trace, location: LocationIndex) {
    let mut events = trace.events(location).unwrap();
    let (mut times, mut codes) = (Vec::new(), [0_u64; 256]);
    while let Some(event) = events.next().unwrap() {
        times.push(event.time);
        codes[usize::from(event.code)] += 1;
    }
    let every: Vec<u32> = (0..times.len() as u32).collect();
    let timeline = trace.times(location, &every, &()).unwrap();
    let found: Vec<u64> = timeline.times.iter().map(|time| time.0).collect();
    assert_eq!(found, times);
    for (code, count) in (0..=255).zip(codes) {
        assert_eq!(timeline.counts.of(code), count, "code {code}");
    }
    let backwards = times.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert_eq!(timeline.backwards, backwards as u64);
    let range = timeline.range.map(|(first, last)| (first.0, last.0));
    let expected = times.iter().min().copied().zip(times.iter().max().copied());
    assert_eq!(range, expected);
    assert_eq!(timeline.first.map(|it| it.0), times.first().copied());

    let mut glanced = Vec::new();
    let counts = trace.glance(location, &(), |event| {
        assert_eq!(event.number, glanced.len() as u64);
        glanced.push(event.time);
        event.data().map(drop)
    });
    assert_eq!(counts.unwrap(), timeline.counts);
    assert_eq!(glanced, times);
}

#[test]
fn fast_walks_agree_with_the_general_reader() {
    let names = [
        "alltypes",
        "alltypes32",
        "variants",
        "t0b",
        "t0a",
        "ping-pong-otf2",
        "ping-pong-otf2-papi",
        "colls4.otf2d",
    ];
    for name in names {
        let Some((_dir, path)) = unpack(name) else {
            return;
        };
        let paths = match name {
            "variants" => vec![path.join("be"), path.join("all")],
            _ => vec![path],
        };
        for path in paths {
            let trace = Trace::open(path).unwrap();
            for location in trace.locations() {
                compare_with_the_general_reader(&trace, location);
            }
        }
    }
}

struct Stopped;
impl Monitor for Stopped {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_walk_can_be_stopped() {
    let Some((_dir, path)) = unpack("halo4.otf2d") else {
        return;
    };
    let trace = Trace::open(&path).unwrap();
    let stopped = trace.glance(LocationIndex(0), &Stopped, |_| Ok(()));
    assert!(matches!(stopped, Err(Error::Cancelled)));
    std::fs::remove_file(path.join("traces/2.evt")).unwrap();
    let error = Trace::open(path).unwrap_err();
    assert!(matches!(error, Error::MissingFile { .. }), "{error}");
}
