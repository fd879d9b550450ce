//! A packet with other numbers and another time, and all else byte for byte.
//!
//! ```text
//! timestamp_clock_id, machine_id    left out, as the time is that of the file
//! trusted_packet_sequence_id        another; given where there is none
//! track_event, defaults             tracks, arrows, ids, processes
//! track_descriptor                  tracks, processes; names that say whose they are
//! gpu_render_stage_event            stages and queues, as interned data have them
//! clock_snapshot, remote_clock_sync, system_info
//!                                   a packet of a machine that has nothing else
//! ```
//!
//! Readers join arrows within a machine alone, so that events are of none. Readings of clocks
//! contradict those of other files, so they stay with a machine for each that a file knows. There
//! is what nothing tells the time of, too, since its clock means something there alone.
//!
//! Source: the files that [`retime_perfetto_wire::fields`] names.

use retime_model::format::Document;
use retime_perfetto::PacketRead;
use retime_perfetto_wire::fields::{
    gpu_render_stage_event, gpu_track_event, interned_data, interned_graphics_context,
    interned_name, legacy_event, listed_process, listed_thread, process_descriptor, process_tree,
    specifications, thread_descriptor, trace, trace_packet, trace_packet_defaults,
    track_descriptor, track_event,
};
use retime_perfetto_wire::read::{Field, Fields, Value, packed};
use retime_perfetto_wire::write::{bytes, fixed64, uint, varint};

use crate::inhabitants::{Inhabitants, whole};
use crate::numbers::{Free, Numbers};
use crate::titles::owned;

/// The names that say whose something is.
pub(crate) struct Named<'a> {
    /// The number and the title of each process.
    pub(crate) processes: Vec<(u64, String)>,
    /// The document, which says whose its tracks are.
    pub(crate) document: &'a Document,
}

/// Gives other numbers to the packets of a file.
pub(crate) struct Renumber<'a> {
    pub(crate) inhabitants: &'a Inhabitants,
    pub(crate) named: &'a Named<'a>,
    pub(crate) numbers: Numbers,
    /// Room for what is nested.
    event: Vec<u8>,
}

/// Fields that belong to a machine of the file.
const OF_MACHINE: [u32; 3] = [
    trace_packet::CLOCK_SNAPSHOT,
    trace_packet::REMOTE_CLOCK_SYNC,
    trace_packet::SYSTEM_INFO,
];

/// Fields that belong to the events of a sequence.
const OF_EVENTS: [u32; 11] = [
    trace_packet::PROCESS_TREE,
    trace_packet::TRACK_EVENT,
    trace_packet::INTERNED_DATA,
    trace_packet::SEQUENCE_FLAGS,
    trace_packet::INCREMENTAL_STATE_CLEARED_OLD,
    trace_packet::PREVIOUS_PACKET_DROPPED,
    trace_packet::PROCESS_DESCRIPTOR,
    trace_packet::THREAD_DESCRIPTOR,
    trace_packet::GPU_RENDER_STAGE_EVENT,
    trace_packet::TRACE_PACKET_DEFAULTS,
    trace_packet::TRACK_DESCRIPTOR,
];

