//! Which clock is read by what no dependency ties to another clock.

use std::collections::BTreeSet;

use crate::common::hand::{causality, ranks_on, receive, send};
use crate::common::rng::Rng;
use crate::common::{Call, Trace, cycle};
use retime::causality::Causality;
use retime::clock::{Gamma, controlled};
use retime::{
    ClockAttribution, Clocks, Grouping, LocationIndex, MinimalDelay, Process, Ticks, TraceInfo,
    split_clocks,
};

const ALL: [Grouping; 4] = [
    Grouping::Auto,
    Grouping::Node,
    Grouping::Process,
    Grouping::Location,
];

fn numbers(clocks: &Clocks) -> Vec<u32> {
    clocks.by_location().iter().map(|clock| clock.0).collect()
}

fn clocks(info: &TraceInfo, causality: &Causality, grouping: Grouping) -> Vec<u32> {
    numbers(&grouping.clocks(info, causality))
}

fn attributions(
    info: &TraceInfo,
    causality: &Causality,
    grouping: Grouping,
) -> Vec<ClockAttribution> {
    ClockAttribution::of_locations(&grouping.clocks(info, causality), info, causality)
}

/// Locations of processes on nodes, of which these exchange messages that nothing is
/// wrong with.
fn talking(places: &[(usize, usize)], pairs: &[(u32, u32)]) -> (TraceInfo, Causality) {
    let info = ranks_on(places);
    let it = causality(&info, &messages(places.len(), pairs));
    (info, it)
}

fn messages(locations: usize, pairs: &[(u32, u32)]) -> Vec<Vec<(u64, Call)>> {
    let mut events = vec![vec![]; locations];
    for (round, &(from, to)) in pairs.iter().enumerate() {
        let start = 1_000 + 100 * round as u64;
        events[from as usize].push((start, send(to)));
        events[to as usize].push((start + 10, receive(from)));
    }
    events
}

#[test]
fn a_thread_reads_the_clock_of_its_process() {
    let (info, it) = talking(&[(0, 0), (1, 1), (1, 1)], &[(0, 1)]);
    for grouping in ALL {
        assert_eq!(clocks(&info, &it, grouping), [0, 1, 1], "{grouping:?}");
        let found = attributions(&info, &it, grouping);
        assert_eq!(
            found,
            [
                ClockAttribution::Tied,
                ClockAttribution::Tied,
                ClockAttribution::OfProcess
            ],
            "{grouping:?}"
        );
    }
}

#[test]
fn a_stream_reads_the_clock_of_the_process_that_made_its_context() {
    // Process 2 was made by process 1, and process 3 by process 2.
    for nodes in [[0, 1, 1, 1], [0, 1, 2, 3]] {
        let places = [(0, nodes[0]), (1, nodes[1]), (2, nodes[2]), (3, nodes[3])];
        let (mut info, it) = talking(&places, &[(0, 1)]);
        info.processes[2].creator = Some(1);
        info.processes[3].creator = Some(2);
        if nodes[2] == 2 {
            // A device is often on no node.
            info.processes[2].node = None;
            info.processes[3].node = None;
        }
        for grouping in ALL {
            assert_eq!(clocks(&info, &it, grouping), [0, 1, 1, 1], "{grouping:?}");
            let found = attributions(&info, &it, grouping);
            assert_eq!(found[2..], [ClockAttribution::OfCreator; 2], "{grouping:?}");
        }
    }
}

#[test]
fn a_stream_of_a_silent_process_goes_with_it() {
    // Process 2 is on the node of process 1; its device is on none.
    let (mut info, it) = talking(&[(0, 0), (1, 1), (2, 1), (3, 1)], &[(0, 1)]);
    info.processes[3] = Process {
        name: "device".into(),
        node: None,
        creator: Some(2),
    };
    for grouping in ALL {
        assert_eq!(clocks(&info, &it, grouping), [0, 1, 1, 1], "{grouping:?}");
        let found = attributions(&info, &it, grouping);
        assert_eq!(
            found[2..],
            [ClockAttribution::OfNode, ClockAttribution::OfCreator],
            "{grouping:?}"
        );
    }
}

#[test]
fn who_was_made_on_another_node_goes_with_its_own() {
    // As a program that another one starts elsewhere.
    let (mut info, it) = talking(&[(0, 0), (1, 1), (2, 1)], &[(0, 1)]);
    info.processes[2].creator = Some(0);
    for grouping in ALL {
        assert_eq!(clocks(&info, &it, grouping), [0, 1, 1], "{grouping:?}");
        let found = attributions(&info, &it, grouping);
        assert_eq!(found[2], ClockAttribution::OfNode, "{grouping:?}");
    }
}

