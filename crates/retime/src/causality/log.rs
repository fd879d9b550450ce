//! What one location did, as far as causality cares.
//!
//! A format crate walks the events of a location in order and reports those
//! with a role: sends, receives, postings of receives, collectives. Everything
//! that can be settled within the location is settled here, while scanning, so
//! that locations scan in parallel:
//!
//! - a non-blocking receive takes its place in line when it is *posted* and its
//!   time when it completes (MPI's non-overtaking rule speaks of postings);
//! - cancelled requests are taken out again;
//! - a collective's end is joined with its begin.
//!
//! ```
//! use retime::causality::{LocationLog, Message};
//! use retime::{LocationIndex, Timestamp};
//!
//! let mut log = LocationLog::new(LocationIndex(0));
//! let from_1 = |tag| Message { communicator: 0, peer: LocationIndex(1), tag };
//! log.receive_posted(0, Timestamp(10), 77); // MPI_Irecv
//! log.receive_completed(1, Timestamp(40), from_1(5), 77); // its MPI_Wait
//! log.send(2, Timestamp(50), from_1(5), None);
//! log.finish(3, Timestamp(10), Timestamp(60));
//! assert_eq!(log.nodes(), 2);
//! ```

use rustc_hash::FxHashMap;

use super::collectives::Operation;
use super::oddity::{Oddities, Oddity};
use crate::time::Timestamp;
use crate::trace::LocationIndex;

/// How many channels are found without hashing.
const RECENT: usize = 16;

/// Stands for "no node" in the columns of node numbers.
pub(crate) const NONE: u32 = u32::MAX;

/// The part an event plays in happened-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A message leaves.
    Send,
    /// A message has arrived.
    Receive,
    /// A collective operation is entered.
    CollectiveBegin,
    /// A collective operation is left.
    CollectiveEnd,
}

/// Envelope of a message as one side recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// Handle of the communicator in [`crate::TraceInfo::communicators`].
    pub communicator: u32,
    /// Endpoint of the other side.
    pub peer: LocationIndex,
    /// Message tag.
    pub tag: u32,
}

/// A finished collective operation as one participant recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Handle of the communicator in [`crate::TraceInfo::communicators`].
    pub communicator: u32,
    /// Which operation.
    pub operation: Operation,
    /// Root of a rooted operation.
    pub root: Root,
    /// Whether this participant gave any bytes.
    pub sent: bool,
    /// Whether this participant got any bytes.
    pub received: bool,
}

/// Root of a collective as a participant recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// The operation has none, or none was recorded.
    None,
    /// A rank of the communicator (of the other side of an inter-communicator).
    Rank(u32),
    /// The recorder itself (`MPI_ROOT`).
    Own,
    /// Somebody else of the recorder's own group (`MPI_PROC_NULL`).
    OwnGroup,
}

/// Place of a message in line: channel (local number) and node.
#[derive(Clone, Copy, Debug)]
pub(super) struct InLine {
    pub(super) channel: u32,
    /// [`NONE`] once cancelled, or while it has not completed.
    pub(super) node: u32,
}

/// One participant's part in a collective operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) what: Collective,
    /// [`NONE`] if no begin was recorded.
    pub(super) begin: u32,
    pub(super) end: u32,
}

/// The events with a role of one location, in order.
#[derive(Debug)]
pub struct LocationLog {
    pub(super) location: LocationIndex,
    pub(super) times: Vec<Timestamp>,
    pub(super) events: Vec<u32>,
    pub(super) roles: Vec<Role>,
    /// Local channel number -> envelope.
    pub(super) channels: Vec<Message>,
    pub(super) sends: Vec<InLine>,
    pub(super) receives: Vec<InLine>,
    /// When each of `receives` was posted.
    pub(super) posted: Vec<u64>,
    pub(super) parts: Vec<Part>,
    pub(super) oddities: Oddities,
    pub(super) event_count: u64,
    pub(super) range: Option<(Timestamp, Timestamp)>,
    channel_of: FxHashMap<Message, u32>,
    /// Channels met lately, by some bits of their envelope.
    recent: [Option<(Message, u32)>; RECENT],
    open_sends: FxHashMap<u64, u32>,
    /// By request: place in line, and the event that posted it.
    open_receives: FxHashMap<u64, (u32, u64)>,
    /// By number of the message: place in line and envelope.
    probed: FxHashMap<u64, (u32, Message)>,
    /// The same by request, once a receive of the message is posted.
    probed_requests: FxHashMap<u64, (u32, Message)>,
    open_begin: Option<u32>,
    open_collectives: FxHashMap<u64, u32>,
}

impl LocationLog {
    /// An empty log of `location`.
    pub fn new(location: LocationIndex) -> Self {
        Self {
            location,
            times: Vec::new(),
            events: Vec::new(),
            roles: Vec::new(),
            channels: Vec::new(),
            sends: Vec::new(),
            receives: Vec::new(),
            posted: Vec::new(),
            parts: Vec::new(),
            oddities: Oddities::default(),
            event_count: 0,
            range: None,
            channel_of: FxHashMap::default(),
            recent: [None; RECENT],
            open_sends: FxHashMap::default(),
            open_receives: FxHashMap::default(),
            probed: FxHashMap::default(),
            probed_requests: FxHashMap::default(),
            open_begin: None,
            open_collectives: FxHashMap::default(),
        }
    }