/// Copies a message; `renew` writes a field in another way, or says that it stays as it is.
fn copied(
    message: &[u8],
    out: &mut Vec<u8>,
    mut renew: impl FnMut(Field<'_>, &mut Vec<u8>) -> bool,
) {
    let mut at = 0;
    for field in Fields::of(message).map_while(Result::ok) {
        if !renew(field, out) {
            out.extend_from_slice(message.get(field.start..field.end).unwrap_or_default());
        }
        at = field.end;
    }
    // What is damaged within an event that readers take no part of stays, too.
    out.extend_from_slice(message.get(at..).unwrap_or_default());
}

impl<'a> Renumber<'a> {
    pub(crate) fn new(document: u32, inhabitants: &'a Inhabitants, named: &'a Named<'a>) -> Self {
        Self {
            inhabitants,
            named,
            numbers: Numbers::of(document),
            event: Vec::new(),
        }
    }

    /// Writes a packet, whose time in the file is `at` if that is known.
    pub(crate) fn packet(
        &mut self,
        packet: &PacketRead<'_>,
        at: Option<u64>,
        free: &mut Free,
        out: &mut Vec<u8>,
    ) {
        let has = |of: &[u32]| whole(packet.bytes).any(|it| of.contains(&it.number));
        let has_unknown_time = at.is_none() && has(&[trace_packet::TIMESTAMP]);
        if has_unknown_time {
            self.of_machine(packet, free, out, |_| true);
        } else if has(&OF_MACHINE) {
            self.of_machine(packet, free, out, |it| !OF_EVENTS.contains(&it));
            if has(&OF_EVENTS) {
                self.of_file(packet, at, free, out, |it| {
                    OF_EVENTS.contains(&it) || it == trace_packet::TIMESTAMP
                });
            }
        } else {
            self.of_file(packet, at, free, out, |_| true);
        }
    }

    /// Writes some fields of a packet with a time of the file.
    fn of_file(
        &mut self,
        packet: &PacketRead<'_>,
        at: Option<u64>,
        free: &mut Free,
        out: &mut Vec<u8>,
        is_in: impl Fn(u32) -> bool,
    ) {
        let mut own = Vec::with_capacity(packet.bytes.len() + 16);
        copied(packet.bytes, &mut own, |field, own| match field.number {
            trace_packet::TIMESTAMP => {
                uint(own, trace_packet::TIMESTAMP, at.unwrap_or_default());
                true
            }
            number if is_left_out(number) || !is_in(number) => true,
            _ => self.field(packet, field, own),
        });
        self.put(packet, own, free, out);
    }

    /// Writes some fields of a packet as one of the machine that it is of, by the clock of that.
    fn of_machine(
        &mut self,
        packet: &PacketRead<'_>,
        free: &mut Free,
        out: &mut Vec<u8>,
        is_in: impl Fn(u32) -> bool,
    ) {
        let mut own = Vec::with_capacity(packet.bytes.len() + 16);
        copied(packet.bytes, &mut own, |field, own| {
            let is_absent = is_left_out(field.number) || !is_in(field.number);
            is_absent || self.field(packet, field, own)
        });
        let machine = self.numbers.machine(free, packet.machine);
        uint(&mut own, trace_packet::MACHINE_ID, machine.into());
        if let Some(clock) = packet.clock {
            uint(&mut own, trace_packet::TIMESTAMP_CLOCK_ID, clock.into());
        }
        self.put(packet, own, free, out);
    }

    /// Writes a packet of the sequence that another is of.
    fn put(
        &mut self,
        packet: &PacketRead<'_>,
        mut own: Vec<u8>,
        free: &mut Free,
        out: &mut Vec<u8>,
    ) {
        let sequence = self.numbers.sequence(free, packet.machine, packet.sequence);
        uint(&mut own, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, sequence);
        bytes(out, trace::PACKET, &own);
    }

    /// Writes a field of a packet anew, if that holds numbers.
    fn field(&mut self, packet: &PacketRead<'_>, field: Field<'_>, out: &mut Vec<u8>) -> bool {
        let machine = packet.machine;
        let message = match field.value {
            Value::Bytes(message) => message,
            Value::Varint(pid) if field.number == trace_packet::TRUSTED_PID => {
                uint(out, field.number, self.pid(machine, pid));
                return true;
            }
            _ => return false,
        };
        let mut own = std::mem::take(&mut self.event);
        own.clear();
        match field.number {
            trace_packet::TRACK_EVENT => self.track_event(machine, message, &mut own),
            trace_packet::TRACE_PACKET_DEFAULTS => self.defaults(machine, message, &mut own),
            trace_packet::TRACK_DESCRIPTOR => self.track(machine, message, &mut own),
            trace_packet::PROCESS_DESCRIPTOR => self.process(machine, message, &mut own),
            trace_packet::THREAD_DESCRIPTOR => self.thread(machine, message, &mut own),
            trace_packet::GPU_RENDER_STAGE_EVENT => self.stage(packet, message, &mut own),
            trace_packet::INTERNED_DATA => self.interned(packet, message, &mut own),
            trace_packet::PROCESS_TREE => self.tree(machine, message, &mut own),
            _ => own.extend_from_slice(message),
        }
        bytes(out, field.number, &own);
        self.event = own;
        true
    }

    fn pid(&self, machine: u32, pid: u64) -> u64 {
        let at = self.inhabitants.find((machine, pid as i32));
        let known = at.and_then(|it| self.named.processes.get(it));
        known.map_or(pid, |it| it.0)
    }

    /// The main thread of a process has its number, other threads keep theirs: readers know them
    /// by both.
    fn tid(&self, machine: u32, pid: Option<u64>, tid: u64) -> u64 {
        match pid {
            Some(pid) if pid == tid => self.pid(machine, pid),
            _ => tid,
        }
    }

    /// A field that is the number of a track, or several.
    fn tracks(&mut self, machine: u32, field: Field<'_>, out: &mut Vec<u8>) -> bool {
        match field.value {
            Value::Varint(uuid) => {
                uint(out, field.number, self.numbers.track(machine, uuid));
                true
            }
            Value::Bytes(all) => {
                let mut own = Vec::new();
                for uuid in packed(all).map_while(Result::ok) {
                    varint(&mut own, self.numbers.track(machine, uuid));
                }
                bytes(out, field.number, &own);
                true
            }
            _ => false,
        }
    }

    fn defaults(&mut self, machine: u32, message: &[u8], out: &mut Vec<u8>) {
        copied(message, out, |field, out| {
            match (field.number, field.value) {
                // Times are those of the file.
                (trace_packet_defaults::TIMESTAMP_CLOCK_ID, _) => true,
                (trace_packet_defaults::TRACK_EVENT_DEFAULTS, Value::Bytes(event)) => {
                    let mut own = Vec::new();
                    copied(event, &mut own, |field, out| {
                        is_track(field.number) && self.tracks(machine, field, out)
                    });
                    bytes(out, field.number, &own);
                    true
                }
                _ => false,
            }
        });
    }

    fn track_event(&mut self, machine: u32, message: &[u8], out: &mut Vec<u8>) {
        copied(message, out, |field, out| {
            let number = field.number;
            match number {
                _ if is_track(number) => self.tracks(machine, field, out),
                track_event::FLOW_IDS
                | track_event::TERMINATING_FLOW_IDS
                | track_event::FLOW_IDS_OLD
                | track_event::TERMINATING_FLOW_IDS_OLD => {
                    self.flows(field, out);
                    true
                }
                track_event::LEGACY_EVENT => {
                    let mut own = Vec::new();
                    let legacy = field.value.bytes().unwrap_or_default();
                    self.legacy(machine, legacy, &mut own);
                    bytes(out, number, &own);
                    true
                }
                gpu_track_event::GPU_CORRELATION => {
                    let mut own = Vec::new();
                    let correlation = field.value.bytes().unwrap_or_default();
                    copied(correlation, &mut own, |field, out| {
                        let submitted = gpu_track_event::RENDER_STAGE_SUBMISSION_EVENT_IDS;
                        field.number == submitted && self.stages(field, out)
                    });
                    bytes(out, number, &own);
                    true
                }
                _ => false,
            }
        });
    }

    /// Arrows, as four kinds of fields have them: eight bytes each, or varints as they were once.
    fn flows(&mut self, field: Field<'_>, out: &mut Vec<u8>) {
        let number = match field.number {
            track_event::TERMINATING_FLOW_IDS | track_event::TERMINATING_FLOW_IDS_OLD => {
                track_event::TERMINATING_FLOW_IDS
            }
            _ => track_event::FLOW_IDS,
        };
        let mut put = |id| fixed64(out, number, self.numbers.flow(id));
        match field.value {
            Value::Bytes(all) if field.number == number => {
                for id in all.chunks_exact(8).filter_map(|it| it.try_into().ok()) {
                    put(u64::from_le_bytes(id));
                }
            }
            Value::Bytes(all) => packed(all).map_while(Result::ok).for_each(put),
            other => other.number().into_iter().for_each(put),
        }
    }

    fn legacy(&mut self, machine: u32, message: &[u8], out: &mut Vec<u8>) {
        let said = |wanted| {
            whole(message)
                .find(|it| it.number == wanted)?
                .value
                .number()
        };
        let pid = said(legacy_event::PID_OVERRIDE);
        copied(message, out, |field, out| {
            let Value::Varint(it) = field.value else {
                return false;
            };
            let number = match field.number {
                legacy_event::UNSCOPED_ID | legacy_event::GLOBAL_ID => self.numbers.id(it),
                legacy_event::BIND_ID => self.numbers.flow(it),
                legacy_event::PID_OVERRIDE => self.pid(machine, it),
                legacy_event::TID_OVERRIDE => self.tid(machine, pid, it),
                _ => return false,
            };
            uint(out, field.number, number);
            true
        });
    }

    fn track(&mut self, machine: u32, message: &[u8], out: &mut Vec<u8>) {
        let has = |wanted: u32| whole(message).any(|it| it.number == wanted);
        let parent = whole(message).find(|it| it.number == track_descriptor::PARENT_UUID);
        let is_below = parent.is_some_and(|it| it.value.number() != Some(0));
        let is_alone =
            !is_below && !has(track_descriptor::THREAD) && !has(track_descriptor::PROCESS);
        let mut place = None;
        copied(message, out, |field, out| {
            match (field.number, field.value) {
                (track_descriptor::UUID | track_descriptor::PARENT_UUID, _) => {
                    self.tracks(machine, field, out)
                }
                (track_descriptor::PROCESS, Value::Bytes(process)) => {
                    let mut own = Vec::new();
                    self.process(machine, process, &mut own);
                    let pid = whole(&own).find(|it| it.number == process_descriptor::PID);
                    place = pid.and_then(|it| it.value.number());
                    bytes(out, field.number, &own);
                    true
                }
                (track_descriptor::THREAD, Value::Bytes(thread)) => {
                    let mut own = Vec::new();
                    self.thread(machine, thread, &mut own);
                    bytes(out, field.number, &own);
                    true
                }
                (track_descriptor::NAME | track_descriptor::STATIC_NAME, Value::Bytes(name))
                    if is_alone =>
                {
                    let name = owned(self.named.document, name);
                    bytes(out, field.number, &name);
                    true
                }
                (track_descriptor::SIBLING_ORDER_RANK, _) => has(track_descriptor::PROCESS),
                _ => false,
            }
        });
        if let Some(place) = place {
            uint(out, track_descriptor::SIBLING_ORDER_RANK, place);
        }
    }

    fn process(&mut self, machine: u32, message: &[u8], out: &mut Vec<u8>) {
        let pid = whole(message).find(|it| it.number == process_descriptor::PID);
        let pid = pid.and_then(|it| it.value.number()).unwrap_or_default();
        copied(message, out, |field, _| {
            matches!(
                field.number,
                process_descriptor::PID
                    | process_descriptor::PROCESS_NAME
                    | process_descriptor::LEGACY_SORT_INDEX
            )
        });
        let at = self.inhabitants.find((machine, pid as i32));
        if let Some((pid, title)) = at.and_then(|it| self.named.processes.get(it)) {
            describe_process(out, *pid, title);
        }
    }

    fn thread(&mut self, machine: u32, message: &[u8], out: &mut Vec<u8>) {
        let pid = whole(message).find(|it| it.number == thread_descriptor::PID);
        let pid = pid.and_then(|it| it.value.number());
        copied(message, out, |field, out| {
            let Value::Varint(it) = field.value else {
                return false;
            };
            let number = match field.number {
                thread_descriptor::PID => self.pid(machine, it),
                thread_descriptor::TID => self.tid(machine, pid, it),
                _ => return false,
            };
            uint(out, field.number, number);
            true
        });
    }

    fn stage(&mut self, packet: &PacketRead<'_>, message: &[u8], out: &mut Vec<u8>) {
        copied(message, out, |field, out| {
            match (field.number, field.value) {
                (gpu_render_stage_event::EVENT_ID | gpu_render_stage_event::EVENT_WAIT_IDS, _) => {
                    self.stages(field, out)
                }
                (
                    gpu_render_stage_event::HW_QUEUE_IID | gpu_render_stage_event::STAGE_IID,
                    Value::Varint(iid),
                ) => {
                    uint(out, field.number, self.specification(packet, iid));
                    true
                }
                (gpu_render_stage_event::SPECIFICATIONS, Value::Bytes(listed)) => {
                    let mut own = Vec::new();
                    copied(listed, &mut own, |field, out| {
                        let context = specifications::CONTEXT_SPEC;
                        field.number == context
                            && self.context(packet.machine, field, out, specifications::CONTEXT_PID)
                    });
                    bytes(out, field.number, &own);
                    true
                }
                _ => false,
            }
        });
    }

    fn stages(&mut self, field: Field<'_>, out: &mut Vec<u8>) -> bool {
        match field.value {
            Value::Varint(id) => {
                uint(out, field.number, self.numbers.stage(id));
                true
            }
            Value::Bytes(all) => {
                let mut own = Vec::new();
                for id in packed(all).map_while(Result::ok) {
                    varint(&mut own, self.numbers.stage(id));
                }
                bytes(out, field.number, &own);
                true
            }
            _ => false,
        }
    }

    fn specification(&mut self, packet: &PacketRead<'_>, iid: u64) -> u64 {
        self.numbers
            .specification(packet.machine, packet.sequence, iid)
    }

    /// A graphics context, whose process has another number.
    fn context(&self, machine: u32, field: Field<'_>, out: &mut Vec<u8>, pid: u32) -> bool {
        let Value::Bytes(entry) = field.value else {
            return false;
        };
        let mut own = Vec::new();
        copied(entry, &mut own, |field, out| match field.value {
            Value::Varint(it) if field.number == pid => {
                uint(out, field.number, self.pid(machine, it));
                true
            }
            _ => false,
        });
        bytes(out, field.number, &own);
        true
    }

    fn interned(&mut self, packet: &PacketRead<'_>, message: &[u8], out: &mut Vec<u8>) {
        copied(message, out, |field, out| {
            match (field.number, field.value) {
                (interned_data::GRAPHICS_CONTEXTS, _) => {
                    self.context(packet.machine, field, out, interned_graphics_context::PID)
                }
                (interned_data::GPU_SPECIFICATIONS, Value::Bytes(entry)) => {
                    let iid = whole(entry).find(|it| it.number == interned_name::IID);
                    let iid = iid.and_then(|it| it.value.number()).unwrap_or_default();
                    let key = (packet.machine, packet.sequence, iid);
                    let is_queue = self.inhabitants.queues.contains(&key);
                    let mut own = Vec::new();
                    uint(
                        &mut own,
                        interned_name::IID,
                        self.specification(packet, iid),
                    );
                    copied(entry, &mut own, |field, out| {
                        match (field.number, field.value) {
                            (interned_name::IID, _) => true,
                            (interned_name::NAME, Value::Bytes(name)) if is_queue => {
                                let name = owned(self.named.document, name);
                                bytes(out, field.number, &name);
                                true
                            }
                            _ => false,
                        }
                    });
                    bytes(out, field.number, &own);
                    true
                }
                _ => false,
            }
        });
    }

    fn tree(&mut self, machine: u32, message: &[u8], out: &mut Vec<u8>) {
        copied(message, out, |entry, out| {
            let Value::Bytes(listed) = entry.value else {
                return false;
            };
            let is_thread = match entry.number {
                process_tree::PROCESSES => false,
                process_tree::THREADS => true,
                _ => return false,
            };
            let group = whole(listed).find(|it| it.number == listed_thread::TGID);
            let group = group.and_then(|it| it.value.number());
            let mut own = Vec::new();
            copied(listed, &mut own, |field, out| {
                let Value::Varint(it) = field.value else {
                    return false;
                };
                let number = match (is_thread, field.number) {
                    (false, listed_process::PID | listed_process::PPID)
                    | (true, listed_thread::TGID) => self.pid(machine, it),
                    (true, listed_thread::TID) => self.tid(machine, group, it),
                    _ => return false,
                };
                uint(out, field.number, number);
                true
            });
            bytes(out, entry.number, &own);
            true
        });
    }
}

/// True for what a packet is given anew.
fn is_left_out(field: u32) -> bool {
    matches!(
        field,
        trace_packet::TRUSTED_PACKET_SEQUENCE_ID
            | trace_packet::MACHINE_ID
            | trace_packet::TIMESTAMP_CLOCK_ID
    )
}

/// True if this field of a track event, or of defaults, has numbers of tracks.
fn is_track(field: u32) -> bool {
    matches!(
        field,
        track_event::TRACK_UUID
            | track_event::EXTRA_COUNTER_TRACK_UUIDS
            | track_event::EXTRA_DOUBLE_COUNTER_TRACK_UUIDS
    )
}

/// Describes a process: its number is its place, too.
pub(crate) fn describe_process(out: &mut Vec<u8>, pid: u64, title: &str) {
    uint(out, process_descriptor::PID, pid);
    uint(out, process_descriptor::LEGACY_SORT_INDEX, pid);
    bytes(out, process_descriptor::PROCESS_NAME, title.as_bytes());
}
