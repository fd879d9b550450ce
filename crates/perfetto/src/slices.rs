//! Which end belongs to which begin.
//!
//! On a track what begins last ends first:
//!
//! ```text
//! time    10        20        30     40
//! packet  begin a   begin b   end    end      the first end is of b
//! ```
//!
//! Packets stand in any order in a file, so this is told by time. Of packets of one time it is
//! their order that tells, if those of the track stand in the order of time. Else it says nothing,
//! as where all begins are written before all ends; then what began before ends before anything
//! begins, since on a stream of a GPU one kernel follows the other:
//!
//! ```text
//! written  begin a 10   begin b 20   end 20   end 30      a lasts from 10 to 20, b from 20 to 30
//! ```
//!
//! An end that follows a begin of its time, with nothing of the track between, is of that one: so
//! writes who has something that is over at once, whatever is written before and behind it.

use retime_kineto::{Gathering, Stamp};

/// A begin or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) time: i64,
    /// The number of the stamp in the file.
    pub(crate) stamp: u32,
    /// The event that begins, or nothing for an end.
    pub(crate) begins: Option<u32>,
}

/// Joins ends with the begins of what they end, and says how long these last. Returns the ends
/// that have no begin, with their tracks.
pub(crate) fn join(
    by_track: &mut [Vec<Edge>],
    stamps: &mut [Stamp],
    gathering: &mut Gathering,
) -> Vec<(u32, Edge)> {
    let mut lone = Vec::new();
    for (track, edges) in (0..).zip(by_track) {
        if !edges.is_sorted_by_key(|it| it.time) {
            ends_first(edges);
        }
        let mut open: Vec<Edge> = Vec::new();
        for edge in edges.iter() {
            if edge.begins.is_some() {
                open.push(*edge);
                continue;
            }
            let begin = open.pop();
            let Some((begin, event)) = begin.and_then(|it| Some((it, it.begins?))) else {
                lone.push((track, *edge));
                continue;
            };
            gathering.lasts(event, edge.time.abs_diff(begin.time));
            if let Some(stamp) = stamps.get_mut(edge.stamp as usize) {
                *stamp = Stamp::end(event);
            }
        }
    }
    lone
}

/// Sorts edges, which are in the order of the file, by time, and puts the ends of what began before
/// in front of the begins of the same time.
fn ends_first(edges: &mut [Edge]) {
    let at_once = ends_at_once(edges);
    let is_at_once = |it: &Edge| at_once.binary_search(&it.stamp).is_ok();
    edges.sort_by_key(|it| (it.time, it.stamp));
    let mut open = 0;
    for same in edges.chunk_by_mut(|a, b| a.time == b.time) {
        let ends = same.iter().filter(|it| it.begins.is_none()).count();
        let begins = same.len() - ends;
        let own = same.iter().filter(|it| is_at_once(it)).count();
        let mut before = (ends - own).min(open);
        same.sort_by_cached_key(|it| match it.begins {
            None if is_at_once(it) => 1,
            None if before > 0 => {
                before -= 1;
                0
            }
            Some(_) => 1,
            None => 2,
        });
        open = (open + begins).saturating_sub(ends);
    }
}

/// The stamps of the ends that follow a begin of their time, of edges in the order of the file.
fn ends_at_once(edges: &[Edge]) -> Vec<u32> {
    let pairs = edges.windows(2).filter_map(|it| match it {
        [begin, end] => Some((begin, end)),
        _ => None,
    });
    let is_over = |(begin, end): &(&Edge, &Edge)| {
        begin.begins.is_some() && end.begins.is_none() && begin.time == end.time
    };
    pairs.filter(is_over).map(|it| it.1.stamp).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of events, of edges at these times in the order of the file.
    fn lasting(edges: &[(i64, bool)]) -> Vec<Option<u64>> {
        let mut gathering = Gathering::default();
        let mut stamps = Vec::new();
        let mut all = Vec::new();
        for (stamp, &(time, begins)) in (0..).zip(edges) {
            let number = gathering.beside(time, 0).unwrap_or_default();
            stamps.push(Stamp::begin(number));
            all.push(Edge {
                time,
                stamp,
                begins: begins.then_some(number),
            });
        }
        let lone = join(&mut [all], &mut stamps, &mut gathering);
        let ends = edges.iter().filter(|it| !it.1).count();
        let joined = (0..edges.len() as u32).filter(|&it| stamps.contains(&Stamp::end(it)));
        assert_eq!(joined.count() + lone.len(), ends);
        let begins = (0..).zip(edges).filter(|it| it.1.1);
        begins.map(|(number, _)| gathering.length(number)).collect()
    }

    #[test]
    fn ends_are_of_what_began_last() {
        let [b, e] = [true, false];
        let nested = [(10, b), (20, b), (30, e), (40, e)];
        assert_eq!(lasting(&nested), [Some(30), Some(10)]);
        // In the order of time: the second lasts no time within the first.
        let within = [(10, b), (20, b), (20, e), (30, e)];
        assert_eq!(lasting(&within), [Some(20), Some(0)]);
        // In another: one follows the other, and a third lasts no time between both.
        let columns = [(20, b), (10, b), (30, e), (20, e)];
        assert_eq!(lasting(&columns), [Some(10), Some(10)]);
        let between = [(20, b), (20, b), (10, b), (30, e), (20, e), (20, e)];
        assert_eq!(lasting(&between), [Some(10), Some(0), Some(10)]);
        assert_eq!(lasting(&[(10, e), (20, b)]), [None]);
    }

    #[test]
    fn what_is_over_at_once_ends_nothing_around_it() {
        let [b, e] = [true, false];
        // All ends that come later are written first: 20 to 20 is within 10 to 30.
        let first = [(30, e), (10, b), (20, b), (20, e)];
        assert_eq!(lasting(&first), [Some(20), Some(0)]);
        // What ends when it begins, and begins when it ends, is beside it.
        let beside = [(20, e), (30, e), (10, b), (20, b), (20, e), (20, b)];
        assert_eq!(lasting(&beside), [Some(10), Some(0), Some(10)]);
    }
}
