//! A file that was read: the [columns](crate::columns) of its events, its tracks and their
//! names, and what its events say of communication.

use std::path::Path;
use std::sync::Arc;

use retime_model::FileMap;
use retime_model::Monitor;
use retime_model::Operation;
use retime_model::format::FormatError;
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::call::{Around, Call, Label, Said, Tells, launched_by};
use crate::columns::{BELOW_ZERO, Columns, MOMENT, NO_TRACK};
use crate::early::Early;
use crate::header::Header;
use crate::labels::{self, is_merged};
use crate::launch::Launches;
use crate::micros;
use crate::pass::{Event, read};
use crate::posted::Posted;
use crate::streams;
use crate::window::syntax;
use crate::xla::{self, Instruction, Told};

/// A thread, a stream, or whatever else events of a file are on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    /// As they stand in the file.
    pub(crate) pid: String,
    pub(crate) tid: String,
    /// The rank it is of, where a file may be of several.
    pub(crate) label: Option<String>,
    /// How many events there are of each type, by its first letter.
    pub(crate) kinds: Vec<(u8, u64)>,
}

/// An end of an arrow between two events.
#[derive(Debug)]
pub(crate) struct FlowEnd {
    pub(crate) event: u32,
    /// Category, name and id, which both ends have in common.
    pub(crate) key: Box<[u8]>,
    pub(crate) kind: FlowKind,
}

/// The calls by which a program asks for operations of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// Their events, as they stand in the file.
    pub(crate) events: Vec<u32>,
    /// The root that all of them give, if they agree on one.
    pub(crate) root: Option<u32>,
}

/// Which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowKind {
    Start,
    End,
}

/// Calls on the program's own threads, in a file without the kernels that do what they ask for.
const WITHOUT_KERNELS: &str = "lone collective request";

/// Arrows that Kineto draws within one process, whose clock orders their ends anyway.
const OWN_FLOWS: [&[u8]; 4] = [b"fwdbwd", b"ac2g", b"async_cpu_to_gpu", b"async_gpu"];

