//! A file that was read: the [columns](crate::columns) of its events, its tracks and their
//! names, and what its events say of communication.

use std::collections::BTreeMap;
use std::sync::Arc;

use retime_model::Operation;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::call::{Call, Request};
use crate::columns::{Columns, is_event, moved_with};
use crate::computing::Computing;
use crate::devices::Driven;
use crate::early::Early;
use crate::header::Header;
use crate::iterations::Iteration;
use crate::labels::is_merged;
use crate::spans::{Spans, Stretch, beside_tracks, span};
use crate::stamps::Stamp;
use crate::xla::Instruction;

/// A thread, a stream, or whatever else events of a file are on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Track {
    /// The process as it stands in the file,
    pub(crate) pid: String,
    /// and its thread.
    pub(crate) tid: String,
    /// The rank it is of, where a file may be of several.
    pub(crate) label: Option<String>,
    /// The machine it was recorded on, where a file may be of several.
    pub(crate) machine: Option<u32>,
    /// The number that the file gives to it, where it gives numbers to tracks.
    pub(crate) uuid: Option<u64>,
    /// The track of the thread that it has events of, beside that one.
    pub(crate) lane_of: Option<u32>,
    /// True if what lasts on it has a stamp for either end; else only its begin has one.
    pub(crate) has_both_ends: bool,
    /// True if lengths of what lasts on it are never written anew.
    pub(crate) keeps_lengths: bool,
    /// True if events of a device are on it.
    pub(crate) is_device: bool,
    /// How many events there are of each type, by its first letter.
    pub(crate) kinds: Vec<(u8, u64)>,
}

/// An end of an arrow between two events.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlowEnd {
    pub(crate) event: u32,
    /// Category, name and id, which both ends have in common.
    pub(crate) key: Box<[u8]>,
    pub(crate) kind: FlowKind,
}

/// The event of a call by which a program asks for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestEvent {
    pub(crate) event: u32,
    /// Its own number, which rises along its track.
    pub(crate) counted: Option<u64>,
}

/// The calls by which a program asks for operations of a kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Their events, as they stand in the file.
    pub(crate) events: Vec<RequestEvent>,
    /// The root that those on a track for tensors of these sizes give, if they agree on one.
    pub(crate) roots: BTreeMap<(u32, String), Option<u32>>,
    /// True if some of them have parts that are empty.
    pub(crate) have_empty: bool,
}

impl Requests {
    /// Takes up one on a track.
    pub(crate) fn take(&mut self, event: u32, track: u32, asked: &Request) {
        let (root, counted) = (asked.root, asked.counted);
        self.events.push(RequestEvent { event, counted });
        let known = self.roots.entry((track, asked.sizes.clone()));
        let known = known.or_insert(root);
        *known = known.filter(|it| Some(*it) == root);
    }

    /// The root that all of them give, or all of those for tensors of these sizes, if they agree on one:
    /// an optimizer whose ranks own a part of the parameters each has several.
    pub(crate) fn root(&self, sizes: &str) -> Option<u32> {
        let all = self.roots.values().copied();
        let own = self.roots.iter().filter(|it| it.0.1 == sizes);
        agreed(all).or_else(|| agreed(own.map(|it| *it.1)))
    }
}

/// The root that all have, if they have one.
fn agreed(mut roots: impl Iterator<Item = Option<u32>>) -> Option<u32> {
    let first = roots.next()?;
    first.filter(|_| roots.all(|it| it == first))
}

/// Which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FlowKind {
    Start,
    End,
    /// A point on the way.
    Step,
}

/// The new length of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewLength {
    /// The number of the event.
    pub event: u32,
    /// In nanoseconds.
    pub length: u64,
}

/// The events of a file at other times.
#[derive(Debug)]
pub(crate) struct Moved {
    /// When each begins.
    pub(crate) begins: Vec<u64>,
    /// The new length of each event, if lengths changed.
    pub(crate) lengths: Option<Vec<u64>>,
}

