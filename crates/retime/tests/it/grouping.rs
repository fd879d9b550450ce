//! Which locations are taken to share a clock.

use crate::common::hand::{barrier, causality, ranks_on, receive, send};
use crate::common::{Call, Sharing, Spec, cases, cycle, specs};
use crate::silent::{
    made_by_others, no_home_was_left_out, only_the_silent_are_made, tied_pairs,
    with_silent_attached,
};
use proptest::prelude::*;
use retime::causality::{Causality, check};
use retime::clock::{AmortizationRate, Gamma, amortize, controlled};
use retime::{
    ClockAttribution, Grouping, LocationIndex, MinimalDelay, Ticks, TraceInfo, split_clocks,
};

/// The clock of each location.
fn clocks(info: &TraceInfo, causality: &Causality, grouping: Grouping) -> Vec<u32> {
    let clocks = grouping.clocks(info, causality);
    let locations = 0..info.locations.len() as u32;
    locations
        .map(|location| clocks.of(LocationIndex(location)).0)
        .collect()
}

#[test]
fn groups_are_what_their_names_say() {
    // Two locations of process 0, one of process 1 on the same node, process 2
    // on another, process 3 on none.
    let mut info = ranks_on(&[(0, 0), (1, 0), (0, 0), (2, 1), (3, 1)]);
    info.processes[3].node = None;
    let it = causality(&info, &[vec![], vec![], vec![], vec![], vec![]]);
    assert_eq!(clocks(&info, &it, Grouping::Location), [0, 1, 2, 3, 4]);
    assert_eq!(clocks(&info, &it, Grouping::Process), [0, 1, 0, 2, 3]);
    assert_eq!(clocks(&info, &it, Grouping::Node), [0, 0, 0, 1, 2]);
    assert_eq!(clocks(&info, &it, Grouping::Auto), [0, 0, 0, 1, 2]);
}

/// Two nodes of two processes of two locations each; a message from location
/// `from` to location `to` with the given latency.
fn with_message(from: u32, to: u32, latency: i64) -> (TraceInfo, Causality) {
    let info = ranks_on(&[
        (0, 0),
        (0, 0),
        (1, 0),
        (1, 0),
        (2, 1),
        (2, 1),
        (3, 1),
        (3, 1),
    ]);
    let mut locations = vec![vec![]; 8];
    locations[from as usize] = vec![(1_000, send(to))];
    locations[to as usize] = vec![(1_000_u64.wrapping_add_signed(latency), receive(from))];
    let causality = causality(&info, &locations);
    (info, causality)
}

#[test]
fn auto_splits_what_a_violated_message_refutes_and_no_more() {
    let grouped = |from, to, latency| {
        let (info, it) = with_message(from, to, latency);
        let clocks_found = Grouping::Auto.clocks(&info, &it);
        (clocks(&info, &it, Grouping::Auto), clocks_found.refuted())
    };
    let untouched = vec![0, 0, 0, 0, 1, 1, 1, 1];
    // A tie is no proof; a violation between nodes refutes nothing.
    assert_eq!(grouped(0, 2, 0), (untouched.clone(), 0));
    assert_eq!(grouped(0, 2, 5), (untouched.clone(), 0));
    assert_eq!(grouped(0, 4, -5), (untouched, 0));
    // Between processes of a node: one clock per process of that node.
    assert_eq!(grouped(0, 2, -1), (vec![0, 0, 1, 1, 2, 2, 2, 2], 1));
    assert_eq!(grouped(7, 4, -1), (vec![0, 0, 0, 0, 1, 1, 2, 2], 1));
    // Between locations of a process: one clock per location of that process. The
    // other process of the node has nothing to say and goes with it.
    assert_eq!(grouped(0, 1, -1), (vec![0, 1, 0, 0, 2, 2, 2, 2], 2));
}

#[test]
fn a_stream_that_contradicts_its_host_leaves_the_node_together() {
    // Two ranks of a node, of which each has made a stream, and one of another node.
    let mut info = ranks_on(&[(0, 0), (1, 0), (2, 0), (3, 0), (4, 1)]);
    info.processes[2].creator = Some(0);
    info.processes[3].creator = Some(1);
    let found = |begin: u64, arrival: u64| {
        let locations = [
            vec![(100, send(2)), (200, send(1))],
            vec![(arrival, receive(0)), (300, send(3)), (400, send(4))],
            vec![(begin, receive(0))],
            vec![(310, receive(1))],
            vec![(420, receive(1))],
        ];
        let it = causality(&info, &locations);
        let refuted = Grouping::Auto.clocks(&info, &it).refuted();
        (clocks(&info, &it, Grouping::Auto), refuted)
    };
    assert_eq!(found(110, 210), (vec![0, 0, 0, 0, 1], 0));
    // The kernel begins before its launch: only that stream is split off.
    assert_eq!(found(90, 210), (vec![0, 0, 1, 0, 2], 1));
    // The message arrives before it was sent: ranks are, and streams go with them.
    assert_eq!(found(110, 190), (vec![0, 1, 0, 1, 2], 1));
    assert_eq!(found(90, 190), (vec![0, 1, 2, 1, 3], 1));
}

