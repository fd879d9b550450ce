//! Messages of one channel whose order nobody recorded: what is claimed must hold of
//! what truly happened, and where there is one thread on either side nothing is lost.

use std::collections::BTreeMap;

use crate::common::cases;
use crate::common::rng::Rng;
use crate::common::threads::{Run, Threads};
use proptest::prelude::*;
use retime::causality::{Causality, Defect};

fn programs(threads: std::ops::Range<usize>) -> impl Strategy<Value = Threads> {
    let several = (threads.clone(), threads, 0..60_usize);
    (several, any::<bool>(), 1..5_u64, any::<u64>()).prop_map(
        |((senders, receivers, messages), probes, lengths, seed)| Threads {
            senders,
            receivers,
            messages,
            probes,
            lengths,
            seed,
        },
    )
}

/// Stamps of send and receive of each claimed message. All of them are true times.
fn claims(causality: &Causality) -> Vec<(u64, u64)> {
    let nodes = causality.nodes();
    let time = |node| nodes.timestamp(node).0;
    let received = nodes.all().filter_map(|receive| {
        let send = causality.message_source(receive)?;
        Some((time(send), time(receive)))
    });
    received.collect()
}

fn assert_hold(claims: &[(u64, u64)]) -> Result<(), TestCaseError> {
    let wrong = claims.iter().find(|(sent, received)| sent > received);
    prop_assert_eq!(wrong, None);
    Ok(())
}

fn all_recorded(_: bool, _: usize) -> bool {
    false
}

/// Number of the message of each claimed send, by that of the receive; for programs
/// with one thread on either side.
fn messages(run: &Run, causality: &Causality) -> BTreeMap<usize, usize> {
    let sent: BTreeMap<u64, usize> = run.sent.iter().map(|it| it.recorded).zip(0..).collect();
    let received = run.received.iter().map(|it| it.completed);
    let received: BTreeMap<u64, usize> = received.zip(0..).collect();
    let claims = claims(causality).into_iter();
    claims.map(|(a, b)| (received[&b], sent[&a])).collect()
}

