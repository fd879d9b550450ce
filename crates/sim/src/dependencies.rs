//! Which event truly depends on which.
//!
//! Book-keeping of the simulation itself: a message is received by whoever took
//! its place in line, and the n-th collective of each process is one operation.

use std::collections::HashMap;

use retime_causality::{EventNode, LogNode};

use crate::{event::Event, layout::Layout};

/// Sender, receiver and tag of a message.
type Line = (u32, u32, u32);

/// Follows the events of all locations.
#[derive(Debug)]
pub(crate) struct Dependencies {
    layout: Layout,
    /// Location and node of each message sent on a line, in order.
    sends: HashMap<Line, Vec<(usize, LogNode)>>,
    locations: Vec<Tasks>,
}

#[derive(Debug, Default)]
struct Tasks {
    /// Line and node of each receive, in the order of posting; nothing while it
    /// is not complete.
    receives: Vec<Option<(Line, LogNode)>>,
    /// Place among the receives of each request.
    open: HashMap<u64, usize>,
    /// Nodes at which collectives begin and end.
    begins: Vec<LogNode>,
    ends: Vec<LogNode>,
}

impl Dependencies {
    pub(crate) fn new(layout: Layout) -> Self {
        Self {
            layout,
            sends: HashMap::new(),
            locations: (0..layout.locations()).map(|_| Tasks::default()).collect(),
        }
    }

    /// An event of a location, and its node if it has a role.
    pub(crate) fn add(&mut self, location: usize, node: Option<LogNode>, event: Event) {
        let own = self.layout.rank_of(location);
        let tasks = &mut self.locations[location];
        match (event, node) {
            (Event::Send(message) | Event::Isend(message, _), Some(node)) => {
                let line = (own, message.peer, message.tag);
                self.sends.entry(line).or_default().push((location, node));
            }
            (Event::Recv(message), Some(node)) => {
                let line = (message.peer, own, message.tag);
                tasks.receives.push(Some((line, node)));
            }
            (Event::IrecvRequest(request), _) => {
                tasks.open.insert(request, tasks.receives.len());
                tasks.receives.push(None);
            }
            (Event::Irecv(message, request), Some(node)) => {
                if let Some(place) = tasks.open.remove(&request) {
                    let line = (message.peer, own, message.tag);
                    tasks.receives[place] = Some((line, node));
                }
            }
            (Event::CollectiveBegin, Some(node)) => tasks.begins.push(node),
            (Event::CollectiveEnd(_), Some(node)) => tasks.ends.push(node),
            _ => {}
        }
    }

    /// Send and receive of each message, with the given first node of each
    /// location.
    pub(crate) fn messages(&self, first: &[EventNode]) -> Vec<(EventNode, EventNode)> {
        let mut places: HashMap<Line, usize> = HashMap::new();
        let mut found = Vec::new();
        for (tasks, &own) in self.locations.iter().zip(first) {
            for &(line, node) in tasks.receives.iter().flatten() {
                let place = places.entry(line).or_default();
                let sent = self.sends.get(&line).and_then(|sends| sends.get(*place));
                *place += 1;
                if let Some(&(sender, send)) = sent {
                    found.push((in_trace(first[sender], send), in_trace(own, node)));
                }
            }
        }
        found
    }

    /// Begin and end of each participant in each collective.
    pub(crate) fn collectives(&self, first: &[EventNode]) -> Vec<Vec<(EventNode, EventNode)>> {
        let most = self.locations.iter().map(|tasks| tasks.ends.len()).max();
        let mut found = vec![Vec::new(); most.unwrap_or(0)];
        for (tasks, &own) in self.locations.iter().zip(first) {
            let parts = tasks.begins.iter().zip(&tasks.ends);
            for (operation, (&begin, &end)) in found.iter_mut().zip(parts) {
                operation.push((in_trace(own, begin), in_trace(own, end)));
            }
        }
        found
    }
}

/// A node of a location whose first node is known.
fn in_trace(first: EventNode, node: LogNode) -> EventNode {
    EventNode(first.0 + node.0)
}
