//! Stretches of time as they are drawn.

use serde::Serialize;

use crate::arrows::Arrows;
use crate::passage::Passed;
use crate::places::Place;
use crate::regions::Regions;
use crate::slices::{Collector, LaneSlices};
use crate::strip::{Buckets, Strip};
use crate::{Lanes, Subject};

/// A stretch of time, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// What it shows.
    #[serde(flatten)]
    pub place: Place,
    /// The calls of each lane, where they can be drawn one by one.
    pub slices: Vec<LaneSlices>,
    /// What each lane did most of the time, where there are too many calls.
    pub strips: Vec<Strip>,
    /// What relates the lanes.
    pub arrows: Arrows,
}

/// All places; the first is the whole trace, which is drawn by strips where not all calls
/// can be.
pub(crate) fn of(
    subject: &Subject<'_>,
    places: &[Place],
    lanes: &Lanes,
    passed: &[Passed],
    regions: &Regions,
) -> Vec<View> {
    let of_lane = |lane: &crate::Lane| passed.get(lane.location.as_usize())?.drawn.as_ref();
    let drawn: Vec<&(Vec<Collector>, Buckets)> = lanes.shown.iter().filter_map(of_lane).collect();
    let view = |(number, place): (usize, &Place)| {
        let collectors = || drawn.iter().filter_map(|it| it.0.get(number));
        let by_strips = number == 0 && collectors().any(|it| it.left_out() > 0);
        let (mut slices, mut strips) = (Vec::new(), Vec::new());
        if by_strips {
            strips.extend(drawn.iter().map(|it| it.1.strip(regions)));
        } else {
            slices.extend(collectors().map(|it| it.slices(regions)));
        }
        View {
            place: place.clone(),
            slices,
            strips,
            arrows: Arrows::of(subject, place, lanes, places.len()),
        }
    };
    places.iter().enumerate().map(view).collect()
}
