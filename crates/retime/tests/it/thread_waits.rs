//! How long processes of several threads stand still, moment by moment.

use proptest::prelude::*;
use retime::causality::{Causality, CausalityOptions, LocationLog, LogBuilder, MessageId};
use retime::{Grouping, LocationIndex, Stragglers, Ticks, Timestamp};

use crate::common::hand::ranks;
use crate::common::waits::stragglers;

/// A receive of a thread: since when it waits, when its message is sent, and when it has it.
#[derive(Clone, Copy, Debug)]
struct Receive {
    asked: u64,
    sent: u64,
    got: u64,
}

/// Messages that threads receive one after the other, each after having worked.
fn threads() -> impl Strategy<Value = Vec<Vec<Receive>>> {
    let receive = (0..20_u64, 0..40_u64, 0..3_u64);
    let thread = prop::collection::vec(receive, 0..8).prop_map(|all| {
        let mut free = 30;
        let receive = |(works, before, lag): (u64, u64, u64)| {
            let asked = free + works;
            let sent = (asked + before).saturating_sub(15);
            let got = asked.max(sent) + lag;
            free = got + 1;
            Receive { asked, sent, got }
        };
        all.into_iter().map(receive).collect()
    });
    prop::collection::vec(thread, 1..4)
}

/// The logs of a process that sends all messages, and of the threads that receive them.
fn logs(threads: &[Vec<Receive>]) -> Vec<LocationLog> {
    let mut sends: Vec<(u64, u64)> = Vec::new();
    let mut logs = Vec::new();
    for (thread, receives) in (1..).zip(threads) {
        let mut log = LogBuilder::new(LocationIndex(thread));
        log.is_thread();
        for (event, it) in (0..).zip(receives) {
            let id = u64::from(thread) * 100 + event;
            log.named_receive(event, Timestamp(it.got), MessageId::number(id));
            log.awaited(Ticks((it.got - it.asked) as i64));
            sends.push((it.sent, id));
        }
        let events = receives.len() as u64;
        logs.push(log.finish(events, Timestamp(0), Timestamp(1_000)).unwrap());
    }
    sends.sort_unstable();
    let mut log = LogBuilder::new(LocationIndex(0));
    for (event, (sent, id)) in (0..).zip(&sends) {
        log.named_send(event, Timestamp(*sent), MessageId::number(*id));
    }
    let events = sends.len() as u64;
    logs.insert(
        0,
        log.finish(events, Timestamp(0), Timestamp(1_000)).unwrap(),
    );
    logs
}

fn found(threads: &[Vec<Receive>]) -> Stragglers {
    let processes: Vec<usize> = (0..=threads.len()).map(|it| it.min(1)).collect();
    let info = ranks(&processes);
    let causality = Causality::build(&info, logs(threads), CausalityOptions::default()).unwrap();
    let clocks = Grouping::Location.clocks(&info, &causality);
    let times = causality.nodes().timestamps();
    stragglers(&causality, &info, &clocks, times, None)
}

/// The moments at which all threads that take part wait, until one of them goes on.
fn still(threads: &[Vec<Receive>]) -> u64 {
    let all: Vec<u64> = all_wait(threads).collect();
    let waits = || {
        let waits = threads
            .iter()
            .flatten()
            .map(|it| (it.asked, it.sent.min(it.got)));
        waits.filter(|it| it.1 > it.0)
    };
    let goes_on = |&&at: &&u64| {
        let is_end = |it: &u64| !all.contains(it) || waits().any(|wait| wait.1 == *it);
        let latest = all.last().map_or(at, |it| it + 1);
        let end = (at + 1..=latest).find(is_end).unwrap();
        waits().any(|it| it.0 <= at && it.1 == end)
    };
    all.iter().filter(goes_on).count() as u64
}

/// The moments at which all threads that take part wait.
fn all_wait(threads: &[Vec<Receive>]) -> impl Iterator<Item = u64> {
    let is_still = |at: &u64| {
        let takes_part = |it: &&Vec<Receive>| {
            let span = it.first().zip(it.last());
            span.is_some_and(|(first, last)| (first.asked..last.got).contains(at))
        };
        let waits = |it: &Vec<Receive>| {
            let waits = |it: &Receive| (it.asked..it.sent.min(it.got)).contains(at);
            it.iter().any(waits)
        };
        let mut here = threads.iter().filter(takes_part).peekable();
        here.peek().is_some() && here.all(waits)
    };
    (0..1_000).filter(is_still).collect::<Vec<_>>().into_iter()
}

#[test]
fn of_two_that_wait_the_first_that_goes_on_counts() {
    let receive = |asked, sent| Receive {
        asked,
        sent,
        got: sent,
    };
    let one = vec![receive(110, 140), receive(150, 150)];
    let other = vec![receive(100, 105), receive(120, 130), receive(132, 150)];
    let threads = [one, other];
    // Both wait from 120 to 130 and from 132 to 140; the other alone from 100 to 105, before the one takes part.
    assert_eq!(still(&threads), 5 + 10 + 8);
    let found = found(&threads);
    assert_eq!(found.origins[0].held_up, 5 + 10 + 8);
    assert_eq!(found.processes[1].waited, 5 + 10 + 8);
}

proptest! {
    #[test]
    fn it_is_the_moments_at_which_all_wait(threads in threads()) {
        let found = found(&threads);
        let held_up: u64 = found.origins.iter().map(|it| it.held_up).sum();
        prop_assert_eq!(held_up, still(&threads));
        prop_assert_eq!(found.processes[1].waited, still(&threads));
    }
}
