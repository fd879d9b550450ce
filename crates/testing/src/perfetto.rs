//! Profiles of a training job as packets of Perfetto, made of Kineto's JSON.
//!
//! | shape | as |
//! |---|---|
//! | [`Shape::PyTorch`] | `torch/csrc/profiler/cupti/monitor_pftrace.cpp` writes: descriptors, then all names, then of each kind all begins before all ends, annotations with their names |
//! | [`Shape::Stages`] | the same, with kernels as stages of a GPU, which their launches name |
//! | [`Shape::Rocprof`] | Perfetto's SDK writes for rocprof: a sequence for each thread, names and annotations interned, an incremental clock, categories, numbers of launches as `corr_id` |
//!
//! Field numbers are those of `protos/perfetto/trace` in <https://github.com/google/perfetto>.
//!
//! ```
//! use retime_testing::perfetto::{Shape, packets};
//!
//! let profile = br#"{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
//!     "ts": 1.5, "dur": 2, "args": {"grid": [24, 1, 1]}}]}"#;
//! let file = packets(profile, Shape::PyTorch)?;
//! assert_eq!(file[0], 1 << 3 | 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use retime_perfetto_wire::fields::{
    clock, clock_snapshot, debug_annotation, extra_data, gpu_render_stage_event, gpu_track_event,
    interned_data, interned_name, process_descriptor, thread_descriptor, trace, trace_packet,
    trace_packet_defaults, track_descriptor, track_event,
};
use retime_perfetto_wire::write::{bytes, double, fixed64, uint};
use serde_json::{Map, Value};

/// The shape in which packets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Packets as PyTorch writes them.
    PyTorch,
    /// Packets as PyTorch writes them, with stages of GPUs.
    Stages,
    /// Packets as rocprof writes them.
    Rocprof,
}

/// An event that lasts, or an end of an arrow, of a profile.
struct RecordedEvent {
    name: String,
    category: String,
    track: u64,
    begin: u64,
    end: u64,
    args: Map<String, Value>,
}

/// The tracks and events of a profile.
#[derive(Default)]
struct Profile {
    /// Numbers of tracks from 2 on, by what they are called; odd ones are processes.
    tracks: BTreeMap<(String, String), u64>,
    named: Vec<(u64, String, String)>,
    events: Vec<RecordedEvent>,
}

/// The packets of a file of Kineto.
pub fn packets(profile: &[u8], shape: Shape) -> Result<Vec<u8>, Box<dyn Error>> {
    let json: Value = serde_json::from_slice(profile)?;
    let base = json["baseTimeNanoseconds"].as_i64().unwrap_or_default();
    let mut profile = Profile::default();
    let events = json["traceEvents"]
        .as_array()
        .ok_or("there are no events")?;
    for event in events.iter().filter(|it| it["ph"] == "X") {
        profile.take(event, base)?;
    }
    let mut out = Vec::new();
    profile.describe(&mut out);
    match shape {
        Shape::PyTorch | Shape::Stages => profile.in_columns(&mut out, shape == Shape::Stages),
        Shape::Rocprof => profile.by_thread(&mut out),
    }
    Ok(out)
}