#[test]
fn a_stream_that_contradicts_others_leaves_their_hosts_together() {
    // Two ranks of a node with a stream each, on which they meet; that of the first rank begins
    // before its launch, and after the other one has ended.
    let mut info = ranks_on(&[(0, 0), (1, 0), (2, 0), (3, 0)]);
    info.processes[2].creator = Some(0);
    info.processes[3].creator = Some(1);
    let found = |behind: u64| {
        let locations = [
            vec![(100, send(2))],
            vec![(102, send(3))],
            vec![
                (120 - behind, receive(0)),
                (121 - behind, Call::Begin),
                (130 - behind, barrier()),
            ],
            vec![(121, receive(1)), (122, Call::Begin), (130, barrier())],
        ];
        clocks(&info, &causality(&info, &locations), Grouping::Auto)
    };
    assert_eq!(found(0), [0, 0, 0, 0]);
    assert_eq!(found(30), [0, 0, 1, 0]);
    // Nothing says which of both streams it is that contradicts the other alone.
    assert_eq!(found(12), [0, 0, 1, 2]);
}

#[test]
fn auto_splits_what_a_violated_collective_refutes() {
    // Everybody enters at 100; rank 2 enters at 120 and rank 0 leaves at 110.
    let info = ranks_on(&[(0, 0), (1, 0), (2, 0), (3, 1)]);
    let member = |begin: u64, end: u64| vec![(begin, Call::Begin), (end, barrier())];
    let late = [
        member(100, 110),
        member(100, 130),
        member(120, 130),
        member(100, 130),
    ];
    let it = causality(&info, &late);
    assert_eq!(clocks(&info, &it, Grouping::Auto), [0, 1, 2, 3]);
    let sound = [
        member(100, 120),
        member(100, 130),
        member(120, 130),
        member(100, 130),
    ];
    let it = causality(&info, &sound);
    assert_eq!(clocks(&info, &it, Grouping::Auto), [0, 0, 0, 1]);
    // The late one on another node refutes nothing.
    let late = [
        member(100, 110),
        member(100, 130),
        member(100, 130),
        member(120, 130),
    ];
    let it = causality(&info, &late);
    assert_eq!(clocks(&info, &it, Grouping::Auto), [0, 0, 0, 1]);
}

#[test]
fn a_chain_through_another_clock_splits_the_group_it_refutes() {
    // Rank 2 sends at 20 by way of rank 0 to rank 1, where it arrives at 10. No
    // dependency within the node is violated, yet its clocks differ. Rank 3 and
    // the other node have no part in it.
    let info = ranks_on(&[(0, 0), (1, 1), (2, 1), (2, 1), (3, 2), (4, 2)]);
    let between = vec![(10, receive(2)), (11, send(1))];
    let locations = [
        between,
        vec![(10, receive(0))],
        vec![(20, send(0))],
        vec![],
        vec![],
        vec![],
    ];
    let it = causality(&info, &locations);
    let auto = Grouping::Auto.clocks(&info, &it);
    assert_eq!(clocks(&info, &it, Grouping::Auto), [0, 1, 1, 1, 2, 2]);
    let delay = MinimalDelay::Uniform(Ticks(0));
    let cycle = cycle(controlled(&it, &auto, &delay, Gamma::default(), &()));
    let split = split_clocks(&auto, &info, &it, &cycle).unwrap();
    let of = [0, 1, 2, 3, 4, 5].map(|location| split.of(LocationIndex(location)).0);
    assert_eq!(of, [0, 1, 2, 2, 3, 3]);
    assert_eq!(split.refuted(), 1);
    assert!(controlled(&it, &split, &delay, Gamma::default(), &()).is_ok());
}

