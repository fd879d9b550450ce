//! Perfetto's packets: each event of a document with all that it says.
//!
//! ```text
//! X, B and E  a slice on its thread, in the lane in which it nests    (slices)
//! i           an instant, on its thread or its process
//! C           a point of a counter for each of its values
//! s, t, f     arrows between the slices around them                  (flows)
//! b, n, e     a slice on a track of their id
//! others      an instant, with their type as an argument
//! ```
//!
//! Each document is a sequence of packets. All ends of slices come before all begins, so that
//! of two at one time the end comes first. Packets are of no machine, though hosts are: readers
//! join arrows of one machine alone.

use std::ops::Range;

use retime_chrome_json::members::{members, unquoted};
use retime_kineto::{EventText, Member, each_event};
use retime_model::Monitor;
use retime_perfetto_wire::fields::{
    counter_descriptor, process_descriptor, thread_descriptor, track_descriptor, track_event,
};
use retime_perfetto_wire::write::{bytes, uint};
use rustc_hash::FxHashMap;

use crate::chunks::Chunks;
use crate::error::MergeError;
use crate::flows::is_end;
use crate::job::Pointed;
use crate::outline::{Outline, is_drawn_by_merge};
use crate::packets::{Sequence, describe};
use crate::placed::Placed;
use crate::points::point;
use crate::slices::{NO_LANE, Stay};
use crate::survey::without_quotes;

/// The sequence of what is of no document.
const COMMON: u64 = 1;

/// The first sequence of a document: above those that locations of other traces have.
const FIRST_SEQUENCE: u64 = 1 << 31;

/// The number that stands for the track of everything.
const ROOT: u64 = 0;

/// Tracks of a document, by their kind; its own number stands above.
const PROCESS: u64 = 1 << 28;
const THREAD: u64 = 2 << 28;
const OTHER: u64 = 3 << 28;

/// Begins a file: processes stand in the order of their ranks, whatever they do.
pub(crate) fn open(out: &mut Vec<u8>) {
    let mut track = Vec::new();
    uint(&mut track, track_descriptor::UUID, ROOT);
    let (field, value) = (
        track_descriptor::PROCESS_ORDERING,
        track_descriptor::PROCESSES_EXPLICIT,
    );
    uint(&mut track, field, value);
    describe(out, COMMON, &track);
}

/// True if a file begins like one of these.
pub(crate) fn is_start(bytes: &[u8]) -> bool {
    let mut own = Vec::new();
    open(&mut own);
    bytes.starts_with(&own)
}

/// The members of an event that say no more than the packet does.
const SAID: [&[u8]; 11] = [
    b"ph", b"ts", b"dur", b"pid", b"tid", b"name", b"cat", b"args", b"bp", b"s", b"id",
];

/// Writes the packets of a document.
pub(crate) struct Packets<'a> {
    placed: Placed<'a>,
    outline: Outline,
    sequence: Sequence,
    /// The tracks that are made when something is on them, by what they are of.
    tracks: FxHashMap<Box<[u8]>, u64>,
    /// The place in `late` of the packet of each stay that is held.
    held: FxHashMap<u32, Range<usize>>,
    late: Vec<u8>,
    /// The next event, and the first stay that does not begin before it.
    number: u32,
    stay: usize,
    pub(crate) events: u64,
}

impl<'a> Packets<'a> {
    pub(crate) fn new(placed: Placed<'a>, outline: Outline) -> Self {
        let sequence = FIRST_SEQUENCE + u64::from(placed.number);
        Self {
            placed,
            outline,
            sequence: Sequence::new(sequence),
            tracks: FxHashMap::default(),
            held: FxHashMap::default(),
            late: Vec::new(),
            number: 0,
            stay: 0,
            events: 0,
        }
    }

    /// The first number of the arrows in a document.
    pub(crate) fn first_flow(document: u32) -> u64 {
        (u64::from(document) + 1) << 32
    }

    fn uuid(&self, kind: u64, number: u32) -> u64 {
        (u64::from(self.placed.number) + 1) << 32 | kind | u64::from(number)
    }

