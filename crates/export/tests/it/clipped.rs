//! Small programs of which it can be said what a file shows.

use retime::{ClockMap, Clocks, Correction, Knot, LocationIndex, Ticks, Timestamp};
use retime_export::{ExportError, Kind, Shown, Times, is_export};

use crate::picture::{Picture, Step};
use crate::program::{Program, What};

/// A call in each of two locations, of ticks of a microsecond.
fn program() -> Program {
    Program(vec![
        vec![
            (100, What::Enter(0)),
            (200, What::Enter(1)),
            (210, What::Send(1)),
            (220, What::Leave(1)),
            (500, What::Leave(0)),
        ],
        vec![
            (150, What::Receive(0)),
            (160, What::Leave(7)),
            (170, What::Enter(2)),
        ],
    ])
}

/// The second clock is 100 ticks behind.
fn correction() -> Correction {
    let knot = |raw, corrected| Knot::at(Timestamp(raw), Timestamp(corrected));
    let late = ClockMap::new(vec![knot(150, 250)], Vec::new()).unwrap();
    Correction::new(Clocks::each_location(2), vec![ClockMap::default(), late])
}

fn shown() -> Shown {
    Shown {
        kind: Kind::Perfetto,
        times: Times::Corrected,
        from: None,
        to: None,
        locations: vec![LocationIndex(0), LocationIndex(1)],
        gzip: false,
    }
}

fn file(program: &Program, rate: u64, shown: &Shown) -> Result<Vec<u8>, ExportError> {
    program.exported(rate, &correction(), shown)
}

/// Both times of a program whose correction moves nothing.
fn file_of(program: &Program, locations: usize, times: Times) -> Vec<u8> {
    let clocks = Clocks::each_location(locations);
    let correction = Correction::new(clocks, vec![ClockMap::default(); locations]);
    let shown = Shown {
        times,
        locations: (0..locations as u32).map(LocationIndex).collect(),
        ..shown()
    };
    program
        .exported(1_000_000_000, &correction, &shown)
        .unwrap()
}

fn picture(shown: &Shown) -> Picture {
    Picture::of_packets(&file(&program(), 1_000_000, shown).unwrap())
}

#[test]
fn times_are_corrected_and_the_recorded_ones_are_noted() {
    let picture = picture(&shown());
    let slice = |thread, name: &str, begin, end| (thread, name.to_owned(), begin, end);
    assert_eq!(
        picture.slices(),
        [
            slice(1, "send", 110_000, 110_000),
            slice(1, "region 1", 100_000, 120_000),
            slice(1, "region 0", 0, 400_000),
            slice(2, "receive", 150_000, 150_000),
            // It is never left, and ends with what is recorded.
            slice(2, "region 2", 170_000, 170_000),
        ]
    );
    let begins = picture.steps[&2].iter().filter_map(|it| match it {
        Step::Begin { recorded, .. } => Some(*recorded),
        Step::End { .. } => None,
    });
    assert_eq!(begins.collect::<Vec<_>>(), [Some(50_000), Some(70_000)]);
    assert_eq!(picture.threads[&2], "rank 0 (host), thread 1 (location 10)");
    let curve = (
        "rank 0 (host)".into(),
        "clock offset of thread 1 (location 10)".into(),
    );
    let offset = &picture.curves[&curve];
    assert!(
        offset.iter().all(|it| (it.1 - 100_000.0).abs() < 1e-9),
        "{offset:?}"
    );
    assert_eq!(
        (offset[0].0, offset[offset.len() - 1].0),
        (150_000, 170_000)
    );
}

#[test]
fn a_stretch_of_time_cuts_what_goes_beyond() {
    let within = Shown {
        from: Some(Ticks(110)),
        to: Some(Ticks(160)),
        ..shown()
    };
    let picture = picture(&within);
    let slices = picture.slices();
    let of_first: Vec<_> = slices.iter().filter(|it| it.0 == 1).collect();
    assert_eq!(
        of_first,
        [
            &(1, "send".to_owned(), 110_000, 110_000),
            &(1, "region 1".to_owned(), 110_000, 120_000),
            &(1, "region 0".to_owned(), 110_000, 160_000),
        ]
    );
    // The message is sent at 110 and received at 150.
    assert_eq!(picture.arrows.len(), 1);
}

