//! Dependencies of aligned clocks to which lines are added.

use std::collections::BTreeMap;

use retime_model::{Cancelled, ClockId, Monitor};

use super::line::RunLine;
use super::run::AlignedRun;
use retime_causality::Causality;
use retime_causality::MinimalDelay;
use retime_causality::edges::{Edge, Source, each_part_watched};

/// A dependency between clocks that are aligned, to which lines are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tie {
    pub(crate) from: ClockId,
    pub(crate) to: ClockId,
    /// The shares of the run after which it was sent,
    pub(crate) sent: f64,
    /// and received.
    pub(crate) received: f64,
    /// Its slack without the lines.
    pub(crate) slack: f64,
}

impl Tie {
    fn of(edge: &Edge, run: &AlignedRun<'_>, delay: &MinimalDelay, causality: &Causality) -> Self {
        let (sent, received) = (
            run.time(edge.from, edge.sent),
            run.time(edge.to, edge.received),
        );
        Self {
            from: edge.from,
            to: edge.to,
            sent: run.share(sent),
            received: run.share(received),
            slack: received - sent - edge.minimal_delay(delay, causality) as f64,
        }
    }

    /// The change of its slack by lines.
    pub(crate) fn change(&self, lines: &[RunLine]) -> f64 {
        lines[self.to.as_usize()].at(self.received) - lines[self.from.as_usize()].at(self.sent)
    }
}

/// The run, the minimal delay and the trace that slacks of ties are computed from.
pub(crate) struct Judge<'a> {
    pub(crate) run: &'a AlignedRun<'a>,
    pub(crate) delay: &'a MinimalDelay,
    pub(crate) causality: &'a Causality,
    pub(crate) monitor: &'a dyn Monitor,
}

/// Stretches of the run of each of which the tightest tie counts.
const WINDOWS: f64 = 64.0;

impl Judge<'_> {
    /// For each two clocks and stretch of the run the tie for which `value` is the least, where
    /// there is any.
    pub(crate) fn least(
        &self,
        source: &dyn Source,
        value: impl Fn(&Tie) -> Option<f64> + Sync,
    ) -> Result<Vec<Tie>, Cancelled> {
        type Least = BTreeMap<(ClockId, ClockId, u32), (f64, Tie)>;
        let add = |least: &mut Least, (found, tie): (f64, Tie)| {
            let window = (tie.sent.clamp(0.0, 1.0) * WINDOWS) as u32;
            let known = least
                .entry((tie.from, tie.to, window))
                .or_insert((found, tie));
            if found < known.0 {
                *known = (found, tie);
            }
        };
        let parts = each_part_watched(source, self.monitor, |part| {
            let mut least = Least::new();
            source.walk(part, &mut |edge| {
                let tie = Tie::of(&edge, self.run, self.delay, self.causality);
                if let Some(found) = value(&tie) {
                    add(&mut least, (found, tie));
                }
            });
            least
        })?;
        let mut least = Least::new();
        for found in parts.into_iter().flat_map(BTreeMap::into_values) {
            add(&mut least, found);
        }
        Ok(least.into_values().map(|it| it.1).collect())
    }
}
