//! Arrows that say which of their ends is the last.
//!
//! Without that nothing but times would tell which end is the cause, and times are what is to be
//! judged. So those that lead from one process to another are counted, unless they join two
//! events that another arrow joins and leads from one to the other: then they are drawn a
//! second time, as an export does with those that are reversed.
//!
//! An arrow with one end only may have the other in another file, but not at a launch or a kernel:
//! there it is one between these, the other of which was not recorded.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::Flow;

/// An end of an arrow, on a track.
#[derive(Clone, Copy)]
pub(crate) struct FlowEnd {
    pub(crate) flow: Flow,
    pub(crate) event: u32,
    pub(crate) track: u32,
    /// True if the event is a launch or a kernel.
    pub(crate) is_launched: bool,
}

/// The ends of arrows of a file.
pub(crate) struct Arrows {
    /// Ends that can be used, or joined with ends in other files, in the order of the file.
    pub(crate) usable: Vec<FlowEnd>,
    /// The number of those that nothing directs.
    pub(crate) undirected: u64,
}

/// The ends that have one id.
#[derive(Default)]
struct Joined {
    events: Vec<u32>,
    is_directed: bool,
    process: Option<u32>,
    leads_elsewhere: bool,
}

impl Joined {
    /// The two events that it joins, if they are two.
    fn pair(&self) -> Option<[u32; 2]> {
        let mut pair: [u32; 2] = self.events.as_slice().try_into().ok()?;
        pair.sort_unstable();
        Some(pair)
    }
}

impl Arrows {
    /// Sorts ends, by the process of each track.
    pub(crate) fn of(ends: Vec<FlowEnd>, processes: &[Option<u32>]) -> Self {
        let mut joined: FxHashMap<u64, Joined> = FxHashMap::default();
        for it in &ends {
            let process = processes.get(it.track as usize).copied().flatten();
            let known = joined.entry(it.flow.id).or_insert_with(|| Joined {
                process,
                ..Joined::default()
            });
            known.events.push(it.event);
            known.is_directed |= it.flow.is_last;
            known.leads_elsewhere |= known.process != process;
        }
        let directed = joined.values().filter(|it| it.is_directed);
        let led: FxHashSet<[u32; 2]> = directed.filter_map(Joined::pair).collect();
        let mut undirected = 0;
        let mut usable = ends;
        usable.retain(|it| {
            let Some(joined) = joined.get(&it.flow.id) else {
                return false;
            };
            if joined.events.len() == 1 {
                return !it.is_launched;
            }
            if joined.is_directed {
                return true;
            }
            let is_led = joined.pair().is_some_and(|pair| led.contains(&pair));
            undirected += u64::from(joined.leads_elsewhere && !is_led);
            false
        });
        Self { usable, undirected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(id: u64, event: u32, is_last: bool) -> FlowEnd {
        FlowEnd {
            flow: Flow { id, is_last },
            event,
            track: event % 2,
            is_launched: false,
        }
    }

    fn used(ends: &[FlowEnd]) -> (Vec<u64>, u64) {
        let arrows = Arrows::of(ends.to_vec(), &[Some(0), Some(1)]);
        let ids = arrows.usable.iter().map(|it| it.flow.id);
        (ids.collect(), arrows.undirected)
    }

    #[test]
    fn what_says_no_direction_is_counted_unless_another_says_it() {
        let undirected = [end(7, 0, false), end(7, 1, false)];
        assert_eq!(used(&undirected), (vec![], 2));
        let within = [end(7, 0, false), end(7, 2, false)];
        assert_eq!(used(&within), (vec![], 0));
        let led = [end(8, 1, false), end(8, 0, true)];
        let both = [undirected, led].concat();
        assert_eq!(used(&both), (vec![8, 8], 0));
        // Led is another pair.
        let other = [&undirected[..], &[end(8, 3, false), end(8, 0, true)]].concat();
        assert_eq!(used(&other), (vec![8, 8], 2));
        // The other end may lie in another file.
        assert_eq!(used(&[end(9, 0, false)]), (vec![9], 0));
        let kernel = FlowEnd {
            is_launched: true,
            ..end(9, 0, true)
        };
        assert_eq!(used(&[kernel]), (vec![], 0));
    }
}
