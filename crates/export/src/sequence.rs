//! The packets of one track of events.
//!
//! Within a sequence a name is sent once and referred to by number after that, and the track of
//! events is a default.
//!
//! A flow joins the slices and instants that bear its id. It leaves those that have it among their
//! flows, and ends where it is among those that terminate. Where it ends before it begins, readers
//! draw nothing; so an arrow that is reversed is drawn by a second flow that ends nowhere, of which
//! readers take the end that begins first for the beginning. Of those that begin at one time it
//! is the one that comes first in the file. An arrow is drawn from where the one slice ends to
//! where the other begins: it leaves an instant at the time of its event, and arrives at one,
//! or at a slice that begins then; so the beginning of a slice waits until it is known whether
//! something arrives at it. Instants are slices without length to a reader, and take one packet
//! instead of two.

use rustc_hash::FxHashMap;

use crate::encoder::{Encoder, End, Moment, Name, Names, Point};
use crate::facts::Fact;

use retime_perfetto_wire::fields::{
    debug_annotation, interned_data, interned_name, trace, trace_packet, trace_packet_defaults,
    track_event,
};
use retime_perfetto_wire::write::{bytes, fixed64, uint};

/// Set in the number of the flow that draws a reversed arrow: no arrow has one so large.
const DRAWN: u64 = 1 << 63;

/// The name of the argument that has the recorded time.
const RECORDED: &str = "recorded_ns";

/// A slice whose beginning is not written yet.
#[derive(Clone, Copy)]
struct Pending {
    moment: Moment,
    name: Name,
}

/// The packets of a location.
pub(crate) struct Sequence {
    /// The fields that all its packets have in common.
    common: Vec<u8>,
    pending: Option<Pending>,
    /// The arrow that arrives at it.
    arriving: Option<End>,
    /// The names that were sent, each with the number of its category.
    sent: FxHashMap<u64, Option<u64>>,
    /// Kinds of events that are names.
    kinds: Words,
    /// Names of categories and arguments.
    categories: Words,
    keys: Words,
    /// Texts that arguments have.
    texts: FxHashMap<Box<str>, u64>,
    /// Names to be sent with the next packet.
    interned: Vec<u8>,
    /// The number of the track, which the first packet makes the default; `None` once that is sent.
    first: Option<u64>,
    /// Room for what is nested.
    annotation: Vec<u8>,
    event: Vec<u8>,
    packet: Vec<u8>,
}

impl Sequence {
    pub(crate) fn new(sequence: u64, track: u64) -> Self {
        let mut common = Vec::new();
        uint(
            &mut common,
            trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
            sequence,
        );
        Self {
            common,
            pending: None,
            arriving: None,
            sent: FxHashMap::default(),
            kinds: Words::default(),
            categories: Words::default(),
            keys: Words::default(),
            texts: FxHashMap::default(),
            interned: Vec::new(),
            first: Some(track),
            annotation: Vec::new(),
            event: Vec::new(),
            packet: Vec::new(),
        }
    }

    /// Begins an event of a name in `self.event`; a name that is new is sent, and its category.
    fn event(&mut self, type_: u64, name: Name, names: Names<'_>) {
        // Both kinds have numbers of their own, and none is 0.
        let iid = match name {
            Name::Region(id) => 2 * (u64::from(id) + 1),
            Name::Kind(kind) => 2 * self.kinds.number(kind).number + 1,
        };
        let known = self.sent.get(&iid).copied();
        let category = known.unwrap_or_else(|| {
            self.intern(interned_data::EVENT_NAMES, iid, &name.text(names));
            let category = name.category(names).map(|it| self.category(it));
            self.sent.insert(iid, category);
            category
        });
        self.begin_event(type_);
        if let Some(category) = category {
            uint(&mut self.event, track_event::CATEGORY_IIDS, category);
        }
        uint(&mut self.event, track_event::NAME_IID, iid);
    }

    fn category(&mut self, name: &'static str) -> u64 {
        let word = self.categories.number(name);
        if word.is_new {
            self.intern(interned_data::EVENT_CATEGORIES, word.number, name);
        }
        word.number
    }

    fn intern(&mut self, table: u32, iid: u64, text: &str) {
        let mut entry = Vec::new();
        uint(&mut entry, interned_name::IID, iid);
        bytes(&mut entry, interned_name::NAME, text.as_bytes());
        bytes(&mut self.interned, table, &entry);
    }

    fn begin_event(&mut self, type_: u64) {
        self.event.clear();
        uint(&mut self.event, track_event::TYPE, type_);
    }