    /// Writes all of it; `ends` are those of arrows between documents that are here, sorted,
    /// each with the arrow.
    pub(crate) fn write(
        mut self,
        chunks: &mut Chunks<'_>,
        ends: &[Pointed],
        monitor: &dyn Monitor,
    ) -> Result<u64, MergeError> {
        self.describe(&mut chunks.current);
        self.ends(chunks)?;
        let path = &self.placed.document.path;
        each_event(path, monitor, &mut |event| {
            self.event(&mut chunks.current, event);
            chunks.put_within_walk();
            Ok(())
        })?;
        chunks.settle()?;
        self.held_back(&mut chunks.current);
        for together in ends.chunk_by(Pointed::leaves_with) {
            self.points(&mut chunks.current, together);
            chunks.put_if_full()?;
        }
        Ok(self.events)
    }

    /// Describes processes and threads; the first process of each rank with what its profile says
    /// of its job and its host.
    fn describe(&self, out: &mut Vec<u8>) {
        let said: FxHashMap<u32, &str> = self.placed.headers().collect();
        for &process in &self.placed.shown {
            let Some(pid) = self.placed.pid(process) else {
                continue;
            };
            let mut own = Vec::new();
            uint(&mut own, process_descriptor::PID, pid);
            uint(&mut own, process_descriptor::LEGACY_SORT_INDEX, pid);
            let title = self.placed.title(process);
            bytes(&mut own, process_descriptor::PROCESS_NAME, title.as_bytes());
            let seen = self.placed.survey.processes.get(process as usize);
            if let Some(labels) = seen.and_then(|it| it.labels.as_ref()) {
                bytes(
                    &mut own,
                    process_descriptor::PROCESS_LABELS,
                    labels.as_bytes(),
                );
            }
            let mut track = Vec::new();
            uint(
                &mut track,
                track_descriptor::UUID,
                self.uuid(PROCESS, process),
            );
            bytes(&mut track, track_descriptor::PROCESS, &own);
            uint(&mut track, track_descriptor::SIBLING_ORDER_RANK, pid);
            let explicit = track_descriptor::CHILDREN_EXPLICIT;
            uint(&mut track, track_descriptor::CHILD_ORDERING, explicit);
            if let Some(said) = said.get(&process) {
                bytes(&mut track, track_descriptor::DESCRIPTION, said.as_bytes());
            }
            self.sequence.describe(out, &track);
            for (rank, thread) in (1..).zip(self.placed.survey.threads_of(process)) {
                self.describe_thread(out, process, thread, pid, rank);
            }
        }
    }

    /// Describes a thread; its number is that in the document where it is one and small, as
    /// threads of different processes may have one number.
    fn describe_thread(&self, out: &mut Vec<u8>, process: u32, thread: u32, pid: u64, rank: u64) {
        let Some(seen) = self.placed.survey.threads.get(thread as usize) else {
            return;
        };
        let name = match &seen.name {
            Some(name) => name.trim().to_owned(),
            None if seen.tid.is_empty() => "without a thread".to_owned(),
            None if seen.tid.parse::<i64>().is_ok() => format!("thread {}", seen.tid),
            None => seen.tid.clone(),
        };
        let tid = seen.tid.parse().ok().filter(|it: &i32| *it > 0);
        let tid = tid.unwrap_or(i32::MAX - thread as i32);
        let mut own = Vec::new();
        uint(&mut own, thread_descriptor::PID, pid);
        uint(&mut own, thread_descriptor::TID, tid as u64);
        uint(&mut own, thread_descriptor::LEGACY_SORT_INDEX, rank);
        bytes(&mut own, thread_descriptor::THREAD_NAME, name.as_bytes());
        let mut track = Vec::new();
        uint(
            &mut track,
            track_descriptor::UUID,
            self.uuid(THREAD, thread),
        );
        let parent = self.uuid(PROCESS, process);
        uint(&mut track, track_descriptor::PARENT_UUID, parent);
        bytes(&mut track, track_descriptor::THREAD, &own);
        uint(&mut track, track_descriptor::SIBLING_ORDER_RANK, rank);
        self.sequence.describe(out, &track);
    }

    /// The track of something that has no descriptor of its own, which is written if it is new.
    fn track(
        &mut self,
        out: &mut Vec<u8>,
        key: &[u8],
        parent: u64,
        name: &str,
        counts: bool,
    ) -> u64 {
        if let Some(track) = self.tracks.get(key) {
            return *track;
        }
        let uuid = self.uuid(OTHER, self.tracks.len() as u32);
        self.tracks.insert(key.into(), uuid);
        let mut track = Vec::new();
        uint(&mut track, track_descriptor::UUID, uuid);
        uint(&mut track, track_descriptor::PARENT_UUID, parent);
        bytes(&mut track, track_descriptor::NAME, name.as_bytes());
        if counts {
            let mut own = Vec::new();
            bytes(&mut own, counter_descriptor::UNIT_NAME, b"");
            bytes(&mut track, track_descriptor::COUNTER, &own);
        }
        self.sequence.describe(out, &track);
        uuid
    }