#[test]
fn a_process_of_a_divided_node_goes_with_the_next() {
    // Processes 1, 3 and 5 of node 1 talk to node 0; 2 and 4 lie between two.
    let places = [(0, 0), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)];
    let (info, it) = talking(&places, &[(0, 1), (0, 3), (0, 5)]);
    assert_eq!(
        clocks(&info, &it, Grouping::Process),
        [0, 1, 1, 2, 2, 3, 3],
        "of two equally near the earlier"
    );
    let found = attributions(&info, &it, Grouping::Process);
    for silent in [2, 4, 6] {
        assert_eq!(found[silent], ClockAttribution::OfNearest);
    }
    // Where they share a clock, nobody has to choose.
    assert_eq!(clocks(&info, &it, Grouping::Node), [0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(
        attributions(&info, &it, Grouping::Node)[2],
        ClockAttribution::OfNode
    );
}

#[test]
fn what_nothing_speaks_of_keeps_its_clock() {
    // Process 2 is alone on its node, and process 3 on none.
    let (mut info, it) = talking(&[(0, 0), (1, 1), (2, 2), (3, 3)], &[(0, 1)]);
    info.processes[3].node = None;
    for grouping in ALL {
        assert_eq!(clocks(&info, &it, grouping), [0, 1, 2, 3], "{grouping:?}");
        let found = attributions(&info, &it, grouping);
        assert_eq!(found[2..], [ClockAttribution::Unknown; 2], "{grouping:?}");
    }
}

#[test]
fn damaged_creators_lead_nowhere() {
    let places = [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3)];
    let (mut info, it) = talking(&places, &[(0, 1)]);
    info.processes[2].creator = Some(3);
    info.processes[3].creator = Some(2);
    info.processes[4].creator = Some(99);
    for process in 2..5 {
        info.processes[process].node = None;
    }
    for grouping in ALL {
        assert_eq!(
            clocks(&info, &it, grouping),
            [0, 1, 2, 3, 4],
            "{grouping:?}"
        );
    }
    // One way out of the circle is enough for all in it.
    info.processes[3].node = Some(1);
    for grouping in ALL {
        let found = clocks(&info, &it, grouping);
        assert_eq!(found, [0, 1, 1, 1, 2], "{grouping:?}");
    }
}

/// A rank on each of two nodes; the second has made a stream, which it launches at 100,
/// and which begins then.
fn launching(begin: u64, beyond: bool) -> (TraceInfo, Causality) {
    let mut info = ranks_on(&[(0, 0), (1, 1), (2, 1)]);
    info.processes[2].creator = Some(1);
    let mut locations = vec![
        vec![(10, send(1))],
        vec![(20, receive(0)), (100, send(2))],
        vec![(begin, receive(1))],
    ];
    if beyond {
        locations[0].push((500, receive(2)));
        locations[2].push((400, send(0)));
    }
    let it = causality(&info, &locations);
    (info, it)
}

#[test]
fn a_stream_that_keeps_to_its_launches_goes_with_its_host() {
    let (info, it) = launching(120, false);
    for grouping in ALL {
        assert_eq!(clocks(&info, &it, grouping), [0, 1, 1], "{grouping:?}");
        let found = attributions(&info, &it, grouping);
        assert_eq!(found[2], ClockAttribution::OfCreator, "{grouping:?}");
    }
}

#[test]
fn a_stream_with_dependencies_elsewhere_is_judged_by_them() {
    let (info, it) = launching(120, true);
    for (grouping, expected) in [
        (Grouping::Auto, [0, 1, 1]),
        (Grouping::Node, [0, 1, 1]),
        (Grouping::Process, [0, 1, 2]),
        (Grouping::Location, [0, 1, 2]),
    ] {
        assert_eq!(clocks(&info, &it, grouping), expected, "{grouping:?}");
        let found = attributions(&info, &it, grouping);
        assert_eq!(found[2], ClockAttribution::Tied, "{grouping:?}");
    }
}

