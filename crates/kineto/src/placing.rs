//! Where stays go that keep their length while their clock is corrected.
//!
//! Only the time at which a stay begins is written, and what lasted a microsecond keeps
//! lasting it. So where a map stretches or squeezes time, a stay begins where the map says
//! and ends where its length puts it, off by the drift of the clock times that length: a
//! nanosecond in 100 us at 10 ppm. Calls that wait for other ranks do so for up to seconds,
//! and when they end matters more than when they began: they [end](Anchors) where the map
//! says. The last to arrive, for whose begin the others wait, does not wait. Left alone, that would let an inner stay stick out of the
//! one around it, or two that follow each other overlap, and viewers drop such events. So
//! each begins as near to what the map says as keeps the order of all begins and ends on its
//! track:
//!
//! ```text
//! l_i = max(map(b_i), end of the one before by l)               from first to last
//! e_i = min(map(b_i), begin of the one behind by e - length_i)  from last to first
//! x_i = (l_i + e_i) / 2
//! ```
//!
//! among those that follow each other in the same stay, whose bounds take the place of the
//! missing neighbours. Both keep the order, and so does their middle, in which the furthest is moved by
//! half as much as in either: no order of one line moves it less (isotonic regression in the maximum
//! norm). There always is such a place: all inner ones shifted like the outer one keep the order. Stays that cross each other, which no viewer can show, are shifted as
//! one.
//!
//! A map that only shifts moves everything alike, and none of this is needed.

use retime_model::{ClockMap, Correction, EventTimes, LocationIndex, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::columns::Columns;
use crate::order::{Side, boundaries};

/// The nanoseconds by which a map moves all stamps, if it moves them alike.
pub(crate) fn shift(map: &ClockMap) -> Option<i128> {
    let mut knots = map.knots().iter();
    let by = |from: Timestamp, to: Timestamp| i128::from(to.0) - i128::from(from.0);
    let Some(first) = knots.next() else {
        return Some(0);
    };
    let shift = by(first.raw, first.arrive);
    let alike = |knot: &retime_model::Knot| {
        by(knot.raw, knot.arrive) == shift && by(knot.raw, knot.leave) == shift
    };
    (first.arrive == first.leave && knots.all(alike)).then_some(shift)
}

/// An entry of a track, or some that cross each other and move as one.
#[derive(Clone, Copy)]
struct Block {
    begin: u64,
    end: u64,
    /// Where the map puts its begin, and later where it goes.
    place: u64,
}

/// Entries that end where the map says, instead of beginning there.
pub(crate) type Anchors = FxHashSet<u32>;

/// The new time of each of the sorted `entries` of a track; `None` where one does not fit
/// into 64 bits.
pub(crate) fn placed(
    columns: &Columns,
    entries: &[u32],
    anchors: &Anchors,
    correction: &Correction,
    location: LocationIndex,
) -> Option<Vec<u64>> {
    let is_apart = correction.distance().of(location).0 > 0;
    if let Some(shift) = shift(correction.map_of(location)).filter(|_| !is_apart) {
        let moved = |&entry: &u32| {
            let moved = i128::from(columns.begin(entry)) + shift;
            u64::try_from(moved).ok()
        };
        return entries.iter().map(moved).collect();
    }
    let mut track = TrackBlocks {
        blocks: mapped(columns, entries, anchors, &mut correction.events(location))?,
    };
    track.place_all()?;
    Some(track.blocks.into_iter().map(|it| it.place).collect())
}

/// The new places of both ends of a stay that each have a stamp of their own; of a moment they
/// are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// The new times of the sorted `entries` of a track whose begins and ends all have stamps of
/// their own: where the map says, and what comes later stays later. `None` where one does not
/// fit into 64 bits.
pub(crate) fn followed(
    columns: &Columns,
    entries: &[u32],
    correction: &Correction,
    location: LocationIndex,
) -> Option<Vec<Ends>> {
    let mut times = correction.events(location);
    let mut all: Vec<Ends> = Vec::with_capacity(entries.len());
    let mut open: FxHashMap<u32, usize> = FxHashMap::default();
    let mut before: Option<(u64, u64)> = None;
    for (number, it) in (0..).zip(boundaries(columns, entries)) {
        let mut time = times.at(number, Timestamp(it.time))?.0;
        if let Some((recorded, placed)) = before {
            time = time.max(placed.checked_add(u64::from(it.time > recorded))?);
        }
        before = Some((it.time, time));
        match it.side {
            Side::End => {
                let ends = open.remove(&it.entry).and_then(|at| all.get_mut(at));
                ends?.end = time;
            }
            Side::Begin | Side::Moment => {
                if it.side == Side::Begin {
                    open.insert(it.entry, all.len());
                }
                all.push(Ends {
                    begin: time,
                    end: time,
                });
            }
        }
    }
    Some(all)
}

/// The entries where the map puts them.
fn mapped(
    columns: &Columns,
    entries: &[u32],
    anchors: &Anchors,
    times: &mut EventTimes<'_>,
) -> Option<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::with_capacity(entries.len());
    let mut anchored: FxHashMap<u32, usize> = FxHashMap::default();
    for (number, it) in (0..).zip(boundaries(columns, entries)) {
        let time = times.at(number, Timestamp(it.time))?.0;
        if it.side == Side::End {
            let block = anchored.remove(&it.entry).and_then(|at| blocks.get_mut(at));
            if let Some(block) = block {
                block.place = time.checked_sub(block.end - block.begin)?;
            }
            continue;
        }
        if anchors.contains(&it.entry) {
            anchored.insert(it.entry, blocks.len());
        }
        blocks.push(Block {
            begin: it.time,
            end: columns.end(it.entry),
            place: time,
        });
    }
    Some(blocks)
}

