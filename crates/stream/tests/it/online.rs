//! The filter while events still come: what is late, lost or silent, and how
//! long it takes.

use crate::ring;
use retime::{LocationIndex, TickRate, Ticks, Timestamp};
use retime_stream::{
    Collective, DelayBound, Event, EventKind, Filter, FilterError, FilterOptions, MessageId,
};

/// Bounds in microseconds: clocks within 10, up to 100 on the way, ramps of 100.
fn options() -> FilterOptions {
    FilterOptions {
        min_delay: Ticks(2),
        amortization: "10%".parse().unwrap(),
        start_difference: Ticks(10),
        max_difference: Ticks(10),
        transfer: Ticks(100),
        message_timeout: Ticks(1_000),
        ..FilterOptions::new(TickRate::per_second(1_000_000).unwrap())
    }
}

struct Stream(Filter<()>);

impl Stream {
    fn new(locations: u32) -> Self {
        let clocks: Vec<u32> = (0..locations).collect();
        Self(Filter::new(&clocks, options()))
    }

    /// Of two locations that share a clock, and a third one.
    fn of_threads() -> Self {
        Self(Filter::new(&[0, 0, 1], options()))
    }

    fn push(&mut self, location: u32, time: u64, kind: EventKind) -> &mut Self {
        let event = Event {
            location: LocationIndex(location),
            time: Timestamp(time),
            kind,
            payload: (),
        };
        self.0.push(event).unwrap();
        self
    }

    fn internal(&mut self, location: u32, time: u64) -> &mut Self {
        self.push(location, time, EventKind::Internal)
    }

    fn heartbeat(&mut self, location: u32, time: u64) -> &mut Self {
        self.0
            .heartbeat(LocationIndex(location), Timestamp(time))
            .unwrap();
        self
    }

    /// What can be given out by now: location, raw and corrected time.
    fn out(&mut self) -> Vec<(u32, u64, u64)> {
        std::iter::from_fn(|| self.0.pop())
            .map(|event| (event.location.0, event.raw.0, event.time.0))
            .collect()
    }

    fn rest(&mut self) -> Vec<(u32, u64, u64)> {
        self.0.finish();
        self.out()
    }
}

fn send(number: u64) -> EventKind {
    EventKind::Send(MessageId::number(number))
}

fn receive(number: u64) -> EventKind {
    EventKind::Receive(MessageId::number(number))
}

#[test]
fn a_clock_of_many_locations_goes_on_with_the_first_event_of_all() {
    const LOCATIONS: u32 = 300;
    let options = FilterOptions {
        delay: DelayBound::Unlimited,
        ..options()
    };
    let mut stream = Stream(Filter::new(&[0; LOCATIONS as usize], options));
    // By their times from the last location to the first, and so once more.
    for location in 0..LOCATIONS {
        stream.internal(location, 1_000 + u64::from(LOCATIONS - location));
        stream.heartbeat(location, 1_000 + u64::from(LOCATIONS));
    }
    for location in (0..LOCATIONS).rev() {
        stream.internal(
            location,
            1_000 + 2 * u64::from(LOCATIONS) - u64::from(location),
        );
    }
    let order: Vec<u32> = stream.rest().into_iter().map(|it| it.0).collect();
    let once = (0..LOCATIONS).rev();
    assert_eq!(order, once.clone().chain(once).collect::<Vec<_>>());
}

#[test]
fn a_receive_waits_for_a_late_send() {
    let mut stream = Stream::new(2);
    stream
        .push(1, 1_000, receive(1))
        .internal(1, 1_001)
        .internal(1, 1_080);
    assert_eq!(stream.out(), []);
    stream.push(0, 1_005, send(1));
    assert_eq!(
        stream.rest(),
        [
            (0, 1_005, 1_005),
            (1, 1_000, 1_007),
            (1, 1_001, 1_008),
            (1, 1_080, 1_087)
        ]
    );
    assert_eq!(stream.0.report().late_sends, 0);
}

