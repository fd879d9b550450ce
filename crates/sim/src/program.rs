//! Programs written down event by event.
//!
//! For tests: a few lines that say what each process recorded, and when, make
//! a complete archive.

use std::collections::BTreeMap;
use std::path::Path;

use retime_otf2::writer::{
    ArchiveSummary, Collective, DefinitionsWriter, LocationWriter, Message, WriteOptions,
};
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, GroupRef, GroupType, Paradigm, RegionRef, RegionRole,
};

use crate::{
    beside::Beside,
    event::Event,
    failure::{Error, Result},
    layout::{Layout, WORLD},
    region,
    trace::TraceWriter,
};

/// A program that is written down by hand: the events that a few processes recorded, with the times
/// they stamped.
///
/// ```
/// use retime_sim::{Program, from, to};
///
/// # let scratch = tempfile::tempdir()?;
/// # let anchor = scratch.path().join("traces.otf2");
/// let mut program = Program::new(2);
/// program.on(0).enter(0, "main").send(10, to(1).tag(3)).barrier(20, 45).leave(50, "main");
/// program.on(1).enter(0, "main").recv(7, from(0).tag(3)).barrier(40, 44).leave(50, "main");
/// let written = program.write(&anchor)?;
/// assert_eq!(written.events, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    /// Properties of the archive.
    pub options: WriteOptions,
    layout: Layout,
    locations: Vec<ProgramEvents>,
    beside: BTreeMap<(Beside, u32), ProgramEvents>,
    regions: Vec<String>,
    comms: Vec<Comm>,
    /// A thread that was asked for and does not exist, and what it "recorded".
    stray: Option<(u32, u32)>,
    nowhere: ProgramEvents,
}

#[derive(Debug, Clone, Default)]
struct ProgramEvents {
    events: Vec<(u64, Event)>,
    clock_offsets: Vec<(u64, i64)>,
}

impl ProgramEvents {
    fn write(&self, location: &mut LocationWriter) -> Result<()> {
        for &(time, offset) in &self.clock_offsets {
            location.local().clock_offset(time, offset, 0.0);
        }
        for &(time, event) in &self.events {
            event.write(location, time)?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone)]
enum Comm {
    Intra(String, Vec<u32>),
    Inter(String, Vec<u32>, Vec<u32>),
}

impl Program {
    /// Processes with one thread each, all on one node.
    pub fn new(ranks: u32) -> Self {
        Self::with_layout(Layout::one_node(ranks))
    }

    /// Processes and threads as given.
    pub fn with_layout(layout: Layout) -> Self {
        Self {
            options: WriteOptions::default(),
            layout,
            locations: vec![ProgramEvents::default(); layout.locations()],
            beside: BTreeMap::new(),
            regions: Vec::new(),
            comms: Vec::new(),
            stray: None,
            nowhere: ProgramEvents::default(),
        }
    }

    /// The first thread of a rank.
    pub fn on(&mut self, rank: u32) -> Thread<'_> {
        self.on_thread(rank, 0)
    }

    /// Any thread of a rank. If there is none, [`write`](Self::write) fails.
    pub fn on_thread(&mut self, rank: u32, thread: u32) -> Thread<'_> {
        let recorded = if rank < self.layout.ranks && thread < self.layout.threads {
            &mut self.locations[self.layout.location(rank, thread)]
        } else {
            self.stray = Some((rank, thread));
            &mut self.nowhere
        };
        Thread {
            recorded,
            regions: &mut self.regions,
        }
    }

    /// The stream of an accelerator, in a context that a rank has made; the trace has
    /// one if this is called.
    pub fn on_stream(&mut self, rank: u32) -> Thread<'_> {
        self.on_beside(Beside::Stream, rank)
    }

    /// The location for the metrics of a rank; the trace has one if this is called.
    pub fn on_metrics(&mut self, rank: u32) -> Thread<'_> {
        self.on_beside(Beside::Metrics, rank)
    }

    fn on_beside(&mut self, what: Beside, rank: u32) -> Thread<'_> {
        Thread {
            recorded: self.beside.entry((what, rank)).or_default(),
            regions: &mut self.regions,
        }
    }

    /// A communicator of some ranks.
    pub fn comm(&mut self, name: &str, ranks: &[u32]) -> CommRef {
        self.comms
            .push(Comm::Intra(name.to_owned(), ranks.to_vec()));
        CommRef(WORLD.0 + self.comms.len() as u32)
    }

    /// A communicator between two groups of ranks.
    pub fn inter_comm(&mut self, name: &str, ours: &[u32], theirs: &[u32]) -> CommRef {
        self.comms
            .push(Comm::Inter(name.to_owned(), ours.to_vec(), theirs.to_vec()));
        CommRef(WORLD.0 + self.comms.len() as u32)
    }

    /// Writes the archive with the given anchor file.
    pub fn write(&self, anchor: &Path) -> Result<ArchiveSummary> {
        if let Some((rank, thread)) = self.stray {
            return Err(Error::NoSuchThread { rank, thread });
        }
        let mut trace = TraceWriter::create(anchor, &self.layout, self.options.clone())?;
        self.define(trace.definitions());
        for (number, recorded) in self.locations.iter().enumerate() {
            recorded.write(trace.location(number))?;
        }
        for (&(what, rank), recorded) in &self.beside {
            match trace.beside(what, rank)? {
                Some(location) => recorded.write(location)?,
                None => return Err(Error::NoSuchThread { rank, thread: 0 }),
            }
        }
        trace.finish()
    }

    fn define(&self, definitions: &mut DefinitionsWriter) {
        for name in &self.regions {
            definitions.region(name, RegionRole::FUNCTION, Paradigm::USER);
        }
        for comm in &self.comms {
            match comm {
                Comm::Intra(name, ranks) => {
                    let group = group(definitions, name, ranks);
                    definitions.comm(name, group, Some(WORLD));
                }
                Comm::Inter(name, ours, theirs) => {
                    let ours = group(definitions, name, ours);
                    let theirs = group(definitions, name, theirs);
                    definitions.inter_comm(name, ours, theirs, Some(WORLD));
                }
            }
        }
    }
}

