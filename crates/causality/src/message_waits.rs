//! Since when messages were awaited, where it is recorded.
//!
//! By event it is known of receives for how long their location had done nothing else when they were
//! complete, of sends for how long they kept it, and of ends of operations for how long it had taken part
//! where its begin is no cause, so that nothing has to be searched for.

use rayon::prelude::*;

use retime_model::{Lasted, LocationIndex, LogColumns, Role, Ticks};

use crate::ids::EventNode;
use crate::nodes::Nodes;
use crate::partner::Partner;

/// Since when messages were awaited, and sends kept their locations.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageWaits {
    /// One column per location, with an entry per event up to the last that is known.
    lasted: Vec<Vec<Lasted>>,
    /// True if any send is known to have kept its location.
    has_held: bool,
    /// The sends that kept it from later on, and how much later; rising.
    later: Vec<(EventNode, Ticks)>,
    /// The receives of sends that kept their location, which were posted before they were waited for,
    /// and how long they were under way; rising.
    posted: Vec<(EventNode, Ticks)>,
}

impl MessageWaits {
    /// Takes what is known out of the logs of all locations; `partner` has the messages.
    pub(super) fn recorded(logs: &mut [LogColumns], nodes: &Nodes, partner: &[Partner]) -> Self {
        let later = logs.iter().enumerate().flat_map(|(position, log)| {
            let own = log.held_later.iter();
            own.map(move |it| (nodes.of_log(position, it.send), it.since.ticks()))
        });
        let later = later.map(|(send, since)| (send, since.unwrap_or_default()));
        let mut waits = Self {
            later: later.collect(),
            ..Self::default()
        };
        let lasted = logs.iter_mut().map(|log| std::mem::take(&mut log.lasted));
        waits.lasted = lasted.collect();
        let is_held = |(node, lasted): (EventNode, &Lasted)| {
            *lasted != Lasted::UNKNOWN && nodes.role(node) == Role::Send
        };
        let mut known = waits.lasted.iter().enumerate();
        waits.has_held = known.any(|(location, own)| nodes.span(location).zip(own).any(is_held));
        if waits.has_held {
            let posted = logs.par_iter().enumerate().map(|(position, log)| {
                let mut posted = waits.posted_of(position, log, nodes, partner);
                posted.sort_unstable();
                posted
            });
            waits.posted = posted.collect::<Vec<_>>().concat();
        }
        waits
    }

    /// The receives of a location that were posted before they were waited for, of sends that kept theirs.
    fn posted_of(
        &self,
        position: usize,
        log: &LogColumns,
        nodes: &Nodes,
        partner: &[Partner],
    ) -> Vec<(EventNode, Ticks)> {
        let places = log.receives.iter().zip(&log.posted);
        let posted = places.filter_map(|(place, posted)| {
            let receive = nodes.of_log(position, place.node);
            let since = nodes.timestamp(receive).0.saturating_sub(posted.0);
            if since == 0 {
                return None;
            }
            self.kept(partner.get(receive.index())?.node()?, nodes)?;
            Some((receive, Ticks(i64::try_from(since).unwrap_or(i64::MAX))))
        });
        posted.collect()
    }

    /// The events of a location, as far as any is known.
    pub(super) fn of(&self, location: LocationIndex) -> &[Lasted] {
        let own = self.lasted.get(location.as_usize());
        own.map(Vec::as_slice).unwrap_or_default()
    }

    /// The ticks for which a send kept its location.
    #[inline]
    pub(super) fn kept(&self, send: EventNode, nodes: &Nodes) -> Option<Ticks> {
        if !self.has_held {
            return None;
        }
        self.lasted(send, nodes)
    }

    /// The ticks that are known of an event, whichever it is.
    #[inline]
    pub(super) fn lasted(&self, node: EventNode, nodes: &Nodes) -> Option<Ticks> {
        let location = nodes.location(node);
        let first = nodes.span(location.as_usize()).range().start;
        self.of(location).get(node.index() - first)?.ticks()
    }

    /// The ticks after which a send that kept its location began to do so.
    pub(super) fn kept_since(&self, send: EventNode) -> Ticks {
        listed(&self.later, send)
    }

    /// The ticks for which a receive was under way, if that is more than it was waited for and its send
    /// kept its location.
    pub(super) fn under_way(&self, receive: EventNode) -> Ticks {
        listed(&self.posted, receive)
    }
}

/// The ticks of a node in a list of some; none if it is not there.
fn listed(all: &[(EventNode, Ticks)], node: EventNode) -> Ticks {
    let at = all.binary_search_by_key(&node, |it| it.0).ok();
    at.and_then(|it| all.get(it)).map_or(Ticks(0), |it| it.1)
}
