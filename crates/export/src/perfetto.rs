//! Perfetto's `TrackEvent`: a trace as packets.
//!
//! ```text
//! sequence 1              descriptors of all tracks, points of all curves
//! sequence 1 + thread     the events of a location: defaults first, names when they come
//! ```
//!
//! Packets of a *sequence* come in order, those of different ones in any; so locations need
//! not wait for each other. Within a sequence a name is sent once and referred to by number
//! after that, and the track of events is a default. Times are absolute nanoseconds of the
//! clock that is taken where none is named.
//!
//! A flow joins the slices and instants that bear its id. Which of two it leaves is told by
//! when they begin, and of those that begin at one time it is the one that comes first in the
//! file; it is drawn from where that one ends to where the other begins. So an arrow leaves an
//! instant at the time of its event, and arrives at one, or at a slice that begins then: the
//! beginning of a slice waits until it is known whether something arrives at it. Instants are
//! slices without length to a reader, and take one packet instead of two.
//!
//! Source: the files that [`retime_perfetto_wire::fields`] names, and
//! `docs/reference/synthetic-track-event.md` beside them.

use rustc_hash::FxHashSet;

use crate::axis::Axis;
use crate::curves::Curve;
use crate::encoder::{Encoder, End, Moment, Name, Names, Scribe, reversed};
use crate::tracks::{Process, Thread, Tracks};

use retime_perfetto_wire::fields::{
    counter_descriptor, debug_annotation, interned_data, interned_name, process_descriptor,
    thread_descriptor, trace, trace_packet, trace_packet_defaults, track_descriptor, track_event,
};
use retime_perfetto_wire::write::{bytes, double, fixed64, uint};

/// The sequence of what describes the tracks.
const DESCRIPTIONS: u64 = 1;

/// The numbers of the names of annotations, and these names.
const RECORDED: (u64, &str) = (1, "recorded_ns");
const REVERSED: (u64, &str) = (2, "reversed_arrows");

/// True if a file begins like one of these: with a packet of the sequence of descriptions
/// that has a descriptor.
pub(crate) fn is_start(start: &[u8]) -> bool {
    let mut fields = Vec::new();
    uint(
        &mut fields,
        trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
        DESCRIPTIONS,
    );
    bytes(&mut fields, trace_packet::TRACK_DESCRIPTOR, &[]);
    // How long the descriptor is differs.
    fields.pop();
    let mut packet = Vec::new();
    bytes(&mut packet, trace::PACKET, &[]);
    packet.pop();
    let Some(rest) = start.strip_prefix(&*packet) else {
        return false;
    };
    let length = rest.iter().take_while(|it| **it >= 0x80).count() + 1;
    rest.get(length..).is_some_and(|it| it.starts_with(&fields))
}

/// The kinds of tracks, by which their numbers are unique.
#[derive(Clone, Copy)]
enum Uuid {
    Thread = 0,
    Process = 1,
    Curve = 2,
}

impl Uuid {
    /// That of a track; 0 is the track of everything, and no number is so small.
    fn of(self, number: u32) -> u64 {
        4 * (u64::from(number) + 1) + self as u64
    }
}

/// A file of packets.
pub(crate) struct Packets;

impl Scribe for Packets {
    type Encoder = Sequence;

    fn open(_: &mut Vec<u8>) {}

    fn describe(out: &mut Vec<u8>, tracks: &Tracks, curves: &[Curve], axis: &Axis, _: &mut bool) {
        for process in tracks.processes.values() {
            describe(out, &process_track(process));
        }
        for thread in &tracks.threads {
            describe(out, &thread_track(thread));
        }
        for curve in curves {
            describe(out, &curve_track(curve));
            for &(time, value) in &curve.points {
                point(out, axis.nanoseconds(time), curve, value);
            }
        }
    }

    fn encoder(thread: &Thread) -> Sequence {
        Sequence::new(thread)
    }

    fn close(_: &mut Vec<u8>) {}
}

