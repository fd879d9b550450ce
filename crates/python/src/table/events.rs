//! All events of a trace.
//!
//! ```text
//! locations  0 1 2 .. 15 | 16 ..      so many under way; where one ends the next begins
//! round 1    a batch of each, in parallel
//! round 2    a batch of each, in parallel, while those of round 1 are taken
//! ```
//!
//! A thread of its own reads, and no more than two rounds ahead of the consumer: memory does
//! not grow with the trace. Which batch comes when follows from the trace alone, so a table is
//! the same for any number of threads. Each batch is of one location, in its order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use rayon::prelude::*;
use retime::format::Trace;
use retime::{Correction, LocationIndex, TraceInfo};
use retime_cli::library::{self, Failure, Study, Watch};

use super::columns::{
    Column, Ids, coded, coded_short, dictionary, joined, named, number, schema, whole,
};
use super::lane::{Chunk, Filled, Lane};
use super::names::{Names, Regions};
use super::stream::{Batches, Next, PATIENCE};
use crate::waiting::{Meter, call};

/// Locations under way at a time: more than there are cores in most machines, so that all
/// have work though some locations take longer.
const ABREAST: usize = 16;

/// The columns that a table of events can have.
const COLUMNS: [&str; 10] = [
    "location",
    "location_name",
    "process",
    "event",
    "time",
    "corrected",
    "kind",
    "region",
    "passage",
    "peer",
];

/// The columns of the table of events if nobody asks for others.
const USUAL: [&str; 6] = ["location", "time", "corrected", "kind", "region", "peer"];

/// Where events come from.
pub(crate) enum Source {
    /// A trace as recorded.
    Opened(Arc<dyn Trace>, Arc<TraceInfo>),
    /// An analysed one, with its correction if there is one.
    Studied(Arc<Study>),
}

impl Source {
    fn trace(&self) -> &dyn Trace {
        match self {
            Self::Opened(trace, _) => &**trace,
            Self::Studied(study) => study.trace(),
        }
    }

    fn info(&self) -> &TraceInfo {
        match self {
            Self::Opened(_, info) => info,
            Self::Studied(study) => study.analysis().info(),
        }
    }

    fn correction(&self) -> Option<&Correction> {
        match self {
            Self::Opened(..) => None,
            Self::Studied(study) => study.solution().map(|it| &it.correction),
        }
    }
}

/// The request for a table of events.
pub(crate) struct Asked {
    /// Names of the columns; `None` for the usual ones.
    pub(crate) columns: Option<Vec<String>>,
    /// Positions of the locations in the trace; `None` for all.
    pub(crate) locations: Option<Vec<usize>>,
    /// First and last stamp.
    pub(crate) window: Option<(u64, u64)>,
}

/// The part of a request that can be met.
pub(super) struct Wanted {
    source: Source,
    columns: Vec<&'static str>,
    locations: Vec<LocationIndex>,
    window: Option<(u64, u64)>,
}

/// Refuses what cannot be had.
pub(super) fn wanted(source: Source, asked: Asked) -> Result<Wanted, Failure> {
    let is_corrected = matches!(source, Source::Studied(_));
    let can_have = |it: &&str| is_corrected || *it != "corrected";
    let columns = match &asked.columns {
        None => USUAL.into_iter().filter(can_have).collect(),
        Some(names) => names
            .iter()
            .map(|name| column(name, is_corrected))
            .collect::<Result<Vec<_>, _>>()?,
    };
    let count = source.info().locations.len();
    let all = asked.locations.unwrap_or_else(|| (0..count).collect());
    let there = all.into_iter().filter(|&it| it < count);
    Ok(Wanted {
        locations: there.map(|it| LocationIndex(it as u32)).collect(),
        source,
        columns,
        window: asked.window,
    })
}