/// A stay, its inner ones and where they have to stay: what is still to be placed.
struct Inside {
    /// The blocks that lie in it, those deeper inside among them.
    blocks: std::ops::Range<usize>,
    /// The stay that surrounds them; `None` for a whole track.
    around: Option<Block>,
}

struct TrackBlocks {
    blocks: Vec<Block>,
}

/// Blocks that follow each other.
struct Row {
    /// Each with when the last of its group ends.
    groups: Vec<(Block, u64)>,
    around: Option<Block>,
}

impl Row {
    /// Lets each place wait for the one before.
    fn delay(&self, places: &mut [u64]) -> Option<()> {
        // What came before, as recorded and as placed.
        let mut before = self.around.map(|it| (it.begin, it.place));
        for ((block, end), place) in self.groups.iter().zip(places) {
            if let Some((recorded, placed)) = before {
                let apart = u64::from(block.begin > recorded);
                *place = (*place).max(placed.checked_add(apart)?);
            }
            before = Some((*end, place.checked_add(end - block.begin)?));
        }
        Some(())
    }

    /// Lets each place make room for the one behind.
    fn advance(&self, places: &mut [u64]) -> Option<()> {
        let mut behind = match self.around {
            Some(it) => Some((it.end, it.place.checked_add(it.end - it.begin)?)),
            None => None,
        };
        for ((block, end), place) in self.groups.iter().zip(places).rev() {
            if let Some((recorded, placed)) = behind {
                let apart = u64::from(*end < recorded);
                let latest = placed.checked_sub(apart + (end - block.begin))?;
                *place = (*place).min(latest);
            }
            behind = Some((block.begin, *place));
        }
        Some(())
    }
}

impl TrackBlocks {
    fn place_all(&mut self) -> Option<()> {
        let mut waiting = vec![Inside {
            blocks: 0..self.blocks.len(),
            around: None,
        }];
        while let Some(inside) = waiting.pop() {
            let groups = self.groups(inside.blocks);
            self.place(&groups, inside.around)?;
            for group in groups {
                let Some(&first) = self.blocks.get(group.start) else {
                    continue;
                };
                let inner = group.start + 1..group.end;
                let crosses = |it: &Block| it.end > first.end;
                if self.blocks.get(inner.clone())?.iter().any(crosses) {
                    for it in self.blocks.get_mut(inner)? {
                        it.place = first.place.checked_add(it.begin - first.begin)?;
                    }
                } else if !inner.is_empty() {
                    waiting.push(Inside {
                        blocks: inner,
                        around: Some(first),
                    });
                }
            }
        }
        Some(())
    }

    /// Blocks that follow each other: each with those that begin before it, or any of them,
    /// ends.
    fn groups(&self, blocks: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
        let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
        let mut end = 0;
        for at in blocks {
            let Some(block) = self.blocks.get(at) else {
                break;
            };
            match groups.last_mut() {
                Some(last) if block.begin < end => last.end = at + 1,
                _ => {
                    groups.push(at..at + 1);
                    end = 0;
                }
            }
            end = end.max(block.end);
        }
        groups
    }

    /// Places blocks that follow each other in what surrounds them: in the middle between where
    /// nothing is moved earlier that does not have to be, and where nothing is moved later.
    fn place(&mut self, groups: &[std::ops::Range<usize>], around: Option<Block>) -> Option<()> {
        let row = Row {
            groups: groups
                .iter()
                .map(|it| Some((*self.blocks.get(it.start)?, self.end_of(it))))
                .collect::<Option<_>>()?,
            around,
        };
        let wanted = || row.groups.iter().map(|it| it.0.place).collect::<Vec<u64>>();
        let (mut later, mut earlier) = (wanted(), wanted());
        row.delay(&mut later)?;
        row.advance(&mut later)?;
        row.advance(&mut earlier)?;
        row.delay(&mut earlier)?;
        for (group, (later, earlier)) in groups.iter().zip(later.into_iter().zip(earlier)) {
            self.blocks.get_mut(group.start)?.place = u64::midpoint(later, earlier);
        }
        Some(())
    }