#[test]
fn a_receive_whose_send_is_lost_goes_on() {
    let mut stream = Stream::new(2);
    stream.push(1, 1_000, receive(1));
    // Not before the bounds on clocks and transfer have passed.
    stream.heartbeat(0, 1_110).heartbeat(1, 1_110);
    assert_eq!(stream.0.report().unmatched_receives, 0);
    stream.heartbeat(0, 1_130).heartbeat(1, 1_130);
    assert_eq!(stream.out(), [(1, 1_000, 1_000)]);
    assert_eq!(stream.0.report().unmatched_receives, 1);
    // The send comes all the same.
    stream.push(0, 1_131, send(1));
    assert_eq!(stream.rest(), [(0, 1_131, 1_131)]);
    assert_eq!(stream.0.report().late_sends, 1);
    assert_eq!(stream.0.load(), [0, 0, 0]);
}

#[test]
fn sends_whose_receive_never_comes_are_given_out_and_forgotten() {
    let mut stream = Stream::new(2);
    for number in 0..10_000 {
        stream
            .push(0, 1_000 + number * 10, send(number))
            .heartbeat(1, 1_000 + number * 10);
        if number == 9_000 {
            let [held, messages, _] = stream.0.load();
            assert!(held < 50 && messages < 150, "{held} {messages}");
        }
        stream.out();
    }
    stream.rest();
    assert_eq!(stream.0.report().unmatched_sends, 10_000);
    assert_eq!(
        (stream.0.report().released, stream.0.load()),
        (10_000, [0, 0, 0])
    );
}

#[test]
fn a_receive_long_after_its_send_keeps_the_condition() {
    let mut stream = Stream::new(2);
    stream
        .push(0, 1_000, send(1))
        .heartbeat(0, 1_900)
        .heartbeat(1, 1_900);
    assert_eq!(stream.out(), [(0, 1_000, 1_000)]);
    stream.push(1, 1_901, receive(1));
    assert_eq!(stream.rest(), [(1, 1_901, 1_901)]);
    assert_eq!(stream.0.report().messages, 1);
    assert_eq!(stream.0.report().unmatched_sends, 0);
}

#[test]
fn a_silent_location_is_waited_for_as_long_as_the_bounds_say() {
    let mut stream = Stream::new(2);
    stream.internal(0, 1_000).heartbeat(0, 1_109);
    assert_eq!(stream.out(), []);
    stream.heartbeat(0, 1_240);
    assert_eq!(stream.out(), [(0, 1_000, 1_000)]);
    // With heartbeats it takes no longer than a ramp.
    let mut stream = Stream::new(2);
    stream
        .internal(0, 1_000)
        .heartbeat(1, 1_130)
        .heartbeat(0, 1_130);
    assert_eq!(stream.out(), [(0, 1_000, 1_000)]);
    // An end mark says as much.
    let mut stream = Stream::new(2);
    stream.internal(0, 1_000);
    stream.0.end(LocationIndex(1)).unwrap();
    stream.heartbeat(0, 1_130);
    assert_eq!(stream.out(), [(0, 1_000, 1_000)]);
}

#[test]
fn a_merged_stream_needs_no_heartbeats() {
    let mut stream = Stream::new(2);
    let options = FilterOptions {
        merged: true,
        delay: DelayBound::Unlimited,
        ..options()
    };
    stream.0 = Filter::new(&[0, 1], options);
    stream.push(0, 1_000, send(1)).push(1, 1_010, receive(1));
    assert_eq!(stream.out(), []);
    stream.internal(0, 1_111).internal(0, 1_222);
    assert_eq!(stream.out(), [(0, 1_000, 1_000), (1, 1_010, 1_010)]);
}

#[test]
fn an_event_that_comes_too_late_is_moved_up_and_counted() {
    let mut stream = Stream::new(2);
    stream
        .internal(0, 1_000)
        .internal(0, 2_000)
        .heartbeat(0, 3_000);
    assert_eq!(stream.out().last(), Some(&(0, 2_000, 2_000)));
    stream.push(1, 1_500, send(1)).push(0, 3_000, receive(1));
    assert_eq!(stream.rest(), [(1, 1_500, 2_000), (0, 3_000, 3_000)]);
    assert_eq!(stream.0.report().late, 1);
}