fn column(name: &str, is_corrected: bool) -> Result<&'static str, Failure> {
    let known = COLUMNS.into_iter().find(|it| *it == name);
    let known = known.ok_or_else(|| {
        let all = COLUMNS.join(", ");
        Failure::option(format!("there is no column \"{name}\"; columns are {all}"))
    })?;
    if known == "corrected" && !is_corrected {
        return Err(Failure::option(
            "this is the trace as recorded: corrected times are in the tables of corrected()",
        ));
    }
    Ok(known)
}

impl Wanted {
    pub(super) fn schema(&self) -> SchemaRef {
        let ids = Ids::of(self.source.info());
        let field = |&name: &&'static str| match name {
            "location" => ids.field(name, false),
            "event" | "time" | "corrected" => number(name),
            "peer" => ids.field(name, true),
            "kind" => named(name, DataType::Int16),
            _ => named(name, DataType::Int32),
        };
        let fields = self.columns.iter().map(field).collect();
        schema(fields, self.source.info().rate.get())
    }

    fn filled(&self) -> Filled {
        let has = |name| self.columns.contains(&name);
        Filled {
            event: has("event"),
            time: has("time"),
            corrected: has("corrected"),
            kind: has("kind"),
            region: has("region"),
            passage: has("passage"),
            peer: has("peer"),
        }
    }
}

/// Events on their way.
pub(super) struct Events {
    rounds: Receiver<Result<Vec<RecordBatch>, Failure>>,
    ready: VecDeque<RecordBatch>,
    meter: Arc<Meter>,
}

impl Events {
    pub(super) fn new(wanted: Arc<Wanted>) -> Self {
        let meter = Arc::new(Meter::default());
        let (sender, rounds) = sync_channel(1);
        let own = Arc::clone(&meter);
        // Where no thread can be had the channel is closed at once, which is an error.
        let _ = thread::Builder::new()
            .name("retime-events".into())
            .spawn(move || {
                let read = || read(&wanted, &own, &sender);
                let done = library::in_parallel(call(Vec::new(), &own), read).and_then(|it| it);
                // Nobody listens any more where this fails.
                let _ = match done {
                    Ok(()) => sender.send(Ok(Vec::new())),
                    Err(failure) => sender.send(Err(failure)),
                };
            });
        Self {
            rounds,
            ready: VecDeque::new(),
            meter,
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.meter.stop();
    }
}

impl Batches for Events {
    fn next(&mut self) -> Next {
        if let Some(batch) = self.ready.pop_front() {
            return Next::Batch(batch);
        }
        match self.rounds.recv_timeout(PATIENCE) {
            Ok(Ok(round)) => {
                self.ready = round.into();
                self.ready.pop_front().map_or(Next::End, Next::Batch)
            }
            Ok(Err(failure)) => Next::Failed(failure),
            Err(RecvTimeoutError::Timeout) => Next::Later,
            Err(RecvTimeoutError::Disconnected) => {
                Next::Failed(Failure::defect("events ended without a last one"))
            }
        }
    }
}

/// Reads all events, round by round, while somebody takes them.
fn read(
    wanted: &Wanted,
    meter: &Meter,
    sender: &SyncSender<Result<Vec<RecordBatch>, Failure>>,
) -> Result<(), Failure> {
    let trace = wanted.source.trace();
    let mut dictionaries = Dictionaries::of(wanted);
    let mut waiting = wanted.locations.iter();
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    let filled = wanted.filled();
    loop {
        while lanes.len() < ABREAST
            && let Some(&location) = waiting.next()
        {
            let id = wanted.source.info().locations.get(location.as_usize());
            let id = id.map_or(0, |it| it.id);
            lanes.push(Lane::open(trace, location, id, wanted.source.correction())?);
        }
        if lanes.is_empty() || meter.cancelled() {
            return Ok(());
        }
        let regions = &dictionaries.regions;
        let fill = |lane: &mut Lane<'_>| lane.fill(filled, regions, wanted.window);
        // Not into a `Result` at once: which of several errors that gives depends on threads.
        let chunks: Vec<Result<Chunk, Failure>> = lanes.par_iter_mut().map(fill).collect();
        lanes.retain(|lane| !lane.is_over);
        let mut round = Vec::new();
        for chunk in chunks {
            let chunk = chunk?;
            if chunk.rows > 0 {
                round.push(dictionaries.batch(wanted, chunk)?);
            }
        }
        if !round.is_empty() && sender.send(Ok(round)).is_err() {
            return Ok(());
        }
    }
}

/// All names, and the schema that refers to them.
struct Dictionaries {
    schema: SchemaRef,
    ids: Ids,
    kinds: Names,
    regions: Regions,
    passages: ArrayRef,
    locations: Names,
    processes: Names,
}

impl Dictionaries {
    fn of(wanted: &Wanted) -> Self {
        let info = wanted.source.info();
        let mut locations = Names::default();
        for it in &info.locations {
            locations.number(&it.name);
        }
        let mut processes = Names::default();
        for it in &info.processes {
            processes.number(&it.name);
        }
        Self {
            schema: wanted.schema(),
            ids: Ids::of(info),
            kinds: Names::default(),
            regions: Regions::of(wanted.source.trace()),
            passages: dictionary(&["enter", "leave"]),
            locations,
            processes,
        }
    }

