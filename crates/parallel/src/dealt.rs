//! The trace as process 0 sees it: like any other.

use std::borrow::Cow;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use retime::causality::NeedsWhole;
use retime::causality::Nodes;
use retime_distributed::Distribution;
use retime_model::format::{
    Contents, Difference, EventRows, Format, FormatError, InParts, OperationFacts, PartLocation,
    PartUndo, Rewrite, Scan, Shape, Timeline, Trace, Undo, Unused, join,
};
use retime_model::{
    Correction, LocationIndex, LocationLog, Monitor, PartCorrection, Timestamp, TraceInfo,
};
use serde::de::DeserializeOwned;

use crate::all_times::all_times;
use crate::command::{Answer, Command, Differs, Failure, Kept};
use crate::communicator::Lost;
use crate::deal::deal;
use crate::kept::{keep, meet};
use crate::mark::mark;
use crate::members::Members;
use crate::scaled::Scaled;
use crate::team::Team;

/// Opens a trace on all processes; the others [`serve`](crate::serve). `None` if its format
/// knows no parts.
pub fn open_in_parts(
    team: &Arc<Team>,
    format: &dyn Format,
    path: &Path,
    monitor: &dyn Monitor,
) -> Result<Option<Dealt>, FormatError> {
    let Some(trace) = format.open_in_parts(path, monitor) else {
        return Ok(None);
    };
    let trace = trace?;
    let (info, sizes) = (trace.info(), trace.sizes());
    let mark = mark(info, &sizes);
    let parts = deal(info, &sizes, team.size());
    let own = parts.first().into_iter().flatten();
    let own = own.filter_map(|it| sizes.get(it.as_usize())).sum();
    let mut opened = team.ask();
    *opened += 1;
    let number = *opened;
    drop(opened);
    // From here on others may have it open, and forget it when this one is dropped.
    let dealt = Dealt {
        team: Arc::clone(team),
        number,
        parts,
        own,
        trace,
    };
    let open = |_: &[LocationIndex]| Command::Open {
        trace: number,
        format: format.name().into(),
        path: path.into(),
        mark,
    };
    dealt.together::<(), ()>(open, |_, _| Ok(()))?;
    Ok(Some(dealt))
}

/// The parts of a trace that processes have read and are about to analyse together.
#[derive(Debug)]
pub struct Read {
    /// Locations, processes and communicators of the trace.
    pub info: TraceInfo,
    /// The content of each location besides times.
    pub contents: Vec<Contents>,
    /// The logs of the locations of this process.
    pub own: Vec<LocationLog>,
    /// Which these are, and who has the others.
    pub distribution: Distribution,
}

/// A trace that processes work on together, as the first of them sees it.
pub struct Dealt {
    team: Arc<Team>,
    /// The number by which the others know the trace.
    number: u32,
    /// The locations of each process.
    parts: Vec<Vec<LocationIndex>>,
    /// Bytes of the locations of this one.
    own: u64,
    trace: Box<dyn InParts>,
}

impl Dealt {
    /// Lets all processes do something, each with its part. The results of this one and,
    /// in order, of the others; or the first failure among them.
    fn together<'a, T: DeserializeOwned, O>(
        &'a self,
        command: impl Fn(&'a [LocationIndex]) -> Command<'a>,
        own: impl FnOnce(&dyn InParts, &[LocationIndex]) -> Result<O, FormatError>,
    ) -> Result<(O, Vec<T>), FormatError> {
        let _asking = self.team.ask();
        for (rank, part) in self.parts.iter().enumerate().skip(1) {
            let asked = self.team.send(rank, &command(part));
            asked.map_err(FormatError::failed)?;
        }
        let first = self.parts.first().map_or(&[][..], Vec::as_slice);
        let own = own(&*self.trace, first);
        // Each answers, whatever became of the others.
        let answers = (1..self.parts.len()).map(|rank| self.team.receive(rank));
        let answers: Vec<Answer<T>> = answers
            .collect::<Result<_, _>>()
            .map_err(FormatError::failed)?;
        let own = own?;
        let here = self.team.node();
        let answers = (1..).zip(answers).map(|(rank, answer)| {
            let of_another = |failure: Failure| failure.of(rank, &here);
            answer.map_err(of_another)
        });
        Ok((own, answers.collect::<Result<_, _>>()?))
    }

    /// Lets all processes read their parts; what this one has read.
    fn scan_parts(&self, for_whom: &dyn Monitor) -> Result<Vec<PartLocation>, FormatError> {
        let monitor = &self.for_all(for_whom);
        let pass = |thoroughly| {
            let scan = |part| Command::Scan {
                trace: self.number,
                part: Cow::Borrowed(part),
                thoroughly,
            };
            self.together::<bool, _>(scan, |trace, part| {
                trace.scan_part(part, thoroughly, monitor)
            })
        };
        let (mut own, others) = pass(false)?;
        if own.wants_more || others.contains(&true) {
            for_whom.announce(self.trace.bytes());
            (own, _) = pass(true)?;
        }
        Ok(own.locations)
    }

