//! Clocks [straightened](retime_clocks::Straight) at the places at which they bend.

use crate::steps::breaks::{Place, Places};
use crate::steps::parts::Cuts;
use crate::{Alignment, ClockStep};
use retime_causality::edges::{Edge, Edges, ListedEdges};
use retime_clocks::{RateChange, Straight};
use retime_model::ClockId;

/// Clocks without the bends at these places; `None` where one would run backwards.
pub(super) fn straight(places: &Places, edges: &Edges) -> Option<Straight> {
    let clocks = (0..).map(ClockId).zip(places);
    let changes = clocks.flat_map(|(clock, places)| {
        let mut added = 0.0;
        let bends = places.iter().filter_map(|it| Some((it, it.bend?)));
        bends.map(move |(place, bend)| {
            let before = rate(added);
            added += bend.by;
            RateChange {
                clock,
                after: place.after,
                until: place.until,
                at: bend.at,
                by: rate(added) - before,
                rates_within: bend.rates_within,
            }
        })
    });
    let extents = (0..edges.clocks() as u32).map(|clock| edges.extent(ClockId(clock)));
    Straight::new(changes.collect(), &extents.collect::<Vec<_>>())
}

/// The ticks that a clock gains per tick of the common time if so many have to be added for each of its own:
/// it shows one while `1 + added` pass.
fn rate(added: f64) -> f64 {
    1.0 / (1.0 + added) - 1.0
}

/// Cuts of straightened clocks at those of these places that are chosen.
pub(super) fn cuts(straight: &Straight, places: &Places, is_cut: impl Fn(&Place) -> bool) -> Cuts {
    let clocks = (0..).map(ClockId).zip(places);
    let cuts = clocks.map(|(clock, places)| {
        let time = |stamp| straight.time(clock, stamp);
        let cut = places.iter().filter(|it| is_cut(it));
        cut.map(|it| (time(it.after), time(it.until))).collect()
    });
    cuts.collect()
}

/// The alignment of clocks all of whose dependencies have been aligned straightened.
pub(in crate::steps) fn bent_alignment(
    straight: &Straight,
    aligned: Alignment,
    all: &ListedEdges,
) -> Alignment {
    let is_outlier = |edge: &&Edge| aligned.outliers.contains(&straight.edge(edge));
    let outliers = if aligned.outliers.is_empty() {
        Vec::new()
    } else {
        all.edges.all().iter().filter(is_outlier).copied().collect()
    };
    let step = |it: &ClockStep| ClockStep {
        after: straight.stamp(it.clock, it.after),
        until: straight.stamp(it.clock, it.until),
        ..it.clone()
    };
    Alignment {
        estimate: straight.bent(&aligned.estimate),
        outliers,
        steps: aligned.steps.iter().map(step).collect(),
        instead: aligned.instead.iter().map(step).collect(),
        rate_changes: straight.changes().to_vec(),
        ..aligned
    }
}
