//! A process that does its part when it is asked to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use retime_distributed::{Distribution, Follower};
use retime_model::format::{
    Contents, Format, FormatError, InFiles, InParts, PartLocation, Timeline,
};
use retime_model::{LocationIndex, Monitor, PartCorrection};
use serde::Serialize;

use crate::all_times::all_times;
use crate::command::{Answer, Bytes, Command, Differs, Failure, Kept};
use crate::communicator::Lost;
use crate::kept::keep;
use crate::mark::{mark, mark_of_files, refuse_another};
use crate::members::Members;
use crate::team::Team;

/// How many events with a role are sent at a time; some megabytes, so that neither
/// messages are many nor both ends hold much twice.
const BATCH: usize = 1 << 16;

/// Does what process 0 asks for until it sends everybody home. The monitor hears of what
/// is read, and can stop that; process 0 is told then.
pub fn serve(
    team: &Arc<Team>,
    formats: &[&'static dyn Format],
    monitor: &dyn Monitor,
) -> Result<(), Lost> {
    let mut worker = Worker {
        team,
        formats,
        monitor,
        traces: HashMap::new(),
        in_files: HashMap::new(),
        read: Vec::new(),
        kept: Vec::new(),
        follower: None,
    };
    let mut worked = Duration::ZERO;
    loop {
        let command: Command<'_> = team.receive(0)?;
        if matches!(command, Command::Dismiss) {
            return team.send(0, &team.usage(worked));
        }
        let start = Instant::now();
        worker.obey(command)?;
        worked += start.elapsed();
    }
}

struct Worker<'a> {
    team: &'a Arc<Team>,
    formats: &'a [&'static dyn Format],
    monitor: &'a dyn Monitor,
    traces: HashMap<u32, Box<dyn InParts>>,
    /// Traces that are worked on by files.
    in_files: HashMap<u32, Box<dyn InFiles>>,
    /// The locations that were read and are still to be delivered.
    read: Vec<PartLocation>,
    /// The content of its part of the trace that is analysed together, besides logs.
    kept: Vec<(LocationIndex, Contents, Vec<u64>)>,
    follower: Option<Follower>,
}