    /// Reads all events, each process those of its part, for an analysis that they make
    /// together: no logs are sent to this process. Where a trace cannot be analysed so,
    /// the distribution that is returned is [broken](Distribution::broken).
    pub fn read(&self, monitor: &dyn Monitor) -> Result<Read, FormatError> {
        let own = self.scan_parts(monitor)?;
        let mut owners = vec![0; self.parts.iter().map(Vec::len).sum()];
        for (rank, part) in (0..).zip(&self.parts) {
            for it in part {
                owners[it.as_usize()] = rank;
            }
        }
        let keep_parts = |_: &[LocationIndex]| Command::Keep {
            trace: self.number,
            owners: Cow::Borrowed(&owners),
        };
        let ((own, first), others) = self.together::<Kept, _>(keep_parts, |_, _| keep(own))?;
        let mut kept = vec![first];
        kept.extend(others);
        let distribution =
            Distribution::new(Arc::new(Members(Arc::clone(&self.team))), owners.clone());
        self.team.keep_distribution(distribution.clone());
        if meet(&kept) {
            distribution.needs_whole(NeedsWhole::Named);
        }
        let mut all: Vec<_> = kept.into_iter().flat_map(|it| it.locations).collect();
        all.sort_by_key(|it| it.0);
        self.team.count_events(all.iter().map(|it| &it.1));
        let concluded: Vec<Vec<u64>> = all.iter_mut().map(|it| take(&mut it.2)).collect();
        self.trace.take_up(&concluded);
        let info = self.describe().cloned();
        Ok(Read {
            info: info.ok_or_else(|| FormatError::failed(Lost::Garbled(0)))?,
            contents: all.into_iter().map(|it| it.1).collect(),
            own,
            distribution,
        })
    }

    /// Lets each process read the times of all events of its part, for steps that look at each
    /// of them; those of this process, by location.
    pub fn show_all_events(
        &self,
        nodes: &Nodes,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Vec<Timestamp>>, FormatError> {
        let monitor = &self.for_all(monitor);
        let show = |_: &[LocationIndex]| Command::ShowAllEvents { trace: self.number };
        let count = |it: LocationIndex| nodes.event_count(it.as_usize());
        let own =
            |trace: &dyn InParts, part: &[LocationIndex]| all_times(trace, part, count, monitor);
        Ok(self.together::<(), _>(show, own)?.0)
    }

    /// Reads this trace, a copy, again, each process its part, and compares it with what an
    /// analysis has computed: the first location that differs, and how. `times` are those
    /// of this process, by node.
    pub fn verify(
        &self,
        contents: &[Contents],
        nodes: &Nodes,
        times: &[Timestamp],
        monitor: &dyn Monitor,
    ) -> Result<Option<(LocationIndex, Difference)>, FormatError> {
        let monitor = &self.for_all(monitor);
        let of = |location: LocationIndex| nodes.of(location.as_usize());
        let verify = |_: &[LocationIndex]| Command::Verify { trace: self.number };
        let (own, others) = self.together::<Differs, _>(verify, |trace, part| {
            let events: Vec<_> = part.iter().map(|&it| (it, nodes.events(&of(it)))).collect();
            let found = trace.timelines_of(&events, monitor)?;
            let mut both = part.iter().zip(&found);
            Ok(both.find_map(|(&location, found)| {
                let expected = contents.get(location.as_usize())?;
                let times = times.get(of(location).range()).unwrap_or_default();
                Some((location, found.difference(expected, times)?))
            }))
        })?;
        Ok([own]
            .into_iter()
            .chain(others)
            .flatten()
            .min_by_key(|it| it.0))
    }

    /// Takes what the other processes have read.
    fn collect(&self, own: Vec<PartLocation>) -> Result<Vec<PartLocation>, Lost> {
        let _asking = self.team.ask();
        let mut all = own;
        for (rank, part) in self.parts.iter().enumerate().skip(1) {
            self.team.send(rank, &Command::Deliver)?;
            let end = all.len() + part.len();
            while all.len() < end {
                all.extend(self.team.receive::<Vec<PartLocation>>(rank)?);
            }
            let sent = all[end - part.len()..].iter().map(|it| it.log.location());
            if !sent.eq(part.iter().copied()) {
                return Err(Lost::Garbled(rank));
            }
        }
        all.sort_by_key(|it| it.log.location());
        Ok(all)
    }

    fn write(
        &self,
        correction: Option<&Correction>,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        let monitor = &self.for_all(monitor);
        let write = |part| Command::Write {
            trace: self.number,
            part: Cow::Borrowed(part),
            correction: correction.map(|it| PartCorrection::of(it, part)),
            to: to.into(),
        };
        let (own, others): (_, Vec<PartUndo>) = self.together(write, |trace, part| {
            trace.write_part(correction, part, to, monitor)
        })?;
        let parts = [own].into_iter().chain(others).collect();
        let _asking = self.team.ask();
        self.trace.write_rest(correction, parts, to, monitor)
    }

    /// Tells a monitor for each byte of this process what all have read meanwhile, if they
    /// are equally fast.
    fn for_all<'a>(&self, monitor: &'a dyn Monitor) -> Scaled<'a> {
        Scaled::new(monitor, self.own, self.trace.bytes())
    }
}

