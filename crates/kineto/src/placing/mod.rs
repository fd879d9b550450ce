//! Where stays go whose clock is corrected.
//!
//! Their begins are written anew, and what lasted a microsecond keeps lasting it, as long as its
//! clock only drifted. So where a map stretches or squeezes time, a stay begins where the map says
//! and ends where its length puts it, off by the drift of the clock times that length: a
//! nanosecond in 100 us at 10 ppm. Calls that wait for other ranks do so for up to seconds,
//! and when they end matters more than when they began: they [end](Anchors::ends) where the map
//! says. The last to arrive, for whose begin the others wait, does not wait.
//!
//! A stay is known by two stamps of one clock, and its length is their difference. If the clock
//! was set while it lasted, that is wrong by as much as the map changes it:
//!
//! ```text
//! recorded   launch 100   kernel 110..450                set by 300 at 200
//! map        launch 100   kernel 110..150
//! length kept, from begin     110..450                   runs into what follows on its stream
//! length kept, to end        -190..150                   begins before its launch
//! ```
//!
//! So a stay whose length the map changes by more than [drift](is_beyond_drift) has both ends where
//! the map says, and so has each stay around it. A kernel that begins after its launch as recorded,
//! and would begin before it by keeping a length, has both ends there, too, as has that launch.
//!
//! Such ends break no dependency that the alignment keeps. Let a cause be recorded at `a` and its effect
//! at `b`, both where maps say. On one clock `a <= b`, so `map(a) <= map(b)`, for a map rises. On two
//! clocks `map(b) - map'(a)` is the distance of the alignment, which was checked. Where a map stands
//! still, what is later on a track is moved by a nanosecond each. Ends of stays that keep their lengths
//! are off by drift and by what their neighbours take of them; those are checked again once they are
//! placed.
//!
//! Left alone, kept lengths would let an inner stay stick out of the one around it, or two that follow
//! each other overlap, and viewers drop such events. So each begins as near to what the map says as
//! keeps the order of all begins and ends on its track:
//!
//! ```text
//! l_i = max(map(b_i), end of the one before by l)               from first to last
//! e_i = min(map(b_i), begin of the one behind by e - length_i)  from last to first
//! x_i = (l_i + e_i) / 2
//! ```
//!
//! among those that follow each other in the same stay, whose bounds take the place of the
//! missing neighbours, and between those that have both ends, which do not move. Both keep the order,
//! and so does their middle, in which the furthest is moved by half as much as in either: no order of
//! one line moves it less (isotonic regression in the maximum norm). In a stay that keeps its length
//! there always is such a place: all inner ones shifted like the outer one keep the order. Between ends
//! that do not move there may be none; then all of that row have both ends where the map says. Stays
//! that cross each other, which no viewer can show, are shifted as one, or all have both ends.
//!
//! Where stays follow each other without a gap, as iterations do, a row of kept lengths is as long as
//! its clock made it, and what each drifted adds up along it: to 0.2 ms at either end of 10 s at 40 ppm. So
//! what its neighbours push away from where it would be without them, by more than may be repaired,
//! has both ends where the map says instead, and the others of its row are placed anew beside it. What
//! lies in a stay comes after that, and is pushed less where the outer one follows the map; where it still
//! is, in one that keeps its length, that has both ends, too.
//!
//! A map that only shifts moves everything alike, and none of this is needed.

mod row;
mod track;

use retime_model::{ClockMap, Correction, EventTimes, LocationIndex, Timestamp};
use rustc_hash::FxHashSet;

use crate::columns::Columns;
use crate::order::{Side, boundaries};

pub(crate) use row::Ends;
use row::{Block, REPAIRED};
use track::TrackBlocks;

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

/// The part of a length by which no clock drifts while nobody sets it.
const DRIFT_PART: u64 = 1_000;

/// True if a clock must have been set to show `length` for `mapped`.
fn is_beyond_drift(length: u64, mapped: u64) -> bool {
    let by = length.abs_diff(mapped);
    by > REPAIRED && by.saturating_mul(DRIFT_PART) > length
}

/// Entries of which some end is where the map says.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    /// Entries that end where the map says, instead of beginning there.
    pub(crate) ends: FxHashSet<u32>,
    /// Entries that begin and end where the map says.
    pub(crate) both: FxHashSet<u32>,
    /// True if none may do both, since lengths cannot be written.
    pub(crate) keep_lengths: bool,
}

