//! Perfetto's `TrackEvent`: a trace as packets.
//!
//! ```text
//! sequence 1              descriptors of all tracks, points of all curves
//! sequence 1 + track      the events of a location, or the contradictions of a group
//! ```
//!
//! Packets of a *sequence* come in order, those of different ones in any; so locations need
//! not wait for each other. Times are absolute nanoseconds of the clock that is taken where
//! none is named.
//!
//! Tracks are a tree that says its order itself:
//!
//! ```text
//! corrected                                        a group
//!   contradictions as recorded
//!   MPI Rank 0 (node07), Master thread (location 0)   a process with one location
//!     clock offset, error bound
//!   MPI Rank 1 (node07)                               one with several
//!     Master thread (location 1)
//!       clock offset, error bound
//!     OMP thread 1 (location 2)
//! ```
//!
//! They are not Perfetto's tracks of processes and threads: a viewer puts these in the order of
//! what they do, all below its root.
//!
//! Source: the files that [`retime_perfetto_wire::fields`] names, and
//! `docs/reference/synthetic-track-event.md` beside them.

use crate::axis::Axis;
use crate::curves::Curve;
use crate::encoder::Scribe;
use crate::sequence::Sequence;
use crate::tracks::{ContradictionTrack, Process, Thread, Tracks};

use retime_perfetto_wire::fields::{
    counter_descriptor, trace, trace_packet, track_descriptor, track_event,
};
use retime_perfetto_wire::write::{bytes, double, uint};

/// The sequence of what describes the tracks.
const DESCRIPTIONS: u64 = 1;

/// Places among siblings that a location takes: one of its own, and those of its curves.
const PLACES: u64 = 3;

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
    Group = 3,
}

impl Uuid {
    /// The identifier of a track; 0 is the track of everything, and no number is so small.
    fn of(self, number: u32) -> u64 {
        4 * (u64::from(number) + 1) + self as u64
    }
}

/// A file of packets.
pub(crate) struct Packets;

impl Scribe for Packets {
    type Encoder = Sequence;

    fn open(_: &mut Vec<u8>) {}

    fn describe(
        out: &mut Vec<u8>,
        tracks: &Tracks<'_>,
        curves: &[Curve],
        axis: &Axis,
        _: &mut bool,
    ) {
        describe(out, &group_track(tracks));
        if let Some(track) = tracks.contradictions {
            describe(out, &contradiction_track(tracks, track));
        }
        for process in tracks.processes.values().filter(|it| !it.is_single) {
            describe(out, &process_track(tracks, process));
        }
        for thread in &tracks.threads {
            describe(out, &thread_track(tracks, thread));
        }
        for curve in curves {
            describe(out, &curve_track(curve));
            for &(time, value) in &curve.points {
                point(out, axis.nanoseconds(time), curve, value);
            }
        }
    }

    fn encoder(number: u32, _: u32) -> Sequence {
        let sequence = DESCRIPTIONS + u64::from(number);
        Sequence::new(sequence, Uuid::Thread.of(number))
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

/// A track with its name, and its place below another.
struct Placed<'a> {
    uuid: u64,
    name: &'a str,
    /// The track that it is below, and its place among those.
    parent: Option<u64>,
    place: u64,
}

impl Placed<'_> {
    fn descriptor(&self) -> Vec<u8> {
        let mut track = Vec::new();
        uint(&mut track, track_descriptor::UUID, self.uuid);
        if let Some(parent) = self.parent {
            uint(&mut track, track_descriptor::PARENT_UUID, parent);
        }
        bytes(&mut track, track_descriptor::NAME, self.name.as_bytes());
        let (field, value) = (
            track_descriptor::CHILD_ORDERING,
            track_descriptor::CHILDREN_EXPLICIT,
        );
        uint(&mut track, field, value);
        let field = track_descriptor::SIBLING_ORDER_RANK;
        uint(&mut track, field, self.place);
        track
    }
}

fn group_track(tracks: &Tracks<'_>) -> Vec<u8> {
    let placed = Placed {
        uuid: Uuid::Group.of(tracks.number),
        name: tracks.title,
        parent: None,
        place: tracks.number.into(),
    };
    placed.descriptor()
}

fn contradiction_track(tracks: &Tracks<'_>, track: ContradictionTrack) -> Vec<u8> {
    let placed = Placed {
        uuid: Uuid::Thread.of(track.number),
        name: ContradictionTrack::NAME,
        parent: Some(Uuid::Group.of(tracks.number)),
        // Above all else, which is numbered from 1.
        place: 0,
    };
    placed.descriptor()
}

fn process_track(tracks: &Tracks<'_>, process: &Process) -> Vec<u8> {
    let placed = Placed {
        uuid: Uuid::Process.of(process.number),
        name: &process.name,
        parent: Some(Uuid::Group.of(tracks.number)),
        place: PLACES * u64::from(process.number),
    };
    placed.descriptor()
}

fn thread_track(tracks: &Tracks<'_>, thread: &Thread) -> Vec<u8> {
    let process = tracks.processes.get(&thread.position);
    let alone = process.filter(|it| it.is_single);
    let name = match alone {
        Some(process) => format!("{}, {}", process.name, thread.name),
        None => thread.name.clone(),
    };
    let parent = match alone {
        Some(_) => Uuid::Group.of(tracks.number),
        None => Uuid::Process.of(thread.process),
    };
    let placed = Placed {
        uuid: Uuid::Thread.of(thread.number),
        name: &name,
        parent: Some(parent),
        place: PLACES * u64::from(thread.number),
    };
    placed.descriptor()
}

fn curve_track(curve: &Curve) -> Vec<u8> {
    let placed = Placed {
        uuid: Uuid::Curve.of(curve.number),
        name: &curve.name,
        parent: Some(Uuid::Thread.of(curve.thread)),
        place: curve.number.into(),
    };
    let mut own = Vec::new();
    let (field, value) = (counter_descriptor::UNIT, counter_descriptor::UNIT_TIME_NS);
    uint(&mut own, field, value);
    let mut track = placed.descriptor();
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
