//! Where clocks stepped, for whoever has to know before bounds can be computed.

use super::bounds::BoundOptions;
use super::facts::Facts;
use super::narrowed::Narrowed;
use super::relaxation::Relaxation;
use crate::edges::Edges;
use crate::estimate::Estimate;

/// By clock the open intervals of stamps in which it stepped, in order and
/// disjoint, as [told apart](super::screen) from misreadings. Of `base` only the
/// overall line of each clock counts; rates stray from it by `drift`, or as much
/// as is usual.
pub(crate) fn steps(edges: &Edges, base: &Estimate, drift: Option<f64>) -> Vec<Vec<(i64, i64)>> {
    let usual = BoundOptions::default();
    let options = BoundOptions {
        drift: drift.unwrap_or(usual.drift),
        ..usual
    };
    let facts = Facts::new(edges, |_| 0, base, &options);
    let mut relaxation = Relaxation::new(edges.clocks());
    Narrowed::new(edges, &facts).screen(&facts, &mut relaxation);
    relaxation.into_cuts()
}