#[test]
fn messages_of_a_channel_are_counted() {
    let channel = MessageId::channel(LocationIndex(0), LocationIndex(1), 3, 7);
    let other = MessageId::channel(LocationIndex(0), LocationIndex(1), 3, 8);
    let mut stream = Stream::new(2);
    stream.push(0, 1_000, EventKind::Send(channel));
    stream.push(0, 1_001, EventKind::Send(other));
    stream.push(0, 1_004, EventKind::Send(channel));
    for (time, id) in [(990, channel), (995, channel), (1_000, other)] {
        stream.push(1, time, EventKind::Receive(id));
    }
    let times: Vec<u64> = stream
        .rest()
        .iter()
        .filter(|it| it.0 == 1)
        .map(|it| it.2)
        .collect();
    assert_eq!(times, [1_002, 1_007, 1_012]);
}

#[test]
fn a_collective_that_lacks_a_begin_goes_on() {
    let barrier = Collective::all_to_all(MessageId::name("barrier"), 3);
    let mut stream = Stream::new(3);
    for location in [0, 1] {
        stream.push(location, 1_000, EventKind::Begin(barrier));
        stream.push(location, 1_010, EventKind::End(barrier));
    }
    (0..3).for_each(|location| {
        stream.heartbeat(location, 1_200);
    });
    assert_eq!(stream.out().len(), 4);
    assert_eq!(stream.0.report().incomplete_collectives, 2);
}

#[test]
fn events_that_wait_for_each_other_hold_nobody_up_for_ever() {
    let mut stream = Stream::new(2);
    stream.push(0, 1_000, receive(1)).push(0, 1_010, send(2));
    stream.push(1, 1_000, receive(2)).push(1, 1_010, send(1));
    stream.heartbeat(0, 5_000).heartbeat(1, 5_000);
    assert_eq!(stream.out().len(), 4);
    assert_eq!(stream.0.report().contradictions, 1);
    assert_eq!(stream.0.load(), [0, 0, 0]);
}

#[test]
fn a_long_silence_is_no_reason_to_go_without_a_send_that_has_come() {
    // The send waits for the other location of its clock to be past it.
    let mut stream = Stream::of_threads();
    stream.push(0, 1_001, send(1)).push(2, 1_000, receive(1));
    assert_eq!(stream.out(), []);
    stream.heartbeat(2, 5_000);
    let stays = [(0, 1_001, 1_001), (2, 1_000, 1_003)];
    assert_eq!(stream.rest(), stays);
    assert_eq!(stream.0.report().contradictions, 0);

    // And here it comes after a receive that waits in vain.
    let mut stream = Stream::of_threads();
    stream.push(0, 1_000, receive(9)).push(0, 1_001, send(1));
    stream.push(2, 1_000, receive(1)).heartbeat(2, 5_000);
    assert_eq!(
        stream.rest(),
        [[(0, 1_000, 1_000)].as_slice(), &stays].concat()
    );
    let report = stream.0.report();
    assert_eq!((report.unmatched_receives, report.contradictions), (1, 0));
}

#[test]
fn what_cannot_be_taken_is_refused_and_changes_nothing() {
    let mut stream = Stream::new(1);
    stream.internal(0, 1_000);
    let mut push = |location, time| {
        let kind = EventKind::Internal;
        let location = LocationIndex(location);
        stream.0.push(Event {
            location,
            time: Timestamp(time),
            kind,
            payload: (),
        })
    };
    assert_eq!(
        push(1, 0),
        Err(FilterError::UnknownLocation(LocationIndex(1)))
    );
    assert_eq!(
        push(0, u64::MAX),
        Err(FilterError::OutOfRange(Timestamp(u64::MAX)))
    );
    stream.0.finish();
    assert_eq!(
        stream.0.end(LocationIndex(0)),
        Err(FilterError::Ended(LocationIndex(0)))
    );
    assert_eq!(stream.out(), [(0, 1_000, 1_000)]);
}

#[test]
fn stamps_near_the_ends_of_their_range_work() {
    for base in [0, u64::MAX - 2_000] {
        let mut stream = Stream::new(2);
        stream
            .push(1, base + 995, receive(1))
            .push(0, base + 1_000, send(1));
        let out = stream.rest();
        assert_eq!(
            out,
            [
                (0, base + 1_000, base + 1_000),
                (1, base + 995, base + 1_002)
            ]
        );
    }
}

