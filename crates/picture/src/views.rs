//! Stretches of time as they are drawn.

use std::io;

use rayon::prelude::*;
use serde::Serialize;

use crate::arrows::{Arrows, ChosenArrows};
use crate::places::Place;
use crate::seen::Seen;
use crate::slices::LaneSlices;
use crate::strip::Strip;
use crate::{Lanes, Subject};

/// A stretch of time, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// The stretch that it shows.
    #[serde(flatten)]
    pub place: Place,
    /// The numbers of the lanes whose calls follow.
    pub rows: Vec<usize>,
    /// The calls of each lane, where they can be drawn one by one.
    pub slices: Vec<Option<LaneSlices>>,
    /// The regions in which each lane spent most of its time, where there are too many calls.
    pub strips: Vec<Option<Strip>>,
    /// The messages and collectives between the lanes.
    pub arrows: Arrows,
}

impl View {
    /// A stretch of which nothing is drawn yet.
    pub(crate) fn undrawn(place: &Place) -> Self {
        Self {
            place: place.clone(),
            rows: Vec::new(),
            slices: Vec::new(),
            strips: Vec::new(),
            arrows: Arrows::default(),
        }
    }
}

/// All places with the arrows that were chosen for them; the first is the whole trace, which is
/// drawn by strips where not all calls can be.
pub(crate) fn of(
    subject: &Subject<'_>,
    places: &[Place],
    arrows: &[ChosenArrows],
    lanes: &Lanes,
    seen: &Seen,
) -> io::Result<Vec<View>> {
    let view = |(number, place): (usize, &Place)| {
        let lane = |it: &crate::Lane| seen.drawn.get(it.location.as_usize())?.as_ref();
        let drawn = || lanes.shown.iter().filter_map(lane);
        let collectors = || drawn().filter_map(|it| it.collectors.get(number));
        let by_strips = number == 0 && collectors().any(|it| it.left_out() > 0);
        let (mut slices, mut strips) = (Vec::new(), Vec::new());
        if by_strips {
            strips.extend(drawn().map(|it| Some(it.buckets.strip(&seen.regions))));
        } else {
            slices.extend(collectors().map(|it| Some(it.slices(&seen.regions))));
        }
        let arrows = arrows
            .get(number)
            .map(|it| it.arrows(subject, place, lanes, &seen.facts));
        Ok(View {
            place: place.clone(),
            rows: (0..lanes.len()).collect(),
            slices,
            strips,
            arrows: arrows.transpose()?.unwrap_or_default(),
        })
    };
    places.par_iter().enumerate().map(view).collect()
}