    /// When the last of a group ends.
    fn end_of(&self, group: &std::ops::Range<usize>) -> u64 {
        let blocks = self.blocks.get(group.clone()).unwrap_or_default();
        blocks.iter().map(|it| it.end).max().unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use proptest::prelude::*;
    use retime_model::{Clocks, Knot};

    use super::*;
    use crate::columns::MOMENT;
    use crate::order::Order;

    fn columns(entries: &[(u64, Option<u64>)]) -> Columns {
        Columns {
            begins: entries.iter().map(|it| it.0).collect(),
            lengths: entries.iter().map(|it| it.1.unwrap_or(MOMENT)).collect(),
            tracks: vec![0; entries.len()],
            digits: vec![],
        }
    }

    fn map(knots: &[(u64, u64)]) -> ClockMap {
        let knots = knots
            .iter()
            .map(|&(raw, to)| Knot::at(Timestamp(raw), Timestamp(to)));
        ClockMap::new(knots.collect(), vec![]).unwrap()
    }

    fn place(columns: &Columns, map: &ClockMap) -> Vec<u64> {
        place_with(columns, &Anchors::default(), map)
    }

    fn place_with(columns: &Columns, anchors: &Anchors, map: &ClockMap) -> Vec<u64> {
        let order = Order::of(columns, 1);
        let entries = order.of_track(0);
        let correction = Correction::new(Clocks::each_location(1), vec![map.clone()]);
        let placed = placed(columns, entries, anchors, &correction, LocationIndex(0)).unwrap();
        let mut by_entry = vec![0; placed.len()];
        for (&entry, place) in order.of_track(0).iter().zip(placed) {
            by_entry[entry as usize] = place;
        }
        by_entry
    }

    #[test]
    fn an_inner_stay_stays_inside() {
        // Time is stretched by a tenth. The inner stay would end at 1989 + 100, after the
        // outer one, which ends at 1000 + 1000.
        let outer_and_inner = columns(&[(1000, Some(1000)), (1899, Some(100)), (1950, None)]);
        let stretched = map(&[(1000, 1000), (3000, 3200)]);
        assert_eq!(place(&outer_and_inner, &stretched), [1000, 1899, 1998]);
    }

    #[test]
    fn what_overlaps_gives_way_by_halves() {
        // Time is squeezed by a tenth; the second would begin at 1901, before the first has ended.
        let two = columns(&[(1000, Some(1000)), (2001, Some(10)), (4000, Some(10))]);
        let squeezed = map(&[(1000, 1000), (5000, 4600)]);
        assert_eq!(place(&two, &squeezed), [949, 1950, 3700]);
    }

    #[test]
    fn who_waits_ends_when_all_do() {
        // Time is stretched by a tenth, and the second waits from 2000 to 3000.
        let two = columns(&[(1000, Some(500)), (2000, Some(1000))]);
        let stretched = map(&[(1000, 1000), (5000, 5400)]);
        assert_eq!(place(&two, &stretched), [1000, 2100]);
        let waits = Anchors::from_iter([1]);
        assert_eq!(place_with(&two, &waits, &stretched), [1000, 3200 - 1000]);
    }

    #[test]
    fn what_crosses_moves_as_one() {
        let two = columns(&[(1000, Some(1000)), (1900, Some(1000))]);
        let stretched = map(&[(1000, 1050), (5000, 5450)]);
        assert_eq!(place(&two, &stretched), [1050, 1950]);
    }

    #[test]
    fn a_shift_is_known() {
        assert_eq!(shift(&ClockMap::default()), Some(0));
        assert_eq!(shift(&map(&[(5, 3), (9, 7)])), Some(-2));
        assert_eq!(shift(&map(&[(5, 3), (9, 8)])), None);
    }

    proptest! {
        /// The order of all begins and ends survives any map, and numbers with it.
        #[test]
        fn order_is_kept(
            entries in prop::collection::vec((1000_u64..1300, prop::option::of(0_u64..90)), 1..40),
            steps in prop::collection::vec((1_u64..60, 0_u64..60), 1..8),
            anchors in prop::collection::hash_set(0_u32..40, 0..20),
        ) {
            let columns = columns(&entries);
            let knots = steps.iter().scan((990, 5000), |at, (raw, to)| {
                *at = (at.0 + raw, at.1 + to);
                Some(*at)
            });
            let map = map(&knots.collect::<Vec<_>>());
            let moved = Columns {
                begins: place_with(&columns, &anchors.into_iter().collect(), &map),
                lengths: columns.lengths.clone(),
                tracks: columns.tracks.clone(),
                digits: vec![],
            };
            let order = |it: &Columns| {
                let order = Order::of(it, 1);
                let boundaries = boundaries(it, order.of_track(0));
                boundaries.map(|it| (it.entry, it.side)).collect::<Vec<_>>()
            };
            prop_assert_eq!(order(&columns), order(&moved));
        }
    }
}
