//! Random locations, processes, nodes and communicators.

use std::sync::Arc;

use retime::{Communicator, Location, LocationIndex, Members, Process, TickRate, TraceInfo};

use super::rng::Rng;

pub struct Layout {
    pub info: TraceInfo,
    /// Threads of a rank share its channels; their order is then that of time.
    pub threads_share_channels: bool,
}

impl Layout {
    pub fn random(locations: usize, threads: bool, threads_share: bool, rng: &mut Rng) -> Self {
        let mut info = TraceInfo {
            rate: TickRate::per_second(1_000_000_000).unwrap(),
            locations: Vec::new(),
            processes: Vec::new(),
            nodes: vec!["node 0".into()],
            communicators: Vec::new(),
            streams: Vec::new(),
            set_back: Vec::new(),
        };
        let mut endpoint = 0;
        for index in 0..locations.max(1) as u32 {
            if index == 0 || !threads || rng.once_in(2) {
                endpoint = index;
                if rng.once_in(2) {
                    info.nodes.push(format!("node {}", info.nodes.len()));
                }
                info.processes.push(Process {
                    name: format!("rank {}", info.processes.len()),
                    node: (!rng.once_in(8)).then(|| info.nodes.len() - 1),
                    creator: None,
                });
            }
            info.locations.push(Location {
                id: 100 + u64::from(index),
                name: format!("thread {}", index - endpoint),
                process: info.processes.len() - 1,
                endpoint: LocationIndex(endpoint),
            });
        }
        info.communicators = communicators(&info, rng);
        Self {
            info,
            threads_share_channels: threads_share,
        }
    }

    pub fn endpoint(&self, location: usize) -> usize {
        self.info.locations[location].endpoint.as_usize()
    }

    /// A communicator on which `source` can reach `destination`.
    pub fn talk(&self, rng: &mut Rng, source: usize, destination: usize) -> Option<u32> {
        let reaches = |communicator: &Communicator| {
            let has =
                |ranks: &[LocationIndex], who: usize| ranks.contains(&LocationIndex(who as u32));
            match &communicator.members {
                Members::Own => source == destination,
                Members::Ranks(ranks) | Members::Threads(ranks) => {
                    has(ranks, source) && has(ranks, destination)
                }
                Members::Inter { a, b } => {
                    has(a, source) && has(b, destination) || has(b, source) && has(a, destination)
                }
            }
        };
        let all = self.info.communicators.iter().enumerate();
        let able: Vec<u32> = all
            .filter(|(_, communicator)| reaches(communicator))
            .map(|(handle, _)| handle as u32)
            .collect();
        rng.pick(&able).copied()
    }

    /// A location that speaks for `endpoint` in a collective.
    pub fn speaker(&self, rng: &mut Rng, endpoint: usize) -> usize {
        if !self.threads_share_channels {
            return endpoint;
        }
        let threads = (0..self.info.locations.len()).filter(|&it| self.endpoint(it) == endpoint);
        let threads: Vec<usize> = threads.collect();
        rng.pick(&threads).copied().unwrap_or(endpoint)
    }
}

fn communicators(info: &TraceInfo, rng: &mut Rng) -> Vec<Communicator> {
    let all = info.locations.iter().enumerate();
    let ranks: Vec<LocationIndex> = all
        .map(|(index, location)| (LocationIndex(index as u32), location.endpoint))
        .filter(|(index, endpoint)| index == endpoint)
        .map(|(index, _)| index)
        .collect();
    let of = |name: &str, members| Communicator {
        name: name.into(),
        members,
    };
    let mut list = vec![
        of("world", Members::Ranks(ranks.as_slice().into())),
        of("self", Members::Own),
        of("dup", Members::Ranks(ranks.as_slice().into())),
    ];
    for name in ["sub", "sub 2"] {
        let mut some = ranks.clone();
        some.retain(|_| !rng.once_in(2));
        // Ranks of a communicator need not be in the order of the world.
        if rng.once_in(2) {
            some.reverse();
        }
        list.push(of(name, Members::Ranks(some.into())));
    }
    if ranks.len() > 1 {
        let middle = 1 + rng.index(ranks.len() - 1);
        let side = |part: &[LocationIndex]| -> Arc<[LocationIndex]> { part.into() };
        list.push(of(
            "inter",
            Members::Inter {
                a: side(&ranks[..middle]),
                b: side(&ranks[middle..]),
            },
        ));
    }
    list
}
