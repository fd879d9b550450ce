//! Where arrows leave and arrive, and where they lead.

use retime::{Clocks, LocationIndex};
use retime_export::{Exported, Kind, Shown, Times, export};

use crate::picture::{Arrow, Picture, Slice, Step};
use crate::program::{Program, What};

/// What both kinds of files show of a trace as recorded.
fn pictures(program: &Program, rate: u64) -> [Picture; 2] {
    let info = program.info(rate);
    let count = info.locations.len();
    let exported = Exported {
        trace: program,
        info: &info,
        causality: &program.causality(&info),
        clocks: &Clocks::each_location(count),
        correction: None,
        bounds: None,
    };
    [Kind::Perfetto, Kind::Chrome].map(|kind| {
        let shown = Shown {
            kind,
            times: Times::Recorded,
            from: None,
            to: None,
            locations: (0..count as u32).map(LocationIndex).collect(),
            gzip: false,
        };
        let mut file = Vec::new();
        export(&exported, &shown, &mut file, &()).unwrap();
        match kind {
            Kind::Perfetto => Picture::of_packets(&file),
            Kind::Chrome => Picture::of_json(&file),
        }
    })
}

/// A call in which a message is received and one in which it is sent, in this order of
/// locations and so of the file.
fn message(sent: u64, received: u64) -> Program {
    Program(vec![
        vec![
            (0, What::Enter(0)),
            (received, What::Receive(1)),
            (100, What::Leave(0)),
        ],
        vec![
            (10, What::Enter(1)),
            (sent, What::Send(0)),
            (100, What::Leave(1)),
        ],
    ])
}

fn at(thread: u64, time: u64) -> Slice {
    Slice {
        thread,
        begin: time,
        end: time,
    }
}

fn only_arrow(picture: &Picture) -> Arrow {
    assert_eq!(picture.arrows.len(), 1);
    *picture.arrows.values().next().unwrap()
}

fn reversed(picture: &Picture) -> Vec<u64> {
    let steps = picture.steps.values().flatten();
    steps.map(Step::reversed).filter(|it| *it > 0).collect()
}

#[test]
fn a_receive_that_was_entered_before_the_send_is_where_the_arrow_arrives() {
    for picture in pictures(&message(50, 60), 1_000_000_000) {
        let (from, to) = (at(2, 50), at(1, 60));
        assert_eq!(only_arrow(&picture), Arrow { from, to });
        assert!(reversed(&picture).is_empty());
    }
}

#[test]
fn of_two_ends_at_one_time_the_arrow_leaves_the_cause() {
    // The receive comes first in the file unless somebody sees to it.
    for (sent, received, rate) in [(50, 50, 1_000_000_000), (50, 51, 4_000_000_000)] {
        for picture in pictures(&message(sent, received), rate) {
            let Arrow { from, to } = only_arrow(&picture);
            assert_eq!((from.thread, to.thread), (2, 1));
            assert_eq!(from.begin, to.begin);
            assert!(reversed(&picture).is_empty());
        }
    }
}

#[test]
fn what_is_recorded_in_reverse_leads_to_the_later_end_and_is_marked() {
    for picture in pictures(&message(60, 50), 1_000_000_000) {
        let (from, to) = (at(1, 50), at(2, 60));
        assert_eq!(only_arrow(&picture), Arrow { from, to });
        assert_eq!(reversed(&picture), [1, 1]);
    }
}

#[test]
fn an_arrow_may_arrive_at_a_slice_that_begins_there_but_never_leaves_one_that_goes_on() {
    let program = Program(vec![
        vec![
            (0, What::Nothing),
            (50, What::Enter(0)),
            (50, What::Send(1)),
            (100, What::Leave(0)),
        ],
        vec![
            (60, What::Enter(1)),
            (60, What::Receive(0)),
            (90, What::Leave(1)),
        ],
    ]);
    for picture in pictures(&program, 1_000_000_000) {
        let to = Slice {
            thread: 2,
            begin: 60,
            end: 90,
        };
        let from = at(1, 50);
        assert_eq!(only_arrow(&picture), Arrow { from, to });
        assert_eq!(picture.slices().len(), 3);
    }
}

#[test]
fn the_last_to_arrive_at_a_barrier_lets_all_go() {
    let rank = |begin, end| {
        vec![
            (0, What::Nothing),
            (begin, What::Arrive),
            (end, What::Depart),
        ]
    };
    let program = Program(vec![rank(10, 90), rank(50, 80), rank(30, 70)]);
    for picture in pictures(&program, 1_000_000_000) {
        let mut found: Vec<_> = picture.arrows.values().copied().collect();
        found.sort_by_key(|it| it.to.thread);
        let arrow = |from, to| Arrow { from, to };
        assert_eq!(
            found,
            [
                arrow(at(2, 50), at(1, 90)),
                arrow(at(3, 30), at(2, 80)),
                arrow(at(2, 50), at(3, 70)),
            ]
        );
    }
}