#[test]
fn a_contradiction_of_the_trace_itself_is_no_reason_to_split() {
    let own = |other: u32| vec![(10, receive(other)), (20, send(other))];
    let info = ranks_on(&[(0, 0), (1, 1), (2, 1)]);
    let it = causality(&info, &[own(1), own(0), vec![]]);
    let auto = Grouping::Auto.clocks(&info, &it);
    let delay = MinimalDelay::Uniform(Ticks(0));
    let cycle = cycle(controlled(&it, &auto, &delay, Gamma::default(), &()));
    assert_eq!(split_clocks(&auto, &info, &it, &cycle), None);
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// The groups that `auto` must find: straight from the definition. What is silent
    /// then goes where `crate::silent` has it.
    #[test]
    fn auto_is_the_coarsest_that_no_dependency_refutes(spec in specs(200)) {
        let mut trace = spec.trace();
        made_by_others(&mut trace.info, spec.seed);
        only_the_silent_are_made(&mut trace);
        let causality = trace.causality();
        let nodes: Vec<_> = trace.nodes().map(|(location, _, event)| (location, event.raw)).collect();
        let violated: Vec<(usize, usize)> = trace.edges().iter()
            .map(|&(cause, effect)| (nodes[cause.index()], nodes[effect.index()]))
            .filter(|(cause, effect)| effect.1 < cause.1)
            .map(|(cause, effect)| (cause.0.as_usize(), effect.0.as_usize()))
            .collect();
        let info = &trace.info;
        let process = |location: usize| info.locations[location].process;
        let node = |location: usize| {
            info.processes[process(location)].node.map_or((1, process(location)), |node| (0, node))
        };
        let refuted = |group: &dyn Fn(usize) -> (usize, usize), of: usize| {
            violated.iter().any(|&(a, b)| group(a) == group(of) && group(b) == group(of) && a != b)
        };
        let by_process = |location: usize| (1, process(location));
        let name = |location: usize| {
            if !refuted(&node, location) {
                node(location)
            } else if !refuted(&by_process, location) {
                by_process(location)
            } else {
                (2, location)
            }
        };
        let names: Vec<_> = (0..info.locations.len()).map(name).collect();
        let name = with_silent_attached(info, &tied_pairs(&trace), &names);
        let found = Grouping::Auto.clocks(info, &causality);
        for one in 0..info.locations.len() {
            for two in 0..info.locations.len() {
                let same = |it: usize| found.of(LocationIndex(it as u32));
                prop_assert_eq!(same(one) == same(two), name[one] == name[two], "{} {}", one, two);
            }
        }
        let delay = MinimalDelay::Uniform(Ticks(0));
        let checked = check(&causality, &found, &delay, causality.nodes().timestamps(), &()).unwrap();
        prop_assert_eq!(checked.violated_within_clock(), 0);
    }

    /// Whatever the clocks are, splitting comes to an end with a sound result.
    #[test]
    fn splitting_ends_at_clocks_that_fit(spec in specs(300)) {
        let mut trace = spec.trace();
        made_by_others(&mut trace.info, spec.seed);
        let causality = trace.causality();
        let mut clocks = Grouping::Auto.clocks(&trace.info, &causality);
        let delay = MinimalDelay::Uniform(Ticks(1));
        let gamma = Gamma::default();
        let times = loop {
            match controlled(&causality, &clocks, &delay, gamma, &()) {
                Ok(times) => break times,
                refuted => {
                    let cycle = cycle(refuted);
                    let finer = split_clocks(&clocks, &trace.info, &causality, &cycle).unwrap();
                    prop_assert!(finer.len() > clocks.len());
                    let attributions = ClockAttribution::of_locations(&finer, &trace.info, &causality);
                    prop_assert!(no_home_was_left_out(&finer, &trace.info, &attributions));
                    clocks = finer;
                }
            }
        };
        let rate = AmortizationRate::default();
        let correction = amortize(&causality, &clocks, &delay, rate, &times, &()).unwrap();
        let corrected = trace.corrected(&correction);
        let checked = check(&causality, &clocks, &delay, &corrected, &()).unwrap();
        prop_assert_eq!(checked.violated() + checked.short(), 0);
    }

    #[test]
    fn auto_leaves_clocks_together_that_are_one(spec in specs(200)) {
        let spec = Spec { sharing: Sharing::Node, ..spec };
        let trace = spec.trace();
        let causality = trace.causality();
        let auto = Grouping::Auto.clocks(&trace.info, &causality);
        prop_assert_eq!(auto.refuted(), 0);
        prop_assert_eq!(auto, Grouping::Node.clocks(&trace.info, &causality));
    }
}
