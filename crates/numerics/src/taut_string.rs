//! The shortest monotone path through a corridor of gates.
//!
//! Pull a string through a row of gates, each an interval `[low, high]` at some
//! place `x`: it runs straight wherever it can, bends up only at the top of a
//! gate and down only at the bottom of one. Among all paths through the gates
//! it has the least possible largest slope. Here the gates' lows and highs both
//! rise, the start is free and the end is fixed at the last gate's low; the path
//! starts level, as high as the first gate and the end allow.
//!
//! The funnel algorithm finds it in one pass. From the last bend (*apex*) the
//! view through the coming gates is bounded by two chains: from below by the
//! tops of a concave chain of lows, from above by a convex chain of highs. A
//! gate that closes the view makes the nearest point of the blocking chain the
//! next bend:
//!
//! ```text
//!        high .----o-----     a new low above the line apex -> high:
//!        .---'          *     the string must bend at that high
//!  apex o------.    low
//!               `---o
//! ```
//!
//! ```
//! use retime_numerics::taut_string::{Gate, taut_string};
//! let gates = [
//!     Gate { x: 0, low: 0, high: 0 },
//!     Gate { x: 50, low: 0, high: 2 }, // must stay below 2 here ...
//!     Gate { x: 60, low: 0, high: 20 },
//!     Gate { x: 100, low: 20, high: 20 }, // ... and at 20 there
//! ];
//! assert_eq!(taut_string(&gates), [0, 2, 5, 20]);
//! ```
//!
//! Source: the funnel algorithm for shortest paths in a corridor (Lee and
//! Preparata 1984), the taut string of Davies and Kovac 2001.

/// An interval that the path has to pass at `x`. No two places or values may lie
/// more than 2^63 apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Where it stands; not before the previous gate.
    pub x: i64,
    /// Lowest value; not below that of the previous gate.
    pub low: i64,
    /// Highest value; not below `low`, nor below that of the previous gate.
    pub high: i64,
}

/// A point of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bend {
    /// The number of the gate where it lies.
    pub gate: usize,
    /// Where that gate stands.
    pub x: i64,
    /// The value of the path there.
    pub y: i64,
}

/// The value of the string at each gate, rounded down. It ends at the last
/// gate's low.
pub fn taut_string(gates: &[Gate]) -> Vec<i64> {
    values_on(
        gates,
        &bends(gates, |index| is_like_neighbours(gates, index)),
    )
}

/// The value at each gate of the string with these bends.
fn values_on(gates: &[Gate], bends: &[Bend]) -> Vec<i64> {
    let mut values = Vec::with_capacity(gates.len());
    let mut piece = 0;
    for (index, gate) in gates.iter().enumerate() {
        while bends.get(piece + 1).is_some_and(|bend| bend.gate < index) {
            piece += 1;
        }
        let from = bends[piece];
        let to = bends.get(piece + 1).copied().unwrap_or(from);
        values.push(match index {
            index if index == to.gate => to.y,
            // Where it is level nothing is to be divided.
            _ if from.y == to.y => from.y.max(gate.low),
            _ if from.x == to.x => from.y.max(gate.low),
            _ => from.y + interpolate(gate.x - from.x, to.y - from.y, to.x - from.x),
        });
    }
    values
}

/// `along * rise / run`, rounded down, for non-negative `along` and `rise` and positive
/// `run`; products beyond 64 bits are computed with 128.
#[inline]
pub fn interpolate(along: i64, rise: i64, run: i64) -> i64 {
    match along.checked_mul(rise) {
        Some(product) => product / run,
        None => (i128::from(along) * i128::from(rise) / i128::from(run)) as i64,
    }
}

/// True if a gate is as high and as wide as those on either side of it: a straight way from the
/// one to the other passes it anyhow.
fn is_like_neighbours(gates: &[Gate], index: usize) -> bool {
    let Some([before, gate, after]) = index.checked_sub(1).and_then(|it| gates.get(it..it + 3))
    else {
        return false;
    };
    let sides = |gate: &Gate| (gate.low, gate.high);
    sides(before) == sides(gate) && sides(gate) == sides(after)
}

