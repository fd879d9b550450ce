//! The log of a location while its events are read.
//!
//! A format crate walks the events of a location in order and reports those
//! with a role: sends, receives, postings of receives, collectives. Everything
//! that can be settled within the location is settled here, while reading, so
//! that locations can be read in parallel:
//!
//! - a non-blocking receive takes its place in its channel when it is *posted* and its
//!   time when it completes (MPI's non-overtaking rule speaks of postings);
//! - where it cannot be told when a receive was posted, it is said between what it was
//!   ([`posted_since`](LogBuilder::posted_since));
//! - cancelled requests are taken out again;
//! - a collective's end is joined with its begin.
//!
//! Where a trace names its messages or operations, [`named_send`](LogBuilder::named_send)
//! and its like say so; then nothing depends on the order of postings.
//!
//! ```
//! use retime_model::{LocationIndex, LogBuilder, Message, Timestamp};
//!
//! let mut log = LogBuilder::new(LocationIndex(0));
//! let from_1 = |tag| Message { communicator: 0, peer: LocationIndex(1), tag };
//! log.receive_posted(0, Timestamp(10), 77); // MPI_Irecv
//! log.receive_completed(1, Timestamp(40), from_1(5), 77); // its MPI_Wait
//! log.send(2, Timestamp(50), from_1(5), None);
//! let log = log.finish(3, Timestamp(10), Timestamp(60))?;
//! assert_eq!(log.len(), 2);
//! # Ok::<(), retime_model::LogError>(())
//! ```

mod collectives;
mod waiting;

use rustc_hash::FxHashMap;

use crate::defect::{Defect, Defects};
use crate::foresight::{Progress, append};
use crate::lasting::Overlap;
use crate::log::{
    ANY_TIME, Accepted, Call, ChannelIndex, ChannelPlace, Length, LocationLog, LogColumns,
    LogError, NO_CALL, NamedLength, NamedMessage,
};
use crate::log_node::LogNode;
use crate::open::Open;
use crate::role::{Message, MessageId, Role};
use crate::time::{Ticks, Timestamp};
use crate::trace::LocationIndex;

/// How many channels are found without hashing.
const RECENT: usize = 16;
/// So many places of each kind of defect are kept of a location. Those of a trace are fewer; who
/// asks what became of an event has more use of them.
const PLACES_KEPT: usize = 64;

/// Stands for no event: of a place in line that was cancelled, or whose message
/// has not come yet.
const NONE: LogNode = LogNode(u32::MAX);

/// Collects the events with a role of one location.
#[derive(Debug)]
pub struct LogBuilder {
    columns: LogColumns,
    /// About how many events there will be; 0 if nobody knows.
    expected: u64,
    /// The first event that was out of order, or had no number left.
    wrong: Option<LogError>,
    channel_of: FxHashMap<Message, ChannelIndex>,
    /// Channels met lately, by some bits of their envelope.
    recent: [Option<(Message, ChannelIndex)>; RECENT],
    open_sends: Open<usize>,
    /// Place in line of a request, and the event that posted it.
    open_receives: Open<(usize, u64)>,
    /// The place in line of the receive that was posted or completed last; none if
    /// that has no place.
    last_place: usize,
    /// Place in line and envelope of a probed message by its number.
    probed: FxHashMap<u64, (usize, Message)>,
    /// Place in line and envelope of a probed message by request, once a receive of it is posted.
    probed_requests: FxHashMap<u64, (usize, Message)>,
    open_begin: Option<LogNode>,
    open_collectives: Open<LogNode>,
}

impl LogBuilder {
    /// An empty log of `location`.
    pub fn new(location: LocationIndex) -> Self {
        Self::expecting(location, 0)
    }

    /// An empty log of `location`, of which about so many events will be read. It takes
    /// up memory accordingly, as what it has been told lets foresee.
    pub fn expecting(location: LocationIndex, events: u64) -> Self {
        Self {
            expected: events,
            columns: LogColumns {
                location,
                defects: Defects::keeping(PLACES_KEPT),
                ..LogColumns::default()
            },
            wrong: None,
            channel_of: FxHashMap::default(),
            recent: [None; RECENT],
            open_sends: Open::default(),
            open_receives: Open::default(),
            last_place: 0,
            probed: FxHashMap::default(),
            probed_requests: FxHashMap::default(),
            open_begin: None,
            open_collectives: Open::default(),
        }
    }

    /// How many events with a role were reported.
    pub fn len(&self) -> usize {
        self.columns.times.len()
    }

    /// True if none was.
    pub fn is_empty(&self) -> bool {
        self.columns.times.is_empty()
    }

