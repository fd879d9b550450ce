//! Where a step of a clock would show.
//!
//! Bounds rest on it that a clock is set only where something contradicts the rest. A clock that
//! is set at some moment shifts all its later stamps against the earlier ones. Forwards, what it
//! sends afterwards seems to leave later, and may be received too early; back, what it receives
//! afterwards seems to come too early. Seen from behind, the same step shifts the earlier stamps:
//!
//! ```text
//!  received          x     x        x
//!  sent         x        x     x             x
//!                    [---------------]             a step of any sign, if it is large, shows
//!                   from           until
//!
//!  from  = max(first sent, first received)     until = min(last sent, last received)
//! ```
//!
//! **Claim.** A step outside of that leaves one kind of dependency on only one side of it, so that
//! in one direction it contradicts nothing, however large it is. *Proof.* Let nothing be sent after
//! it. Then every dependency that relates stamps of both sides is received after it, and is the
//! later the further the clock was set forwards; the other cases are mirrored.
//!
//! **Only where a way leads there and back.** What nothing bounds on one side can be on that side of
//! all it tells, before a step and after it: so dependencies count that are between clocks which
//! others bound on both sides, and a clock that is bounded on one side can be set unseen at any time.
//!
//! ```
//! use retime_causality::{Edge, Edges};
//! use retime_model::ClockId;
//! use retime_bounds::{Witnessed, witnessed};
//! let (a, b) = (ClockId(0), ClockId(1));
//! let edges = vec![
//!     Edge::message(a, 10, b, 20),
//!     Edge::message(b, 30, a, 40),
//!     Edge::message(a, 50, b, 60),
//! ];
//! let edges = Edges::new(edges, vec![Some((0, 99)); 3]);
//! let found = witnessed(&edges, |_| true, &())?;
//! // Clock b has sent nothing after 30; the third clock nothing at all.
//! assert_eq!(found[1], Some(Witnessed { from: 30, until: 30 }));
//! assert_eq!(found[0], Some(Witnessed { from: 40, until: 40 }));
//! assert_eq!(found[2], None);
//! # Ok::<(), retime_model::Cancelled>(())
//! ```

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use retime_causality::edges::Source;
use retime_model::{Cancelled, ClockId, Monitor};

/// A table of all clocks is filled for each of so many shares of the parts, or a few more.
const TABLES: usize = 16;

/// Stamps of a clock, in ticks since the base, between which a step of it shows if it is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witnessed {
    /// The first.
    pub from: i64,
    /// The last.
    pub until: i64,
}

/// First and last stamps of one kind; the first is after the last where there are none.
#[derive(Clone, Copy)]
struct StampRange(i64, i64);

impl StampRange {
    const NONE: Self = Self(i64::MAX, i64::MIN);

    fn add(&mut self, stamp: i64) {
        *self = self.with(Self(stamp, stamp));
    }

    fn with(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.max(other.1))
    }
}

/// The stamps between which a step would show, by clock; `None` where it would show nowhere, as if
/// others do not bound the clock on both sides. Fails only if `monitor` says to give up.
pub fn witnessed(
    source: &dyn Source,
    is_bounded: impl Fn(ClockId) -> bool,
    monitor: &dyn Monitor,
) -> Result<Vec<Option<Witnessed>>, Cancelled> {
    type Found = Vec<[StampRange; 2]>;
    let clocks = (0..source.clocks() as u32).map(ClockId);
    let is_bounded: Vec<bool> = clocks.map(is_bounded).collect();
    let nothing = || vec![[StampRange::NONE; 2]; is_bounded.len()];
    let look = |mut found: Found, part: usize| {
        monitor.check()?;
        source.walk(part, &mut |edge| {
            let (from, to) = (edge.from.as_usize(), edge.to.as_usize());
            if is_bounded[from] && is_bounded[to] {
                found[from][0].add(edge.sent);
                found[to][1].add(edge.received);
            }
        });
        Ok(found)
    };
    // Least and greatest come to the same in any order.
    let both = |mut all: Found, more: Found| {
        for (all, more) in all.iter_mut().zip(more) {
            *all = [all[0].with(more[0]), all[1].with(more[1])];
        }
        Ok(all)
    };
    let parts = source.parts();
    let parts = (0..parts).into_par_iter().with_min_len(parts / TABLES);
    let all = parts.try_fold(nothing, look).try_reduce(nothing, both)?;
    let clock = |[sent, received]: [StampRange; 2]| {
        let (from, until) = (sent.0.max(received.0), sent.1.min(received.1));
        (from <= until).then_some(Witnessed { from, until })
    };
    Ok(all.into_iter().map(clock).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::edges::{Edge, Edges};

    /// Two clocks that answer each other, and a row of two to which the second of these sends.
    #[test]
    fn of_clocks_bounded_on_one_side_a_step_shows_nowhere() {
        let [a, b, c, d] = [0, 1, 2, 3].map(ClockId);
        let rounds = (0..3).map(|round| 100 * round);
        let edges = rounds.flat_map(|at| {
            [
                Edge::message(a, at, b, at + 10),
                Edge::message(b, at + 20, a, at + 30),
                Edge::message(b, at + 40, c, at + 50),
                Edge::message(c, at + 60, d, at + 70),
            ]
        });
        let edges = Edges::new(edges.collect(), vec![Some((0, 300)); 4]);
        let found = witnessed(&edges, |clock| clock.0 < 2, &()).unwrap();
        // What the second clock sends to the third afterwards shows no step of it.
        let of_b = Witnessed {
            from: 20,
            until: 210,
        };
        assert_eq!(found[1], Some(of_b));
        assert_eq!(found[2..], [None, None]);
    }
}
