//! The instants on the track of contradictions, written.

use retime::TraceInfo;
use retime::causality::{EventNode, Role};

use crate::axis::Axis;
use crate::contradictions::Contradiction;
use crate::encoder::{Encoder, Moment, Names, Point};
use crate::facts::Facts;
use crate::view::View;

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
        for &it in contradictions {
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

    fn facts(&self, it: Contradiction) -> Facts {
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