    /// A message leaves (`MpiSend`, `MpiIsend`). With `request`, it can still
    /// be [cancelled](Self::request_cancelled).
    pub fn send(&mut self, event: u64, time: Timestamp, message: Message, request: Option<u64>) {
        let channel = self.channel(message);
        let node = self.push(event, time, Role::Send);
        if let Some(request) = request {
            let place = self.columns.sends.len();
            self.open_sends.insert(request, place);
        }
        let progress = self.progress();
        let place = ChannelPlace {
            channel,
            node,
            length: Length::UNKNOWN,
        };
        append(&mut self.columns.sends, place, progress);
    }

    /// The message that left last has this length.
    #[inline]
    pub fn sent(&mut self, length: Length) {
        if let Some(place) = self.columns.sends.last_mut() {
            place.length = length;
        }
    }

    /// The send of `request` is complete and cannot be cancelled any more; says which one that is, if it
    /// is known.
    #[inline]
    pub fn send_completed(&mut self, event: u64, request: u64) -> Option<LogNode> {
        let Some(place) = self.open_sends.remove(request) else {
            self.note(Defect::RequestUnknown, event);
            return None;
        };
        self.columns.sends.get(place).map(|it| it.node)
    }

    /// How many sends are not complete.
    pub fn open_sends(&self) -> usize {
        self.open_sends.len()
    }

    /// A message leaves that the trace names.
    pub fn named_send(&mut self, event: u64, time: Timestamp, id: MessageId) {
        let node = self.push(event, time, Role::Send);
        self.columns.named_messages.push(NamedMessage { id, node });
    }

    /// The message that left last, and that the trace names, has this length.
    pub fn named_sent(&mut self, length: Length) {
        if let Some(send) = self.last() {
            self.columns
                .named_lengths
                .push(NamedLength { send, length });
        }
    }

    /// A message has arrived that the trace names.
    pub fn named_receive(&mut self, event: u64, time: Timestamp, id: MessageId) {
        let node = self.push(event, time, Role::Receive);
        self.columns.named_messages.push(NamedMessage { id, node });
    }

    /// The location is a stream of a device, and it is recorded when that computed.
    pub const fn knows_work(&mut self) {
        self.columns.knows_work = true;
    }

    /// The location is a thread: it does one thing after another, and works whenever it does not wait.
    pub const fn is_thread(&mut self) {
        self.columns.is_thread = true;
    }

    /// While the operation that was begun last, or the message that was sent or received last, was
    /// under way, the device of the location computed: so long after its begin, for so long.
    pub fn overlapped(&mut self, since: Ticks, lasted: Ticks) {
        if let Some(node) = self.last() {
            self.columns.overlaps.push(Overlap {
                node,
                since,
                lasted,
            });
        }
    }

    /// An event of a message has one more name: it belongs to one of the messages that it
    /// is named for, whichever is free.
    pub fn also_named(&mut self, node: LogNode, id: MessageId) {
        self.columns.named_messages.push(NamedMessage { id, node });
    }

    /// A blocking receive has its message (`MpiRecv`).
    pub fn receive(&mut self, event: u64, time: Timestamp, message: Message) {
        let channel = self.channel(message);
        let node = self.push(event, time, Role::Receive);
        self.take_place(
            time,
            ChannelPlace {
                channel,
                node,
                length: Length::UNKNOWN,
            },
        );
    }

    /// The message that arrived last has this length.
    #[inline]
    pub fn received(&mut self, length: Length) {
        if let Some(place) = self.columns.receives.get_mut(self.last_place) {
            place.length = length;
        }
    }

    /// The receive that was reported last, by its posting or as a blocking one, may
    /// have been posted as early as that; at any time if nothing tells.
    pub fn posted_since(&mut self, earliest: Option<Timestamp>) {
        let Some(latest) = self.columns.posted.get(self.last_place) else {
            return;
        };
        let ticks = earliest.map(|earliest| latest.0.saturating_sub(earliest.0));
        let ticks = ticks.and_then(|ticks| u32::try_from(ticks).ok());
        // Most logs need no such column.
        let within = &mut self.columns.posted_within;
        if within.len() <= self.last_place {
            within.resize(self.last_place + 1, 0);
        }
        within[self.last_place] = ticks.unwrap_or(ANY_TIME);
    }

    /// A call is entered in which something may happen that others wait for, as the
    /// posting of a receive. Alone it says nothing; see [`posted_in`](Self::posted_in).
    pub fn call_entered(&mut self, event: u64, time: Timestamp) -> LogNode {
        self.push(event, time, Role::Send)
    }

    /// The receive that was reported last, by its posting or as a blocking one, was
    /// posted in the call that was entered there.
    pub fn posted_in(&mut self, entered: LogNode) {
        if self.last_place >= self.columns.receives.len() {
            return;
        }
        // Most logs need no such column.
        let calls = &mut self.columns.posted_in;
        if calls.len() <= self.last_place {
            calls.resize(self.last_place + 1, NO_CALL);
        }
        calls[self.last_place] = entered;
    }

