//! Outlier rejection: defective stamps, left out.
//!
//! Now and then a clock is read wrongly, or a process stands still between the
//! event and the reading; its messages then contradict all others around. Once
//! clocks are aligned such a dependency shows by being reversed by far: by more
//! than 200 ns and than half the round trip of the median pair of clocks. But
//! where many are, the clocks are not aligned yet. So they are left out only if
//! they touch at most a tenth of 512 windows of the run.
//!
//! Of a link whose tightest dependency is not reversed that far none is, and the
//! tightest are known; so dependencies are walked again only if there is a suspect.

use rustc_hash::FxHashSet;

use super::curves::Curves;
use super::frame::Frame;
use super::links::{Link, Links};
use super::options::OPTIONS;
use super::reduced::{Point, Same, same};
use crate::edges::Edge;
use crate::edges::{Source, each_part_watched};
use crate::median::median;
use retime_model::{Cancelled, Monitor};

/// Aligned clocks, by which dependencies are judged.
#[derive(Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) links: &'a Links,
    pub(super) frame: &'a Frame,
    pub(super) curves: &'a Curves,
    /// The least aligned latency of each link.
    pub(super) fastest: &'a [f64],
    /// In ticks.
    pub(super) nanosecond: f64,
}

impl Judged<'_> {
    /// Dependencies to leave out, besides those that are already, in the order of
    /// the source.
    pub(super) fn outliers(
        &self,
        source: &impl Source,
        left_out: &FxHashSet<Same>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Edge>, Cancelled> {
        let bound = -self.bound();
        let suspects = self.links.list().iter().zip(self.fastest);
        let suspects = suspects.filter(|it| *it.1 < bound);
        let suspects: FxHashSet<(usize, usize)> =
            suspects.map(|(link, _)| (link.from, link.to)).collect();
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        let window = |edge: &Edge| {
            let (from, to) = (edge.from.as_usize(), edge.to.as_usize());
            if !suspects.contains(&(from, to)) || left_out.contains(&same(edge)) {
                return None;
            }
            let (sent, received) = (edge.sent, edge.received);
            let seen = self.frame.see_between(from, to, &Point { sent, received });
            let window = (seen.sent * (OPTIONS.outlier_windows as f64 / self.frame.span)) as usize;
            let latency = seen.latency + self.curves.between(from, to, &seen);
            (latency < bound).then_some(window.min(OPTIONS.outlier_windows - 1))
        };
        let touched = each_part_watched(source, monitor, |part| {
            let mut touched = [false; OPTIONS.outlier_windows];
            source.walk(part, |edge| {
                if let Some(window) = window(&edge) {
                    touched[window] = true;
                }
            });
            touched
        })?;
        let is_touched = |window: &usize| touched.iter().any(|it| it[*window]);
        if (0..OPTIONS.outlier_windows).filter(is_touched).count()
            > OPTIONS.outlier_windows / OPTIONS.outliers_among
        {
            return Ok(Vec::new());
        }
        let found = each_part_watched(source, monitor, |part| {
            let mut found = Vec::new();
            source.walk(part, |edge| found.extend(window(&edge).map(|_| edge)));
            found
        })?;
        Ok(found.concat())
    }

    /// Whether some dependency is reversed by as much.
    pub(super) fn any(&self) -> bool {
        let bound = -self.bound();
        self.fastest.iter().any(|&least| least < bound)
    }

    /// How far reversed an outlier is, at least.
    fn bound(&self) -> f64 {
        let list = self.links.list().iter().zip(self.fastest);
        let round_trip = |(link, there): (&Link, &f64)| {
            let back = self.links.opposite_index(link)?;
            (link.from < link.to).then(|| there + self.fastest[back])
        };
        let mut round_trips: Vec<f64> = list.filter_map(round_trip).collect();
        let half = median(&mut round_trips).map_or(0.0, |it| it / 2.0);
        half.max(OPTIONS.outlier * self.nanosecond)
    }
}