impl Moved {
    /// The lengths that are new, if the file says lengths.
    pub(crate) fn new_lengths(&self, file: &FileRead) -> Vec<NewLength> {
        let Some(lengths) = &self.lengths else {
            return Vec::new();
        };
        let columns = &file.columns;
        // Where both ends have stamps, these say it.
        let says_length = |event: u32| {
            let track = file.tracks.get(moved_with(columns.track(event)) as usize);
            track.is_some_and(|it| !it.has_both_ends)
        };
        let both = lengths.iter().zip(&columns.lengths);
        let new = (0..).zip(both).filter(|(_, (is, was))| is != was);
        new.filter(|it| says_length(it.0))
            .map(|(event, (&length, _))| NewLength { event, length })
            .collect()
    }

    /// When an event begins.
    pub(crate) fn begin(&self, event: u32) -> u64 {
        self.begins.get(event as usize).copied().unwrap_or_default()
    }

    /// The length of an event of these columns; nothing if it is a moment.
    pub(crate) fn length(&self, event: u32, columns: &Columns) -> u64 {
        let length = self.lengths.as_ref().and_then(|it| it.get(event as usize));
        let length = length.copied().filter(|_| columns.length(event).is_some());
        length.or(columns.length(event)).unwrap_or_default()
    }
}

/// Events that communicate but prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unused {
    /// Why, in words that take a plural.
    pub(crate) kind: &'static str,
    /// A track of the rank whose they are.
    pub(crate) track: u32,
    /// How many.
    pub(crate) events: u64,
}

/// A file that was read.
#[derive(Debug, Default)]
pub struct FileRead {
    pub(crate) header: Header,
    /// The headers of the profiles of ranks that were put into it, by the label of each.
    pub(crate) of_ranks: BTreeMap<String, Header>,
    /// The statements of other profiles that were put into it, by the pid of each process.
    pub(crate) of_processes: BTreeMap<String, Header>,
    pub(crate) crc: u32,
    pub(crate) rest: [u64; 2],
    pub(crate) columns: Arc<Columns>,
    /// The stamps of the file in their order, if they are not the begins of all its events.
    pub(crate) stamps: Option<Vec<Stamp>>,
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
    /// The iterations of the program that it has recorded.
    pub(crate) iterations: Vec<Iteration>,
    pub(crate) flows: Vec<FlowEnd>,
    /// Events that communicate but prove nothing.
    pub(crate) unused: Vec<Unused>,
    /// How many calls stand there [once more](crate::repeated).
    pub(crate) repeated: u64,
    /// True if calls or kernels say their group, as newer PyTorch has them do.
    pub(crate) says_groups: bool,
    /// The calls by which it and its devices depend on each other.
    pub(crate) driven: Arc<Driven>,
    /// Its kernels that do not communicate.
    pub(crate) computing: Computing,
    /// The facts of all its events, if these are only [some](crate::extract).
    pub(crate) unseen: Option<Unseen>,
}

/// The facts of all events of a file for whoever has only some of them.
#[derive(Clone, Debug)]
pub(crate) struct Unseen {
    pub(crate) spans: Spans,
    pub(crate) early: Early,
}

impl FileRead {
    /// Its calls at other times of its events, in the order of the file: what is not needed
    /// to tell which calls belong together is left out.
    pub(crate) fn at(&self, moved: Moved) -> Self {
        Self {
            header: self.header.clone(),
            of_ranks: self.of_ranks.clone(),
            of_processes: self.of_processes.clone(),
            crc: self.crc,
            rest: self.rest,
            origin: self.origin,
            is_below_zero: self.is_below_zero,
            columns: Arc::new(Columns {
                begins: moved.begins,
                lengths: moved
                    .lengths
                    .unwrap_or_else(|| self.columns.lengths.clone()),
                tracks: self.columns.tracks.clone(),
                digits: Vec::new(),
            }),
            stamps: None,
            tracks: self.tracks.clone(),
            own: self.own.clone(),
            thread_names: FxHashMap::default(),
            process_names: FxHashMap::default(),
            calls: self.calls.clone(),
            instructions: Vec::new(),
            requests: self.requests.clone(),
            iterations: self.iterations.clone(),
            flows: Vec::new(),
            unused: Vec::new(),
            repeated: self.repeated,
            says_groups: self.says_groups,
            driven: Arc::clone(&self.driven),
            computing: Computing::default(),
            unseen: self.unseen.clone(),
        }
    }
}

