//! Data of a file as they are gathered while it is read, whatever kind of file it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use retime_model::Operation;
use retime_model::format::FormatError;
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::call::{Around, Call, Label, Said, Tells};
use crate::columns::{Columns, MOMENT, MOST_TRACKS, absolute, beside, moved_with};
use crate::computing::Computing;
use crate::derived::are_derived;
use crate::devices::{Correlated, Driven, is_kernel, is_of_device};
use crate::header::{self, Header};
use crate::headers::Headers;
use crate::iterations::Iteration;
use crate::labelled::Labelled;
use crate::labels::is_merged;
use crate::launch::Launches;
use crate::launched_in;
use crate::launches_by_rank::number_by_rank;
use crate::posted::Posted;
use crate::profile::{FileRead, FlowEnd, FlowKind, Requests, Track, Unused};
use crate::recorded::Recorded;
use crate::repeated::Repeated;
use crate::roots::{self, RootRequest};
use crate::said_ranks::SaidRanks;
use crate::stamps::Stamp;
use crate::streams;
use crate::threads::Threads;
use crate::xla::{self, Told};

/// Calls on the program's own threads, in a file without the kernels that do what they ask for.
const WITHOUT_KERNELS: &str = "lone collective request";

/// The facts of a file beside its events.
#[derive(Debug, Default)]
pub struct Passed {
    pub(crate) header: Header,
    /// Check sum of its content.
    pub(crate) crc: u32,
    /// Length and check sum of its content without the digits of times.
    pub(crate) rest: [u64; 2],
}

impl Passed {
    /// A file recorded on a host for which this name stands, with the check sum of its content, and
    /// length and check sum of its content but for times.
    pub fn on_host(host: String, crc: u32, rest: [u64; 2]) -> Self {
        Self {
            header: Header {
                host: Some(host),
                is_host_unsaid: true,
                ..Header::default()
            },
            crc,
            rest,
        }
    }
}

/// Data that are gathered while a file is read.
#[derive(Debug, Default)]
pub struct Gathering {
    pub(crate) columns: Columns,
    /// Begins by event, as long as the base of the file may not be known.
    begins: Vec<i64>,
    pub(crate) tracks: Vec<Track>,
    stamps: Vec<Stamp>,
    thread_names: FxHashMap<(String, String), String>,
    process_names: FxHashMap<String, String>,
    /// The ranks and hosts that labels of processes say.
    labelled: Labelled,
    /// The ranks that events say by their arguments.
    pub(crate) said_ranks: SaidRanks,
    /// The headers of the profiles that processes were recorded in, by pid.
    headers_of_processes: FxHashMap<String, Header>,
    calls: Vec<Call>,
    instructions: Vec<xla::Instruction>,
    requests: FxHashMap<Operation, Requests>,
    /// Those of them that name a root.
    asked: Vec<RootRequest>,
    iterations: Vec<Iteration>,
    launches: Launches,
    posted: Posted,
    correlated: Correlated,
    driven: Driven,
    computing: Computing,
    flows: Vec<FlowEnd>,
    unused: Vec<Unused>,
    /// How many calls were left out, since they stand there once already.
    repeated: u64,
    /// True if calls or kernels say their group.
    says_groups: bool,
}

impl Gathering {
    /// The number of tracks.
    pub fn tracks(&self) -> usize {
        self.tracks.len()
    }

    /// Adds a track of a process on a machine, on which what lasts has one stamp or two.
    pub fn track(
        &mut self,
        pid: String,
        tid: String,
        machine: Option<u32>,
        has_both_ends: bool,
    ) -> Result<u32, String> {
        let number = self.tracks.len() as u32;
        if number >= MOST_TRACKS {
            return Err("there are more than 2^31 tracks".to_owned());
        }
        self.tracks.push(Track {
            pid,
            tid,
            machine,
            has_both_ends,
            ..Track::default()
        });
        Ok(number)
    }

    /// Says which process and which thread a track is.
    pub fn describe(&mut self, track: u32, pid: String, tid: String) {
        if let Some(track) = self.tracks.get_mut(track as usize) {
            (track.pid, track.tid) = (pid, tid);
        }
    }

