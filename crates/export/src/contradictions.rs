//! The contradictions of a recording, as a track of its own, on which a viewer goes from one to
//! the next.
//!
//! They are the dependencies that reports count: each message, and each end of a collective
//! operation with the latest begin that it had to wait for, whose effect is stamped before its
//! cause. Each stands where its effect stands at the times that are shown.

use rayon::prelude::*;
use retime::causality::{EventNode, Role};
use retime::{Causality, LocationIndex, TraceInfo};

use crate::arrows::{Dependency, dependencies, shown_locations};
use crate::axis::Axis;
use crate::encoder::{Encoder, Moment, Names, Point};
use crate::facts::Facts;
use crate::view::View;
use crate::window::Window;

/// A dependency that is reversed in the recording.
pub(crate) type Contradiction = Dependency;

/// Those of a recording with both ends at locations that are shown and their effect, at the times
/// that are shown, within the window; in the order of these times.
pub(crate) fn of(
    recorded: &Causality,
    shown: &Causality,
    locations: &[LocationIndex],
    window: Window,
) -> Vec<Contradiction> {
    let is_shown = shown_locations(recorded, locations);
    let before = recorded.nodes();
    let nodes = shown.nodes();
    let on_shown = |node: EventNode| is_shown[before.location(node).as_usize()];
    let mut found = dependencies(recorded);
    found.retain(|it| {
        before.timestamp(it.effect) < before.timestamp(it.cause)
            && on_shown(it.cause)
            && on_shown(it.effect)
            && window.holds(nodes.timestamp(it.effect))
    });
    found.par_sort_unstable_by_key(|it| (nodes.timestamp(it.effect), *it));
    found
}

/// The trace whose contradictions are listed.
pub(crate) struct Listing<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) info: &'a TraceInfo,
    pub(crate) axis: &'a Axis,
    pub(crate) names: Names<'a>,
}

impl Listing<'_> {
    /// Writes an instant for each of some.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        contradictions: &[Contradiction],
        encoder: &mut impl Encoder,
    ) {
        for it in contradictions {
            let facts = self.facts(it);
            let shown = self.view.causality.nodes().timestamp(it.effect);
            let recorded = self.view.recorded.nodes();
            let was = recorded.timestamp(it.effect);
            let moment = Moment {
                at: self.axis.nanoseconds(shown),
                recorded: (was != shown).then(|| self.axis.signed(was)),
            };
            let kind = match recorded.role(it.effect) {
                Role::Receive => "reversed message",
                _ => "reversed collective",
            };
            let point = Point {
                moment,
                kind,
                ends: &[],
                facts: &facts,
            };
            encoder.point(out, &point, self.names);
        }
    }

    fn facts(&self, it: &Contradiction) -> Facts {
        let (recorded, shown) = (self.view.recorded.nodes(), self.view.causality.nodes());
        let id = |node: EventNode| {
            let location = self.info.locations.get(recorded.location(node).as_usize());
            location.map(|it| it.id)
        };
        let was = || {
            let (cause, effect) = (recorded.timestamp(it.cause), recorded.timestamp(it.effect));
            self.axis.span(cause, effect)
        };
        let (cause, effect) = (shown.timestamp(it.cause), shown.timestamp(it.effect));
        Facts {
            from: id(it.cause),
            to: id(it.effect),
            latency: Some(self.axis.shown_span(cause, effect)),
            recorded_latency: self.view.correction.map(|_| was()),
            ..Facts::default()
        }
    }
}