    /// Number of events with a role so far.
    pub fn nodes(&self) -> usize {
        self.times.len()
    }

    /// Event number (from 0) of the `node`-th event with a role.
    pub fn event(&self, node: usize) -> Option<u64> {
        self.events.get(node).map(|&event| u64::from(event))
    }

    /// A message leaves (`MpiSend`, `MpiIsend`). With `request`, it can still
    /// be [cancelled](Self::request_cancelled).
    pub fn send(&mut self, event: u64, time: Timestamp, message: Message, request: Option<u64>) {
        let channel = self.channel(message);
        let node = self.push(event, time, Role::Send);
        if let Some(request) = request {
            self.open_sends.insert(request, self.sends.len() as u32);
        }
        self.sends.push(InLine { channel, node });
    }

    /// The send of `request` is complete and cannot be cancelled any more.
    #[inline]
    pub fn send_completed(&mut self, request: u64) {
        self.open_sends.remove(&request);
    }

    /// A blocking receive has its message (`MpiRecv`).
    pub fn receive(&mut self, event: u64, time: Timestamp, message: Message) {
        let channel = self.channel(message);
        let node = self.push(event, time, Role::Receive);
        self.take_place(time, InLine { channel, node });
    }

    /// A receive is posted and takes its place in line (`MpiIrecvRequest`).
    pub fn receive_posted(&mut self, event: u64, time: Timestamp, request: u64) {
        let place = self.receives.len() as u32;
        if self.open_receives.insert(request, (place, event)).is_some() {
            self.oddities
                .add(Oddity::RequestReused, self.location, event);
        }
        self.take_place(
            time,
            InLine {
                channel: NONE,
                node: NONE,
            },
        );
    }

    /// A posted receive has its message (`MpiIrecv`).
    pub fn receive_completed(
        &mut self,
        event: u64,
        time: Timestamp,
        message: Message,
        request: u64,
    ) {
        let Some((place, _)) = self.open_receives.remove(&request) else {
            // Without its posting the completion is the best place in line.
            self.oddities
                .add(Oddity::ReceiveNotPosted, self.location, event);
            return self.receive(event, time, message);
        };
        let channel = self.channel(message);
        let node = self.push(event, time, Role::Receive);
        if let Some(entry) = self.receives.get_mut(place as usize) {
            *entry = InLine { channel, node };
        }
    }

    /// A matching probe takes `message` out of the line (`MpiProbe`).
    pub fn message_probed(&mut self, time: Timestamp, message: Message, message_id: u64) {
        let place = self.receives.len() as u32;
        self.probed.insert(message_id, (place, message));
        self.take_place(
            time,
            InLine {
                channel: NONE,
                node: NONE,
            },
        );
    }

    /// The message of an earlier probe was received (`MpiMrecv`).
    pub fn probed_received(&mut self, event: u64, time: Timestamp, message_id: u64) {
        let probed = self.probed.remove(&message_id);
        self.receive_probed(event, time, probed);
    }

    /// A receive of a probed message is posted (`MpiImrecvRequest`). From here
    /// on the request stands for the message, and `message_id` can be used again.
    pub fn probed_receive_posted(&mut self, message_id: u64, request: u64) {
        if let Some(probed) = self.probed.remove(&message_id) {
            self.probed_requests.insert(request, probed);
        }
    }

    /// A posted receive of a probed message is complete (`MpiImrecv`).
    pub fn probed_receive_completed(&mut self, event: u64, time: Timestamp, request: u64) {
        let probed = self.probed_requests.remove(&request);
        self.receive_probed(event, time, probed);
    }

    fn receive_probed(&mut self, event: u64, time: Timestamp, probed: Option<(u32, Message)>) {
        let Some((place, message)) = probed else {
            self.oddities
                .add(Oddity::ReceiveNotPosted, self.location, event);
            return;
        };
        let channel = self.channel(message);
        let node = self.push(event, time, Role::Receive);
        if let Some(entry) = self.receives.get_mut(place as usize) {
            *entry = InLine { channel, node };
        }
    }

    /// The request of a send or receive was cancelled: no message.
    pub fn request_cancelled(&mut self, request: u64) {
        if self.open_receives.remove(&request).is_some() {
            // Its place in line stays empty; nothing refers to it.
        } else if let Some(place) = self.open_sends.remove(&request)
            && let Some(entry) = self.sends.get_mut(place as usize)
        {
            entry.node = NONE;
        }
    }

    /// A blocking collective is entered.
    pub fn collective_begin(&mut self, event: u64, time: Timestamp) {
        let node = self.push(event, time, Role::CollectiveBegin);
        if let Some(begin) = self.open_begin.replace(node) {
            self.never_ended(begin);
        }
    }