/// Microseconds with decimals, as nanoseconds.
fn nanoseconds(value: &Value) -> Option<i64> {
    let text = value.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let decimals: String = decimals.chars().chain("000".chars()).take(3).collect();
    whole
        .parse::<i64>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(decimals.parse().ok()?)
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

impl Profile {
    fn take(&mut self, event: &Value, base: i64) -> Result<(), Box<dyn Error>> {
        let begin = nanoseconds(&event["ts"]).ok_or("an event has no time")? + base;
        let length = nanoseconds(&event["dur"]).unwrap_or_default();
        let key = (text(&event["pid"]), text(&event["tid"]));
        let next = 2 * (self.tracks.len() as u64 + 1);
        let track = *self.tracks.entry(key.clone()).or_insert_with(|| {
            self.named.push((next, key.0, key.1));
            next
        });
        self.events.push(RecordedEvent {
            name: text(&event["name"]),
            category: text(&event["cat"]),
            track,
            begin: u64::try_from(begin)?,
            end: u64::try_from(begin + length)?,
            args: event["args"].as_object().cloned().unwrap_or_default(),
        });
        Ok(())
    }

    /// Descriptors of all tracks, below those of their processes.
    fn describe(&self, out: &mut Vec<u8>) {
        let mut processes: BTreeMap<&str, u64> = BTreeMap::new();
        for (track, pid, tid) in &self.named {
            let known = processes.len() as u64;
            let pid_number = pid.parse().unwrap_or(900_000 + track);
            let process = *processes.entry(pid).or_insert_with(|| {
                let uuid = 2 * known + 1;
                let (mut own, mut descriptor) = (Vec::new(), Vec::new());
                uint(&mut own, process_descriptor::PID, pid_number);
                bytes(&mut own, process_descriptor::PROCESS_NAME, pid.as_bytes());
                uint(&mut descriptor, track_descriptor::UUID, uuid);
                bytes(&mut descriptor, track_descriptor::PROCESS, &own);
                packet(out, |it| {
                    bytes(it, trace_packet::TRACK_DESCRIPTOR, &descriptor);
                });
                uuid
            });
            let (mut own, mut descriptor) = (Vec::new(), Vec::new());
            uint(&mut own, thread_descriptor::PID, pid_number);
            uint(
                &mut own,
                thread_descriptor::TID,
                tid.parse().unwrap_or(*track),
            );
            bytes(&mut own, thread_descriptor::THREAD_NAME, tid.as_bytes());
            uint(&mut descriptor, track_descriptor::UUID, *track);
            uint(&mut descriptor, track_descriptor::PARENT_UUID, process);
            bytes(&mut descriptor, track_descriptor::THREAD, &own);
            packet(out, |it| {
                bytes(it, trace_packet::TRACK_DESCRIPTOR, &descriptor);
            });
        }
    }

    /// All names first, then of each category all begins and all ends.
    fn in_columns(&self, out: &mut Vec<u8>, has_stages: bool) {
        let mut names: BTreeMap<&str, u64> = BTreeMap::new();
        let mut interned = Vec::new();
        for event in &self.events {
            let next = names.len() as u64 + 1;
            names.entry(&event.name).or_insert_with(|| {
                intern(&mut interned, interned_data::EVENT_NAMES, next, &event.name);
                next
            });
        }
        packet(out, |it| {
            uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 1);
            let cleared = trace_packet::INCREMENTAL_STATE_CLEARED;
            uint(it, trace_packet::SEQUENCE_FLAGS, cleared);
            for event in self.events.iter().filter(|it| has_stages && is_kernel(it)) {
                intern(
                    &mut interned,
                    interned_data::GPU_SPECIFICATIONS,
                    event.track,
                    "stream",
                );
            }
            bytes(it, trace_packet::INTERNED_DATA, &interned);
        });
        let mut groups: BTreeMap<&str, Vec<&RecordedEvent>> = BTreeMap::new();
        for event in &self.events {
            groups.entry(&event.category).or_default().push(event);
        }
        let name = |it: &RecordedEvent| names.get(&*it.name).copied().unwrap_or_default();
        for events in groups.into_values() {
            let (stages, slices): (Vec<_>, Vec<_>) = events
                .into_iter()
                .partition(|it| has_stages && is_kernel(it));
            for event in stages {
                stage(out, event, name(event));
            }
            for event in &slices {
                begin(out, event, name(event), has_stages);
            }
            for event in &slices {
                packet(out, |it| {
                    uint(it, trace_packet::TIMESTAMP, event.end);
                    uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 1);
                    let mut own = Vec::new();
                    uint(&mut own, track_event::TYPE, track_event::SLICE_END);
                    uint(&mut own, track_event::TRACK_UUID, event.track);
                    bytes(it, trace_packet::TRACK_EVENT, &own);
                });
            }
        }
    }

    /// A sequence for each thread, in the order of time.
    fn by_thread(&self, out: &mut Vec<u8>) {
        for (track, ..) in &self.named {
            let own = self.events.iter().filter(|it| it.track == *track);
            let mut ends: Vec<(u64, bool, u64, &RecordedEvent)> = Vec::new();
            for event in own {
                let length = event.end - event.begin;
                ends.push((event.begin, true, u64::MAX - length, event));
                ends.push((event.end, false, length, event));
            }
            // What ends goes before what begins at the same time, inner ones first; outer begins.
            ends.sort_by_key(|it| (it.0, it.1 && it.2 != u64::MAX, it.2));
            Thread::new(*track).write(out, &ends);
        }
    }
}

fn is_kernel(event: &RecordedEvent) -> bool {
    event.category == "kernel"
}

fn packet(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut own = Vec::new();
    fill(&mut own);
    bytes(out, trace::PACKET, &own);
}

