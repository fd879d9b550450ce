//! The events of a trace at the times of one group: recorded or corrected.

use std::borrow::Cow;

use retime::causality::RetimingError;
use retime::optimal::ErrorBounds;
use retime::{Causality, Clocks, Correction, LocationIndex, Monitor, Timestamp};

use crate::arrows::Arrows;
use crate::axis::Axis;
use crate::error::ExportError;
use crate::shown::{Exported, Shown, Times};
use crate::window::Window;

/// All locations at the times of one group.
pub(crate) struct View<'a> {
    /// The title of the group, if there are two.
    pub(crate) title: Option<&'static str>,
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
    pub(crate) locations: &'a [LocationIndex],
    pub(crate) window: Window,
}

impl<'a> View<'a> {
    /// The groups that are shown.
    pub(crate) fn all(
        exported: &Exported<'a>,
        shown: &'a Shown,
        axis: &Axis,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Self>, ExportError> {
        let window = Window {
            from: shown.from.map_or(Timestamp(0), |it| axis.stamp(it)),
            to: shown.to.map_or(Timestamp(u64::MAX), |it| axis.stamp(it)),
        };
        let titled = |title| (shown.times == Times::Both).then_some(title);
        let (recorded, corrected) = shown.groups();
        let mut views = Vec::new();
        if recorded {
            let causality = Cow::Borrowed(exported.causality);
            let arrows = Arrows::of(&causality, &shown.locations, window);
            views.push(Self {
                title: titled("recorded"),
                number: 0,
                correction: None,
                clocks: exported.clocks,
                bounds: exported.bounds.filter(|_| exported.correction.is_none()),
                recorded: exported.causality,
                causality,
                arrows,
                locations: &shown.locations,
                window,
            });
        }
        if corrected {
            let causality = match exported.correction {
                Some(it) => {
                    let retimed = exported.causality.retimed(it, monitor);
                    Cow::Owned(retimed.map_err(|error| match error {
                        RetimingError::TooFar => ExportError::TooFar,
                        RetimingError::Cancelled(cancelled) => cancelled.into(),
                    })?)
                }
                None => Cow::Borrowed(exported.causality),
            };
            let arrows = Arrows::of(&causality, &shown.locations, window);
            views.push(Self {
                title: titled("corrected"),
                number: views.len() as u32,
                correction: exported.correction,
                clocks: exported
                    .correction
                    .map_or(exported.clocks, Correction::clocks),
                bounds: exported.bounds,
                recorded: exported.causality,
                causality,
                arrows,
                locations: &shown.locations,
                window,
            });
        }
        Ok(views)
    }

    /// A number for each arrow that no other one of the file has, by its effect.
    pub(crate) fn first_arrow(&self) -> u64 {
        1 + u64::from(self.number) * self.causality.nodes().len() as u64
    }
}