/// The new places of the sorted `entries` of a track; `None` where one does not fit
/// into 64 bits.
pub(crate) fn placed(
    columns: &Columns,
    entries: &[u32],
    anchors: &Anchors,
    correction: &Correction,
    location: LocationIndex,
) -> Option<Vec<Ends>> {
    let is_apart = correction.distance().of(location).0 > 0;
    if let Some(shift) = shift(correction.map_of(location)).filter(|_| !is_apart) {
        let moved = |time: u64| u64::try_from(i128::from(time) + shift).ok();
        let ends = |&entry: &u32| {
            let begin = moved(columns.begin(entry))?;
            let length = columns.length(entry).unwrap_or_default();
            Some(Ends {
                begin,
                end: begin.checked_add(length)?,
            })
        };
        return entries.iter().map(ends).collect();
    }
    let mut track = TrackBlocks {
        blocks: mapped(columns, entries, anchors, &mut correction.events(location))?,
        keep_lengths: anchors.keep_lengths,
        is_open: false,
    };
    track.place_near()?;
    track.blocks.iter().map(Block::ends).collect()
}

/// Keeps what comes later on a track later.
#[derive(Default)]
struct Rising {
    /// The event before: its time as recorded, and its place.
    before: Option<(u64, u64)>,
}

impl Rising {
    /// The place of the next event, recorded at one time and mapped to another.
    fn next(&mut self, recorded: u64, mapped: u64) -> Option<u64> {
        let mut place = mapped;
        if let Some((before, placed)) = self.before {
            place = place.max(placed.checked_add(u64::from(recorded > before))?);
        }
        self.before = Some((recorded, place));
        Some(place)
    }
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
    let mut rising = Rising::default();
    for (number, it) in (0..).zip(boundaries(columns, entries)) {
        let time = times.at(number, Timestamp(it.time))?.0;
        let time = rising.next(it.time, time)?;
        match it.side {
            Side::End => all.get_mut(it.at)?.end = time,
            Side::Begin | Side::Moment => all.push(Ends {
                begin: time,
                end: time,
            }),
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
    let mut rising = Rising::default();
    for (number, it) in (0..).zip(boundaries(columns, entries)) {
        let time = times.at(number, Timestamp(it.time))?.0;
        let risen = rising.next(it.time, time)?;
        if it.side == Side::End {
            let block = blocks.get_mut(it.at)?;
            block.mapped.end = risen;
            let length = block.end - block.begin;
            let is_beyond = is_beyond_drift(length, time.saturating_sub(block.place));
            if anchors.ends.contains(&it.entry) {
                block.place = time.checked_sub(length)?;
            }
            if (is_beyond || anchors.both.contains(&it.entry)) && !anchors.keep_lengths {
                block.follow();
            }
            continue;
        }
        blocks.push(Block {
            begin: it.time,
            end: columns.end(it.entry),
            place: time,
            mapped: Ends {
                begin: risen,
                end: risen,
            },
            is_mapped: false,
        });
    }
    Some(blocks)
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
        begins_with(columns, &ending([]), map)
    }

    fn begins_with(columns: &Columns, anchors: &Anchors, map: &ClockMap) -> Vec<u64> {
        let placed = place_with(columns, anchors, map).into_iter();
        placed.map(|it| it.begin).collect()
    }

    fn place_with(columns: &Columns, anchors: &Anchors, map: &ClockMap) -> Vec<Ends> {
        let order = Order::of(columns, 1);
        let entries = order.of_track(0);
        let correction = Correction::new(Clocks::each_location(1), vec![map.clone()]);
        let placed = placed(columns, entries, anchors, &correction, LocationIndex(0)).unwrap();
        let mut by_entry = vec![Ends { begin: 0, end: 0 }; placed.len()];
        for (&entry, place) in order.of_track(0).iter().zip(placed) {
            by_entry[entry as usize] = place;
        }
        by_entry
    }

    /// Anchors of entries that keep their lengths.
    fn ending(ends: impl IntoIterator<Item = u32>) -> Anchors {
        Anchors {
            ends: ends.into_iter().collect(),
            keep_lengths: true,
            ..Anchors::default()
        }
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
        assert_eq!(
            begins_with(&two, &ending([1]), &stretched),
            [1000, 3200 - 1000]
        );
    }

    #[test]
    fn what_crosses_moves_as_one() {
        let two = columns(&[(1000, Some(1000)), (1900, Some(1000))]);
        let stretched = map(&[(1000, 1050), (5000, 5450)]);
        assert_eq!(place(&two, &stretched), [1050, 1950]);
    }

    #[test]
    fn what_lasts_while_its_clock_is_set_has_both_ends() {
        // The clock is set by 300 us between 1200 and 2000 us; a kernel lasts from one to the other,
        // within a range, and others lie around it.
        let (us, set) = (1_000, 300_000);
        let entries = columns(&[
            (1100 * us, Some(90 * us)),
            (1190 * us, Some(1010 * us)),
            (1200 * us, Some(800 * us)),
            (2200 * us, Some(10 * us)),
        ]);
        let back = map(&[
            (1000 * us, 1000 * us),
            (1200 * us, 1200 * us),
            (2000 * us, 2000 * us - set),
            (3000 * us, 3000 * us - set),
        ]);
        let ends = |begin: u64, end: u64| Ends {
            begin: begin * us,
            end: end * us,
        };
        let waits = |keep_lengths| Anchors {
            ends: FxHashSet::from_iter([2]),
            keep_lengths,
            ..Anchors::default()
        };
        // The range around the kernel has another length, too.
        let around = [ends(1100, 1190), ends(1190, 1900)];
        let expected = [&around[..], &[ends(1200, 1700), ends(1900, 1910)]].concat();
        assert_eq!(place_with(&entries, &waits(false), &back), expected);
        // With its length the kernel would begin 300 us before what it follows.
        let kernel = columns(&[(1200 * us, Some(800 * us))]);
        let kept = place_with(&kernel, &ending([0]), &back);
        assert_eq!(kept, [ends(900, 1700)]);
    }

    #[test]
    fn what_does_not_fit_between_ends_follows_the_map() {
        // Both outer ones do not move, and what fills the room between them is squeezed by drift.
        let at = 10_000;
        let three = [
            (at, Some(1000)),
            (at + 1000, Some(500_000)),
            (at + 501_000, Some(1000)),
        ];
        let squeezed = map(&[(at, at), (at + 1_000_000, at + 999_990)]);
        let anchors = Anchors {
            both: FxHashSet::from_iter([0, 2]),
            ..Anchors::default()
        };
        let ends = |begin: u64, end: u64| Ends {
            begin: at + begin,
            end: at + end,
        };
        let expected = [ends(0, 999), ends(999, 500_994), ends(500_994, 501_994)];
        assert_eq!(place_with(&columns(&three), &anchors, &squeezed), expected);
        let kept = begins_with(&columns(&three), &Anchors::default(), &squeezed);
        assert_eq!(kept, [at - 3, at + 997, at + 500_997]);
    }

    #[test]
    fn what_drifts_does_not_add_up_along_a_row() {
        // Iterations without a gap, each of which drifts by 4 us, with a call in each that ends
        // before the iteration does.
        let (long, at, drift) = (100_000_000, 1_000_000_000, 25_000);
        let iteration = |number: u64| {
            let begin = at + number * long;
            [(begin, Some(long)), (begin + long / 2, Some(1_000))]
        };
        let entries: Vec<_> = (0..20).flat_map(iteration).collect();
        let mapped = |time: u64| time - (time - at) / drift;
        let squeezed = map(&[(at, at), (at + 20 * long, mapped(at + 20 * long))]);
        let placed = place_with(&columns(&entries), &Anchors::default(), &squeezed);
        for (&(begin, length), placed) in entries.iter().zip(&placed) {
            assert!(
                placed.begin.abs_diff(mapped(begin)) <= REPAIRED,
                "{placed:?}"
            );
            let end = mapped(begin + length.unwrap());
            assert!(placed.end.abs_diff(end) <= REPAIRED + 4_000, "{placed:?}");
        }
        // What has room keeps its length.
        let inner = placed.iter().skip(1).step_by(2);
        assert!(inner.clone().all(|it| it.end - it.begin == 1_000));
        // Without a way to write lengths all keep them, and are moved by what is missing.
        let kept = place_with(&columns(&entries), &ending([]), &squeezed);
        assert!(
            kept.iter()
                .zip(&entries)
                .all(|(it, &(_, length))| Some(it.end - it.begin) == length)
        );
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
            ends in prop::collection::hash_set(0_u32..40, 0..20),
            both in prop::collection::hash_set(0_u32..40, 0..4),
            keep_lengths in any::<bool>(),
        ) {
            let columns = columns(&entries);
            let knots = steps.iter().scan((990, 5000), |at, (raw, to)| {
                *at = (at.0 + raw, at.1 + to);
                Some(*at)
            });
            let map = map(&knots.collect::<Vec<_>>());
            let anchors = Anchors {
                ends: ends.into_iter().collect(),
                both: both.into_iter().collect(),
                keep_lengths,
            };
            let placed = place_with(&columns, &anchors, &map);
            let lengths = columns.lengths.iter().zip(&placed);
            let moved = Columns {
                begins: placed.iter().map(|it| it.begin).collect(),
                lengths: lengths
                    .map(|(&was, it)| if was == MOMENT { MOMENT } else { it.end - it.begin })
                    .collect(),
                tracks: columns.tracks.clone(),
                digits: vec![],
            };
            prop_assert!(!keep_lengths || moved.lengths == columns.lengths);
            let order = |it: &Columns| {
                let order = Order::of(it, 1);
                let boundaries = boundaries(it, order.of_track(0));
                boundaries.map(|it| (it.entry, it.side)).collect::<Vec<_>>()
            };
            prop_assert_eq!(order(&columns), order(&moved));
        }
    }
}