#[test]
fn a_stream_that_begins_before_its_launch_has_a_clock_of_its_own() {
    let (info, it) = launching(90, false);
    for (grouping, expected) in [
        (Grouping::Auto, [0, 1, 2]),
        (Grouping::Node, [0, 1, 1]),
        (Grouping::Process, [0, 1, 2]),
        (Grouping::Location, [0, 1, 2]),
    ] {
        assert_eq!(clocks(&info, &it, grouping), expected, "{grouping:?}");
    }
}

#[test]
fn a_process_that_talks_to_itself_alone_goes_with_its_node() {
    let places = [(0, 0), (1, 1), (2, 1), (2, 1)];
    let (info, it) = talking(&places, &[(0, 1), (2, 3), (3, 2)]);
    for grouping in [Grouping::Auto, Grouping::Node, Grouping::Process] {
        assert_eq!(clocks(&info, &it, grouping), [0, 1, 1, 1], "{grouping:?}");
        let found = attributions(&info, &it, grouping);
        assert_eq!(found[2..], [ClockAttribution::OfNode; 2], "{grouping:?}");
    }
    // As clocks of their own they tell about each other.
    assert_eq!(clocks(&info, &it, Grouping::Location), [0, 1, 2, 3]);
}

#[test]
fn one_clock_is_not_divided_for_what_is_silent() {
    let (info, it) = talking(&[(0, 0), (1, 0), (2, 0)], &[(0, 1)]);
    let found = Grouping::Auto.clocks(&info, &it);
    assert_eq!((numbers(&found), found.refuted()), (vec![0, 0, 0], 0));
}

/// A chain from location 2 by way of location 0 to location 1, that reaches it before
/// it was sent: they have no common clock.
fn chain(places: &[(usize, usize)]) -> (TraceInfo, Causality) {
    let info = ranks_on(places);
    let mut locations = vec![
        vec![(10, receive(2)), (11, send(1))],
        vec![(10, receive(0))],
        vec![(20, send(0))],
    ];
    locations.resize(places.len(), vec![]);
    let it = causality(&info, &locations);
    (info, it)
}

fn split(info: &TraceInfo, it: &Causality, clocks: &Clocks) -> Option<Clocks> {
    let delay = MinimalDelay::Uniform(Ticks(0));
    let cycle = cycle(controlled(it, clocks, &delay, Gamma::default(), &()));
    split_clocks(clocks, info, it, &cycle)
}

#[test]
fn who_is_silent_stays_with_its_owner_where_clocks_are_split() {
    // A thread of each process of node 1, and the stream of one.
    let places = [(0, 0), (1, 1), (2, 1), (1, 1), (2, 1), (3, 1)];
    let (mut info, it) = chain(&places);
    info.processes[3].creator = Some(2);
    let auto = Grouping::Auto.clocks(&info, &it);
    assert_eq!(numbers(&auto), [0, 1, 1, 1, 1, 1]);
    let finer = split(&info, &it, &auto).unwrap();
    assert_eq!(numbers(&finer), [0, 1, 2, 1, 2, 2]);
    assert_eq!(finer.refuted(), 1);
}

#[test]
fn a_process_is_split_in_spite_of_silent_company() {
    // Locations 1 and 2 are of one process; only a silent one shares their node.
    let (info, it) = chain(&[(0, 0), (1, 1), (1, 1), (2, 1)]);
    let auto = Grouping::Auto.clocks(&info, &it);
    assert_eq!(numbers(&auto), [0, 1, 1, 1]);
    let finer = split(&info, &it, &auto).unwrap();
    assert_eq!(numbers(&finer), [0, 1, 2, 1]);
}

// What follows is the rule once more, straight from its definition and slow; the
// properties of `crate::grouping` compare with it.

/// Lets some processes be made by earlier ones, or all by later ones, and some by
/// themselves or by none that there is.
pub fn made_by_others(info: &mut TraceInfo, seed: u64) {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let count = info.processes.len();
    let by_earlier = rng.once_in(2);
    for (own, process) in info.processes.iter_mut().enumerate() {
        let creator = if by_earlier {
            rng.index(own + 1)
        } else {
            own + rng.index(count - own + 1)
        };
        process.creator = rng.once_in(2).then_some(creator);
    }
}

/// Who depends on others was made by nobody.
pub fn only_the_silent_are_made(trace: &mut Trace) {
    for (a, b) in tied_pairs(trace) {
        for location in [a, b] {
            let process = trace.info.locations[location].process;
            trace.info.processes[process].creator = None;
        }
    }
}