/// Start, bends and end of the string, without a look at gates that make no difference to it.
fn bends(gates: &[Gate], makes_no_difference: impl Fn(usize) -> bool) -> Vec<Bend> {
    let (Some(first), Some(last)) = (gates.first(), gates.last()) else {
        return Vec::new();
    };
    let start = Bend {
        gate: 0,
        x: first.x,
        y: first.high.min(last.low),
    };
    let end = Bend {
        gate: gates.len() - 1,
        x: last.x,
        y: last.low,
    };
    let mut bends = vec![start];
    let mut funnel = Funnel::new(start);
    for (index, gate) in gates.iter().enumerate().skip(1) {
        if makes_no_difference(index) {
            continue;
        }
        let high = if index == end.gate {
            gate.low
        } else {
            gate.high
        };
        let top = Bend {
            gate: index,
            x: gate.x,
            y: high,
        };
        let bottom = Bend {
            gate: index,
            x: gate.x,
            y: gate.low,
        };
        funnel.pass(top, bottom, &mut bends);
    }
    if bends.last().is_some_and(|bend| bend.gate != end.gate) {
        bends.push(end);
    }
    bends
}

/// The view from the last bend through the gates met so far, which take turns
/// to narrow it: the taut string gate by gate, where not all gates are known yet.
///
/// ```
/// use retime_numerics::taut_string::{Bend, Funnel};
/// let at = |gate, x, y| Bend { gate, x, y };
/// let mut funnel = Funnel::new(at(0, 0, 0));
/// let mut bends = Vec::new();
/// funnel.pass(at(1, 50, 2), at(1, 50, 0), &mut bends); // its top, its bottom
/// assert!(bends.is_empty()); // the string may still go anywhere
/// funnel.pass(at(2, 100, 20), at(2, 100, 20), &mut bends);
/// assert_eq!(bends, [at(1, 50, 2)]); // on its way to 20 it touches the first top
/// ```
#[derive(Debug)]
pub struct Funnel {
    apex: Bend,
    below: Chain,
    above: Chain,
}

impl Funnel {
    /// A string that starts at a point.
    pub fn new(start: Bend) -> Self {
        Self {
            apex: start,
            below: Chain::default(),
            above: Chain::default(),
        }
    }

    /// The last bend.
    #[inline]
    pub fn apex(&self) -> Bend {
        self.apex
    }

    /// Passes the next gate, given by its top and bottom; adds the bends that
    /// are certain now.
    pub fn pass(&mut self, top: Bend, bottom: Bend, bends: &mut Vec<Bend>) {
        let Self { apex, below, above } = self;
        narrow(apex, bends, above, below, top, Side::Above);
        narrow(apex, bends, below, above, bottom, Side::Below);
    }

    /// The height at `x` of the string that would end at the last bottom passed.
    pub fn height_at(&self, x: i64) -> i64 {
        let Bend { x: from, y, .. } = self.apex;
        match self.below.ahead().first() {
            // Straight up is left to the gates there.
            Some(next) if next.x > from => {
                let along = x.clamp(from, next.x) - from;
                y + interpolate(along, next.y.saturating_sub(y).max(0), next.x - from)
            }
            _ => y,
        }
    }

    /// Bends the string at a point of the way that [`Self::height_at`] tells,
    /// whatever comes.
    pub fn bend_at(&mut self, apex: Bend) {
        self.apex = apex;
        self.below.restart(apex, Side::Below);
        self.above.restart(apex, Side::Above);
    }
}

/// One side of the view from the last bend.
#[derive(Debug, Default)]
struct Chain {
    points: Vec<Bend>,
    /// So many of `points` are bends already.
    passed: usize,
}

impl Chain {
    fn ahead(&self) -> &[Bend] {
        &self.points[self.passed..]
    }

    /// Drops what was passed, once that is most of it.
    fn tidy(&mut self) {
        if self.passed > 64 && 2 * self.passed > self.points.len() {
            self.points.drain(..self.passed);
            self.passed = 0;
        }
    }

