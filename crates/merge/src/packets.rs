//! Packets of one sequence: events with their names sent once, their categories and arguments.

use retime_chrome_json::members::unquoted;
use retime_perfetto_wire::fields::{
    debug_annotation, interned_data, interned_name, trace, trace_packet, track_event,
};
use retime_perfetto_wire::write::{bytes, double, fixed64, uint};
use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;

use crate::survey::without_quotes;

/// Names that were sent, with their numbers from 1.
type Sent = FxHashMap<Box<[u8]>, u64>;

/// Writes the packets of a sequence.
pub(crate) struct Sequence {
    number: u64,
    is_begun: bool,
    names: Sent,
    categories: Sent,
    keys: Sent,
    /// To be sent with the next packet.
    interned: Vec<u8>,
    event: Vec<u8>,
    packet: Vec<u8>,
    annotation: Vec<u8>,
}

impl Sequence {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            number,
            is_begun: false,
            names: Sent::default(),
            categories: Sent::default(),
            keys: Sent::default(),
            interned: Vec::new(),
            event: Vec::new(),
            packet: Vec::new(),
            annotation: Vec::new(),
        }
    }

    /// Begins an event on a track.
    pub(crate) fn event(&mut self, kind: u64, track: u64) {
        self.event.clear();
        uint(&mut self.event, track_event::TYPE, kind);
        uint(&mut self.event, track_event::TRACK_UUID, track);
    }

    /// Names the event, by text as it stands between quotes.
    pub(crate) fn name(&mut self, text: &[u8]) {
        let table = interned_data::EVENT_NAMES;
        let iid = interned(&mut self.names, &mut self.interned, table, text);
        uint(&mut self.event, track_event::NAME_IID, iid);
    }

    /// Says the category of the event.
    pub(crate) fn category(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let table = interned_data::EVENT_CATEGORIES;
        let iid = interned(&mut self.categories, &mut self.interned, table, text);
        uint(&mut self.event, track_event::CATEGORY_IIDS, iid);
    }

    /// Lets an arrow begin or end at the event.
    pub(crate) fn flow(&mut self, number: u64) {
        fixed64(&mut self.event, track_event::FLOW_IDS, number);
    }

    /// Lets an arrow end at the event.
    pub(crate) fn last_flow(&mut self, number: u64) {
        fixed64(&mut self.event, track_event::TERMINATING_FLOW_IDS, number);
    }

    /// Gives the value of a counter.
    pub(crate) fn counter(&mut self, value: f64) {
        double(&mut self.event, track_event::DOUBLE_COUNTER_VALUE, value);
    }

    /// Adds an argument, by its key without quotes and its value as JSON has it.
    pub(crate) fn argument(&mut self, key: &[u8], value: &[u8]) {
        let table = interned_data::DEBUG_ANNOTATION_NAMES;
        let iid = interned(&mut self.keys, &mut self.interned, table, key);
        self.annotation.clear();
        uint(&mut self.annotation, debug_annotation::NAME_IID, iid);
        annotate(&mut self.annotation, value);
        bytes(
            &mut self.event,
            track_event::DEBUG_ANNOTATIONS,
            &self.annotation,
        );
    }

    /// Writes the packet of the event.
    pub(crate) fn send(&mut self, out: &mut Vec<u8>, at: i64) {
        let mut flags = trace_packet::NEEDS_INCREMENTAL_STATE;
        if !std::mem::replace(&mut self.is_begun, true) {
            flags |= trace_packet::INCREMENTAL_STATE_CLEARED;
        }
        let packet = &mut self.packet;
        packet.clear();
        uint(packet, trace_packet::TIMESTAMP, at.max(0) as u64);
        uint(
            packet,
            trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
            self.number,
        );
        bytes(packet, trace_packet::TRACK_EVENT, &self.event);
        if !self.interned.is_empty() {
            bytes(packet, trace_packet::INTERNED_DATA, &self.interned);
            self.interned.clear();
        }
        uint(packet, trace_packet::SEQUENCE_FLAGS, flags);
        bytes(out, trace::PACKET, packet);
    }

    /// Writes the names that are to be sent, where the packet that needs them comes later
    /// than others that may.
    pub(crate) fn send_names(&mut self, out: &mut Vec<u8>) {
        if self.interned.is_empty() {
            return;
        }
        let mut flags = trace_packet::NEEDS_INCREMENTAL_STATE;
        if !std::mem::replace(&mut self.is_begun, true) {
            flags |= trace_packet::INCREMENTAL_STATE_CLEARED;
        }
        let packet = &mut self.packet;
        packet.clear();
        uint(
            packet,
            trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
            self.number,
        );
        bytes(packet, trace_packet::INTERNED_DATA, &self.interned);
        self.interned.clear();
        uint(packet, trace_packet::SEQUENCE_FLAGS, flags);
        bytes(out, trace::PACKET, packet);
    }

    /// Writes the packet of a track.
    pub(crate) fn describe(&self, out: &mut Vec<u8>, track: &[u8]) {
        describe(out, self.number, track);
    }
}

/// Writes the packet that describes a track, from a sequence.
pub(crate) fn describe(out: &mut Vec<u8>, sequence: u64, track: &[u8]) {
    let mut packet = Vec::new();
    uint(
        &mut packet,
        trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
        sequence,
    );
    bytes(&mut packet, trace_packet::TRACK_DESCRIPTOR, track);
    bytes(out, trace::PACKET, &packet);
}

/// The number of a text, which is sent if it is new.
fn interned(sent: &mut Sent, out: &mut Vec<u8>, table: u32, text: &[u8]) -> u64 {
    if let Some(iid) = sent.get(text) {
        return *iid;
    }
    let iid = sent.len() as u64 + 1;
    sent.insert(text.into(), iid);
    let mut entry = Vec::new();
    uint(&mut entry, interned_name::IID, iid);
    bytes(&mut entry, interned_name::NAME, unquoted(text).as_bytes());
    bytes(out, table, &entry);
    iid
}

/// Adds a value. What is nested stays JSON, which readers take apart; what is no JSON, as
/// profilers write it, is text.
fn annotate(out: &mut Vec<u8>, value: &[u8]) {
    match value.first() {
        Some(b'"') => {
            let text = unquoted(without_quotes(value));
            bytes(out, debug_annotation::STRING_VALUE, text.as_bytes());
        }
        Some(b'{' | b'[') if serde_json::from_slice::<IgnoredAny>(value).is_ok() => {
            bytes(out, debug_annotation::LEGACY_JSON_VALUE, value);
        }
        _ => scalar(out, value),
    }
}

fn scalar(out: &mut Vec<u8>, value: &[u8]) {
    let text = String::from_utf8_lossy(value);
    if let Ok(truth) = text.parse::<bool>() {
        uint(out, debug_annotation::BOOL_VALUE, truth.into());
    } else if let Ok(number) = text.parse::<i64>() {
        uint(out, debug_annotation::INT_VALUE, number as u64);
    } else if let Ok(number) = text.parse::<u64>() {
        uint(out, debug_annotation::UINT_VALUE, number);
    } else if let Some(number) = text.parse::<f64>().ok().filter(|it| it.is_finite()) {
        double(out, debug_annotation::DOUBLE_VALUE, number);
    } else {
        bytes(out, debug_annotation::STRING_VALUE, text.as_bytes());
    }
}
