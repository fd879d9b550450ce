//! The recorded times as evidence.
//!
//! Clocks are not anywhere: somebody set them, and they are off by about as much as
//! they contradict each other. Of clocks that are off by more, some effect would come
//! before its cause by more, unless all messages are looser than that. So where a
//! program waits for milliseconds, and clocks contradict each other by microseconds at
//! most, the middle of what is possible is further from the truth than what was recorded.
//!
//! Let `V` be the most by which an effect comes too early as recorded. Each clock is taken
//! to have a link there and back with the recorded time, of which every one of the `n`
//! tight dependencies has the slack `V`: with `o` the distance from the recorded time,
//!
//! ```text
//! w n (phi(V - o) + phi(V + o)) = const + 1/2 q o^2 + ...,    q = 6 n S / V^3
//! ```
//!
//! with the [weight](super::weights) `w = V / S` and `phi(s) = (S/s)^2 / 2`, whose second
//! derivative is `3 S^2 / s^4`. Only the square is kept: beyond `V` nothing is forbidden. Where
//! messages are tighter than clocks are off, which is the rule, `q` is as good as nothing.
//!
//! Distances count from the clock of the component that is held fast, whose time the others
//! get. `V` is at least `S / C` with `C` clocks: if they are off by about `S`, the chance that none
//! of them contradicts another by more than a share `1 / C` of it is hardly `C^-C`.

use serde::{Deserialize, Serialize};

use super::frame::Frame;
use super::links::Links;
use super::reduced::Point;

/// Where clocks are as recorded, and how far that is to be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Recorded {
    /// By how many ticks the most reversed dependency is off.
    worst: f64,
    /// What the curve of each clock would be.
    curves: Vec<f64>,
}

impl Recorded {
    /// In components of clocks, each named by one of its members, that count from the
    /// clocks that `frame` has pinned.
    pub(super) fn of(links: &Links, frame: &Frame, component: &[usize]) -> Self {
        let mut pin = vec![None; component.len()];
        for &clock in &frame.pinned {
            if let Some(pin) = component.get(clock).and_then(|&name| pin.get_mut(name)) {
                *pin = Some(clock);
            }
        }
        let curve = |(clock, &name): (usize, &usize)| {
            let pin = pin.get(name).copied().flatten().unwrap_or(clock);
            frame.axis.shifts[pin].saturating_sub(frame.axis.shifts[clock]) as f64
        };
        let inside = links.list().iter();
        let inside = inside.filter(|link| component.get(link.from) == component.get(link.to));
        let latencies = inside.flat_map(|link| links.of(link).iter().map(Point::latency));
        let least = latencies.min().unwrap_or(0) as f64 + frame.grain;
        Self {
            worst: (-least).max(0.0),
            curves: component.iter().enumerate().map(curve).collect(),
        }
    }

    /// The curve of a clock that leaves it as recorded.
    pub(super) fn curve(&self, clock: usize) -> f64 {
        self.curves.get(clock).copied().unwrap_or(0.0)
    }

    /// The weight `q` against links of so many tight dependencies and the scale `S`; none
    /// where nothing contradicts the recorded times, for then they need no defence.
    pub(super) fn weight(&self, dependencies: usize, scale: f64) -> f64 {
        if self.worst > 0.0 {
            let worst = self.worst.max(scale / self.curves.len() as f64);
            6.0 * dependencies as f64 * scale / worst.powi(3)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::{Edge, Edges};
    use retime_model::ClockId;

    #[test]
    fn it_is_trusted_as_far_as_it_contradicts_itself() {
        let message =
            |from, sent, to, received| Edge::message(ClockId(from), sent, ClockId(to), received);
        let edges = vec![
            message(0, 100, 1, 90),
            message(1, 200, 0, 260),
            message(2, 300, 0, 305),
        ];
        let edges = Edges::new(edges, vec![Some((0, 400)); 3]);
        let links = Links::of_list(&edges);
        let mut frame = Frame::new(&edges, vec![0, 35, -7], 0, &()).unwrap();
        frame.pinned = vec![0, 2];
        let recorded = Recorded::of(&links, &frame, &[0, 0, 2]);
        // A message is reversed by 10 less a grain; that between components does not count.
        assert!((recorded.worst - (10.0 - frame.grain)).abs() < 1e-12);
        let off = |clock: usize, by: f64| (recorded.curve(clock) - by).abs();
        assert!(off(0, 0.0) + off(1, -35.0) + off(2, 0.0) < 1e-12);
        let recorded = Recorded {
            worst: 10.0,
            ..recorded
        };
        assert!((recorded.weight(192, 2.0) - 6.0 * 192.0 * 2.0 / 1e3).abs() < 1e-12);
        // Of three clocks one is off by 20 at least.
        assert!((recorded.weight(1, 60.0) - 6.0 * 60.0 / 20.0_f64.powi(3)).abs() < 1e-12);
        assert!(Recorded::default().weight(192, 2.0).abs() < 1e-300);
    }
}