/// A file that was read.
#[derive(Debug, Default)]
pub(crate) struct FileRead {
    pub(crate) header: Header,
    pub(crate) crc: u32,
    pub(crate) rest: [u64; 2],
    pub(crate) columns: Arc<Columns>,
    /// How many nanoseconds before 0 its times are counted from.
    pub(crate) origin: u64,
    /// True if some of its times lie before 0.
    pub(crate) is_below_zero: bool,
    pub(crate) tracks: Vec<Track>,
    /// True for each track that is of this part of the file; `None` if all are.
    pub(crate) own: Option<Vec<bool>>,
    /// Names that were given to tracks, by pid and tid.
    pub(crate) thread_names: FxHashMap<(String, String), String>,
    /// Names that were given to processes, by pid.
    pub(crate) process_names: FxHashMap<String, String>,
    pub(crate) calls: Vec<Call>,
    /// Collective operations of compiled programs, until it is known who takes part.
    pub(crate) instructions: Vec<Instruction>,
    /// The calls by which the program asked for operations, by kind of operation.
    pub(crate) requests: FxHashMap<Operation, Requests>,
    pub(crate) flows: Vec<FlowEnd>,
    /// Events that communicate but prove nothing.
    pub(crate) unused: Vec<(&'static str, u64)>,
    /// Kernels that begin before their launch.
    pub(crate) early: Early,
}

impl FileRead {
    /// Its calls at other times of its events, in the order of the file: what is not needed
    /// to tell which calls belong together is left out.
    pub(crate) fn at(&self, begins: Vec<u64>) -> Self {
        Self {
            header: self.header.clone(),
            crc: self.crc,
            rest: self.rest,
            origin: self.origin,
            is_below_zero: self.is_below_zero,
            columns: Arc::new(Columns {
                begins,
                lengths: self.columns.lengths.clone(),
                tracks: self.columns.tracks.clone(),
                digits: Vec::new(),
            }),
            tracks: self.tracks.clone(),
            own: self.own.clone(),
            thread_names: FxHashMap::default(),
            process_names: FxHashMap::default(),
            calls: self.calls.clone(),
            instructions: Vec::new(),
            requests: self.requests.clone(),
            flows: Vec::new(),
            unused: Vec::new(),
            early: self.early,
        }
    }
}

/// Data that are gathered while a file is read.
#[derive(Default)]
struct Gathered {
    columns: Columns,
    /// As long as the base of the file may not be known.
    begins: Vec<i64>,
    tracks: Vec<Track>,
    index: FileMap<Box<[u8]>, u32>,
    /// The key of the last event's track, and its number.
    last: (Vec<u8>, u32),
    key: Vec<u8>,
    digits_end: u64,
    thread_names: FxHashMap<(String, String), String>,
    process_names: FxHashMap<String, String>,
    /// The ranks that labels of processes say, by pid.
    ranks_of_processes: FxHashMap<String, String>,
    calls: Vec<Call>,
    instructions: Vec<Instruction>,
    requests: FxHashMap<Operation, Requests>,
    launches: Launches,
    posted: Posted,
    /// Kernels with the numbers of their launches.
    started: Vec<(u64, u32)>,
    early: Early,
    flows: Vec<FlowEnd>,
    unused: Vec<(&'static str, u64)>,
}

impl FileRead {
    /// Reads a file.
    pub(crate) fn of(path: &Path, monitor: &dyn Monitor) -> Result<Self, FormatError> {
        let mut gathered = Gathered {
            last: (Vec::new(), NO_TRACK),
            ..Gathered::default()
        };
        let mut passed = read(path, monitor, &mut |event| gathered.take(&event))?;
        for track in gathered.tracks.iter_mut().filter(|it| it.label.is_none()) {
            track.label = gathered.ranks_of_processes.get(&track.pid).cloned();
        }
        if is_merged(gathered.tracks.iter().filter_map(|it| it.label.as_deref())) {
            passed.header.of_several();
        }
        let base = passed.header.base;
        let mut is_below_zero = false;
        for (event, &time) in gathered.begins.iter().enumerate() {
            let time = absolute(base, time).ok_or_else(|| {
                let byte = gathered.columns.place(event);
                syntax(path, byte, BEYOND)
            })?;
            is_below_zero |= time < 0;
            gathered.columns.begins.push(time as u64);
        }
        gathered.name_kernels(&passed.header);
        Ok(Self {
            header: passed.header,
            crc: passed.crc,
            rest: passed.rest,
            columns: Arc::new(gathered.columns),
            origin: 0,
            is_below_zero,
            tracks: gathered.tracks,
            own: None,
            thread_names: gathered.thread_names,
            process_names: gathered.process_names,
            calls: gathered.calls,
            instructions: gathered.instructions,
            requests: gathered.requests,
            flows: gathered.flows,
            unused: gathered.unused,
            early: gathered.early,
        })
    }
}

impl FileRead {
    /// True if it is of several ranks.
    pub(crate) fn is_merged(&self) -> bool {
        is_merged(self.tracks.iter().filter_map(|it| it.label.as_deref()))
    }

    /// The events on tracks that are its own.
    pub(crate) fn placed(&self) -> impl Iterator<Item = u32> + '_ {
        let is_own = |track: u32| match &self.own {
            None => track != NO_TRACK,
            Some(own) => own.get(track as usize).copied().unwrap_or(false),
        };
        let events = 0..self.columns.begins.len() as u32;
        events.filter(move |&event| is_own(self.columns.track(event)))
    }

    /// Counts its times from so many nanoseconds before 0, once and for all.
    pub(crate) fn count_from(&mut self, origin: u64) {
        if origin == 0 {
            return;
        }
        for begin in &mut Arc::make_mut(&mut self.columns).begins {
            *begin = begin.wrapping_add(origin);
        }
        self.origin = origin;
    }