/// Ten million events: nothing piles up, and nobody waits longer than 0.2 s.
#[test]
fn memory_is_flat_and_the_delay_bounded() {
    let locations = 8;
    let clocks: Vec<u32> = (0..locations).collect();
    let rate = TickRate::per_second(1_000_000_000).unwrap();
    let options = FilterOptions {
        min_delay: Ticks(ring::LEAST_DELAY as i64),
        max_difference: Ticks(ring::LARGEST_DIFFERENCE as i64),
        start_difference: Ticks(ring::LARGEST_DIFFERENCE as i64),
        delay: DelayBound::Explained,
        ..FilterOptions::new(rate)
    };
    let mut filter = Filter::new(&clocks, options);
    let mut sent = vec![std::collections::VecDeque::new(); locations as usize];
    let (mut last, mut early) = (Timestamp(0), [0; 3]);
    for (number, event) in ring::Ring::new(locations).take(10_000_000).enumerate() {
        let payload = (event.kind, event.payload);
        let Event {
            location,
            time,
            kind,
            ..
        } = event;
        filter
            .push(Event {
                location,
                time,
                kind,
                payload,
            })
            .unwrap();
        while let Some(event) = filter.pop() {
            assert!(event.time >= last, "order");
            last = event.time;
            let own = event.location.as_usize();
            match event.payload.0 {
                EventKind::Send(_) => sent[own].push_back(event.time.0),
                EventKind::Receive(_) => {
                    let from = (own + locations as usize - 1) % locations as usize;
                    let sent: u64 = sent[from].pop_front().unwrap();
                    assert!(event.time.0 >= sent + ring::LEAST_DELAY, "condition");
                }
                _ => {}
            }
        }
        let load = filter.load();
        if number == 200_000 {
            early = load;
        } else if number > 200_000 {
            assert!(
                load[0] < 2 * early[0] && load[1] < 2 * early[1] + 100,
                "{load:?}"
            );
        }
    }
    let report = filter.report();
    assert!(report.violated > 1_000_000 && report.late == 0);
    assert!(report.delay.quantile(0.99) < 200_000_000);
    assert!(report.delay.largest() < 200_000_000);
}

/// Far more than the filter has room for, all within its patience.
const MANY: u64 = 300_000;

/// A stream of two locations that waits for other halves almost for ever.
fn patient() -> Stream {
    let mut stream = Stream::new(2);
    let options = FilterOptions {
        message_timeout: Ticks(1 << 40),
        ..options()
    };
    stream.0 = Filter::new(&[0, 1], options);
    stream
}

#[test]
fn what_waits_in_vain_is_bounded_in_number() {
    let barrier = |number| Collective::all_to_all(MessageId::number(number), 3);
    let begin = |number| EventKind::Begin(barrier(number));
    let kinds: [&dyn Fn(u64) -> EventKind; 3] = [&send, &receive, &begin];
    let rooms = [(1, 1 << 18), (1, 1 << 18), (2, 1 << 16)];
    for (kind, (of, room)) in kinds.into_iter().zip(rooms) {
        let mut stream = patient();
        for number in 0..MANY {
            stream.push(0, 1_000 + number, kind(number));
            stream.out();
        }
        // What is still in the filter comes on top.
        let load = stream.0.load();
        assert!(load[of] <= room + 32 + load[0], "{load:?}");
        assert!(load[of] >= room, "{load:?}");
        assert_eq!(
            stream.rest().last(),
            Some(&(0, 1_000 + MANY - 1, 1_000 + MANY - 1))
        );
        let report = stream.0.report();
        assert!(report.forgotten >= MANY - (room as u64) - 1_000);
        let lost = [
            report.unmatched_sends,
            report.unmatched_receives,
            report.unfinished_collectives,
        ];
        assert_eq!(lost.iter().sum::<u64>(), MANY, "{lost:?}");
        assert_eq!((report.released, stream.0.load()), (MANY, [0, 0, 0]));
    }
}