impl Drop for Dealt {
    fn drop(&mut self) {
        let _asking = self.team.ask();
        let trace = self.number;
        for rank in 1..self.parts.len() {
            // Whoever is gone has forgotten it.
            let _ = self.team.send(rank, &Command::Close { trace });
        }
    }
}

impl Trace for Dealt {
    fn format(&self) -> &'static str {
        self.trace.format()
    }

    fn path(&self) -> &Path {
        self.trace.path()
    }

    fn describe(&self) -> Option<&TraceInfo> {
        Some(self.trace.info())
    }

    fn bytes(&self) -> u64 {
        self.trace.bytes()
    }

    fn scan(&self, for_whom: &dyn Monitor) -> Result<Scan, FormatError> {
        let own = self.scan_parts(for_whom)?;
        let mut all = join(self.collect(own).map_err(FormatError::failed)?)?;
        self.team.count_events(all.iter().map(|it| &it.contents));
        let concluded = all.iter_mut().map(|it| take(&mut it.concluded));
        let concluded: Vec<Vec<u64>> = concluded.collect();
        self.trace.take_up(&concluded);
        let info = self.describe().cloned();
        let (logs, contents) = all.into_iter().map(|it| (it.log, it.contents)).unzip();
        Ok(Scan {
            info: info.ok_or_else(|| FormatError::failed(Lost::Garbled(0)))?,
            logs,
            contents,
        })
    }

    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        let monitor = &self.for_all(monitor);
        let of = |&it: &LocationIndex| events.get(it.as_usize()).copied().unwrap_or_default();
        let timelines = |part: &[LocationIndex]| Command::Timelines {
            trace: self.number,
            events: part.iter().map(|it| (*it, of(it).into())).collect(),
        };
        let (own, others): (_, Vec<Vec<Timeline>>) = self.together(timelines, |trace, part| {
            let events: Vec<_> = part.iter().map(|it| (*it, of(it))).collect();
            trace.timelines_of(&events, monitor)
        })?;
        let mut all = Vec::new();
        for (rank, (part, found)) in self
            .parts
            .iter()
            .zip([own].into_iter().chain(others))
            .enumerate()
        {
            if part.len() != found.len() {
                return Err(FormatError::failed(Lost::Garbled(rank)));
            }
            all.extend(part.iter().zip(found));
        }
        all.sort_by_key(|(location, _)| **location);
        Ok(all.into_iter().map(|(_, timeline)| timeline).collect())
    }

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        self.trace.rows(location)
    }

    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        self.trace.region(id)
    }

    fn region_paradigm(&self, id: u32) -> Option<&'static str> {
        self.trace.region_paradigm(id)
    }

    fn kind_paradigm(&self, kind: &str) -> Option<&'static str> {
        self.trace.kind_paradigm(kind)
    }

    /// The facts are read by this process alone, as rows are.
    fn operations(&self, location: LocationIndex, events: &[u32]) -> Vec<OperationFacts> {
        self.trace.operations(location, events)
    }

    fn rows_tell_operations(&self) -> bool {
        self.trace.rows_tell_operations()
    }

    fn rewriting(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }

    fn time_of_day(&self, stamp: Timestamp) -> Option<SystemTime> {
        self.trace.time_of_day(stamp)
    }

    fn has_applied_offsets(&self) -> bool {
        self.trace.has_applied_offsets()
    }

    fn unused(&self, contents: &[Contents]) -> Vec<Unused> {
        self.trace.unused(contents)
    }

    fn warnings(&self, contents: &[Contents]) -> Vec<String> {
        self.trace.warnings(contents)
    }
}

impl Rewrite for Dealt {
    fn shape(&self) -> Shape {
        self.trace.shape()
    }

    fn copy(&self, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
        self.write(None, to, monitor).map(|_| ())
    }

    fn rewrite(
        &self,
        correction: &Correction,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        self.write(Some(correction), to, monitor)
    }

    /// Restores the original by this process alone.
    fn restore(
        &self,
        correction: &Correction,
        undo: &Undo,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<(), FormatError> {
        self.trace.restore(correction, undo, to, monitor)
    }

    fn copy_at(&self, to: &Path) -> PathBuf {
        self.trace.copy_at(to)
    }

    fn correction_of(&self, path: &Path) -> PathBuf {
        self.trace.correction_of(path)
    }

    fn includes_correction(&self) -> bool {
        self.trace.includes_correction()
    }
}