fn intern(out: &mut Vec<u8>, table: u32, number: u64, word: &str) {
    let mut entry = Vec::new();
    uint(&mut entry, interned_name::IID, number);
    bytes(&mut entry, interned_name::NAME, word.as_bytes());
    bytes(out, table, &entry);
}

/// A value of an annotation.
fn value(out: &mut Vec<u8>, json: &Value) {
    match json {
        Value::Null => bytes(out, debug_annotation::STRING_VALUE, b"null"),
        Value::Bool(it) => uint(out, debug_annotation::BOOL_VALUE, (*it).into()),
        Value::String(it) => bytes(out, debug_annotation::STRING_VALUE, it.as_bytes()),
        Value::Number(it) => match it.as_i64() {
            Some(it) => uint(out, debug_annotation::INT_VALUE, it as u64),
            None => double(
                out,
                debug_annotation::DOUBLE_VALUE,
                it.as_f64().unwrap_or_default(),
            ),
        },
        Value::Array(all) => {
            for it in all {
                let mut element = Vec::new();
                value(&mut element, it);
                bytes(out, debug_annotation::ARRAY_VALUES, &element);
            }
        }
        Value::Object(all) => {
            for (name, it) in all {
                let mut member = Vec::new();
                bytes(&mut member, debug_annotation::NAME, name.as_bytes());
                value(&mut member, it);
                bytes(out, debug_annotation::DICT_ENTRIES, &member);
            }
        }
    }
}

/// The begin of an event, in PyTorch's shape.
fn begin(out: &mut Vec<u8>, event: &RecordedEvent, name: u64, has_stages: bool) {
    packet(out, |it| {
        uint(it, trace_packet::TIMESTAMP, event.begin);
        uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 1);
        uint(
            it,
            trace_packet::SEQUENCE_FLAGS,
            trace_packet::NEEDS_INCREMENTAL_STATE,
        );
        let mut own = Vec::new();
        uint(&mut own, track_event::TYPE, track_event::SLICE_BEGIN);
        uint(&mut own, track_event::TRACK_UUID, event.track);
        uint(&mut own, track_event::NAME_IID, name);
        if let Some(number) = event.args.get("correlation").and_then(Value::as_u64) {
            fixed64(&mut own, track_event::FLOW_IDS, number);
        }
        for (name, argument) in &event.args {
            let mut annotation = Vec::new();
            bytes(&mut annotation, debug_annotation::NAME, name.as_bytes());
            value(&mut annotation, argument);
            bytes(&mut own, track_event::DEBUG_ANNOTATIONS, &annotation);
        }
        let number = event.args.get("correlation").and_then(Value::as_u64);
        if let Some(number) = number.filter(|_| has_stages) {
            let mut correlation = Vec::new();
            let ids = gpu_track_event::RENDER_STAGE_SUBMISSION_EVENT_IDS;
            uint(&mut correlation, ids, number);
            bytes(&mut own, gpu_track_event::GPU_CORRELATION, &correlation);
        }
        bytes(it, trace_packet::TRACK_EVENT, &own);
    });
}

/// A kernel as a stage of a GPU.
fn stage(out: &mut Vec<u8>, event: &RecordedEvent, name: u64) {
    packet(out, |it| {
        uint(it, trace_packet::TIMESTAMP, event.begin);
        uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 1);
        uint(
            it,
            trace_packet::SEQUENCE_FLAGS,
            trace_packet::NEEDS_INCREMENTAL_STATE,
        );
        let mut own = Vec::new();
        let number = event.args.get("correlation").and_then(Value::as_u64);
        uint(
            &mut own,
            gpu_render_stage_event::EVENT_ID,
            number.unwrap_or_default(),
        );
        uint(
            &mut own,
            gpu_render_stage_event::DURATION,
            event.end - event.begin,
        );
        uint(&mut own, gpu_render_stage_event::HW_QUEUE_IID, event.track);
        uint(&mut own, gpu_render_stage_event::NAME_IID, name);
        for (name, value) in &event.args {
            let mut extra = Vec::new();
            bytes(&mut extra, extra_data::NAME, name.as_bytes());
            bytes(&mut extra, extra_data::VALUE, text(value).as_bytes());
            bytes(&mut own, gpu_render_stage_event::EXTRA_DATA, &extra);
        }
        bytes(it, trace_packet::GPU_RENDER_STAGE_EVENT, &own);
    });
}