/// Writes the packet of a track.
fn describe(out: &mut Vec<u8>, track: &[u8]) {
    let mut packet = Vec::new();
    uint(
        &mut packet,
        trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
        DESCRIPTIONS,
    );
    bytes(&mut packet, trace_packet::TRACK_DESCRIPTOR, track);
    bytes(out, trace::PACKET, &packet);
}

fn process_track(process: &Process) -> Vec<u8> {
    let mut own = Vec::new();
    uint(&mut own, process_descriptor::PID, u64::from(process.number));
    uint(
        &mut own,
        process_descriptor::LEGACY_SORT_INDEX,
        u64::from(process.number),
    );
    bytes(
        &mut own,
        process_descriptor::PROCESS_NAME,
        process.name.as_bytes(),
    );
    let mut track = Vec::new();
    uint(
        &mut track,
        track_descriptor::UUID,
        Uuid::Process.of(process.number),
    );
    bytes(&mut track, track_descriptor::PROCESS, &own);
    track
}

fn thread_track(thread: &Thread) -> Vec<u8> {
    let number = u64::from(thread.number);
    let mut own = Vec::new();
    uint(&mut own, thread_descriptor::PID, u64::from(thread.process));
    uint(&mut own, thread_descriptor::TID, number);
    uint(&mut own, thread_descriptor::LEGACY_SORT_INDEX, number);
    bytes(
        &mut own,
        thread_descriptor::THREAD_NAME,
        thread.name.as_bytes(),
    );
    let mut track = Vec::new();
    uint(
        &mut track,
        track_descriptor::UUID,
        Uuid::Thread.of(thread.number),
    );
    let process = Uuid::Process.of(thread.process);
    uint(&mut track, track_descriptor::PARENT_UUID, process);
    bytes(&mut track, track_descriptor::THREAD, &own);
    track
}

fn curve_track(curve: &Curve) -> Vec<u8> {
    let mut own = Vec::new();
    bytes(&mut own, counter_descriptor::UNIT_NAME, b"us");
    let mut track = Vec::new();
    uint(
        &mut track,
        track_descriptor::UUID,
        Uuid::Curve.of(curve.number),
    );
    let process = Uuid::Process.of(curve.process);
    uint(&mut track, track_descriptor::PARENT_UUID, process);
    bytes(&mut track, track_descriptor::NAME, curve.name.as_bytes());
    bytes(&mut track, track_descriptor::COUNTER, &own);
    track
}