/// World ranks are the positions that groups of communicators list.
fn group(definitions: &mut DefinitionsWriter, name: &str, ranks: &[u32]) -> GroupRef {
    let ranks: Vec<_> = ranks.iter().copied().map(u64::from).collect();
    definitions.group(name, GroupType::COMM_GROUP, Paradigm::MPI, &ranks)
}

/// The other end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(Message);

/// A message to this rank, with tag 0 and 8 bytes among all ranks.
pub fn to(rank: u32) -> Peer {
    Peer(Message {
        peer: rank,
        comm: WORLD,
        tag: 0,
        length: 8,
    })
}

/// A message from this rank, with tag 0 and 8 bytes among all ranks.
pub fn from(rank: u32) -> Peer {
    to(rank)
}

impl Peer {
    /// With this tag.
    #[must_use]
    pub fn tag(self, tag: u32) -> Self {
        Self(Message { tag, ..self.0 })
    }

    /// With this many bytes.
    #[must_use]
    pub fn bytes(self, length: u64) -> Self {
        Self(Message { length, ..self.0 })
    }

    /// In this communicator, to whose ranks the rank refers.
    #[must_use]
    pub fn in_comm(self, comm: CommRef) -> Self {
        Self(Message { comm, ..self.0 })
    }
}

/// Adds to what a thread of a [`Program`] recorded. Every method but
/// [`barrier`](Self::barrier) and [`collective`](Self::collective) adds one
/// event.
#[derive(Debug)]
pub struct Thread<'a> {
    recorded: &'a mut ProgramEvents,
    regions: &'a mut Vec<String>,
}

impl Thread<'_> {
    /// Any event.
    pub fn event(&mut self, time: u64, event: Event) -> &mut Self {
        self.recorded.events.push((time, event));
        self
    }

    /// Enters a region, which is defined if it is new.
    pub fn enter(&mut self, time: u64, region: &str) -> &mut Self {
        let region = self.region(region);
        self.event(time, Event::Enter(region))
    }

    /// Leaves a region.
    pub fn leave(&mut self, time: u64, region: &str) -> &mut Self {
        let region = self.region(region);
        self.event(time, Event::Leave(region))
    }

    /// Sends.
    pub fn send(&mut self, time: u64, peer: Peer) -> &mut Self {
        self.event(time, Event::Send(peer.0))
    }

    /// Receives.
    pub fn recv(&mut self, time: u64, peer: Peer) -> &mut Self {
        self.event(time, Event::Recv(peer.0))
    }

    /// Starts a send.
    pub fn isend(&mut self, time: u64, peer: Peer, request: u64) -> &mut Self {
        self.event(time, Event::Isend(peer.0, request))
    }

    /// Completes a send.
    pub fn isend_complete(&mut self, time: u64, request: u64) -> &mut Self {
        self.event(time, Event::IsendComplete(request))
    }

    /// Starts a receive.
    pub fn irecv_request(&mut self, time: u64, request: u64) -> &mut Self {
        self.event(time, Event::IrecvRequest(request))
    }

    /// Completes a receive.
    pub fn irecv(&mut self, time: u64, peer: Peer, request: u64) -> &mut Self {
        self.event(time, Event::Irecv(peer.0, request))
    }

    /// Takes part in a barrier of all ranks: its begin and its end.
    pub fn barrier(&mut self, begin: u64, end: u64) -> &mut Self {
        self.collective(
            begin,
            end,
            CollectiveOp::BARRIER,
            CollectiveRoot::None,
            WORLD,
        )
    }

    /// Takes part in a collective operation: its begin and its end.
    pub fn collective(
        &mut self,
        begin: u64,
        end: u64,
        op: CollectiveOp,
        root: CollectiveRoot,
        comm: CommRef,
    ) -> &mut Self {
        let bytes = if op == CollectiveOp::BARRIER { 0 } else { 8 };
        let collective = Collective {
            op,
            comm,
            root,
            sent: bytes,
            received: bytes,
        };
        self.event(begin, Event::CollectiveBegin)
            .event(end, Event::CollectiveEnd(collective))
    }

    /// States that `offset` has to be added to the local time `time`.
    pub fn clock_offset(&mut self, time: u64, offset: i64) -> &mut Self {
        self.recorded.clock_offsets.push((time, offset));
        self
    }

    fn region(&mut self, name: &str) -> RegionRef {
        if let Some(known) = region::named(name) {
            return known;
        }
        let known = self.regions.iter().position(|it| it == name);
        let number = known.unwrap_or_else(|| {
            self.regions.push(name.to_owned());
            self.regions.len() - 1
        });
        RegionRef(region::COUNT + number as u32)
    }
}
