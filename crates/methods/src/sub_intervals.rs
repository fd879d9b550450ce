//! The run, divided into sub-intervals of equal length.
//!
//! Between two clocks nothing but a constant difference can be read from the
//! extremes of latencies. Over a whole run clocks drift apart by more than a
//! message takes; over a short enough piece of it they do not. So the run is
//! divided, and each piece is looked at by itself.
//!
//! The division is made on the stamps of each clock, as in the thesis. The same
//! stamps on clocks that are an hour apart are not the same piece of the run,
//! so each clock is first shifted by a constant, read from the fastest
//! dependency each way, that makes clocks agree to a few message delays.
//!
//! ```text
//! width   = ceil((end - start) / count)            start, end on shifted clocks
//! piece n = [start + n width, start + (n+1) width] - shift of the clock
//! ```
//!
//! Source: Rabenseifner 2000, sections 7.5 and 7.7 (division); the shift is ours.
//!
//! ```
//! use retime_methods::SubIntervals;
//! use retime::{ClockId, Edge, Edges};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // b is 1000 ahead: there it takes 1010, back -990.
//! let edges = vec![Edge::message(a, 0, b, 1_010), Edge::message(b, 1_090, a, 100)];
//! let edges = Edges::new(edges, vec![Some((0, 100)), Some((1_010, 1_090))]);
//! let pieces = SubIntervals::divide(&edges, 4, &()).unwrap();
//! assert_eq!((pieces.len(), pieces.boundary(a, 1), pieces.boundary(b, 1)), (4, 25, 1_025));
//! assert_eq!((pieces.of(a, 60), pieces.of(b, 1_060)), (2, 2));
//! assert_eq!(pieces.of(a, 5_000), 3); // whatever is outside belongs to the ends
//! ```

use crate::traffic::Traffic;
use retime::edges::Edges;
use retime::estimate::NoEstimate;
use retime::{Cancelled, ClockId, Monitor};

/// Dependencies each way that a pair should have in a sub-interval.
const EACH_WAY: u64 = 16;
/// No more sub-intervals than this by default.
const MOST: u64 = 8;
/// No more steps of closure than this by default: clocks^3 x sub-intervals.
const STEPS: u64 = 1 << 32;
/// No more numbers than this in all bounds: clocks^2 x sub-intervals.
const NUMBERS: u64 = 1 << 28;
/// How often the default is doubled where clocks drift too fast for it.
const DOUBLINGS: u32 = 7;

/// Sub-intervals of equal length, at corresponding stamps of all clocks.
#[derive(Clone, Debug)]
pub struct SubIntervals {
    shifts: Vec<i64>,
    start: i64,
    end: i64,
    width: i64,
    count: u32,
}

impl SubIntervals {
    /// Divides a run, from the first to the last message, into this many, or
    /// fewer if it lasts fewer ticks; at least one. More than two for each message
    /// would be empty, more than 2^28 / clocks^2 would not fit into memory: no more
    /// are made than that. Fails only if `monitor` says to give up.
    pub fn divide(edges: &Edges, count: u32, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let traffic = Traffic::of(edges, monitor)?;
        Ok(Self::shifted(&traffic, count, traffic.rough_shifts()))
    }

    fn shifted(traffic: &Traffic, count: u32, shifts: Vec<i64>) -> Self {
        let extents = traffic.extents().iter().zip(&shifts);
        let extents = extents.filter_map(|(extent, &shift)| {
            let (first, last) = (*extent)?;
            Some((first.saturating_add(shift), last.saturating_add(shift)))
        });
        let span = extents.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
        let (start, end) = span.unwrap_or((0, 0));
        let clocks = shifts.len().max(1) as u64;
        let most = (2 * traffic.total()).min(NUMBERS / clocks.saturating_mul(clocks));
        let count = u64::from(count).min(most).max(1);
        let length = end.saturating_sub(start).max(1).unsigned_abs();
        let width = length.div_ceil(count);
        Self {
            shifts,
            start,
            end,
            width: i64::try_from(width).unwrap_or(i64::MAX),
            count: u32::try_from(length.div_ceil(width)).unwrap_or(u32::MAX),
        }
    }

    /// How many there are, at least one.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    fn shift(&self, clock: ClockId) -> i64 {
        self.shifts.get(clock.as_usize()).copied().unwrap_or(0)
    }

    /// The sub-interval in which a stamp of a clock lies.
    pub fn of(&self, clock: ClockId, stamp: i64) -> usize {
        let since = stamp.saturating_add(self.shift(clock));
        let since = since.saturating_sub(self.start).max(0);
        ((since / self.width) as usize).min(self.len() - 1)
    }

    /// The stamp of a clock at which sub-interval `number` begins and the one
    /// before it ends; that after the last one is the end of the run.
    pub fn boundary(&self, clock: ClockId, number: usize) -> i64 {
        self.common(number).saturating_sub(self.shift(clock))
    }

    /// The stamp of a clock in the middle of a sub-interval.
    pub fn middle(&self, clock: ClockId, number: usize) -> i64 {
        let middle = i64::midpoint(self.common(number), self.common(number + 1));
        middle.saturating_sub(self.shift(clock))
    }

    /// The length of a sub-interval, in ticks; the last may be shorter.
    pub fn width(&self) -> i64 {
        self.width
    }

    /// A boundary on the shifted clocks.
    fn common(&self, number: usize) -> i64 {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let past = self.width.saturating_mul(number);
        self.start.saturating_add(past).min(self.end)
    }
}

