//! Backward amortisation by algorithm 5, as it is printed.
//!
//! Jumps are gone over in the order of events. Each is ramped up over `L` of the clock as it is
//! before that jump, by a straight line from nothing to the height of the jump; where a send within
//! that time can be moved by less than the line, the lower convex hull of what sends can be moved by takes
//! its place. `L` is the largest jump so far by the rate, or the difference of clocks that the user
//! expects at the beginning, if that is larger. Where no event lies before the ramp
//! it begins at the first event, as high as the send that can be moved least; without sends it is
//! as high as the jump.
//!
//! A ramp stays as it was added, and the next one begins from there. The
//! [taut string](retime_numerics::taut_string) sees all jumps at once and does better: its steepest
//! part is never steeper, but for a tick of rounding. Each jump costs a walk over the
//! events of its ramp, so that dense jumps with long ramps take long.
//!
//! ```
//! use retime_logical_clocks::{AmortizationRate, printed_ramps};
//! use retime_numerics::taut_string::Gate;
//! // A jump of 5 at 900 and another at 1000, ramped at 1 % (L = 500); nothing limits them.
//! let gate = |x, low| Gate { x, low, high: i64::MAX };
//! let gates = [gate(0, 0), gate(500, 0), gate(900, 5), gate(1_000, 10)];
//! let rate: AmortizationRate = "1%".parse()?;
//! // The first line climbs 5 from 400 to 900, and 1 of that by 500. The second begins 500 before
//! // 1005, which the clock shows then, and adds 4 at 905.
//! assert_eq!(printed_ramps(&gates, |jump| rate.ramp(jump), &())?, [0, 1, 9, 10]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithm 5 with figure 4.12; section 6.2 for the interval, which grows
//! with the largest jump so far.

use retime_model::{Cancelled, Monitor};
use retime_numerics::taut_string::{Gate, interpolate};

use retime_model::pace::Pace;

/// The heights that algorithm 5 gives to the events of a clock: at least the low of each gate, and
/// that of the last. `length` is what a ramp takes for a jump. Fails only if `monitor` says to give
/// up.
pub fn printed_ramps(
    gates: &[Gate],
    length: impl Fn(i64) -> i64,
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let mut pace = Pace::of(monitor);
    let mut heights: Vec<i64> = gates.iter().map(|gate| gate.low).collect();
    let mut largest = 0;
    for (before, receive) in gates.iter().zip(gates.iter().skip(1)).enumerate() {
        let (last, next) = receive;
        let jump = next.low - last.low;
        if jump > 0 {
            largest = jump.max(largest);
            let end = next.x + last.low;
            let ramp = Ramp {
                begin: end.saturating_sub(length(largest)),
                end,
                jump,
            };
            let events = ramp.add(&gates[..=before], &mut heights);
            pace.events(events)?;
        }
    }
    Ok(heights)
}

/// A jump that is to be ramped up; times are those of the clock before it.
struct Ramp {
    begin: i64,
    end: i64,
    jump: i64,
}

/// A corner of the hull: so much may be added at a time.
#[derive(Clone, Copy)]
struct Corner {
    time: i64,
    added: i64,
}

impl Ramp {
    /// Adds the ramp to the heights of what lies within it; the number of these events.
    fn add(&self, gates: &[Gate], heights: &mut [i64]) -> usize {
        let clock = |event: usize, heights: &[i64]| gates[event].x + heights[event];
        // Later events are ever closer to the jump, so that the walk can go back from there.
        let mut first = gates.len();
        while first > 0 && clock(first - 1, heights) > self.begin {
            first -= 1;
        }
        let limits = (first..gates.len()).filter(|&event| gates[event].high < i64::MAX);
        let limits = limits.map(|event| Corner {
            time: clock(event, heights),
            added: gates[event].high - heights[event],
        });
        let hull = self.hull(first > 0, gates, limits.collect());
        let mut piece = 0;
        for event in first..gates.len() {
            let time = clock(event, heights);
            while hull.get(piece + 2).is_some() && hull[piece + 1].time < time {
                piece += 1;
            }
            let (from, to) = (hull[piece], hull[piece + 1]);
            heights[event] += if to.time == from.time {
                from.added
            } else {
                from.added
                    + interpolate(time - from.time, to.added - from.added, to.time - from.time)
            };
        }
        gates.len() - first
    }

    /// The lower convex hull from the begin of the ramp to its end, below what limits it.
    fn hull(&self, has_earlier: bool, gates: &[Gate], limits: Vec<Corner>) -> Vec<Corner> {
        let least = limits.iter().map(|it| it.added).min();
        let start = if has_earlier {
            Corner {
                time: self.begin,
                added: 0,
            }
        } else {
            Corner {
                // The first event has no ramp ahead of it.
                time: gates.first().map_or(self.begin, |gate| gate.x + gate.low),
                added: least.map_or(self.jump, |least| least.clamp(0, self.jump)),
            }
        };
        let end = Corner {
            time: self.end,
            added: self.jump,
        };
        let mut hull = vec![start];
        for corner in limits.into_iter().chain([end]) {
            while let [.., before, last] = hull[..] {
                if rises_less(before, last, corner) {
                    break;
                }
                hull.pop();
            }
            hull.push(corner);
        }
        hull
    }
}

/// True if the line from the first to the second corner is less steep than that on to the third.
fn rises_less(first: Corner, second: Corner, third: Corner) -> bool {
    let wide = |a: i64, b: i64| i128::from(b) - i128::from(a);
    let to = (
        wide(first.time, second.time),
        wide(first.added, second.added),
    );
    let on = (
        wide(second.time, third.time),
        wide(second.added, third.added),
    );
    to.1 * on.0 < on.1 * to.0
}