    /// The time of an event whose `ts` is 0.
    pub(crate) fn zero(&self) -> Option<u64> {
        self.origin.checked_add_signed(self.header.base)
    }
}

/// The message on a time that is too far from all that a trace can hold.
const BEYOND: &str = "ts and baseTimeNanoseconds together lie more than 73 years before 0, or \
                      beyond what 64 bits of nanoseconds hold";

/// A time with the base of its file, if it can be counted from 0 or from [`BELOW_ZERO`].
fn absolute(base: i64, time: i64) -> Option<i64> {
    let sum = base.checked_add(time)?;
    BELOW_ZERO.checked_add_signed(sum).map(|_| sum)
}

impl Gathered {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        let ph = event.ph();
        let is_name = ph == b"M";
        if is_name {
            self.name(event);
        }
        let Some((time, place)) = &event.time else {
            return Ok(());
        };
        let track = if is_name {
            NO_TRACK
        } else {
            self.track(event, ph.first().copied().unwrap_or(b'?'))
        };
        let gap = place.start.saturating_sub(self.digits_end);
        let gap = u32::try_from(gap).map_err(|_| "4 GiB without an event precede it")?;
        let count = u8::try_from(place.end - place.start);
        let count = count.map_err(|_| "ts has more than 255 digits")?;
        self.digits_end = place.end;
        let number = u32::try_from(self.begins.len());
        let number = number.map_err(|_| "a file with more than 2^32 events is too large")?;
        self.begins.push(time.nanoseconds);
        self.columns.tracks.push(track);
        self.columns.digits.push((gap, count));
        self.columns
            .lengths
            .push(if ph == b"X" { length(event) } else { MOMENT });
        match ph {
            b"X" => self.communicates(event, number),
            b"s" => self.flow(event, FlowKind::Start, number),
            b"f" => self.flow(event, FlowKind::End, number),
            _ => {}
        }
        Ok(())
    }

    /// The number of an event's track.
    fn track(&mut self, event: &Event<'_>, kind: u8) -> u32 {
        let (pid, tid) = (
            event.fields.pid.of(event.bytes),
            event.fields.tid.of(event.bytes),
        );
        self.key.clear();
        self.key.extend_from_slice(pid);
        // No value of JSON holds one that is not escaped.
        self.key.push(b'\n');
        self.key.extend_from_slice(tid);
        if self.last.1 == NO_TRACK || self.last.0 != self.key {
            let next = self.tracks.len() as u32;
            let found = self.index.get(&*self.key).copied().unwrap_or(next);
            if found == next {
                self.index.insert(self.key.as_slice().into(), next);
                let text = |span| String::from_utf8_lossy(event.text(span)).into_owned();
                let pid = text(event.fields.pid);
                let args = event.fields.args.of(event.bytes);
                self.tracks.push(Track {
                    label: labels::of_event(&pid, args),
                    pid,
                    tid: text(event.fields.tid),
                    kinds: Vec::new(),
                });
            }
            self.last.0.clone_from(&self.key);
            self.last.1 = found;
        }
        if let Some(track) = self.tracks.get_mut(self.last.1 as usize) {
            match track.kinds.iter_mut().find(|it| it.0 == kind) {
                Some((_, count)) => *count += 1,
                None => track.kinds.push((kind, 1)),
            }
        }
        self.last.1
    }

    fn name(&mut self, event: &Event<'_>) {
        let kind = event.text(event.fields.name);
        let key = match kind {
            b"thread_name" | b"process_name" => "name",
            b"process_labels" => "labels",
            _ => return,
        };
        let args: Value =
            serde_json::from_slice(event.fields.args.of(event.bytes)).unwrap_or_default();
        let Some(name) = args.get(key).and_then(Value::as_str) else {
            return;
        };
        let text = |span| String::from_utf8_lossy(event.text(span)).into_owned();
        let (pid, tid) = (text(event.fields.pid), text(event.fields.tid));
        match kind {
            b"thread_name" => {
                self.thread_names.insert((pid, tid), name.to_owned());
            }
            b"process_name" => {
                self.process_names.insert(pid, name.to_owned());
            }
            _ => {
                let rank = labels::of_process(name);
                self.ranks_of_processes.extend(rank.map(|it| (pid, it)));
            }
        }
    }