    /// A synchronous send, an earlier event, is complete: its receive was posted before.
    pub fn send_accepted(&mut self, event: u64, time: Timestamp, send: LogNode) {
        let completion = self.push(event, time, Role::Receive);
        self.columns.accepted.push(Accepted { send, completion });
    }

    /// The event with a role that was reported last.
    pub fn last(&self) -> Option<LogNode> {
        let last = self.columns.times.len().checked_sub(1)?;
        Some(LogNode(last as u32))
    }

    /// A receive is posted and takes its place in line (`MpiIrecvRequest`).
    pub fn receive_posted(&mut self, event: u64, time: Timestamp, request: u64) {
        let place = self.columns.receives.len();
        if self.open_receives.insert(request, (place, event)).is_some() {
            self.note(Defect::RequestReused, event);
        }
        self.keep_place(time);
    }

    /// A posted receive has its message (`MpiIrecv`).
    pub fn receive_completed(
        &mut self,
        event: u64,
        time: Timestamp,
        message: Message,
        request: u64,
    ) {
        let Some((place, _)) = self.open_receives.remove(request) else {
            // Its posting was not recorded.
            self.note(Defect::ReceiveNotPosted, event);
            self.receive(event, time, message);
            return self.posted_since(None);
        };
        self.fill_place(place, event, time, message);
    }

    /// A matching probe takes `message` out of the line (`MpiProbe`).
    pub fn message_probed(&mut self, time: Timestamp, message: Message, message_id: u64) {
        let place = self.columns.receives.len();
        self.probed.insert(message_id, (place, message));
        self.keep_place(time);
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

    fn receive_probed(&mut self, event: u64, time: Timestamp, probed: Option<(usize, Message)>) {
        if let Some((place, message)) = probed {
            self.fill_place(place, event, time, message);
        } else {
            self.last_place = usize::MAX;
            self.note(Defect::ReceiveNotPosted, event);
        }
    }

    /// The request of a send or receive was cancelled: no message. That of one that is
    /// complete comes too late.
    pub fn request_cancelled(&mut self, request: u64) {
        if self.open_receives.remove(request).is_some() {
            // Its place in line stays empty; nothing refers to it.
        } else if let Some(place) = self.open_sends.remove(request)
            && let Some(entry) = self.columns.sends.get_mut(place)
        {
            entry.node = NONE;
        }
    }

    /// An operation names a rank or communicator that does not exist.
    pub fn unresolved(&mut self, event: u64) {
        self.note(Defect::UnknownPeer, event);
    }

    /// A send names such a rank; its request is open all the same.
    pub fn send_unresolved(&mut self, event: u64, request: u64) {
        self.unresolved(event);
        self.open_sends.insert(request, usize::MAX);
    }

    /// A receive names such a rank; its posting, if there is one, must not wait for it for
    /// ever.
    pub fn receive_unresolved(&mut self, event: u64, request: u64) {
        self.unresolved(event);
        self.open_receives.remove(request);
    }

    /// From here on events are not recorded.
    pub fn recording_off(&mut self, time: Timestamp) {
        let end = Timestamp(u64::MAX);
        self.columns.gap = Some((self.columns.gap.map_or(time, |(from, _)| from), end));
    }

    /// Events are recorded again; for the first time if recording was not off.
    pub fn recording_on(&mut self, time: Timestamp) {
        let from = self.columns.gap.map_or(Timestamp(0), |(from, _)| from);
        self.columns.gap = Some((from, time));
    }

    /// An event is stamped earlier than the one before it. It is taken to be as
    /// late as that one; report it with that time.
    pub fn stamped_backwards(&mut self, event: u64) {
        self.note(Defect::TimeRunsBackwards, event);
    }

    /// All `events` of the location are reported; they span `first..=last`,
    /// which means nothing without events.
    ///
    /// # Errors
    ///
    /// What was reported does not hang together: see [`LogError`].
    pub fn finish(
        mut self,
        events: u64,
        first: Timestamp,
        last: Timestamp,
    ) -> Result<LocationLog, LogError> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        self.columns.events = events;
        self.columns.range = (events > 0).then_some((first, last));
        self.drop_empty_places();
        let mut open: Vec<LogNode> = self.open_collectives.values().copied().collect();
        open.extend(self.open_begin);
        open.sort_unstable();
        for begin in open {
            self.never_ended(begin);
        }
        // A non-blocking collective keeps its turn from its posting.
        let turn = |call: &Call| call.begin.or(call.end);
        if !self.columns.calls.is_sorted_by_key(turn) {
            self.columns.calls.sort_by_key(turn);
        }
        let later = &mut self.columns.held_later;
        if !later.is_sorted_by_key(|it| it.send) {
            later.sort_by_key(|it| it.send);
        }
        LocationLog::try_from(self.columns)
    }