    /// Says the number that the file gives to a track.
    pub fn number_track(&mut self, track: u32, uuid: u64) {
        if let Some(track) = self.tracks.get_mut(track as usize) {
            track.uuid = Some(uuid);
        }
    }

    /// A number that tracks of one process have in common, which a rank is, whatever it calls its
    /// devices: that of the first of them.
    pub fn process_of(&self, track: u32) -> Option<u32> {
        let owner = |it: &Track| (self.labelled.rank(&it.pid), it.machine);
        let own = self.tracks.get(track as usize)?;
        let is_of_it = |it: &Track| {
            it.machine == own.machine && it.pid == own.pid
                || owner(it).0.is_some() && owner(it) == owner(own)
        };
        self.tracks.iter().position(is_of_it).map(|it| it as u32)
    }

    /// Sets the times of a machine back.
    pub fn set_back(&mut self, machine: u32, by: i64) {
        for (begin, &track) in self.begins.iter_mut().zip(&self.columns.tracks) {
            let track = self.tracks.get(moved_with(track) as usize);
            if track.is_some_and(|it| it.machine == Some(machine)) {
                *begin = begin.saturating_sub(by);
            }
        }
    }

    /// Says that the events of a track are those of a thread, whose own track is another.
    pub fn lane_of(&mut self, track: u32, thread: u32) {
        if let Some(track) = self.tracks.get_mut(track as usize) {
            track.lane_of = Some(thread);
        }
    }

    /// Says that what lasts on a track has a stamp for its begin only, and whether its lengths are
    /// kept whatever becomes of clocks.
    pub fn only_begins(&mut self, track: u32, keeps_lengths: bool) {
        if let Some(track) = self.tracks.get_mut(track as usize) {
            track.has_both_ends = false;
            track.keeps_lengths |= keeps_lengths;
        }
    }

    /// Adds an event: when it begins, in nanoseconds, how long it lasts if it does, its track,
    /// and a letter for its kind. Returns its number.
    #[inline]
    pub fn event(
        &mut self,
        begin: i64,
        length: Option<u64>,
        track: u32,
        kind: u8,
    ) -> Result<u32, String> {
        if let Some(track) = self.tracks.get_mut(track as usize) {
            match track.kinds.iter_mut().find(|it| it.0 == kind) {
                Some((_, count)) => *count += 1,
                None => track.kinds.push((kind, 1)),
            }
        }
        self.push(begin, length, track)
    }

    /// Adds what is no event, but has a time that is moved with those of a track.
    pub fn beside(&mut self, time: i64, track: u32) -> Result<u32, String> {
        self.push(time, None, beside(track))
    }

    pub(crate) fn push(
        &mut self,
        begin: i64,
        length: Option<u64>,
        track: u32,
    ) -> Result<u32, String> {
        let number = self.begins.len();
        if number >= Stamp::MOST {
            return Err("a file with more than 2^31 events is too large".to_owned());
        }
        self.begins.push(begin);
        self.columns.lengths.push(length.unwrap_or(MOMENT));
        self.columns.tracks.push(track);
        Ok(number as u32)
    }

    /// When an event begins.
    pub fn begin(&self, event: u32) -> i64 {
        self.begins.get(event as usize).copied().unwrap_or_default()
    }

    /// The length of an event, as far as that is known.
    pub fn length(&self, event: u32) -> Option<u64> {
        self.columns.length(event)
    }

    /// Says which track it is that something is beside, once that is known.
    pub fn put_beside(&mut self, event: u32, track: u32) {
        if let Some(it) = self.columns.tracks.get_mut(event as usize) {
            *it = beside(track);
        }
    }

    /// Says how long an event lasts, once that is known.
    pub fn lasts(&mut self, event: u32, length: u64) {
        if let Some(it) = self.columns.lengths.get_mut(event as usize) {
            *it = length;
        }
    }

    /// Takes the stamps of the file, in their order.
    pub fn stamps(&mut self, stamps: Vec<Stamp>) {
        self.stamps = stamps;
    }