/// How many sub-intervals to take if nobody says so: such that a pair with
/// `each_way` messages each way has 16 each way in each, but at most 8, and at
/// most 2^32 / clocks^3. Few are enough where clocks drift little, and their
/// bounds are the tightest.
pub(crate) fn default_count(each_way: u64, clocks: usize) -> u32 {
    let cubed = (clocks.max(1) as u64).saturating_pow(3);
    let count = (each_way / EACH_WAY).min(MOST).min(STEPS / cubed).max(1);
    u32::try_from(count).unwrap_or(1)
}

/// Runs a method on as many sub-intervals as asked for. By default it tries
/// [`default_count`]; where clocks drift too fast for it, up to 128 times as
/// many, while `each_way` messages reach for them, as section 7.7 of the thesis
/// advises; where messages are lacking, fewer.
pub(crate) fn with_sub_intervals<T>(
    traffic: &Traffic,
    count: Option<u32>,
    each_way: u64,
    run: impl Fn(&SubIntervals) -> Result<T, NoEstimate>,
) -> Result<T, NoEstimate> {
    let shifts = traffic.rough_shifts();
    let attempt = |count: u32| run(&SubIntervals::shifted(traffic, count, shifts.clone()));
    let first = count.unwrap_or_else(|| default_count(each_way, shifts.len()));
    let result = attempt(first);
    let others: Vec<u32> = match (count, &result) {
        (None, Err(NoEstimate::Infeasible(..))) => {
            let finer = (1..=DOUBLINGS).map(|times| first << times);
            finer
                .filter(|&count| u64::from(count) <= each_way)
                .collect()
        }
        (None, Err(NoEstimate::Missing(_))) => {
            let coarser = (1..u32::BITS).map(|times| first >> times);
            coarser.take_while(|&count| count > 0).collect()
        }
        _ => Vec::new(),
    };
    for count in others {
        if let better @ (Ok(_) | Err(NoEstimate::Cancelled(_))) = attempt(count) {
            return better;
        }
    }
    result
}

/// Why a method that needs both bounds in one sub-interval gives up.
pub(crate) fn never_both_ways() -> NoEstimate {
    NoEstimate::Missing(
        "messages bound some clock on both sides in no sub-interval; \
         with fewer sub-intervals they may"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime::edges::Edge;

    const A: ClockId = ClockId(0);
    const B: ClockId = ClockId(1);

    fn lasting(length: i64) -> Edges {
        let there = Edge::message(A, 0, B, 0);
        let back = Edge::message(B, length, A, length);
        Edges::new(vec![there, back], vec![None; 2])
    }

    #[test]
    fn a_short_run_has_fewer() {
        assert_eq!(SubIntervals::divide(&lasting(3), 4, &()).unwrap().len(), 3);
        assert_eq!(SubIntervals::divide(&lasting(0), 5, &()).unwrap().len(), 1);
        // Two messages touch four at most.
        assert_eq!(
            SubIntervals::divide(&lasting(1_000), 5, &()).unwrap().len(),
            4
        );
        assert_eq!(SubIntervals::divide(&lasting(7), 0, &()).unwrap().len(), 1);
        let nothing = SubIntervals::divide(&Edges::new(Vec::new(), Vec::new()), 3, &()).unwrap();
        assert_eq!((nothing.len(), nothing.of(A, 77)), (1, 0));
    }

    #[test]
    fn the_last_ends_with_the_run() {
        let pieces = SubIntervals::divide(&lasting(100), 3, &()).unwrap();
        let ends: Vec<i64> = (0..=3).map(|number| pieces.boundary(A, number)).collect();
        assert_eq!(ends, [0, 34, 68, 100]);
        assert_eq!(pieces.middle(A, 2), 84);
        let places = [34, 100, -5].map(|stamp| pieces.of(A, stamp));
        assert_eq!(places, [1, 2, 0]);
    }

    #[test]
    fn extreme_stamps_do_not_overflow() {
        let far = 1_i64 << 61;
        let edges = vec![Edge::message(A, 0, B, far), Edge::message(B, 0, A, far)];
        let pieces =
            SubIntervals::divide(&Edges::new(edges, vec![None; 2]), u32::MAX, &()).unwrap();
        assert!(pieces.of(A, i64::MAX) < pieces.len());
        assert!(pieces.boundary(A, pieces.len()) >= pieces.boundary(A, 0));
    }

    #[test]
    fn the_default_leaves_sixteen_messages_each_way() {
        assert_eq!(default_count(5 * 16 + 15, 2), 5);
        assert_eq!(default_count(1_000_000, 2), 8);
        assert_eq!(default_count(1_000_000, 1_000), 4);
        assert_eq!(default_count(0, usize::MAX), 1);
    }
}