    fn communicates(&mut self, event: &Event<'_>, number: u32) {
        if let Some(launch) = launched_by(event) {
            self.started.push((launch, number));
        }
        match Said::of(event, number) {
            None => match xla::told(event, number) {
                None => {}
                Some(Told::Instruction(it)) => self.instructions.push(it),
                Some(Told::Other) => self.unused(xla::UNUSED, 1),
            },
            Some(Said::Call(call)) => self.calls.push(call),
            Some(Said::Kernel(kernel)) => self.launches.kernels.push(kernel),
            Some(Said::Launch(launch)) => self.launches.calls.push((launch, number)),
            Some(Said::Around(around)) => self.launches.around.push(around),
            Some(Said::Posting(posting)) => self.posted.postings.push(posting),
            Some(Said::UnderWay(message)) => self.posted.under_way.push(message),
            Some(Said::Request(asked)) => {
                let root = asked.root;
                let requests = self.requests.entry(asked.operation);
                let requests = requests.or_insert_with(|| Requests {
                    events: Vec::new(),
                    root,
                });
                requests.events.push(number);
                requests.root = requests.root.filter(|it| Some(*it) == root);
                let elements = asked.elements.map(|it| Around {
                    event: number,
                    tells: Tells::Elements(it),
                });
                self.launches.around.extend(elements);
            }
        }
    }

    fn unused(&mut self, kind: &'static str, events: u64) {
        match self.unused.iter_mut().find(|it| it.0 == kind) {
            Some((_, count)) => *count += events,
            None => self.unused.push((kind, events)),
        }
    }

    /// Takes kernels for what launched them says, and those on streams that do not say their
    /// group for calls of it, if it can be told.
    fn name_kernels(&mut self, header: &Header) {
        let mut launches = std::mem::take(&mut self.launches);
        launches.sort();
        let started = std::mem::take(&mut self.started);
        self.early = Early::of(&launches, &started, &self.columns);
        let asked = launches.asked();
        let (named, unnamed) = launches.named(&self.columns);
        self.calls.extend(named);
        let label = Label::of_any(header);
        for kernel in unnamed {
            match (kernel.by_name, &label) {
                (Some(call), Some(label)) => self.calls.push(Call {
                    group: Some(label.clone()),
                    ..call
                }),
                _ => self.unused(kernel.kind, 1),
            }
        }
        let (messages, unused) = std::mem::take(&mut self.posted).calls(&self.columns, header);
        for (kind, count) in unused.into_iter().filter(|it| it.1 > 0) {
            self.unused(kind, count);
        }
        let doubtful = streams::label(&mut self.calls, &self.columns, header);
        if doubtful > 0 {
            self.unused(streams::UNKNOWN_GROUP, doubtful);
        }
        self.calls.extend(messages);
        self.calls.sort_by_key(|it| it.event);
        if self.calls.is_empty() && self.unused.is_empty() && asked > 0 {
            self.unused(WITHOUT_KERNELS, asked);
        }
    }

    fn flow(&mut self, event: &Event<'_>, kind: FlowKind, number: u32) {
        let cat = event.text(event.fields.cat);
        if OWN_FLOWS.contains(&cat) {
            return;
        }
        let (name, id) = (event.text(event.fields.name), event.text(event.fields.id));
        self.flows.push(FlowEnd {
            event: number,
            key: [cat, b"\n", name, b"\n", id].concat().into(),
            kind,
        });
    }
}

/// How long a stay lasts; one that does not say so, or nonsense, is over at once.
fn length(event: &Event<'_>) -> u64 {
    let dur = event.fields.dur;
    let length = micros::parse(dur.number(event.bytes).of(event.bytes));
    let length = length.map(|it| it.nanoseconds);
    length.and_then(|it| u64::try_from(it).ok()).unwrap_or(0)
}