    fn never_ended(&mut self, begin: LogNode) {
        if let Some(&event) = self.columns.numbers.get(begin.index()) {
            self.note(Defect::CollectiveWithoutEnd, event.into());
        }
        if let Some(&time) = self.columns.times.get(begin.index()) {
            let (from, to) = self.columns.never_ended.unwrap_or((time, time));
            self.columns.never_ended = Some((from.min(time), to.max(time)));
        }
    }

    fn note(&mut self, defect: Defect, event: u64) {
        let location = self.columns.location;
        self.columns.defects.add(defect, location, event);
    }

    /// Leaves out what was cancelled or never completed.
    fn drop_empty_places(&mut self) {
        let probed = self.probed.values().chain(self.probed_requests.values());
        let places = self.open_receives.values().map(|(place, _)| place);
        let places = places.chain(probed.map(|(place, _)| place));
        let posted = places.filter_map(|&place| self.columns.posted.get(place));
        self.columns.never_completed = posted.copied().max();
        let open = self.open_receives.values();
        let mut posted: Vec<u64> = open.map(|&(_, event)| event).collect();
        posted.sort_unstable();
        for event in posted {
            self.note(Defect::ReceiveNeverCompleted, event);
        }
        let LogColumns {
            sends,
            receives,
            posted,
            posted_within,
            posted_in,
            ..
        } = &mut self.columns;
        if receives.iter().any(|place| place.node == NONE) {
            let mut places = receives.iter();
            posted.retain(|_| places.next().is_some_and(|place| place.node != NONE));
            let mut places = receives.iter();
            posted_within.retain(|_| places.next().is_some_and(|place| place.node != NONE));
            let mut places = receives.iter();
            posted_in.retain(|_| places.next().is_some_and(|place| place.node != NONE));
            receives.retain(|place| place.node != NONE);
        }
        sends.retain(|place| place.node != NONE);
    }

    /// Adds an event with a role, and returns its number among these.
    #[inline]
    fn push(&mut self, event: u64, time: Timestamp, role: Role) -> LogNode {
        let progress = self.progress();
        let LogColumns {
            times,
            numbers,
            roles,
            ..
        } = &mut self.columns;
        let node = LogNode(times.len() as u32);
        let number = match u32::try_from(event) {
            Ok(number) if numbers.last().is_none_or(|&last| last < number) => number,
            _ => return self.refuse(event),
        };
        append(times, time, progress);
        append(numbers, number, progress);
        append(roles, role, progress);
        node
    }

    fn progress(&self) -> Progress {
        let seen = self.columns.numbers.last().copied().unwrap_or(0);
        Progress {
            seen: seen.into(),
            expected: self.expected,
        }
    }

    /// Remembers the first event that cannot be taken; the log will not be
    /// finished.
    #[cold]
    fn refuse(&mut self, event: u64) -> LogNode {
        let before = self.columns.numbers.last().copied().unwrap_or_default();
        self.wrong.get_or_insert(if event > u64::from(u32::MAX) {
            LogError::TooManyEvents(event)
        } else {
            LogError::OutOfOrder {
                number: event,
                before: before.into(),
            }
        });
        NONE
    }

    #[inline]
    fn take_place(&mut self, posted: Timestamp, place: ChannelPlace) {
        let progress = self.progress();
        self.last_place = self.columns.receives.len();
        append(&mut self.columns.posted, posted, progress);
        append(&mut self.columns.receives, place, progress);
    }

    /// Takes a place in line for a message that is still to come.
    fn keep_place(&mut self, posted: Timestamp) {
        let empty = ChannelPlace {
            channel: ChannelIndex(0),
            node: NONE,
            length: Length::UNKNOWN,
        };
        self.take_place(posted, empty);
    }

    /// The message has come for which a place was kept.
    fn fill_place(&mut self, place: usize, event: u64, time: Timestamp, message: Message) {
        let channel = self.channel(message);
        let node = self.push(event, time, Role::Receive);
        self.last_place = place;
        if let Some(entry) = self.columns.receives.get_mut(place) {
            *entry = ChannelPlace {
                channel,
                node,
                length: Length::UNKNOWN,
            };
        }
    }

    #[inline]
    fn channel(&mut self, message: Message) -> ChannelIndex {
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
        let channels = &mut self.columns.channels;
        let channel = *self.channel_of.entry(message).or_insert_with(|| {
            channels.push(message);
            ChannelIndex(channels.len() as u32 - 1)
        });
        *recent = Some((message, channel));
        channel
    }
}