    /// The track of a lane of a thread.
    fn lane(&mut self, out: &mut Vec<u8>, thread: u32, lane: u16) -> u64 {
        let own = self.uuid(THREAD, thread);
        if lane == 0 {
            return own;
        }
        let seen = self.placed.survey.threads.get(thread as usize);
        let name = seen.map_or_else(String::new, |it| {
            let name = it.name.as_deref().unwrap_or(&it.tid);
            format!("{} ({})", name.trim(), lane + 1)
        });
        let key = format!("lane {thread} {lane}");
        self.track(out, key.as_bytes(), own, &name, false)
    }

    /// Writes the ends of all slices that last.
    fn ends(&mut self, chunks: &mut Chunks<'_>) -> Result<(), MergeError> {
        for at in 0..self.outline.stays.len() {
            let Some(stay) = self.outline.stays.get(at).copied() else {
                break;
            };
            if stay.end == stay.begin || stay.lane == NO_LANE {
                continue;
            }
            let track = self.lane(&mut chunks.current, stay.thread, stay.lane);
            self.sequence.event(track_event::SLICE_END, track);
            if let Some(args) = self.outline.said_at_end.get(&stay.event) {
                for (key, value) in members(args) {
                    self.sequence.argument(key, value);
                }
            }
            let at = self.placed.at(stay.end);
            self.sequence.send(&mut chunks.current, at);
            chunks.put_if_full()?;
        }
        Ok(())
    }

    fn event(&mut self, out: &mut Vec<u8>, event: EventText<'_>) {
        let number = self.number;
        self.number += 1;
        let stay = self.outline.stays.get(self.stay).copied();
        let stay = stay.filter(|it| it.event == number);
        self.stay += usize::from(stay.is_some());
        let ph = event.text(Member::Ph);
        let draws_anew = !self.placed.document.drawn.is_empty();
        if ph == b"M" || draws_anew && is_drawn_by_merge(event) {
            return;
        }
        self.events += 1;
        if let Some(stay) = stay {
            return self.begin(out, event, stay);
        }
        let thread = self.placed.survey.thread(event);
        let process = self.placed.survey.threads.get(thread as usize);
        let process = process.map_or(0, |it| it.process);
        match ph {
            b"C" => self.counters(out, event, process),
            b"b" | b"n" | b"e" => self.asynchronous(out, event, process, ph),
            b"i" | b"I" | b"R" => {
                let scope = members(event.bytes()).find(|it| it.0 == b"s");
                let track = match scope.map(|it| it.1) {
                    Some(b"\"g\"" | b"\"p\"") => self.uuid(PROCESS, process),
                    _ => self.uuid(THREAD, thread),
                };
                self.instant(out, event, track);
            }
            // Their slices have the arrows.
            _ if is_end(ph) => {
                if let Some(flow) = self.outline.flows.alone(number) {
                    let track = self.uuid(THREAD, thread);
                    self.sequence.event(track_event::INSTANT, track);
                    self.say(event);
                    self.sequence.flow(flow);
                    self.send(out, event);
                }
            }
            // Written with all ends.
            b"E" => {}
            _ => {
                let track = self.uuid(THREAD, thread);
                self.sequence.event(track_event::INSTANT, track);
                self.say(event);
                self.sequence.argument(b"ph", event.value(Member::Ph));
                self.send(out, event);
            }
        }
    }

    /// Writes the begin of a slice, and its end if it is over at once.
    fn begin(&mut self, out: &mut Vec<u8>, event: EventText<'_>, stay: Stay) {
        let is_slice = stay.lane != NO_LANE;
        let kind = if is_slice {
            track_event::SLICE_BEGIN
        } else {
            track_event::INSTANT
        };
        let lane = if is_slice { stay.lane } else { 0 };
        let track = self.lane(out, stay.thread, lane);
        self.sequence.event(kind, track);
        self.say(event);
        if !is_slice {
            let length = (stay.end - stay.begin).to_string();
            self.sequence.argument(b"dur_ns", length.as_bytes());
        }
        for flow in self.outline.flows.at_slice(stay.event) {
            self.sequence.flow(flow);
        }
        let at = self.placed.at(stay.begin);
        if stay.is_held {
            self.sequence.send_names(out);
        }
        let late = &mut self.late;
        let start = late.len();
        let to = if stay.is_held { late } else { out };
        self.sequence.send(to, at);
        if stay.end == stay.begin && is_slice {
            self.sequence.event(track_event::SLICE_END, track);
            self.sequence.send(to, at);
        }
        if stay.is_held {
            self.held.insert(stay.event, start..self.late.len());
        }
    }