    /// A blocking collective is left.
    pub fn collective_end(&mut self, event: u64, time: Timestamp, what: Collective) {
        let end = self.push(event, time, Role::CollectiveEnd);
        let begin = self.open_begin.take().unwrap_or(NONE);
        if begin == NONE {
            self.oddities
                .add(Oddity::CollectiveWithoutBegin, self.location, event);
        }
        self.parts.push(Part { what, begin, end });
    }

    /// A non-blocking collective is posted.
    pub fn collective_posted(&mut self, event: u64, time: Timestamp, request: u64) {
        let node = self.push(event, time, Role::CollectiveBegin);
        if self.open_collectives.insert(request, node).is_some() {
            self.oddities
                .add(Oddity::RequestReused, self.location, event);
        }
    }

    /// A non-blocking collective is complete.
    pub fn collective_completed(
        &mut self,
        event: u64,
        time: Timestamp,
        what: Collective,
        request: u64,
    ) {
        let end = self.push(event, time, Role::CollectiveEnd);
        let begin = self.open_collectives.remove(&request).unwrap_or(NONE);
        if begin == NONE {
            self.oddities
                .add(Oddity::CollectiveWithoutBegin, self.location, event);
        }
        self.parts.push(Part { what, begin, end });
    }

    /// An operation names a rank or communicator that does not exist.
    pub fn unresolved(&mut self, event: u64) {
        self.oddities.add(Oddity::UnknownPeer, self.location, event);
    }

    /// An event is stamped earlier than the one before it.
    pub fn stamped_backwards(&mut self, event: u64) {
        self.oddities
            .add(Oddity::TimeRunsBackwards, self.location, event);
    }

    /// All `events` of the location are reported; they span `first..=last`.
    pub fn finish(&mut self, events: u64, first: Timestamp, last: Timestamp) {
        self.event_count = events;
        if events > 0 {
            self.range = Some((first, last));
        }
        self.drop_empty_places();
        let mut open: Vec<u32> = self.open_collectives.values().copied().collect();
        open.extend(self.open_begin);
        open.sort_unstable();
        for begin in open {
            self.never_ended(begin);
        }
        // A non-blocking collective keeps its turn from its posting.
        if self
            .parts
            .windows(2)
            .any(|pair| turn(&pair[0]) > turn(&pair[1]))
        {
            self.parts.sort_by_key(turn);
        }
        self.release_scratch();
    }

    fn never_ended(&mut self, begin: u32) {
        if let Some(&event) = self.events.get(begin as usize) {
            let kind = Oddity::CollectiveWithoutEnd;
            self.oddities.add(kind, self.location, u64::from(event));
        }
    }

    /// Leaves out what was cancelled or never completed.
    fn drop_empty_places(&mut self) {
        let mut posted: Vec<u64> = self
            .open_receives
            .values()
            .map(|&(_, event)| event)
            .collect();
        posted.sort_unstable();
        for event in posted {
            self.oddities
                .add(Oddity::ReceiveNeverCompleted, self.location, event);
        }
        if self.receives.iter().any(|line| line.node == NONE) {
            let mut lines = self.receives.iter();
            self.posted
                .retain(|_| lines.next().is_some_and(|line| line.node != NONE));
            self.receives.retain(|line| line.node != NONE);
        }
        self.sends.retain(|line| line.node != NONE);
    }

    fn release_scratch(&mut self) {
        self.channel_of = FxHashMap::default();
        self.open_sends = FxHashMap::default();
        self.open_receives = FxHashMap::default();
        self.probed = FxHashMap::default();
        self.probed_requests = FxHashMap::default();
        self.open_collectives = FxHashMap::default();
    }

    #[inline]
    fn push(&mut self, event: u64, time: Timestamp, role: Role) -> u32 {
        let node = self.times.len() as u32;
        self.times.push(time);
        self.events.push(event as u32);
        self.roles.push(role);
        node
    }

    #[inline]
    fn take_place(&mut self, posted: Timestamp, line: InLine) {
        self.posted.push(posted.0);
        self.receives.push(line);
    }

    #[inline]
    fn channel(&mut self, message: Message) -> u32 {
        // A location mostly talks to a few others; hashing fully costs more.
        // Peers and tags are small numbers that must not cancel each other.
        let bits = message.peer.0.wrapping_mul(0x9E37_79B1)
            ^ message.tag.wrapping_mul(0x85EB_CA6B)
            ^ message.communicator.wrapping_mul(0xC2B2_AE35);
        let recent = &mut self.recent[(bits >> 16) as usize % RECENT];
        if let Some((last, channel)) = *recent
            && last == message
        {
            return channel;
        }
        let channels = &mut self.channels;
        let channel = *self.channel_of.entry(message).or_insert_with(|| {
            channels.push(message);
            channels.len() as u32 - 1
        });
        *recent = Some((message, channel));
        channel
    }
}

/// The order in which a location took part in collectives.
fn turn(part: &Part) -> u32 {
    if part.begin == NONE {
        part.end
    } else {
        part.begin
    }
}