    /// Names a thread.
    pub fn name_thread(&mut self, pid: String, tid: String, name: String) {
        self.thread_names.insert((pid, tid), name);
    }

    /// Names a process.
    pub fn name_process(&mut self, pid: String, name: String) {
        self.labelled.name(&pid, &name);
        self.process_names.insert(pid, name);
    }

    /// Takes a label of a process, which may say its rank.
    pub fn label_process(&mut self, pid: String, label: &str) {
        self.labelled.label(pid, label);
    }

    /// Takes what the profile of a process said of its job and its host, as whoever put it into a
    /// file of several has it: an object with `distributedInfo` and `host_name`.
    pub fn tell_process(&mut self, pid: String, said: &Value) {
        let header = Header::of_rank(said);
        if header != Header::default() {
            self.headers_of_processes.insert(pid, header);
        }
    }

    /// Notes the number of a launch, or of a kernel that it started.
    pub fn correlates(&mut self, number: u64, event: u32, is_launch: bool) {
        if is_launch {
            self.launches.calls.push((number, event));
        } else {
            self.correlated.kernels.push((number, event));
        }
    }

    /// Reads what an event says of communication.
    #[inline]
    pub fn communicates(&mut self, event: &Recorded<'_>, number: u32) {
        if is_of_device(event.category) {
            let track = self.columns.track(number) as usize;
            if let Some(track) = self.tracks.get_mut(track) {
                track.is_device = true;
            }
        }
        self.correlated.take(event, number);
        let said = Said::of(event, number);
        self.says_rank(event, number, said.as_ref());
        match said {
            None if is_kernel(event.category) => self.computing.take(number),
            None => match xla::told(event, number) {
                None => {}
                Some(Told::Instruction(it)) => self.instructions.push(*it),
                Some(Told::Other) => self.unused_on(self.columns.track(number), xla::UNUSED, 1),
            },
            Some(Said::Call(call)) => self.calls.push(call),
            Some(Said::Kernel(kernel)) => self.launches.kernels.push(kernel),
            Some(Said::Launch(launch)) => self.launches.calls.push((launch, number)),
            Some(Said::Around(around)) => self.launches.around.push(around),
            Some(Said::Posting(posting)) => self.posted.postings.push(posting),
            Some(Said::UnderWay(message)) => self.posted.under_way.push(message),
            Some(Said::Iteration(iteration)) => self.iterations.push(iteration),
            Some(Said::Request(asked)) => {
                let track = self.columns.track(number);
                let requests = self.requests.entry(asked.operation).or_default();
                requests.take(number, track, &asked);
                requests.have_empty |= asked.has_empty;
                self.asked.extend(asked.root.map(|root| RootRequest {
                    event: number,
                    operation: asked.operation,
                    root,
                }));
                let elements = asked.elements.map(|it| Around {
                    event: number,
                    tells: Tells::Elements(it),
                });
                self.launches.around.extend(elements);
            }
        }
    }

    /// Notes which rank a call that communicates says by an argument.
    #[inline]
    fn says_rank(&mut self, event: &Recorded<'_>, number: u32, said: Option<&Said>) {
        if let Some(Said::Call(_) | Said::Kernel(_)) = said {
            let track = self.columns.track(number);
            if self.said_ranks.matter_on(track) {
                let rank = event.arguments.all().get("rank").cloned();
                self.said_ranks
                    .of_call(track, header::number(rank.as_ref()));
            }
        }
    }

    /// Counts events that communicate and prove nothing, in words that take a plural.
    pub fn unused(&mut self, kind: &'static str, events: u64) {
        self.unused_on(0, kind, events);
    }

    /// Counts such events on a track.
    fn unused_on(&mut self, track: u32, kind: &'static str, events: u64) {
        let known = |it: &&mut Unused| (it.kind, it.track) == (kind, track);
        match self.unused.iter_mut().find(known) {
            Some(it) => it.events += events,
            None => self.unused.push(Unused {
                kind,
                track,
                events,
            }),
        }
    }