/// Locations that have a dependency on each other.
pub fn tied_pairs(trace: &Trace) -> Vec<(usize, usize)> {
    let nodes: Vec<usize> = trace.nodes().map(|(it, ..)| it.as_usize()).collect();
    let edges = trace.edges();
    let ends = edges
        .iter()
        .map(|&(cause, effect)| (nodes[cause.index()], nodes[effect.index()]));
    ends.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What each location reads, by the names of the groups before.
pub fn with_silent_attached<N: Copy + Ord>(
    info: &TraceInfo,
    pairs: &[(usize, usize)],
    names: &[N],
) -> Vec<N> {
    let rule = Rule {
        info,
        names,
        tied: tied(pairs, names),
    };
    let read = |location: usize| {
        let group = |other: &usize| names[*other] == names[location];
        let members: Vec<usize> = (0..names.len()).filter(group).collect();
        if members.iter().any(|&member| rule.tied[member]) {
            return names[location];
        }
        let homes = members
            .iter()
            .filter_map(|&member| rule.home(info.locations[member].process, &mut Vec::new()));
        homes
            .min_by_key(|home| home.0)
            .map_or(names[location], |home| home.1)
    };
    (0..names.len()).map(read).collect()
}

/// By location, whether dependencies reach from it to another group.
fn tied<N: Copy + Ord>(pairs: &[(usize, usize)], names: &[N]) -> Vec<bool> {
    let reached = |from: usize| {
        let mut reached = BTreeSet::from([from]);
        loop {
            let before = reached.len();
            for &(a, b) in pairs {
                if reached.contains(&a) || reached.contains(&b) {
                    reached.extend([a, b]);
                }
            }
            if reached.len() == before {
                return reached;
            }
        }
    };
    let tied = |from: usize| reached(from).iter().any(|&it| names[it] != names[from]);
    (0..names.len()).map(tied).collect()
}

struct Rule<'a, N> {
    info: &'a TraceInfo,
    names: &'a [N],
    tied: Vec<bool>,
}

impl<N: Copy + Ord> Rule<'_, N> {
    fn own(&self, process: usize) -> Option<N> {
        let mut own = (0..self.names.len())
            .filter(|&it| self.tied[it] && self.info.locations[it].process == process);
        own.next().map(|it| self.names[it])
    }

    /// How strong the right is, and what it gives; `asked` are those who wait for it.
    fn home(&self, process: usize, asked: &mut Vec<usize>) -> Option<(u8, N)> {
        if let Some(own) = self.own(process) {
            return Some((0, own));
        }
        let it = self.info.processes.get(process)?;
        asked.push(process);
        if let Some(creator) = it.creator.filter(|creator| !asked.contains(creator)) {
            let other = self.info.processes.get(creator).and_then(|it| it.node);
            let elsewhere = it.node.is_some() && other.is_some() && it.node != other;
            let home = self.home(creator, asked).filter(|_| !elsewhere);
            if let Some((_, home)) = home {
                return Some((1, home));
            }
        }
        let node = it.node?;
        let told = |other: &usize| {
            self.info.processes[*other].node == Some(node) && self.own(*other).is_some()
        };
        let told: Vec<usize> = (0..self.info.processes.len()).filter(told).collect();
        let nearest = told
            .iter()
            .min_by_key(|&&other| (other.abs_diff(process), other))?;
        let home = self.own(*nearest)?;
        let one = told.iter().all(|&other| self.own(other) == Some(home));
        Some((if one { 2 } else { 3 }, home))
    }
}

/// Whether nobody is left alone who has a process, creator or node to go with.
pub fn no_home_was_left_out(
    clocks: &Clocks,
    info: &TraceInfo,
    attributions: &[ClockAttribution],
) -> bool {
    let tied = |process: usize| {
        (0..info.locations.len()).any(|it| {
            info.locations[it].process == process && attributions[it] == ClockAttribution::Tied
        })
    };
    let alone = |location: &usize| attributions[*location] == ClockAttribution::Unknown;
    (0..info.locations.len()).filter(alone).all(|location| {
        let process = info.locations[location].process;
        let node = info.processes[process].node;
        let neighbour = |other: &usize| node.is_some() && info.processes[*other].node == node;
        !tied(process)
            && !(0..info.processes.len()).filter(neighbour).any(tied)
            && clocks
                .locations(clocks.of(LocationIndex(location as u32)))
                .iter()
                .all(|it| attributions[it.as_usize()] == ClockAttribution::Unknown)
    })
}
