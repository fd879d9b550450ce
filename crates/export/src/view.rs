//! The events of a trace at the times of one group: recorded or corrected.

use std::borrow::Cow;
use std::sync::Arc;

use retime::causality::RetimingError;
use retime::optimal::ErrorBounds;
use retime::{Causality, Clocks, Correction, LocationIndex, Monitor, Timestamp};

use crate::arrows::Arrows;
use crate::axis::Axis;
use crate::contradictions::{self, Contradiction};
use crate::error::ExportError;
use crate::placement::Placement;
use crate::shown::{Exported, Shown, Times};
use crate::window::Window;

/// All locations at the times of one group.
pub(crate) struct View<'a> {
    /// The title of the group.
    pub(crate) title: &'a str,
    /// The place of the trace in the file.
    pub(crate) placement: &'a Placement,
    /// True if the file shows another group, too.
    pub(crate) is_one_of_two: bool,
    /// 0, or 1 for the second one: so that both have numbers of their own.
    pub(crate) number: u32,
    /// To its times, if they are not the recorded ones.
    pub(crate) correction: Option<&'a Correction>,
    pub(crate) clocks: &'a Clocks,
    /// How far its times can be from the truth.
    pub(crate) bounds: Option<&'a ErrorBounds>,
    /// At recorded times.
    pub(crate) recorded: &'a Causality,
    /// At its times.
    pub(crate) causality: Cow<'a, Causality>,
    pub(crate) arrows: Arrows,
    /// The dependencies that the recording has in reverse, in the order of its times.
    pub(crate) contradictions: Vec<Contradiction>,
    /// The process of each location.
    pub(crate) processes: Vec<usize>,
    /// The name of each communicator.
    pub(crate) communicators: Vec<Arc<str>>,
    pub(crate) locations: &'a [LocationIndex],
    pub(crate) window: Window,
}

impl<'a> View<'a> {
    /// The groups that are shown.
    pub(crate) fn all(
        exported: &Exported<'a>,
        shown: &'a Shown,
        placement: &'a Placement,
        axis: &Axis,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Self>, ExportError> {
        let window = Window {
            from: shown.from.map_or(Timestamp(0), |it| axis.stamp(it)),
            to: shown.to.map_or(Timestamp(u64::MAX), |it| axis.stamp(it)),
        };
        let view = |times: &'static str,
                    number: usize,
                    correction: Option<&'a Correction>,
                    bounds: Option<&'a ErrorBounds>,
                    causality: Cow<'a, Causality>| Self {
            title: placement.title.as_deref().unwrap_or(times),
            placement,
            is_one_of_two: shown.times == Times::Both,
            number: number as u32,
            correction,
            clocks: correction.map_or(exported.clocks, Correction::clocks),
            bounds,
            recorded: exported.causality,
            arrows: Arrows::of(&causality, &shown.locations, window),
            contradictions: contradictions::of(
                exported.causality,
                &causality,
                &shown.locations,
                window,
            ),
            causality,
            processes: processes(exported),
            communicators: communicators(exported),
            locations: &shown.locations,
            window,
        };
        let (recorded, corrected) = shown.groups();
        let mut views = Vec::new();
        if recorded {
            let bounds = exported.bounds.filter(|_| exported.correction.is_none());
            let causality = Cow::Borrowed(exported.causality);
            views.push(view("recorded", 0, None, bounds, causality));
        }
        if corrected {
            let (correction, bounds) = (exported.correction, exported.bounds);
            let causality = at_corrected_times(exported, monitor)?;
            views.push(view(
                "corrected",
                views.len(),
                correction,
                bounds,
                causality,
            ));
        }
        Ok(views)
    }

    /// A number for each arrow that no other one of the file has, by its effect.
    pub(crate) fn first_arrow(&self) -> u64 {
        let before = u64::from(self.number) * self.causality.nodes().len() as u64;
        1 + self.placement.arrows + before
    }
}

/// The dependencies at the times that the correction gives them, if there is one.
fn at_corrected_times<'a>(
    exported: &Exported<'a>,
    monitor: &dyn Monitor,
) -> Result<Cow<'a, Causality>, ExportError> {
    let Some(correction) = exported.correction else {
        return Ok(Cow::Borrowed(exported.causality));
    };
    let retimed = exported.causality.retimed(correction, monitor);
    retimed.map(Cow::Owned).map_err(|error| match error {
        RetimingError::TooFar => ExportError::TooFar,
        RetimingError::Cancelled(cancelled) => cancelled.into(),
    })
}

fn communicators(exported: &Exported<'_>) -> Vec<Arc<str>> {
    let all = exported.info.communicators.iter();
    all.map(|it| it.name.as_str().into()).collect()
}

fn processes(exported: &Exported<'_>) -> Vec<usize> {
    exported
        .info
        .locations
        .iter()
        .map(|it| it.process)
        .collect()
}