    fn batch(&mut self, wanted: &Wanted, mut chunk: Chunk) -> Result<RecordBatch, Failure> {
        let trace = wanted.source.trace();
        self.number_kinds(&mut chunk);
        let strange: Vec<i32> = chunk
            .strange
            .iter()
            .map(|&id| self.regions.number(trace, id))
            .collect();
        for region in &mut chunk.region {
            if let Ok(at) = usize::try_from(-2 - i64::from(*region)) {
                *region = strange.get(at).copied().unwrap_or(-1);
            }
        }
        let mut columns = Vec::with_capacity(wanted.columns.len());
        for &name in &wanted.columns {
            columns.push(self.column(name, wanted.source.info(), &mut chunk));
        }
        joined(&self.schema, columns)
    }

    /// Gives kinds the numbers that they have in the whole table.
    fn number_kinds(&mut self, chunk: &mut Chunk) {
        let numbers = chunk.kinds.iter().map(|it| self.kinds.number(it) as i16);
        let numbers: Vec<i16> = numbers.collect();
        if numbers.iter().zip(0..).all(|(&number, at)| number == at) {
            return;
        }
        for kind in &mut chunk.kind {
            *kind = numbers.get(*kind as usize).copied().unwrap_or_default();
        }
    }

    fn column(&mut self, name: &str, info: &TraceInfo, chunk: &mut Chunk) -> Column {
        use std::mem::take;
        let location = info.locations.get(chunk.location.as_usize());
        let process = location.and_then(|it| info.processes.get(it.process));
        match name {
            "location" => {
                let id = location.map_or(0, |it| it.id);
                self.ids.column(vec![id; chunk.rows])
            }
            "location_name" => {
                let number = location.map_or(-1, |it| self.locations.number(&it.name));
                coded(vec![number; chunk.rows], &self.locations.array())
            }
            "process" => {
                let number = process.map_or(-1, |it| self.processes.number(&it.name));
                coded(vec![number; chunk.rows], &self.processes.array())
            }
            "event" => whole(take(&mut chunk.event)),
            "time" => whole(take(&mut chunk.time)),
            "corrected" => whole(take(&mut chunk.corrected)),
            "kind" => coded_short(take(&mut chunk.kind), &self.kinds.array()),
            "region" => coded(take(&mut chunk.region), &self.regions.array()),
            "passage" => coded(take(&mut chunk.passage), &self.passages),
            _ => {
                let has_peer = chunk.has_peer.clone();
                self.ids.present(take(&mut chunk.peer), Some(has_peer))
            }
        }
    }
}