    /// Leaves out what stands on lines that are derived from others.
    fn leave_out_derived(&mut self) {
        let derived = are_derived(&self.tracks, &self.thread_names);
        let is_derived = |track: u32| derived.get(track as usize) == Some(&true);
        let columns = &self.columns;
        self.instructions
            .retain(|it| !is_derived(columns.track(it.call.event)));
        self.unused
            .retain(|it| it.kind != xla::UNUSED || !is_derived(it.track));
    }

    /// Counts what was found on tracks by the ranks whose they are, if there are several.
    fn count_by_rank(&mut self, is_merged: bool) {
        let mut first_of: FxHashMap<Option<&str>, u32> = FxHashMap::default();
        let firsts = (0..).zip(&self.tracks).map(|(number, it)| {
            let label = it.label.as_deref().filter(|_| is_merged);
            *first_of.entry(label).or_insert(number)
        });
        let firsts: Vec<u32> = firsts.collect();
        for it in std::mem::take(&mut self.unused) {
            let first = firsts.get(it.track as usize).copied();
            self.unused_on(first.unwrap_or_default(), it.kind, it.events);
        }
    }

    /// Takes an end of an arrow, whose ends have the key in common.
    pub fn flow(&mut self, event: u32, key: Box<[u8]>, is_end: bool) {
        let kind = if is_end {
            FlowKind::End
        } else {
            FlowKind::Start
        };
        self.flows.push(FlowEnd { event, key, kind });
    }

    /// Takes a point on the way of an arrow.
    pub(crate) fn flow_step(&mut self, event: u32, key: Box<[u8]>) {
        let kind = FlowKind::Step;
        self.flows.push(FlowEnd { event, key, kind });
    }

    /// Takes kernels for what launched them says, and those on streams that do not say their
    /// group for calls of it, if it can be told.
    fn name_kernels(&mut self, headers: &Headers) {
        let mut launches = std::mem::take(&mut self.launches);
        let threads = Threads::of(self.tracks.iter().map(|it| it.lane_of));
        self.leave_out_repeated(&mut launches, &threads);
        launches.sort();
        self.driven = std::mem::take(&mut self.correlated).joined(&launches, &self.columns);
        let asked = launches.asked();
        self.says_groups = launches.asked_of_groups(&self.calls);
        let (named, unnamed) = launches.named(&self.columns, &threads);
        self.calls.extend(named);
        roots::tell(
            &mut self.calls,
            std::mem::take(&mut self.asked),
            &self.driven,
            &self.columns,
            &threads,
        );
        let of_tracks = headers.of_tracks(&self.tracks);
        let labels: Vec<Option<Label>> = of_tracks.iter().map(|it| Label::of_any(it)).collect();
        let mut untold: BTreeSet<u32> = BTreeSet::new();
        for kernel in unnamed {
            untold.insert(self.columns.track(kernel.event));
            let track = self.columns.track(kernel.event) as usize;
            let members = kernel.by_name.as_ref().and_then(|it| it.members);
            let label = match (members, of_tracks.get(track)) {
                (Some(members), Some(header)) => Label::of_size(header, members),
                _ => labels.get(track).cloned().flatten(),
            };
            match (kernel.by_name, label) {
                (Some(call), Some(label)) => self.calls.push(Call {
                    group: Some(label),
                    ..call
                }),
                _ => self.unused_on(track as u32, kernel.kind, 1),
            }
        }
        let labels: Vec<_> = of_tracks.iter().map(|it| Label::of_gloo(it)).collect();
        let (messages, unused) =
            std::mem::take(&mut self.posted).calls(&self.columns, &labels, &threads);
        for (kind, count) in unused.into_iter().filter(|it| it.1 > 0) {
            self.unused(kind, count);
        }
        let doubtful = streams::label(&mut self.calls, &self.columns, &of_tracks, &untold);
        if doubtful > 0 {
            self.unused(streams::UNKNOWN_GROUP, doubtful);
        }
        self.calls.extend(messages);
        launched_in::tell(
            &mut self.calls,
            &self.iterations,
            &self.driven,
            &self.columns,
            &self.tracks,
        );
        self.calls.sort_by_key(|it| it.event);
        if self.calls.is_empty() && self.unused.is_empty() && asked > 0 {
            self.unused(WITHOUT_KERNELS, asked);
        }
    }