/// The sequence of a thread, as the SDK writes it.
struct Thread<'a> {
    track: u64,
    numbers: BTreeMap<(u32, &'a str), u64>,
    interned: Vec<u8>,
    last: u64,
}

/// The incremental clock of a sequence.
const INCREMENTAL: u64 = 64;
const BOOTTIME: u64 = 6;

impl<'a> Thread<'a> {
    fn new(track: u64) -> Self {
        Self {
            track,
            numbers: BTreeMap::new(),
            interned: Vec::new(),
            last: 0,
        }
    }

    fn number(&mut self, table: u32, word: &'a str) -> u64 {
        let next = self.numbers.len() as u64 + 1;
        *self.numbers.entry((table, word)).or_insert_with(|| {
            intern(&mut self.interned, table, next, word);
            next
        })
    }

    fn write(&mut self, out: &mut Vec<u8>, ends: &[(u64, bool, u64, &'a RecordedEvent)]) {
        let Some(first) = ends.first() else {
            return;
        };
        self.last = first.0;
        self.start(out);
        for &(time, begins, _, event) in ends {
            let own = self.event(begins, event);
            packet(out, |it| {
                uint(it, trace_packet::TIMESTAMP, time - self.last);
                uint(
                    it,
                    trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
                    10 + self.track,
                );
                uint(
                    it,
                    trace_packet::SEQUENCE_FLAGS,
                    trace_packet::NEEDS_INCREMENTAL_STATE,
                );
                if !self.interned.is_empty() {
                    bytes(it, trace_packet::INTERNED_DATA, &self.interned);
                }
                bytes(it, trace_packet::TRACK_EVENT, &own);
            });
            self.interned.clear();
            self.last = time;
        }
    }

    /// The packet that begins the sequence: its clocks and defaults.
    fn start(&self, out: &mut Vec<u8>) {
        packet(out, |it| {
            let mut snapshot = Vec::new();
            for (number, is_incremental) in [(BOOTTIME, false), (INCREMENTAL, true)] {
                let mut reading = Vec::new();
                uint(&mut reading, clock::CLOCK_ID, number);
                uint(&mut reading, clock::TIMESTAMP, self.last);
                if is_incremental {
                    uint(&mut reading, clock::IS_INCREMENTAL, 1);
                }
                bytes(&mut snapshot, clock_snapshot::CLOCKS, &reading);
            }
            let (mut defaults, mut own) = (Vec::new(), Vec::new());
            uint(&mut own, track_event::TRACK_UUID, self.track);
            bytes(
                &mut defaults,
                trace_packet_defaults::TRACK_EVENT_DEFAULTS,
                &own,
            );
            let number = trace_packet_defaults::TIMESTAMP_CLOCK_ID;
            uint(&mut defaults, number, INCREMENTAL);
            bytes(it, trace_packet::CLOCK_SNAPSHOT, &snapshot);
            uint(
                it,
                trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
                10 + self.track,
            );
            let cleared = trace_packet::INCREMENTAL_STATE_CLEARED;
            uint(it, trace_packet::SEQUENCE_FLAGS, cleared);
            bytes(it, trace_packet::TRACE_PACKET_DEFAULTS, &defaults);
        });
    }

    fn event(&mut self, begins: bool, event: &'a RecordedEvent) -> Vec<u8> {
        let mut own = Vec::new();
        if !begins {
            uint(&mut own, track_event::TYPE, track_event::SLICE_END);
            return own;
        }
        uint(&mut own, track_event::TYPE, track_event::SLICE_BEGIN);
        let category = match &*event.category {
            "kernel" => "kernel_dispatch",
            "cuda_runtime" => "hip_api",
            other => other,
        };
        let category = self.number(interned_data::EVENT_CATEGORIES, category);
        uint(&mut own, track_event::CATEGORY_IIDS, category);
        let name = self.number(interned_data::EVENT_NAMES, &event.name);
        uint(&mut own, track_event::NAME_IID, name);
        for (name, argument) in &event.args {
            let name = if name == "correlation" {
                "corr_id"
            } else {
                name
            };
            let number = self.number(interned_data::DEBUG_ANNOTATION_NAMES, name);
            let mut annotation = Vec::new();
            uint(&mut annotation, debug_annotation::NAME_IID, number);
            value(&mut annotation, argument);
            bytes(&mut own, track_event::DEBUG_ANNOTATIONS, &annotation);
        }
        own
    }
}