#[test]
fn a_receive_takes_no_send_of_another_where_its_own_is_forgotten() {
    let channel = MessageId::channel(LocationIndex(0), LocationIndex(1), 0, 0);
    // Since there were too many.
    let mut stream = patient();
    for number in 0..MANY {
        stream.push(0, 1_000 + number, EventKind::Send(channel));
        stream.out();
    }
    for number in 0..MANY {
        stream.push(1, 900_000 + number / 4, EventKind::Receive(channel));
        stream.out();
    }
    stream.push(0, 1_000_000, EventKind::Send(channel));
    stream.push(1, 999_995, EventKind::Receive(channel));
    assert_eq!(stream.rest().last(), Some(&(1, 999_995, 1_000_002)));
    let report = stream.0.report();
    assert_eq!((report.violated, report.largest_jump), (1, Ticks(7)));
    assert_eq!(report.messages, MANY + 1 - report.forgotten);
    assert_eq!(report.unmatched_receives, report.forgotten);
    assert!(report.forgotten > 0);

    // Since it waited for too long.
    let mut stream = Stream::new(2);
    stream.push(0, 1_000, EventKind::Send(channel));
    stream.heartbeat(0, 5_000).heartbeat(1, 5_000);
    assert_eq!(stream.out(), [(0, 1_000, 1_000)]);
    stream.push(0, 6_000, EventKind::Send(channel));
    stream.push(1, 5_980, EventKind::Receive(channel));
    stream.push(1, 5_995, EventKind::Receive(channel));
    let times: Vec<u64> = stream.rest().iter().map(|it| it.2).collect();
    assert_eq!(times.last(), Some(&6_002));
    assert!(times[0] < 6_000, "{times:?}");
    assert_eq!(stream.0.report().violated, 1);
}

/// Clocks within 100 us, ramps of 2 ms: a ramp after an event all jumps are known that move it. How
/// they do depends on further ones, up to a ramp behind these, as where the ramp of an event ends
/// another may begin: an event between two jumps is certain after two ramps, and leaves before it is
/// where it may stay for one (equation 7.1).
#[test]
fn an_event_before_two_jumps_is_certain_after_two_ramps() {
    let certain = monitored(DelayBound::Unlimited);
    assert_eq!(certain.forced, 0);
    let in_time = monitored(DelayBound::Explained);
    assert_eq!(in_time.forced, 3);
    let both = in_time.left.iter().zip(&certain.left);
    assert_eq!(both.filter(|(one, other)| one != other).count(), 3);
    let two_ramps = monitored(DelayBound::Ticks(Ticks(2 * 2_000 + 10 + 2 * 100)));
    assert_eq!((two_ramps.forced, two_ramps.left), (0, certain.left));
}

/// The events that a filter gave out of a monitored program, and how many were forced.
struct Monitored {
    left: Vec<(u32, u64, u64)>,
    forced: u64,
}

/// Three processes, of which one is 40 us behind the first and another one 25 ahead, that send each
/// other messages and meet at barriers.
fn monitored(delay: DelayBound) -> Monitored {
    let options = FilterOptions {
        min_delay: Ticks(10),
        start_difference: Ticks(100),
        max_difference: Ticks(100),
        delay,
        ..FilterOptions::new(TickRate::per_second(1_000_000).unwrap())
    };
    let mut stream = Stream(Filter::new(&[0, 1, 2], options));
    let shown = |location: u32, time: u64| [time, time - 40, time + 25][location as usize];
    let mut left = Vec::new();
    for round in 0..20 {
        let now = 10_000 + 500 * round;
        let (from, to) = ((round % 3) as u32, ((round + 1) % 3) as u32);
        stream.internal(from, shown(from, now));
        stream.push(from, shown(from, now + 20), send(round));
        stream.push(to, shown(to, now + 30), receive(round));
        let barrier = Collective::all_to_all(MessageId::number(round), 3);
        for location in (0..3).filter(|_| round % 5 == 4) {
            let entered = now + 100 + 10 * u64::from(location);
            stream.push(
                location,
                shown(location, entered),
                EventKind::Begin(barrier),
            );
            stream.push(
                location,
                shown(location, now + 135),
                EventKind::End(barrier),
            );
        }
        for location in 0..3 {
            stream.heartbeat(location, shown(location, now + 450));
        }
        left.extend(stream.out());
    }
    left.extend(stream.rest());
    assert_eq!(left.len(), 84);
    assert!(left.is_sorted_by_key(|it| it.2));
    let forced = stream.0.report().forced;
    Monitored { left, forced }
}