/// A track of a file, with the names that are given to it and to its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackRead<'a> {
    /// The process, as it stands in the file,
    pub pid: &'a str,
    /// and its name.
    pub process: Option<&'a str>,
    /// The thread,
    pub tid: &'a str,
    /// and its name.
    pub thread: Option<&'a str>,
    /// The machine, where a file may be of several; else 0.
    pub machine: u32,
    /// The number that the file gives to it, where it gives numbers to tracks.
    pub uuid: Option<u64>,
}

impl FileRead {
    /// When an event begins, in nanoseconds.
    pub fn begin(&self, event: u32) -> i64 {
        self.columns.begin(event).wrapping_sub(self.origin) as i64
    }

    /// The nanoseconds that an event lasts; nothing if it has no length.
    pub fn length(&self, event: u32) -> Option<u64> {
        self.columns.length(event)
    }

    /// The track that an event is on.
    pub fn track(&self, event: u32) -> u32 {
        self.columns.track(event)
    }

    /// The event whose end has the stamp of this number; nothing if that ends none.
    pub fn ended_by(&self, stamp: u32) -> Option<u32> {
        let stamp = self.stamps.as_ref()?.get(stamp as usize)?;
        stamp.is_end().then(|| stamp.event())
    }

    /// The tracks, in the order of their numbers.
    pub fn tracks(&self) -> impl Iterator<Item = TrackRead<'_>> {
        self.tracks.iter().map(|it| {
            let thread = self.thread_names.get(&(it.pid.clone(), it.tid.clone()));
            TrackRead {
                pid: &it.pid,
                process: self.process_names.get(&it.pid).map(String::as_str),
                tid: &it.tid,
                thread: thread.map(String::as_str),
                machine: it.machine.unwrap_or_default(),
                uuid: it.uuid,
            }
        })
    }

    /// True if several processes do something, by their numbers: beside them are pages of the profiler and
    /// devices.
    pub(crate) fn is_of_several(&self) -> bool {
        let lasts = |it: &Track| it.kinds.iter().any(|it| it.0 == b'X' && it.1 > 0);
        let of_host = self.tracks.iter().filter(|it| !it.is_device && lasts(it));
        let mut processes = of_host.filter_map(|it| it.pid.parse::<u64>().ok());
        let first = processes.next();
        processes.any(|it| Some(it) != first)
    }

    /// True if it is of several ranks.
    pub(crate) fn is_merged(&self) -> bool {
        is_merged(self.tracks.iter().filter_map(|it| it.label.as_deref()))
    }

    /// From when to when events are on tracks that are its own.
    pub(crate) fn span(&self) -> Option<Stretch> {
        let is_own = |track: usize| match &self.own {
            None => true,
            Some(own) => own.get(track).copied().unwrap_or(false),
        };
        if let Some(unseen) = &self.unseen {
            return unseen.spans.of_tracks(is_own);
        }
        let all = (0..).zip(&self.columns.tracks);
        let own = all.filter(|it| is_event(*it.1) && is_own(*it.1 as usize));
        span(&self.columns, own.map(|it| it.0))
    }

    /// From when to when there is anything on tracks, or beside them.
    pub(crate) fn extent(&self) -> Option<Stretch> {
        match &self.unseen {
            Some(unseen) => unseen.spans.all,
            None => span(&self.columns, beside_tracks(&self.columns)),
        }
    }

    /// The first of its times.
    pub(crate) fn first(&self) -> Option<u64> {
        match &self.unseen {
            Some(unseen) => unseen.spans.first,
            None => self.columns.begins.iter().min().copied(),
        }
    }

    /// Its kernels that begin before their launches.
    pub(crate) fn early(&self) -> Early {
        let unseen = self.unseen.as_ref().map(|it| it.early);
        unseen.unwrap_or_else(|| Early::of(&self.driven, &self.columns, |_| true))
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
