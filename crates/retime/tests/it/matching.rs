//! The dependencies found in a recording against those of the program that was
//! recorded.

use crate::common;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::hand;
use crate::common::rng::Rng;
use crate::common::{Call, cases, edges, specs};
use proptest::prelude::*;
use retime::causality::{Class, Defect, EventNode};

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn every_true_dependency_is_found_and_no_other(spec in specs(300)) {
        all_found_and_no_other(&spec.trace())?;
    }

    #[test]
    fn both_ends_of_a_message_know_each_other(spec in specs(200)) {
        let causality = spec.trace().causality();
        let found = edges::messages(&causality);
        prop_assert_eq!(causality.messages(), found.len() as u64);
        for (send, receive) in found {
            prop_assert_eq!(causality.message_target(send), Some(receive));
            prop_assert_eq!(causality.message_target(receive), None);
            prop_assert_eq!(causality.message_source(send), None);
            prop_assert_eq!(causality.slot(send), None);
        }
    }

    /// The sweep that avoids n^2 edges finds what looking at all of them finds,
    /// in both directions, whatever the values and the domains.
    #[test]
    fn extremes_of_collectives_are_those_of_all_their_edges(spec in specs(200), seed: u64) {
        let trace = spec.trace();
        let causality = trace.causality();
        let mut rng = Rng::new(seed);
        // Few values, so that there are ties.
        let values: Vec<i64> = (0..causality.nodes().len()).map(|_| rng.around(5)).collect();
        let value = |node: EventNode| values[node.index()];
        let domains = 1 + rng.below(4) as usize;
        let collectives = causality.collectives();
        for instance in collectives.instances() {
            let participants = collectives.participants(instance);
            let domain = |place: usize| place % domains;
            let (mut latest, mut earliest) = (BTreeMap::new(), BTreeMap::new());
            collectives.each_dependency(instance, |from, to| {
                if domain(from) != domain(to) {
                    let (cause, effect) = (participants[from].cause().unwrap(), participants[to].effect().unwrap());
                    let of = latest.entry(effect).or_insert(i64::MIN);
                    *of = value(cause).max(*of);
                    let of = earliest.entry(cause).or_insert(i64::MAX);
                    *of = value(effect).min(*of);
                }
            });
            let mut found = BTreeMap::new();
            collectives.latest_causes(instance, 0..participants.len(), value, domain, |cause, effect| {
                assert!(found.insert(effect, value(cause)).is_none(), "visited twice");
            });
            prop_assert_eq!(found, latest);
            let mut found = BTreeMap::new();
            collectives.earliest_effects(instance, value, domain, |cause, effect| {
                assert!(found.insert(cause, value(effect)).is_none(), "visited twice");
            });
            prop_assert_eq!(found, earliest);
        }
    }

    /// Records of receives, or of sends, get lost: whatever is still claimed must
    /// follow from what truly happened, through the order of the locations and
    /// the true dependencies. (Where a channel lacks both, nothing tells.)
    #[test]
    fn with_records_lost_only_certain_dependencies_are_claimed(
        spec in specs(120), seed: u64, odds in 3_u64..40, lose_sends: bool,
    ) {
        let spec = common::Spec { threads: false, ..spec };
        let trace = spec.trace();
        let mut rng = Rng::new(seed);
        let mut thinned = trace.clone();
        let mut kept = Vec::new();
        let mut node = 0;
        for events in &mut thinned.events {
            events.retain(|event| {
                let lost = match event.call {
                    Call::Send(_, None) => lose_sends && rng.once_in(odds),
                    Call::Receive(_) => !lose_sends && rng.once_in(odds),
                    _ => false,
                };
                if event.call.role().is_some() {
                    if !lost {
                        kept.push(node);
                    }
                    node += 1;
                }
                !lost
            });
        }
        let truth = Reachable::new(&trace);
        let causality = thinned.causality();
        let kinds = [Defect::SendWithoutReceive, Defect::ReceiveWithoutSend];
        let lost = (trace.nodes().count() - kept.len()) as u64;
        let counted = kinds.map(|kind| causality.defects().count(kind));
        prop_assert_eq!(counted, if lose_sends { [0, lost] } else { [lost, 0] });
        for (cause, effect) in edges::all(&causality) {
            let (cause, effect) = (kept[cause.index()], kept[effect.index()]);
            prop_assert!(truth.precedes(cause, effect), "{cause:?} -> {effect:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(20))]

    /// Long enough for request ids to come back many times, and for more
    /// channels than are found without hashing.
    #[test]
    fn every_true_dependency_of_a_long_run_is_found_and_no_other(
        spec in specs(0), steps in 2_000..8_000_usize,
    ) {
        let trace = common::Spec { steps, ..spec }.trace();
        all_found_and_no_other(&trace)?;
        let twice = taken_twice(&trace);
        prop_assert!(twice.is_none(), "{twice:?}");
    }
}

proptest! {
    #![proptest_config(cases(200))]

    /// Locations of any size, many of them empty.
    #[test]
    fn every_node_knows_its_location(
        sizes in proptest::collection::vec(prop_oneof![Just(0_usize), 1..4_usize, 250..260_usize, 511..1_030_usize], 1..20),
    ) {
        let info = hand::ranks(&(0..sizes.len()).collect::<Vec<_>>());
        let locations: Vec<_> = sizes.iter().map(|&size| vec![(5, hand::send(0)); size]).collect();
        let causality = hand::causality(&info, &locations);
        let nodes = causality.nodes();
        prop_assert_eq!(nodes.len(), sizes.iter().sum::<usize>());
        for (location, size) in sizes.into_iter().enumerate() {
            prop_assert_eq!(nodes.of(location).len(), size);
            for (event, node) in nodes.of(location).enumerate() {
                prop_assert_eq!(nodes.location(node).as_usize(), location);
                prop_assert_eq!(nodes.event(node), event as u64);
            }
        }
    }
}

fn all_found_and_no_other(trace: &common::Trace) -> Result<(), TestCaseError> {
    let causality = trace.causality();
    prop_assert_eq!(&edges::messages(&causality), &trace.messages);
    prop_assert_eq!(&edges::collectives(&causality), &trace.collectives);
    prop_assert!(causality.defects().is_empty(), "{:?}", causality.defects());
    Ok(())
}

/// An event that names its request, or its probed message, by a number that
/// something under way at its location has: no recording says what is meant.
fn taken_twice(trace: &common::Trace) -> Option<Call> {
    let twice = |events: &Vec<common::Event>| {
        let (mut requests, mut probed) = (BTreeSet::new(), BTreeSet::new());
        let mut calls = events.iter().map(|event| event.call);
        calls.find(|call| match *call {
            Call::Send(_, Some(request)) | Call::Post(request) | Call::PostCollective(request) => {
                !requests.insert(request)
            }
            Call::Probe(_, message) => !probed.insert(message),
            Call::ProbedPost { message, request } => {
                !probed.remove(&message) || !requests.insert(request)
            }
            Call::SendDone(request)
            | Call::Complete(_, request)
            | Call::ProbedComplete(request)
            | Call::Cancel(request)
            | Call::CompleteCollective(_, request) => !requests.remove(&request),
            Call::ProbedReceive(message) => !probed.remove(&message),
            Call::Send(_, None)
            | Call::Receive(_)
            | Call::Internal
            | Call::Begin
            | Call::End(_) => false,
        })
    };
    trace.events.iter().find_map(twice)
}

/// What truly happened before what.
struct Reachable {
    /// For each node, the nodes that precede it.
    before: Vec<Vec<bool>>,
}

impl Reachable {
    fn new(trace: &common::Trace) -> Self {
        let nodes: Vec<_> = trace.nodes().collect();
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|&node| nodes[node].2.truth);
        let mut before = vec![vec![false; nodes.len()]; nodes.len()];
        let edges = trace.edges();
        for node in order {
            let mut causes: Vec<usize> = edges
                .iter()
                .filter(|edge| edge.1.index() == node)
                .map(|edge| edge.0.index())
                .collect();
            if node > 0 && nodes[node - 1].0 == nodes[node].0 {
                causes.push(node - 1);
            }
            for cause in causes {
                let inherited = before[cause].clone();
                for (own, is) in before[node].iter_mut().zip(inherited) {
                    *own |= is;
                }
                before[node][cause] = true;
            }
        }
        Self { before }
    }

    fn precedes(&self, cause: usize, effect: usize) -> bool {
        self.before[effect][cause]
    }
}

#[test]
fn the_generated_programs_have_everything_that_is_to_be_tested() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..200 {
        let trace = specs(300).new_tree(&mut runner).unwrap().current().trace();
        let nodes: Vec<_> = trace.nodes().collect();
        let mut see = |what, often: usize| *seen.entry(what).or_default() += often;
        see("messages", trace.messages.len());
        see("edges of collectives", trace.collectives.len());
        let count = |is: &dyn Fn(u64, u64) -> bool| {
            let stamps =
                |edge: &common::Edge| (nodes[edge.0.index()].2.raw, nodes[edge.1.index()].2.raw);
            trace
                .edges()
                .iter()
                .map(stamps)
                .filter(|&(cause, effect)| is(cause, effect))
                .count()
        };
        see("ties", count(&|cause, effect| cause == effect));
        see("violations", count(&|cause, effect| cause > effect));
        let mut ended = BTreeSet::new();
        let each = trace.events.iter().enumerate();
        let each = each.flat_map(|(location, events)| events.iter().map(move |it| (location, it)));
        for (location, event) in each {
            match event.call {
                Call::Complete(_, request) => {
                    ended.insert((location, request));
                }
                Call::Post(request) => {
                    let again = ended.contains(&(location, request));
                    see("request ids used again", usize::from(again));
                }
                _ => {}
            }
            match event.call {
                Call::Cancel(_) => see("cancelled", 1),
                Call::ProbedReceive(_) | Call::ProbedComplete(_) => see("probed", 1),
                Call::CompleteCollective(..) => see("non-blocking collectives", 1),
                _ => {}
            }
        }
        let causality = trace.causality();
        let collectives = causality.collectives();
        for operation in collectives.instances().map(|it| collectives.operation(it)) {
            match operation.class {
                Class::OneToAll => see("one to all", 1),
                Class::AllToOne => see("all to one", 1),
                Class::AllToAll => see("all to all", 1),
                Class::Prefix => see("prefix", 1),
                Class::None => {}
            }
            see("across sides", usize::from(operation.across_sides));
        }
        for &(send, receive) in &trace.messages {
            let location = |node: EventNode| nodes[node.index()].0;
            see(
                "to itself",
                usize::from(location(send) == location(receive)),
            );
            let endpoint =
                |node: EventNode| trace.info.locations[location(node).as_usize()].endpoint;
            see(
                "by a further thread",
                usize::from(endpoint(receive) != location(receive)),
            );
        }
    }
    println!("{seen:?}");
    assert_eq!(seen.len(), 15, "{seen:?}");
    assert!(seen.values().all(|&often| often > 100), "{seen:?}");
}