#[test]
fn tracks_stand_in_the_order_of_ranks() {
    // The later a location, the more it does; the third is alone in its process.
    let events =
        |count: u64| (0..count).flat_map(|at| [(at, What::Enter(0)), (at, What::Leave(0))]);
    let program = Program((1..4).map(|it| events(it).collect()).collect());
    let file = file_of(&program, 3, Times::Both);
    let group = [
        "  rank 0 (host)",
        "    thread 0 (location 0)",
        "    thread 1 (location 10)",
        "  rank 1 (host), thread 2 (location 20)",
    ];
    let curve = |depth: usize| format!("{}clock offset", "  ".repeat(depth));
    let found = Picture::tree(&file);
    let expected = [&["recorded"][..], &group, &["corrected"], &group].concat();
    let without_curves: Vec<_> = found
        .iter()
        .filter(|it| !it.contains("clock offset"))
        .collect();
    assert_eq!(without_curves, expected);
    let corrected = &found[5..];
    assert_eq!(corrected[3], curve(3));
    assert!(corrected[5].starts_with(&curve(3)), "{found:?}");
    assert_eq!(corrected[7], curve(2));
}

#[test]
fn contradictions_are_listed_where_their_effects_stand() {
    let program = Program(vec![
        vec![(10, What::Receive(1)), (60, What::Receive(1))],
        vec![(50, What::Send(0)), (55, What::Send(0))],
    ]);
    for (kind, times, at) in [
        (Kind::Perfetto, Times::Recorded, 0),
        (Kind::Chrome, Times::Recorded, 0),
    ] {
        let shown = Shown {
            kind,
            times,
            ..shown()
        };
        let file = file(&program, 1_000_000, &shown).unwrap();
        let picture = match kind {
            Kind::Perfetto => Picture::of_packets(&file),
            Kind::Chrome => Picture::of_json(&file),
        };
        let steps = &picture.contradictions["contradictions as recorded"];
        let facts = [("from", "10"), ("to", "0"), ("latency_ns", "-40000")];
        let facts = facts.map(|it| (it.0.to_owned(), it.1.to_owned()));
        let begin = Step::Begin {
            at,
            name: "reversed message".to_owned(),
            category: None,
            recorded: None,
            facts: facts.into(),
        };
        assert_eq!(steps, &[begin, Step::End { at }]);
        let facts = |step: &Step| match step {
            Step::Begin { facts, .. } => facts.clone(),
            Step::End { .. } => panic!("{step:?}"),
        };
        let receives = facts(&picture.steps[&1][2]);
        let said = ["peer", "bytes", "tag", "comm", "latency_ns"].map(|it| &*receives[it]);
        assert_eq!(said, ["10", "64", "7", "world", "5000"]);
        assert_eq!(facts(&picture.steps[&1][0])["reversed"], "1");
    }
}

#[test]
fn what_was_exported_is_recognised() {
    for kind in [Kind::Perfetto, Kind::Chrome] {
        for gzip in [false, true] {
            let shown = Shown {
                kind,
                gzip,
                ..shown()
            };
            let file = file(&program(), 1_000_000, &shown).unwrap();
            assert!(is_export(&file[..file.len().min(4096)]), "{kind:?} {gzip}");
        }
    }
    for other in [
        &b"{\"traceEvents\":[]}"[..],
        b"\x0a",
        b"\x0a\x03abcdef",
        b"\x1f\x8b",
        b"#!",
    ] {
        let is_empty_gzip = other == b"\x1f\x8b";
        assert_eq!(is_export(other), is_empty_gzip, "{other:?}");
    }
}

#[test]
fn centuries_are_refused() {
    let program = Program(vec![
        vec![(0, What::Nothing), (1 << 40, What::Nothing)],
        Vec::new(),
    ]);
    let found = file(&program, 1, &shown());
    assert!(matches!(found, Err(ExportError::TooLong { .. })));
}

#[test]
fn corrected_stamps_that_are_none_are_refused() {
    let end = u64::MAX - 50;
    let program = Program(vec![Vec::new(), vec![(end, What::Nothing)]]);
    let found = file(&program, 1_000_000_000, &shown());
    assert!(matches!(found, Err(ExportError::TooFar)));
}
