//! From the common axis to what has to be added to each clock.
//!
//! The centre leaves the common time open; it is that of the reference. A clock
//! `p` that shows `v` on the common axis has the time `T = v + y_p(v)`; the
//! reference shows the `w` with `w + y_ref(w) = T`, found by going back and forth,
//! since `y_ref` is nearly constant; and `w - v` is what has to be added.

use crate::clocks::ClockId;
use crate::estimate::{Estimate, Offset};

use super::curves::Curves;
use super::frame::Frame;

/// `y` changes by far less than what it is read off by: each round adds digits.
const ROUNDS: usize = 6;

/// Offsets against the root of each clock's part of the trace; none for a clock
/// that nothing is tied to, unless it is the reference.
pub(super) fn estimate(
    frame: &Frame,
    curves: &Curves,
    root: &[usize],
    reference: ClockId,
) -> Estimate {
    let mut size = vec![0_usize; root.len()];
    for &root in root {
        size[root] += 1;
    }
    let clocks = root.iter().enumerate();
    let offset = |(clock, &root): (usize, &usize)| {
        let related = size[root] > 1 || root == reference.as_usize();
        related.then(|| offset(frame, curves, clock, root))
    };
    Estimate {
        offsets: clocks.map(offset).collect(),
        reference,
    }
}

fn offset(frame: &Frame, curves: &Curves, clock: usize, root: usize) -> Offset {
    if clock == root {
        return Offset::constant(0.0);
    }
    let add = |clock: usize, time: f64| frame.lines[clock].at(time) + curves.at(clock, time);
    let shift = frame.shifts[clock].saturating_sub(frame.shifts[root]) as f64;
    let knot = |knot: usize| {
        let time = curves.knot(knot);
        let common = time + add(clock, time);
        let shown = (0..ROUNDS).fold(common, |shown, _| common - add(root, shown));
        (frame.stamp(clock, time), (shown - time) + shift)
    };
    Offset::through((0..=curves.pieces).map(knot).collect())
}