    /// Leaves out what stands in the file twice, and counts what of it communicates.
    fn leave_out_repeated(&mut self, launches: &mut Launches, threads: &Threads) {
        let repeated = Repeated {
            columns: &self.columns,
            threads,
        };
        self.repeated = repeated.leave_out_of_launches(launches)
            + repeated.leave_out_of_messages(&mut self.posted)
            + repeated.leave_out(&mut self.instructions)
            + repeated.leave_out(&mut self.calls);
        repeated.leave_out(&mut self.iterations);
    }

    /// Gives tracks the ranks that their events say, if nothing else says whose any of them is.
    fn label_by_arguments(&mut self) {
        if self.tracks.iter().any(|it| it.label.is_some()) {
            return;
        }
        let ranks = self.said_ranks.of(&self.tracks).unwrap_or_default();
        for (track, rank) in self.tracks.iter_mut().zip(ranks) {
            track.label = Some(rank.to_string());
        }
    }

    /// The headers that the file has of ranks; those of processes that are of none are left.
    fn headers_of_ranks(&mut self, is_merged: bool) -> BTreeMap<String, Header> {
        let mut of_ranks = BTreeMap::new();
        let headers = std::mem::take(&mut self.headers_of_processes);
        for (pid, header) in headers {
            match self.labelled.rank(&pid) {
                Some(label) => {
                    let rank = label.parse().ok();
                    of_ranks.insert(label.clone(), Header { rank, ..header });
                }
                None => {
                    self.headers_of_processes.insert(pid, header);
                }
            }
        }
        if is_merged {
            self.labelled.add_hosts(&mut of_ranks);
        }
        of_ranks
    }

    /// Puts together what was gathered; `beyond` makes the error of an event whose time is too
    /// far from all that a trace can hold.
    pub fn finish(
        mut self,
        mut passed: Passed,
        beyond: impl Fn(&Self, u32) -> FormatError,
    ) -> Result<FileRead, FormatError> {
        for track in self.tracks.iter_mut().filter(|it| it.label.is_none()) {
            track.label = self.labelled.rank(&track.pid).cloned();
        }
        self.label_by_arguments();
        let is_merged = is_merged(self.tracks.iter().filter_map(|it| it.label.as_deref()));
        let of_ranks = self.headers_of_ranks(is_merged);
        if is_merged {
            passed.header.of_several();
            number_by_rank(
                &mut self.launches,
                &mut self.correlated,
                &self.columns,
                &self.tracks,
            );
        }
        let headers = Headers::of(passed.header, of_ranks, &self.tracks);
        let base = headers.of_file.base;
        let mut is_below_zero = false;
        let mut begins = Vec::with_capacity(self.begins.len());
        for (event, &time) in (0..).zip(&self.begins) {
            let time = absolute(base, time).ok_or_else(|| beyond(&self, event))?;
            is_below_zero |= time < 0;
            begins.push(time as u64);
        }
        self.columns.begins = begins;
        self.begins = Vec::new();
        self.leave_out_derived();
        self.name_kernels(&headers);
        self.count_by_rank(is_merged);
        Ok(FileRead {
            header: headers.of_file,
            of_ranks: headers.of_ranks,
            of_processes: self.headers_of_processes.into_iter().collect(),
            crc: passed.crc,
            rest: passed.rest,
            columns: Arc::new(self.columns),
            stamps: (!self.stamps.is_empty()).then_some(self.stamps),
            origin: 0,
            is_below_zero,
            tracks: self.tracks,
            own: None,
            thread_names: self.thread_names,
            process_names: self.process_names,
            calls: self.calls,
            instructions: self.instructions,
            requests: self.requests,
            iterations: self.iterations,
            flows: self.flows,
            unused: self.unused,
            repeated: self.repeated,
            says_groups: self.says_groups,
            driven: Arc::new(self.driven),
            computing: self.computing,
            unseen: None,
        })
    }
}
