//! Backward amortisation as printed: jump by jump, interval by interval
//! (Rabenseifner 2000, algorithm 5). One location per clock.
//!
//! Before a jump at receive R the events of the interval `[LCb(R) - L, LCb(R)]`
//! are moved by the lower convex hull of {(start, 0), the limits of the sends,
//! (R, jump)}; later jumps see the shifted events.

use retime::MinimalDelay;
use retime::clock::{AmortizationRate, Gamma};

use super::oracle::{Plain, left};

/// One clock: by node, what the forward clock gives it without its jumps, the
/// jump at it, and how far it may move.
pub struct Row {
    pub nodes: Vec<usize>,
    pub unjumped: Vec<i64>,
    pub jump: Vec<i64>,
    pub limit: Vec<Option<i64>>,
}

impl Row {
    /// The row of the location, given the corrected times of all nodes.
    pub fn new(
        plain: &Plain,
        values: &[i64],
        delay: &MinimalDelay,
        gamma: Gamma,
        location: usize,
    ) -> Self {
        let nodes: Vec<usize> = (0..values.len())
            .filter(|&node| plain.location[node] == location)
            .collect();
        let (mut unjumped, mut jump, mut limit) = (Vec::new(), Vec::new(), Vec::new());
        let (mut lead, mut sum) = ((0, 0, 0), 0);
        for &node in &nodes {
            let raw = plain.raw[node];
            let (own, lost) = left(lead, raw, gamma);
            let by = values[node] - raw - own;
            if by > 0 {
                lead = (raw, values[node] - raw, lost);
            }
            sum += by;
            jump.push(by);
            unjumped.push(values[node] - sum);
            let effects = plain.across().filter(|edge| edge.0.index() == node);
            let rooms = effects
                .map(|edge| values[edge.1.index()] - plain.delay(delay, edge) - values[node]);
            limit.push(rooms.min());
        }
        Self {
            nodes,
            unjumped,
            jump,
            limit,
        }
    }

    /// What the events are ahead of `unjumped` after all jumps are ramped up,
    /// as fractions of a tick.
    pub fn amortized(&self, rate: AmortizationRate) -> Vec<f64> {
        self.amortized_expecting(rate, 0)
    }

    /// The same where the user expects clocks to differ by so much.
    pub fn amortized_expecting(&self, rate: AmortizationRate, expected: i64) -> Vec<f64> {
        let count = self.nodes.len();
        // Ahead of `unjumped` so far: the jumps not yet ramped come with them.
        let mut shift = vec![0.0; count];
        let mut largest = expected;
        let mut stairs = 0.0;
        for receive in 0..count {
            let jump = self.jump[receive];
            if jump > 0 {
                largest = jump.max(largest);
                self.ramp(receive, rate.ramp(largest) as f64, stairs, &mut shift);
            }
            stairs += jump as f64;
            // Without the jumps behind it every event is as the stairs are high.
            for later in &mut shift[receive..] {
                *later = stairs;
            }
        }
        shift
    }

    /// Moves the events before `receive` for the sake of its jump.
    fn ramp(&self, receive: usize, length: f64, stairs: f64, shift: &mut [f64]) {
        let jump = self.jump[receive] as f64;
        let at = |event: usize, shift: &[f64]| self.unjumped[event] as f64 + shift[event];
        let end = self.unjumped[receive] as f64 + stairs;
        let first = (0..receive)
            .find(|&event| at(event, shift) > end - length)
            .unwrap_or(receive);
        // What is left of a send's limit after what moved it before.
        let mut sum = vec![0.0; receive];
        for event in 1..receive {
            sum[event] = sum[event - 1];
            sum[event] += self.jump[event] as f64;
        }
        if receive > 0 {
            let start = self.jump[0] as f64;
            for sum in &mut sum {
                *sum += start;
            }
        }
        let room = |event: usize, shift: &[f64]| {
            let limit = self.limit[event].map(|limit| limit.max(0) as f64);
            limit.map(|limit| (limit + sum[event] - shift[event]).max(0.0))
        };
        let mut points = Vec::new();
        if first > 0 {
            points.push((end - length, 0.0));
        } else if receive > 0 {
            let rooms = (0..receive).filter_map(|event| room(event, shift));
            points.push((at(0, shift), rooms.fold(jump, f64::min)));
        }
        for event in first..receive {
            if let Some(room) = room(event, shift) {
                points.push((at(event, shift), room));
            }
        }
        points.push((end, jump));
        let hull = lower_hull(&points);
        for event in first..receive {
            shift[event] += value_at(&hull, at(event, shift));
        }
    }
}

fn lower_hull(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for &point in points {
        while let [.., a, b] = hull[..]
            && (b.0 - a.0) * (point.1 - a.1) <= (point.0 - a.0) * (b.1 - a.1)
        {
            hull.pop();
        }
        if let Some(last) = hull.last_mut()
            && last.0 >= point.0
        {
            last.1 = last.1.min(point.1);
            continue;
        }
        hull.push(point);
    }
    hull
}

fn value_at(hull: &[(f64, f64)], x: f64) -> f64 {
    let after = hull.partition_point(|point| point.0 <= x);
    match (
        after.checked_sub(1).map(|before| hull[before]),
        hull.get(after),
    ) {
        (Some(a), Some(b)) => a.1 + (x - a.0) * (b.1 - a.1) / (b.0 - a.0),
        (Some(a), None) => a.1,
        (None, Some(b)) => b.1,
        (None, None) => 0.0,
    }
}