    /// Adds an argument to the event.
    fn annotate(&mut self, name: &'static str, value: Fact<'_>) {
        let key = self.keys.number(name);
        if key.is_new {
            self.intern(interned_data::DEBUG_ANNOTATION_NAMES, key.number, name);
        }
        self.annotation.clear();
        uint(&mut self.annotation, debug_annotation::NAME_IID, key.number);
        let (field, number) = match value {
            Fact::Whole(it) => (debug_annotation::UINT_VALUE, it),
            Fact::Signed(it) => (debug_annotation::INT_VALUE, it.cast_unsigned()),
            Fact::Text(it) => (debug_annotation::STRING_VALUE_IID, self.text(it)),
        };
        uint(&mut self.annotation, field, number);
        bytes(
            &mut self.event,
            track_event::DEBUG_ANNOTATIONS,
            &self.annotation,
        );
    }

    /// The number of a text, which is sent if it is new.
    fn text(&mut self, text: &str) -> u64 {
        if let Some(iid) = self.texts.get(text) {
            return *iid;
        }
        let iid = self.texts.len() as u64 + 1;
        self.texts.insert(text.into(), iid);
        let table = interned_data::DEBUG_ANNOTATION_STRING_VALUES;
        self.intern(table, iid, text);
        iid
    }

    /// Adds one end of an arrow to the event.
    fn flow(&mut self, end: End) {
        let field = if end.is_cause {
            track_event::FLOW_IDS
        } else {
            track_event::TERMINATING_FLOW_IDS
        };
        fixed64(&mut self.event, field, end.arrow);
        if end.is_reversed() {
            fixed64(&mut self.event, track_event::FLOW_IDS, end.arrow | DRAWN);
        }
    }

    /// Writes the packet of the event. Only the first says that names count from here on: readers
    /// take those of events for granted, and flags of all others are a twentieth of a file.
    fn send(&mut self, out: &mut Vec<u8>, at: u64) {
        self.packet.clear();
        if let Some(track) = self.first.take() {
            let flags =
                trace_packet::INCREMENTAL_STATE_CLEARED | trace_packet::NEEDS_INCREMENTAL_STATE;
            uint(&mut self.packet, trace_packet::SEQUENCE_FLAGS, flags);
            let (mut defaults, mut own) = (Vec::new(), Vec::new());
            uint(&mut own, track_event::TRACK_UUID, track);
            bytes(
                &mut defaults,
                trace_packet_defaults::TRACK_EVENT_DEFAULTS,
                &own,
            );
            bytes(
                &mut self.packet,
                trace_packet::TRACE_PACKET_DEFAULTS,
                &defaults,
            );
        }
        if !self.interned.is_empty() {
            bytes(
                &mut self.packet,
                trace_packet::INTERNED_DATA,
                &self.interned,
            );
            self.interned.clear();
        }
        uint(&mut self.packet, trace_packet::TIMESTAMP, at);
        self.packet.extend_from_slice(&self.common);
        bytes(&mut self.packet, trace_packet::TRACK_EVENT, &self.event);
        bytes(out, trace::PACKET, &self.packet);
    }

    /// Writes the beginning that waits, if there is one.
    fn settle(&mut self, out: &mut Vec<u8>, names: Names<'_>) {
        let Some(Pending { moment, name }) = self.pending.take() else {
            return;
        };
        self.event(track_event::SLICE_BEGIN, name, names);
        if let Some(end) = self.arriving.take() {
            self.flow(end);
        }
        if let Some(recorded) = moment.recorded {
            self.annotate(RECORDED, Fact::Signed(recorded));
        }
        self.send(out, moment.at);
    }
}

impl Encoder for Sequence {
    fn begin(&mut self, out: &mut Vec<u8>, moment: Moment, name: Name, names: Names<'_>) {
        self.settle(out, names);
        self.pending = Some(Pending { moment, name });
    }

    fn arrive(&mut self, _: &mut Vec<u8>, _: Moment, end: End) {
        self.arriving = Some(end);
    }

    fn end(&mut self, out: &mut Vec<u8>, moment: Moment, names: Names<'_>) {
        self.settle(out, names);
        self.begin_event(track_event::SLICE_END);
        self.send(out, moment.at);
    }

    fn point(&mut self, out: &mut Vec<u8>, point: &Point<'_>, names: Names<'_>) {
        self.settle(out, names);
        self.event(track_event::INSTANT, Name::Kind(point.kind), names);
        for &end in point.ends {
            self.flow(end);
        }
        if let Some(recorded) = point.moment.recorded {
            self.annotate(RECORDED, Fact::Signed(recorded));
        }
        for (name, value) in point.facts.arguments() {
            self.annotate(name, value);
        }
        self.send(out, point.moment.at);
    }
}

/// Words of the program that were met, with numbers from 1.
#[derive(Default)]
struct Words(Vec<&'static str>);

/// The number of a word.
struct Word {
    number: u64,
    is_new: bool,
}

impl Words {
    /// The number of a word, of which there are few.
    #[inline]
    fn number(&mut self, word: &'static str) -> Word {
        let known = self.0.iter().position(|it| *it == word);
        let place = known.unwrap_or_else(|| {
            self.0.push(word);
            self.0.len() - 1
        });
        Word {
            number: place as u64 + 1,
            is_new: known.is_none(),
        }
    }
}