/// A stretch of the run without records.
fn gap(run: &Run, rng: &mut Rng) -> Option<(u64, u64)> {
    let end = run.received.iter().map(|it| it.completed).max()?;
    let ends = [rng.below(end + 50), rng.below(end + 50)];
    rng.once_in(2)
        .then(|| (ends[0].min(ends[1]), ends[0].max(ends[1])))
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn no_order_of_threads_makes_a_false_pair(threads in programs(1..4)) {
        let run = Run::new(threads);
        let causality = run.causality([None, None], all_recorded);
        let claims = claims(&causality);
        assert_hold(&claims)?;
        // There is a claim for each, however little is known of the order.
        prop_assert_eq!(claims.len(), threads.messages);
        prop_assert!(causality.defects().is_empty(), "{:?}", causality.defects());
    }

    #[test]
    fn one_thread_on_either_side_keeps_all_pairs(threads in programs(1..2)) {
        let run = Run::new(Threads { probes: false, ..threads });
        let found = messages(&run, &run.causality([None, None], all_recorded));
        prop_assert!(found.iter().map(|(a, b)| (*a, *b)).eq((0..threads.messages).map(|it| (it, it))));
    }

    #[test]
    fn what_a_gap_hides_makes_no_false_pair(threads in programs(1..4), seed: u64) {
        let run = Run::new(threads);
        let mut rng = Rng::new(seed);
        let gaps = [gap(&run, &mut rng), gap(&run, &mut rng)];
        assert_hold(&claims(&run.causality(gaps, all_recorded)))?;
    }

    /// Ranks that record nothing of their setup, each up to a time of its own.
    #[test]
    fn what_follows_the_gaps_is_paired_from_the_end(threads in programs(1..2), until in 0..2_000_u64) {
        let run = Run::new(Threads { probes: false, ..threads });
        let gaps = [Some((0, until)), Some((0, until + 30))];
        let found = messages(&run, &run.causality(gaps, all_recorded));
        // Nobody knows where a receive stands that was posted in the gap.
        let astray = run.received.iter().filter(|it| it.left <= until + 30);
        let astray = astray.map(|it| it.completed).max().unwrap_or(0);
        for (place, it) in run.received.iter().enumerate() {
            let since = astray.max(until + 30);
            let is_after = it.entered.is_some_and(|entered| entered > since);
            if is_after && run.sent[place].recorded > until {
                prop_assert_eq!(found.get(&place), Some(&place));
            }
        }
    }

    #[test]
    fn lost_records_make_no_false_pair(
        threads in programs(1..4), seed: u64, lose_sends: bool, odds in 1..20_u64,
    ) {
        let run = Run::new(threads);
        let mut rng = Rng::new(seed);
        let lost: Vec<bool> = run.sent.iter().map(|_| rng.once_in(odds)).collect();
        let causality = run.causality([None, None], |is_send, at| is_send == lose_sends && lost[at]);
        assert_hold(&claims(&causality))?;
        prop_assert_eq!(causality.defects().count(Defect::LengthsDisagree), 0);
    }

    /// Lengths only bring a claim nearer to the message that was received.
    #[test]
    fn lengths_find_what_was_lost(
        threads in programs(1..2), seed: u64, lose_sends: bool, odds in 2..20_u64,
    ) {
        let threads = Threads { probes: false, lengths: 1 << 30, ..threads };
        let run = Run::new(threads);
        let mut rng = Rng::new(seed);
        let lost: Vec<bool> = run.sent.iter().map(|_| rng.once_in(odds)).collect();
        let causality = run.causality([None, None], |is_send, at| is_send == lose_sends && lost[at]);
        // No two messages have one length.
        let kept = (0..threads.messages).filter(|&at| !lost[at]);
        let found: Vec<_> = messages(&run, &causality).into_iter().collect();
        prop_assert_eq!(found, kept.map(|at| (at, at)).collect::<Vec<_>>());
    }

    /// The first send and the last receive are missing, and only lengths can tell.
    #[test]
    fn lengths_reveal_a_channel_that_lacks_both(threads in programs(1..2)) {
        // Seven lengths hardly ever fall all the way, which would be no contradiction: as
        // if receives had room for whatever was sent.
        let messages = threads.messages + 7;
        let threads = Threads { probes: false, lengths: 1 << 30, messages, ..threads };
        let run = Run::new(threads);
        let falls = run.sent.windows(2).all(|pair| pair[0].length > pair[1].length);
        prop_assume!(!falls);
        let last = threads.messages - 1;
        let causality = run.causality([None, None], |is_send, at| at == if is_send { 0 } else { last });
        prop_assert_eq!(claims(&causality), vec![]);
        prop_assert_eq!(causality.defects().count(Defect::LengthsDisagree), 2 * last as u64);
    }
}

#[test]
fn the_generated_programs_contradict_the_order_of_records() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..1_000 {
        let run = Run::new(Threads {
            senders: 2,
            receivers: 3,
            messages: 40,
            probes: true,
            lengths: 1,
            seed,
        });
        let mut see = |what, often: usize| *seen.entry(what).or_default() += often;
        let falls = |times: Vec<u64>| times.windows(2).filter(|pair| pair[0] > pair[1]).count();
        let posted = run.received.iter().filter(|it| it.request.is_some());
        see(
            "requests recorded in another order",
            falls(posted.map(|it| it.left).collect()),
        );
        see(
            "completed in another order",
            falls(run.received.iter().map(|it| it.completed).collect()),
        );
        see(
            "departed in another order",
            falls(run.sent.iter().map(|it| it.recorded).collect()),
        );
        see(
            "probed",
            run.received
                .iter()
                .filter(|it| it.entered.is_none())
                .count(),
        );
        // By the order in which requests and plain receives were recorded.
        let mut order: Vec<usize> = (0..40).collect();
        order.sort_by_key(|&at| {
            let it = &run.received[at];
            if it.request.is_some() {
                it.left
            } else {
                it.completed
            }
        });
        let mut sends: Vec<u64> = run.sent.iter().map(|it| it.recorded).collect();
        sends.sort_unstable();
        let false_pairs = order.iter().zip(sends);
        let is_false = |&(&at, sent): &(&usize, u64)| run.received[at].completed < sent;
        see(
            "false pairs by the order of records",
            false_pairs.filter(is_false).count(),
        );
    }
    println!("{seen:?}");
    assert!(seen.values().all(|&often| often > 100), "{seen:?}");
}