    /// The chain as seen from another apex.
    fn restart(&mut self, apex: Bend, side: Side) {
        while let [first, ..] = *self.ahead()
            && first.gate <= apex.gate
        {
            self.passed += 1;
        }
        while let [first, second, ..] = *self.ahead()
            && side.covers(apex, first, second)
        {
            self.passed += 1;
        }
        self.tidy();
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Above,
    Below,
}

impl Side {
    /// Is the way from `a` to `c` at or beyond `b`, seen from this side?
    fn covers(self, a: Bend, b: Bend, c: Bend) -> bool {
        match self {
            Self::Above => turn(a, b, c) <= 0,
            Self::Below => turn(a, b, c) >= 0,
        }
    }
}

/// Adds `point` to the chain `own` of one side; bends at the `other` where the
/// view closes.
fn narrow(
    apex: &mut Bend,
    bends: &mut Vec<Bend>,
    own: &mut Chain,
    other: &mut Chain,
    point: Bend,
    side: Side,
) {
    while let [.., last] = *own.ahead() {
        let before = match *own.ahead() {
            [.., before, _] => before,
            _ => *apex,
        };
        if !side.covers(before, last, point) {
            break;
        }
        own.points.pop();
    }
    if own.ahead().is_empty() {
        while let [nearest, ..] = *other.ahead() {
            let closed = match side {
                Side::Above => turn(*apex, nearest, point) < 0,
                Side::Below => turn(*apex, nearest, point) > 0,
            };
            if !closed {
                break;
            }
            bends.push(nearest);
            other.passed += 1;
            *apex = nearest;
        }
        other.tidy();
        own.points.clear();
        own.passed = 0;
    }
    own.points.push(point);
}

/// Positive if the way `a -> b -> c` turns up, negative if down.
fn turn(a: Bend, b: Bend, c: Bend) -> i128 {
    let wide = |from: i64, to: i64| i128::from(to.wrapping_sub(from));
    wide(a.x, b.x) * wide(a.y, c.y) - wide(a.x, c.x) * wide(a.y, b.y)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn corridor() -> impl Strategy<Value = Vec<Gate>> {
        proptest::collection::vec((0_i64..30, 0_i64..20, 0_i64..40), 1..60).prop_map(|steps| {
            let mut gates: Vec<Gate> = Vec::new();
            let (mut x, mut low) = (0, 0);
            for (dx, rise, room) in steps {
                x += dx;
                low += if rise > 14 { rise - 14 } else { 0 };
                gates.push(Gate {
                    x,
                    low,
                    high: low + room,
                });
            }
            let mut lowest = i64::MAX;
            for gate in gates.iter_mut().rev() {
                lowest = lowest.min(gate.high);
                gate.high = lowest;
            }
            gates
        })
    }

    proptest! {
        /// A path is the taut string exactly if it bends up only at highs and
        /// down only at lows.
        #[test]
        fn it_bends_only_where_it_must(gates in corridor()) {
            let bends = bends(&gates, |_| false);
            for three in bends.windows(3) {
                let (gate, y) = (gates[three[1].gate], three[1].y);
                match turn(three[0], three[1], three[2]) {
                    t if t > 0 => prop_assert_eq!(y, gate.high),
                    t if t < 0 => prop_assert_eq!(y, gate.low),
                    _ => prop_assert!(y == gate.high || y == gate.low),
                }
            }
        }

        #[test]
        fn gates_between_others_like_them_make_no_difference(
            gates in corridor(),
            more in proptest::collection::vec((0_usize..4, 0_i64..3), 60),
        ) {
            // Each gate comes several times, at places up to the next one.
            let mut repeated = Vec::new();
            for (index, (gate, (times, step))) in gates.iter().zip(more).enumerate() {
                let end = gates.get(index + 1).map_or(i64::MAX, |next| next.x);
                let places = (0..=times as i64).map(|it| (gate.x + it * step).min(end));
                repeated.extend(places.map(|x| Gate { x, ..*gate }));
            }
            let all = values_on(&repeated, &bends(&repeated, |_| false));
            prop_assert_eq!(taut_string(&repeated), all);
        }

        #[test]
        fn it_passes_every_gate_and_never_falls(gates in corridor()) {
            let values = taut_string(&gates);
            prop_assert_eq!(values.len(), gates.len());
            for (value, gate) in values.iter().zip(&gates) {
                prop_assert!(gate.low <= *value && *value <= gate.high, "{} not in {:?}", value, gate);
            }
            prop_assert!(values.is_sorted());
            prop_assert_eq!(values.last(), gates.last().map(|gate| &gate.low));
        }
    }
}