impl Worker<'_> {
    fn obey(&mut self, command: Command<'_>) -> Result<(), Lost> {
        match command {
            Command::Open {
                trace,
                format,
                path,
                mark,
            } => {
                let opened = self.open(&format, Path::new(&path), mark);
                let answer: Answer<()> = opened.map(|it| {
                    self.traces.insert(trace, it);
                });
                self.answer(answer)
            }
            Command::OpenFiles {
                trace,
                format,
                path,
                mark,
            } => {
                let opened = self.open_files(&format, Path::new(&path), mark);
                let answer: Answer<()> = opened.map(|it| {
                    self.in_files.insert(trace, it);
                });
                self.answer(answer)
            }
            Command::Work { trace, tasks } => {
                let done = tasks.into_par_iter().map(|(file, task)| {
                    let trace = self.in_files.get(&trace).ok_or(Lost::Garbled(0))?;
                    let done = trace.work(file as usize, &task.0, self.monitor)?;
                    Ok(Bytes(done))
                });
                let done: Vec<Answer<Bytes>> = done.collect();
                let node = |it: Failure| it.on(self.team.node());
                let done = done.into_iter().map(|it| it.map_err(node));
                self.team.send(0, &done.collect::<Vec<_>>())
            }
            Command::Scan {
                trace,
                part,
                thoroughly,
            } => {
                self.read.clear();
                let scan = self.on(trace, |it, monitor| {
                    it.scan_part(&part, thoroughly, monitor)
                });
                let answer: Answer<bool> = scan.map(|it| {
                    self.read = it.locations;
                    it.wants_more
                });
                self.answer(answer)
            }
            Command::Deliver => self.deliver(),
            Command::Keep { trace, owners } => {
                let answer = self.keep(trace, owners.into_owned());
                self.answer(answer)
            }
            Command::ShowAllEvents { trace } => {
                let answer = self.show_all_events(trace);
                self.answer(answer)
            }
            Command::Step(step) => {
                if let Some(follower) = &mut self.follower {
                    follower.follow(&step, self.monitor);
                }
                Ok(())
            }
            Command::Verify { trace } => {
                let answer = self.verify(trace);
                self.answer(answer)
            }
            Command::Timelines { trace, events } => {
                let events: Vec<_> = events.iter().map(|(it, events)| (*it, &**events)).collect();
                let answer = self.on(trace, |it, monitor| it.timelines_of(&events, monitor));
                self.answer(answer)
            }
            Command::Write {
                trace,
                part,
                correction,
                to,
            } => {
                let answer = self.on(trace, |it, monitor| {
                    let correction = correction.map(PartCorrection::unpack).transpose();
                    let correction = correction.map_err(FormatError::failed)?;
                    it.write_part(correction.as_ref(), &part, Path::new(&to), monitor)
                });
                self.answer(answer)
            }
            Command::Close { trace } => {
                self.traces.remove(&trace);
                self.in_files.remove(&trace);
                Ok(())
            }
            Command::Dismiss => Ok(()),
        }
    }

    fn answer<T: Serialize>(&self, answer: Answer<T>) -> Result<(), Lost> {
        let answer = answer.map_err(|it| it.on(self.team.node()));
        self.team.send(0, &answer)
    }

    fn open(&self, format: &str, path: &Path, expected: u64) -> Answer<Box<dyn InParts>> {
        let format = self.formats.iter().find(|it| it.name() == format);
        let format = format.ok_or(Lost::Garbled(0))?;
        let trace = format.open_in_parts(path, self.monitor);
        let trace = trace.ok_or(Lost::Garbled(0))??;
        let own = mark(trace.info(), &trace.sizes());
        refuse_another(trace.path(), own, expected)?;
        Ok(trace)
    }

    fn open_files(&self, format: &str, path: &Path, mark: u64) -> Answer<Box<dyn InFiles>> {
        let format = self.formats.iter().find(|it| it.name() == format);
        let format = format.ok_or(Lost::Garbled(0))?;
        let trace = format.open_in_files(path, self.monitor);
        let trace = trace.ok_or(Lost::Garbled(0))??;
        refuse_another(path, mark_of_files(&trace.files()), mark)?;
        Ok(trace)
    }

    fn on<T>(
        &self,
        trace: u32,
        work: impl FnOnce(&dyn InParts, &dyn Monitor) -> Result<T, FormatError>,
    ) -> Answer<T> {
        let trace = self.traces.get(&trace).ok_or(Lost::Garbled(0))?;
        Ok(work(&**trace, self.monitor)?)
    }

    /// Makes logs of what was read, and keeps them for an analysis.
    fn keep(&mut self, trace: u32, owners: Vec<u32>) -> Answer<Kept> {
        let trace = self.traces.get(&trace).ok_or(Lost::Garbled(0))?;
        let info = trace.info().clone();
        let (logs, kept) = keep(std::mem::take(&mut self.read))?;
        self.kept.clone_from(&kept.locations);
        let distribution = Distribution::new(Arc::new(Members(Arc::clone(self.team))), owners);
        self.follower = Some(Follower::new(info, logs, distribution));
        Ok(kept)
    }

    /// Reads its part of the trace again, for an analysis that looks at each event.
    fn show_all_events(&mut self, trace: u32) -> Answer<()> {
        let follower = self.follower.as_ref().ok_or(Lost::Garbled(0))?;
        let part: Vec<LocationIndex> = self.kept.iter().map(|it| it.0).collect();
        let count = |it: LocationIndex| follower.event_count(it);
        let times = self.on(trace, |it, monitor| all_times(it, &part, count, monitor))?;
        let follower = self.follower.as_mut().ok_or(Lost::Garbled(0))?;
        let shown = follower.show_all_events(&times);
        Ok(shown.map_err(FormatError::failed)?)
    }

    /// Reads its part of a copy again.
    fn verify(&self, trace: u32) -> Answer<Differs> {
        let follower = self.follower.as_ref().ok_or(Lost::Garbled(0))?;
        let known = self.kept.iter().map(|(location, contents, _)| {
            let (events, times) = (follower.events(*location), follower.times(*location));
            (*location, events, contents, times)
        });
        let known: Vec<_> = known.collect();
        let events: Vec<_> = known.iter().map(|it| (it.0, it.1)).collect();
        let found: Answer<Vec<Timeline>> =
            self.on(trace, |it, monitor| it.timelines_of(&events, monitor));
        let found = found?;
        let mut both = found.iter().zip(&known);
        Ok(both.find_map(|(found, (location, _, contents, times))| {
            Some((*location, found.difference(contents, times)?))
        }))
    }

    /// Sends what was read, and forgets it on the way.
    fn deliver(&mut self) -> Result<(), Lost> {
        let mut batch = Vec::new();
        let mut events = 0;
        for it in std::mem::take(&mut self.read) {
            events += it.log.len();
            batch.push(it);
            if events >= BATCH {
                self.team.send(0, &batch)?;
                batch.clear();
                events = 0;
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.team.send(0, &batch)
    }
}
