//! Events of simulated processes, and the sinks that take them.

use retime_otf2::writer::{Collective, LocationWriter, Message, WriteResult};
use retime_otf2::{EventData, RegionRef};

/// An event of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A region is entered.
    Enter(RegionRef),
    /// A region is left.
    Leave(RegionRef),
    /// A blocking send.
    Send(Message),
    /// A blocking receive.
    Recv(Message),
    /// A non-blocking send is started, with this request.
    Isend(Message, u64),
    /// The send with this request is complete.
    IsendComplete(u64),
    /// A non-blocking receive is started, with this request.
    IrecvRequest(u64),
    /// The receive with this request is complete.
    Irecv(Message, u64),
    /// A request is tested and not yet complete.
    RequestTest(u64),
    /// A request is cancelled.
    RequestCancelled(u64),
    /// A collective operation begins.
    CollectiveBegin,
    /// A collective operation ends.
    CollectiveEnd(Collective),
    /// A non-blocking collective operation is started, with this request.
    NonBlockingCollectiveRequest(u64),
    /// The collective operation with this request is complete.
    NonBlockingCollectiveComplete(Collective, u64),
}

impl Event {
    /// Writes the event with the given time.
    pub(crate) fn write(self, location: &mut LocationWriter, time: u64) -> WriteResult<()> {
        match self {
            Self::Enter(region) => location.enter(time, region),
            Self::Leave(region) => location.leave(time, region),
            Self::Send(message) => location.send(time, message),
            Self::Recv(message) => location.recv(time, message),
            Self::Isend(message, request) => location.isend(time, message, request),
            Self::IsendComplete(request) => location.isend_complete(time, request),
            Self::IrecvRequest(request) => location.irecv_request(time, request),
            Self::Irecv(message, request) => location.irecv(time, message, request),
            Self::RequestTest(request) => {
                location.event(time, &EventData::MpiRequestTest { request })
            }
            Self::RequestCancelled(request) => {
                location.event(time, &EventData::MpiRequestCancelled { request })
            }
            Self::CollectiveBegin => location.event(time, &EventData::MpiCollectiveBegin),
            Self::CollectiveEnd(collective) => location.collective_end(time, collective),
            Self::NonBlockingCollectiveRequest(request) => {
                location.event(time, &EventData::NonBlockingCollectiveRequest { request })
            }
            Self::NonBlockingCollectiveComplete(collective, request) => {
                location.non_blocking_collective_complete(time, collective, request)
            }
        }
    }
}

/// Takes the events of a simulation as they happen.
///
/// Events of one location come in the order of their times; those of different
/// locations do not.
pub trait Sink {
    /// An event of a location (numbered as in [`Layout`](crate::Layout)) at
    /// its true time in nanoseconds since the start.
    fn event(&mut self, location: usize, time: u64, event: Event) -> crate::Result<()>;
}

/// Keeps all events in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// True times and events of each location.
    pub locations: Vec<Vec<(u64, Event)>>,
}

impl Sink for Recording {
    fn event(&mut self, location: usize, time: u64, event: Event) -> crate::Result<()> {
        if self.locations.len() <= location {
            self.locations.resize_with(location + 1, Vec::new);
        }
        self.locations[location].push((time, event));
        Ok(())
    }
}

/// Forgets them, for whoever only wants to know how many there are.
impl Sink for () {
    fn event(&mut self, _: usize, _: u64, _: Event) -> crate::Result<()> {
        Ok(())
    }
}

/// Hands every event to two sinks.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn event(&mut self, location: usize, time: u64, event: Event) -> crate::Result<()> {
        self.0.event(location, time, event)?;
        self.1.event(location, time, event)
    }
}