    /// Writes what was held, the longest first.
    fn held_back(&mut self, out: &mut Vec<u8>) {
        let stays = self.outline.stays.iter();
        let mut held: Vec<Stay> = stays.filter(|it| it.is_held).copied().collect();
        held.sort_by_key(|it| (it.thread, it.begin, std::cmp::Reverse(it.end), it.event));
        for stay in held {
            let place = self.held.get(&stay.event).cloned().unwrap_or_default();
            out.extend_from_slice(self.late.get(place).unwrap_or_default());
        }
    }

    /// Names the event, with its category and all of its arguments.
    fn say(&mut self, event: EventText<'_>) {
        self.sequence.name(event.text(Member::Name));
        self.sequence.category(event.text(Member::Cat));
        for (key, value) in members(event.value(Member::Args)) {
            self.sequence.argument(key, value);
        }
        if !event.has_others() {
            return;
        }
        for (key, value) in members(event.bytes()) {
            if !SAID.contains(&key) {
                self.sequence.argument(key, value);
            }
        }
    }

    fn send(&mut self, out: &mut Vec<u8>, event: EventText<'_>) {
        let at = event.time().map_or(0, |it| self.placed.at(it.1));
        self.sequence.send(out, at);
    }

    fn instant(&mut self, out: &mut Vec<u8>, event: EventText<'_>, track: u64) {
        self.sequence.event(track_event::INSTANT, track);
        self.say(event);
        self.send(out, event);
    }

    /// Writes a point for each value of a counter.
    fn counters(&mut self, out: &mut Vec<u8>, event: EventText<'_>, process: u32) {
        let name = unquoted(event.text(Member::Name)).into_owned();
        let id = String::from_utf8_lossy(event.text(Member::Id)).into_owned();
        for (key, value) in members(event.value(Member::Args)) {
            let text = String::from_utf8_lossy(without_quotes(value));
            let Some(value) = text.parse::<f64>().ok().filter(|it| it.is_finite()) else {
                continue;
            };
            let series = unquoted(key);
            let title = match id.as_str() {
                "" => format!("{name} {series}"),
                id => format!("{name} {id} {series}"),
            };
            let track_key = format!("counter {process}\n{title}");
            let parent = self.uuid(PROCESS, process);
            let track = self.track(out, track_key.as_bytes(), parent, &title, true);
            self.sequence.event(track_event::COUNTER, track);
            self.sequence.counter(value);
            self.send(out, event);
        }
    }

    /// Writes an event of a track that is of its id.
    fn asynchronous(&mut self, out: &mut Vec<u8>, event: EventText<'_>, process: u32, ph: &[u8]) {
        let id2 = members(event.bytes()).find(|it| it.0 == b"id2");
        let id = id2.map_or(event.value(Member::Id), |it| it.1);
        let key = [
            format!("async {process}\n").as_bytes(),
            event.text(Member::Cat),
            b"\n",
            id,
        ]
        .concat();
        let name = unquoted(event.text(Member::Name)).into_owned();
        let parent = self.uuid(PROCESS, process);
        let track = self.track(out, &key, parent, &name, false);
        let kind = match ph {
            b"b" => track_event::SLICE_BEGIN,
            b"e" => track_event::SLICE_END,
            _ => track_event::INSTANT,
        };
        self.sequence.event(kind, track);
        self.say(event);
        self.send(out, event);
    }

    /// Writes the instant at which arrows between documents begin or end.
    fn points(&mut self, out: &mut Vec<u8>, ends: &[Pointed]) {
        let Some(Pointed { end, .. }) = ends.first() else {
            return;
        };
        let Some(thread) = self.placed.thread_of_track(end.track) else {
            return;
        };
        let track = self.uuid(THREAD, thread);
        let at = end.at.saturating_sub(self.placed.document.base);
        let at = self.placed.at(at);
        point(out, &mut self.sequence, track, ends, at);
    }
}
