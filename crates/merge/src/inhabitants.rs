//! The inhabitants of a file of packets: its processes, and what else is named anew, since a name
//! says whose it is.

use retime_model::Monitor;
use retime_model::format::{Document, FormatError};
use retime_perfetto::{MachinesAhead, PacketRead, PieceRead, each_packet};
use retime_perfetto_wire::fields::{
    gpu_render_stage_event, interned_data, interned_graphics_context, listed_process,
    listed_thread, process_descriptor, process_tree, thread_descriptor, trace_packet,
    track_descriptor, track_event,
};
use retime_perfetto_wire::read::{Field, Fields, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::survey::ProcessSeen;

/// A process of a file: its machine, and its number there.
pub(crate) type ProcessKey = (u32, i32);

/// A process, and whether the file has a track for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inhabitant {
    pub(crate) key: ProcessKey,
    pub(crate) seen: ProcessSeen,
    pub(crate) is_described: bool,
}

/// The inhabitants of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inhabitants {
    /// In the order in which they are met.
    pub(crate) processes: Vec<Inhabitant>,
    by_key: FxHashMap<ProcessKey, usize>,
    /// The numbers of queues of GPUs, by machine and sequence.
    pub(crate) queues: FxHashSet<(u32, u32, u64)>,
    /// The nanoseconds by which machines are ahead.
    pub(crate) ahead: MachinesAhead,
    /// Events: ends of slices are none.
    pub(crate) events: u64,
}

/// The fields of a message, as far as it is whole.
pub(crate) fn whole(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    Fields::of(message).map_while(Result::ok)
}

fn number(message: &[u8], wanted: u32) -> Option<u64> {
    let found = whole(message).filter(|it| it.number == wanted);
    found.last()?.value.number()
}

fn bytes(message: &[u8], wanted: u32) -> Option<&[u8]> {
    let found = whole(message).filter(|it| it.number == wanted);
    found.last()?.value.bytes()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Inhabitants {
    /// Reads a file.
    pub(crate) fn of(document: &Document, monitor: &dyn Monitor) -> Result<Self, FormatError> {
        let mut found = Self::default();
        let none = MachinesAhead::default();
        let ahead = each_packet(&document.path, &none, monitor, &mut |piece| {
            if let PieceRead::Packet(packet) = piece {
                found.packet(&packet);
            }
            Ok(())
        })?;
        Ok(Self { ahead, ..found })
    }

    /// The position of a process, which is taken up if it is new.
    fn process(&mut self, machine: u32, pid: u64) -> Option<&mut Inhabitant> {
        let key = (machine, pid as i32);
        let next = self.processes.len();
        let at = *self.by_key.entry(key).or_insert(next);
        if at == next {
            let seen = ProcessSeen {
                pid: key.1.to_string(),
                has_events: true,
                ..ProcessSeen::default()
            };
            self.processes.push(Inhabitant {
                key,
                seen,
                is_described: false,
            });
        }
        self.processes.get_mut(at)
    }

    /// The position of a process.
    pub(crate) fn find(&self, key: ProcessKey) -> Option<usize> {
        self.by_key.get(&key).copied()
    }

    fn packet(&mut self, packet: &PacketRead<'_>) {
        let machine = packet.machine;
        for field in whole(packet.bytes) {
            let Value::Bytes(message) = field.value else {
                continue;
            };
            match field.number {
                trace_packet::TRACK_EVENT => {
                    let kind = number(message, track_event::TYPE);
                    self.events += u64::from(kind != Some(track_event::SLICE_END));
                }
                trace_packet::GPU_RENDER_STAGE_EVENT => {
                    let is_event = number(message, gpu_render_stage_event::EVENT_ID).is_some();
                    self.events += u64::from(is_event);
                    let queue = number(message, gpu_render_stage_event::HW_QUEUE_IID);
                    let key = queue.map(|it| (machine, packet.sequence, it));
                    self.queues.extend(key);
                }
                trace_packet::TRACK_DESCRIPTOR => self.track(machine, message),
                trace_packet::PROCESS_DESCRIPTOR => self.described(machine, message, false),
                trace_packet::THREAD_DESCRIPTOR => self.thread(machine, message),
                trace_packet::INTERNED_DATA => self.contexts(machine, message),
                trace_packet::PROCESS_TREE => self.tree(machine, message),
                _ => {}
            }
        }
    }

    fn track(&mut self, machine: u32, message: &[u8]) {
        if let Some(process) = bytes(message, track_descriptor::PROCESS) {
            self.described(machine, process, true);
        }
        if let Some(thread) = bytes(message, track_descriptor::THREAD) {
            self.thread(machine, thread);
        }
    }

    fn described(&mut self, machine: u32, message: &[u8], has_track: bool) {
        let pid = number(message, process_descriptor::PID).unwrap_or_default();
        let Some(process) = self.process(machine, pid) else {
            return;
        };
        process.is_described |= has_track;
        let name = bytes(message, process_descriptor::PROCESS_NAME).filter(|it| !it.is_empty());
        if let Some(name) = name {
            process.seen.name = Some(text(name));
        }
        if let Some(label) = bytes(message, process_descriptor::PROCESS_LABELS) {
            process.seen.labels = Some(text(label));
        }
    }

    fn thread(&mut self, machine: u32, message: &[u8]) {
        if let Some(pid) = number(message, thread_descriptor::PID) {
            self.process(machine, pid);
        }
    }

    fn contexts(&mut self, machine: u32, message: &[u8]) {
        for entry in whole(message).filter(|it| it.number == interned_data::GRAPHICS_CONTEXTS) {
            let pid = number(
                entry.value.bytes().unwrap_or_default(),
                interned_graphics_context::PID,
            );
            if let Some(pid) = pid {
                self.process(machine, pid);
            }
        }
    }

    fn tree(&mut self, machine: u32, message: &[u8]) {
        for entry in whole(message) {
            let listed = entry.value.bytes().unwrap_or_default();
            let pid = match entry.number {
                process_tree::PROCESSES => number(listed, listed_process::PID),
                process_tree::THREADS => number(listed, listed_thread::TGID),
                _ => None,
            };
            let Some(process) = pid.and_then(|it| self.process(machine, it)) else {
                continue;
            };
            let name = bytes(listed, listed_process::CMDLINE);
            if let Some(name) = name.filter(|_| entry.number == process_tree::PROCESSES) {
                process.seen.name = process.seen.name.take().or(Some(text(name)));
            }
        }
    }
}
