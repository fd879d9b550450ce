//! Segments beside the plain definition: all events at a time, shifted and sorted.

use proptest::prelude::*;
use retime_model::{LocationIndex, TickRate, Ticks, Timestamp};
use retime_stream::{Event, EventKind, FilterError, MessageId, SegmentOptions, Segments};

const HOSTS: usize = 3;

/// Host, stamp, and message: even numbers are sent, odd ones received, both of `number / 2`.
type Plain = (usize, u64, Option<u64>);

fn options(length: i64) -> SegmentOptions {
    SegmentOptions {
        length: Ticks(length),
        ..SegmentOptions::new(TickRate::NANOSECONDS)
    }
}

fn event(plain: Plain) -> Event<Plain> {
    let (host, time, message) = plain;
    let kind = match message {
        None => EventKind::Internal,
        Some(number) if number % 2 == 0 => EventKind::Send(MessageId::number(number / 2)),
        Some(number) => EventKind::Receive(MessageId::number(number / 2)),
    };
    Event {
        location: LocationIndex(host as u32),
        time: Timestamp(time),
        kind,
        payload: plain,
    }
}

fn left(segments: &mut Segments<Plain>) -> Vec<(Plain, u64)> {
    let all = std::iter::from_fn(|| segments.pop());
    all.map(|event| (event.payload, event.time.0)).collect()
}

/// Events of hosts whose clocks are `ahead`, by local stamps in the order of true time.
fn events() -> impl Strategy<Value = Vec<Plain>> {
    let message = (0..HOSTS, 1..HOSTS, 0_u64..5_000, 0_u64..800);
    let inner = (0..HOSTS, 0_u64..6_000);
    let ahead = proptest::collection::vec(10_000_u64..12_000, HOSTS);
    let messages = proptest::collection::vec(message, 0..40);
    (messages, proptest::collection::vec(inner, 0..40), ahead).prop_map(
        |(messages, inner, ahead)| {
            let mut all: Vec<Plain> = inner
                .into_iter()
                .map(|(host, at)| (host, at, None))
                .collect();
            for (number, (from, on, sent, delay)) in (0..).zip(messages) {
                all.push((from, sent, Some(2 * number)));
                all.push(((from + on) % HOSTS, sent + delay, Some(2 * number + 1)));
            }
            all.sort_by_key(|&(host, at, _)| (at, host));
            let stamped = |(host, at, message): Plain| (host, at + ahead[host], message);
            all.into_iter().map(stamped).collect()
        },
    )
}

proptest! {
    /// With shifts that fall from time to time, all events leave once, in the order of their new
    /// times, shifted by what held when they left.
    #[test]
    fn all_leave_once_in_one_order(events in events(), length in 1_i64..3_000, fall in 0_i128..50) {
        let mut segments = Segments::new(&[0, 1, 2], options(length));
        let mut shifts: [i128; HOSTS] = [0, 500, 900];
        let (mut all, mut used) = (Vec::new(), Vec::new());
        for &plain in &events {
            segments.push(event(plain)).unwrap();
            if segments.is_due() {
                let now = shifts.map(Some);
                segments.shift(&now).unwrap();
                let new = left(&mut segments);
                used.extend(new.iter().map(|_| shifts));
                all.extend(new);
                shifts[1] -= fall;
            }
        }
        segments.finish();
        prop_assert!(segments.is_due() && segments.is_finished());
        segments.shift(&shifts.map(Some)).unwrap();
        let new = left(&mut segments);
        used.extend(new.iter().map(|_| shifts));
        all.extend(new);
        prop_assert!(all.is_sorted_by_key(|it| it.1));
        for (&((host, stamp, _), time), shifts) in all.iter().zip(&used) {
            prop_assert_eq!(i128::from(time), i128::from(stamp) - shifts[host]);
        }
        let mut found: Vec<Plain> = all.iter().map(|it| it.0).collect();
        let mut expected = events.clone();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
        // Messages that are still reversed are counted once more.
        let time = |message: u64| all.iter().find(|it| it.0.2 == Some(message)).map(|it| it.1);
        let messages = events.len() as u64;
        let pairs = (0..messages).filter_map(|it| Some((time(2 * it)?, time(2 * it + 1)?)));
        let reversed = pairs.clone().filter(|(sent, received)| received < sent).count();
        let report = segments.report();
        prop_assert_eq!(report.left_reversed, reversed as u64);
        prop_assert_eq!(report.messages, pairs.count() as u64);
        prop_assert_eq!(report.released, report.events);
    }
}

#[test]
fn nothing_leaves_before_all_clocks_are_known() {
    let mut segments = Segments::new(&[0, 1], options(10));
    for plain in [(0, 0, None), (1, 50, None), (0, 10, None), (1, 70, None)] {
        segments.push(event(plain)).unwrap();
    }
    assert!(segments.is_due());
    segments.shift(&[Some(0), None]).unwrap();
    assert_eq!(left(&mut segments), []);
    // A new segment: a location that is silent says by a heartbeat how far it has come.
    segments.push(event((0, 20, None))).unwrap();
    assert!(!segments.is_due());
    segments.heartbeat(LocationIndex(1), Timestamp(90)).unwrap();
    assert!(segments.is_due());
    segments.shift(&[Some(0), Some(50)]).unwrap();
    let stamps: Vec<u64> = left(&mut segments).iter().map(|it| it.1).collect();
    assert_eq!(stamps, [0, 0, 10]); // host 0 has come to 20, and one more may lie there
    segments.end(LocationIndex(0)).unwrap();
    segments.end(LocationIndex(1)).unwrap();
    segments.shift(&[Some(0), Some(50)]).unwrap();
    assert_eq!(left(&mut segments).len(), 2);
}

#[test]
fn what_cannot_be_is_refused() {
    let mut segments = Segments::new(&[0], options(10));
    let unknown = Err(FilterError::UnknownLocation(LocationIndex(1)));
    assert_eq!(segments.push(event((1, 0, None))), unknown);
    segments.push(event((0, 5, None))).unwrap();
    let far = Timestamp(u64::MAX);
    let refused = segments.heartbeat(LocationIndex(0), far);
    assert_eq!(refused, Err(FilterError::OutOfRange(far)));
    segments.finish();
    let ended = Err(FilterError::Ended(LocationIndex(0)));
    assert_eq!(segments.push(event((0, 6, None))), ended);
    let refused = segments.shift(&[Some(6)]);
    assert_eq!(refused, Err(FilterError::OutOfReach(Timestamp(5))));
}

#[test]
fn an_event_out_of_its_order_gets_the_time_of_the_one_before() {
    let mut segments = Segments::new(&[0], options(10));
    for plain in [(0, 5, None), (0, 3, None), (0, 7, None)] {
        segments.push(event(plain)).unwrap();
    }
    segments.finish();
    segments.shift(&[Some(1)]).unwrap();
    let found: Vec<(u64, u64)> = left(&mut segments)
        .iter()
        .map(|it| (it.0.1, it.1))
        .collect();
    assert_eq!(found, [(5, 4), (3, 4), (7, 6)]);
    assert_eq!(segments.report().out_of_order, 1);
}
