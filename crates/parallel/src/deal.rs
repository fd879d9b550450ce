//! Which locations each process gets.
//!
//! Locations of a node stay together as a *family*, since mostly they read one clock, and a
//! clock is followed by one process. Where a trace knows of no two nodes, locations of a
//! process, and of those it has made, are a family. Families are laid side by side, each as
//! wide as its bytes; the row is cut into blocks of equal width, and a family goes where its
//! middle is. So a process gets at most its share and one family more, and programs'
//! neighbours, which mostly are neighbours in the row, go to the same process or the next.

use std::collections::BTreeMap;

use retime_model::{LocationIndex, Process, TraceInfo};

/// The locations of each of so many processes, rising.
pub(crate) fn deal(info: &TraceInfo, sizes: &[u64], processes: usize) -> Vec<Vec<LocationIndex>> {
    let heads = heads(&info.processes);
    let nodes = info.processes.iter().filter_map(|it| it.node);
    let several = nodes.clone().any(|it| Some(it) != nodes.clone().next());
    let mut families: BTreeMap<(Option<usize>, usize), (u128, Vec<LocationIndex>)> =
        BTreeMap::new();
    for (index, location) in (0..).map(LocationIndex).zip(&info.locations) {
        let head = heads.get(location.process).copied();
        let head = head.unwrap_or(location.process);
        let node = info.processes.get(head).and_then(|it| it.node);
        let family = match node.filter(|_| several) {
            Some(node) => (Some(node), 0),
            None => (None, head),
        };
        let (width, members) = families.entry(family).or_default();
        // A file without bytes has to be opened, too.
        *width += u128::from(sizes.get(index.as_usize()).copied().unwrap_or(0)) + 1;
        members.push(index);
    }
    let widths: Vec<u128> = families.values().map(|it| it.0).collect();
    let mut parts = vec![Vec::new(); processes];
    for (part, (_, members)) in blocks(&widths, processes).zip(families.into_values()) {
        parts[part].extend(members);
    }
    for part in &mut parts {
        part.sort_unstable();
    }
    parts
}

/// The process of each file of a trace, by its bytes: blocks of neighbours.
pub(crate) fn deal_files(sizes: impl Iterator<Item = u64>, processes: usize) -> Vec<usize> {
    // A file without bytes has to be opened, too.
    let widths: Vec<u128> = sizes.map(|it| u128::from(it) + 1).collect();
    blocks(&widths, processes).collect()
}

/// The block in which the middle of each of these widths is, of so many equally wide ones.
fn blocks(widths: &[u128], blocks: usize) -> impl Iterator<Item = usize> + '_ {
    let whole: u128 = widths.iter().sum();
    let mut before = 0;
    widths.iter().map(move |width| {
        let block = (2 * before + width) * blocks as u128 / (2 * whole);
        before += width;
        block as usize
    })
}

/// Finds the first process of each one's family. A damaged trace may name as creator of a process
/// one that it made itself; they are one family all the same.
fn heads(processes: &[Process]) -> Vec<usize> {
    let mut heads: Vec<usize> = (0..processes.len()).collect();
    for (made, process) in processes.iter().enumerate() {
        if let Some(creator) = process.creator.filter(|&it| it < processes.len()) {
            let (a, b) = (head(&mut heads, made), head(&mut heads, creator));
            heads[a.max(b)] = a.min(b);
        }
    }
    (0..processes.len())
        .map(|it| head(&mut heads, it))
        .collect()
}

fn head(heads: &mut [usize], mut process: usize) -> usize {
    while heads[process] != process {
        heads[process] = heads[heads[process]];
        process = heads[process];
    }
    process
}

#[cfg(test)]
mod tests {
    use retime_model::{Location, TickRate};

    use super::*;

    /// Processes by node and creator, and the processes of locations.
    fn info(processes: &[(Option<usize>, Option<usize>)], of: &[usize]) -> TraceInfo {
        let process = |&(node, creator): &_| Process {
            name: String::new(),
            node,
            creator,
        };
        let location = |(index, &process): (u32, &usize)| Location {
            id: index.into(),
            name: String::new(),
            process,
            endpoint: LocationIndex(index),
        };
        TraceInfo {
            rate: TickRate::per_second(1).unwrap(),
            locations: (0..).zip(of).map(location).collect(),
            processes: processes.iter().map(process).collect(),
            nodes: Vec::new(),
            communicators: Vec::new(),
            streams: Vec::new(),
            set_back: Vec::new(),
        }
    }

    fn numbers(parts: Vec<Vec<LocationIndex>>) -> Vec<Vec<u32>> {
        let numbers = |it: Vec<LocationIndex>| it.into_iter().map(|it| it.0).collect();
        parts.into_iter().map(numbers).collect()
    }

    #[test]
    fn parts_are_blocks_of_equal_size() {
        let four = info(&[(None, None); 4], &[0, 1, 2, 3]);
        assert_eq!(numbers(deal(&four, &[10, 10, 10, 10], 2)), [[0, 1], [2, 3]]);
        let parts = numbers(deal(&four, &[90, 10, 10, 10], 2));
        assert_eq!(parts, [vec![0], vec![1, 2, 3]]);
        assert_eq!(numbers(deal(&four, &[0; 4], 1)), [[0, 1, 2, 3]]);
        let more = numbers(deal(&four, &[5; 4], 9));
        assert_eq!(more.iter().filter(|it| it.len() == 1).count(), 4);
    }

    #[test]
    fn neighbouring_files_go_to_one_process() {
        assert_eq!(deal_files([10; 5].into_iter(), 2), [0, 0, 1, 1, 1]);
        assert_eq!(deal_files([30, 10, 10, 0].into_iter(), 2), [0, 1, 1, 1]);
        assert_eq!(deal_files([5, 5].into_iter(), 8), [2, 6]);
    }

    #[test]
    fn families_and_nodes_stay_together() {
        // Process 2 made 3, which made 1; nodes take turns.
        let made = [
            (Some(0), None),
            (None, Some(3)),
            (Some(1), None),
            (None, Some(2)),
            (Some(0), None),
        ];
        let parts = numbers(deal(&info(&made, &[0, 1, 2, 3, 4]), &[10; 5], 2));
        assert_eq!(parts, [vec![1, 2, 3], vec![0, 4]]);
    }

    #[test]
    fn processes_that_made_each_other_are_one_family() {
        let circle = info(
            &[(None, Some(1)), (None, Some(0)), (None, Some(7))],
            &[0, 1, 2],
        );
        assert_eq!(
            numbers(deal(&circle, &[10; 3], 3)),
            [vec![], vec![0, 1], vec![2]]
        );
    }
}