/// Writes a point of a curve.
fn point(out: &mut Vec<u8>, at: u64, curve: &Curve, value: f64) {
    let mut event = Vec::new();
    uint(&mut event, track_event::TYPE, track_event::COUNTER);
    let track = Uuid::Curve.of(curve.number);
    uint(&mut event, track_event::TRACK_UUID, track);
    double(&mut event, track_event::DOUBLE_COUNTER_VALUE, value);
    let mut packet = Vec::new();
    uint(&mut packet, trace_packet::TIMESTAMP, at);
    uint(
        &mut packet,
        trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
        DESCRIPTIONS,
    );
    bytes(&mut packet, trace_packet::TRACK_EVENT, &event);
    bytes(out, trace::PACKET, &packet);
}

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
    arriving: Option<u64>,
    /// The names that were sent.
    sent: FxHashSet<u64>,
    /// Kinds of events that are names.
    kinds: Vec<&'static str>,
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
    fn new(thread: &Thread) -> Self {
        let mut common = Vec::new();
        let sequence = DESCRIPTIONS + u64::from(thread.number);
        uint(
            &mut common,
            trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
            sequence,
        );
        Self {
            common,
            pending: None,
            arriving: None,
            sent: FxHashSet::default(),
            kinds: Vec::new(),
            interned: Vec::new(),
            first: Some(Uuid::Thread.of(thread.number)),
            annotation: Vec::new(),
            event: Vec::new(),
            packet: Vec::new(),
        }
    }

    /// The number of a name, which is sent if it is new.
    #[inline]
    fn iid(&mut self, name: Name, names: Names<'_>) -> u64 {
        // Both kinds have numbers of their own, and none is 0.
        let iid = match name {
            Name::Region(id) => 2 * (u64::from(id) + 1),
            Name::Kind(kind) => 2 * self.kind(kind) + 1,
        };
        if self.sent.insert(iid) {
            let text = match name {
                Name::Region(id) => names.region(id),
                Name::Kind(kind) => Some(kind.into()),
            };
            let text = text.unwrap_or_else(|| "unnamed".into());
            self.intern(interned_data::EVENT_NAMES, iid, &text);
        }
        iid
    }

    fn kind(&mut self, kind: &'static str) -> u64 {
        let known = self.kinds.iter().position(|it| *it == kind);
        let place = known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        place as u64
    }

    fn intern(&mut self, table: u32, iid: u64, text: &str) {
        let mut entry = Vec::new();
        uint(&mut entry, interned_name::IID, iid);
        bytes(&mut entry, interned_name::NAME, text.as_bytes());
        bytes(&mut self.interned, table, &entry);
    }

    /// Begins an event in `self.event`.
    fn event(&mut self, type_: u64, name: Option<u64>) {
        self.event.clear();
        uint(&mut self.event, track_event::TYPE, type_);
        if let Some(iid) = name {
            uint(&mut self.event, track_event::NAME_IID, iid);
        }
    }

    /// Adds a number to the event.
    fn annotate(&mut self, iid: u64, value: u64) {
        self.annotation.clear();
        uint(&mut self.annotation, debug_annotation::NAME_IID, iid);
        uint(&mut self.annotation, debug_annotation::UINT_VALUE, value);
        bytes(
            &mut self.event,
            track_event::DEBUG_ANNOTATIONS,
            &self.annotation,
        );
    }

    /// Writes the packet of the event.
    fn send(&mut self, out: &mut Vec<u8>, at: u64) {
        let mut flags = trace_packet::NEEDS_INCREMENTAL_STATE;
        self.packet.clear();
        if let Some(track) = self.first.take() {
            flags |= trace_packet::INCREMENTAL_STATE_CLEARED;
            for (iid, name) in [RECORDED, REVERSED] {
                self.intern(interned_data::DEBUG_ANNOTATION_NAMES, iid, name);
            }
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
        uint(&mut self.packet, trace_packet::SEQUENCE_FLAGS, flags);
        bytes(&mut self.packet, trace_packet::TRACK_EVENT, &self.event);
        bytes(out, trace::PACKET, &self.packet);
    }

    /// Writes the beginning that waits, if there is one.
    fn settle(&mut self, out: &mut Vec<u8>, names: Names<'_>) {
        let Some(Pending { moment, name }) = self.pending.take() else {
            return;
        };
        let iid = self.iid(name, names);
        self.event(track_event::SLICE_BEGIN, Some(iid));
        if let Some(arrow) = self.arriving.take() {
            fixed64(&mut self.event, track_event::FLOW_IDS, arrow);
        }
        if let Some(recorded) = moment.recorded {
            self.annotate(RECORDED.0, recorded);
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
        self.arriving = Some(end.arrow);
    }

    fn end(&mut self, out: &mut Vec<u8>, moment: Moment, names: Names<'_>) {
        self.settle(out, names);
        self.event(track_event::SLICE_END, None);
        self.send(out, moment.at);
    }

    fn point(
        &mut self,
        out: &mut Vec<u8>,
        moment: Moment,
        kind: &'static str,
        ends: &[End],
        names: Names<'_>,
    ) {
        self.settle(out, names);
        let iid = self.iid(Name::Kind(kind), names);
        self.event(track_event::INSTANT, Some(iid));
        for end in ends {
            fixed64(&mut self.event, track_event::FLOW_IDS, end.arrow);
        }
        if let Some(recorded) = moment.recorded {
            self.annotate(RECORDED.0, recorded);
        }
        if let count @ 1.. = reversed(ends) {
            self.annotate(REVERSED.0, count);
        }
        self.send(out, moment.at);
    }
}
