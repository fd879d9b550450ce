//! Reading the profiles of a run, as any trace is read.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rayon::prelude::*;
use retime_model::format::{
    Contents, Document, EventRows, FileError, FormatError, OperationFacts, Reach, Rewrite, Scan,
    Timeline, Trace, Unused,
};
use retime_model::{Correction, LocationIndex, Monitor, Timestamp};

use crate::advice::{Share, advice, are_older};
use crate::early::EarlyInFile;
use crate::error::first_error;
use crate::extract::Times;
use crate::places::{left_out, warnings};
use crate::rewrite::new_times;
use crate::rows::Table;
use crate::run::Run;
use crate::scan::Matched;
use crate::task::Task;
use crate::{documents, early, facts, hosts, recordings, repeated, timelines};

/// The least nanoseconds that can only count from 1970 (then September 2001): a clock that counts
/// from the start of its machine would have to run for 31 years.
const LEAST_OF_DAY: u64 = 1_000_000_000_000_000_000;

impl Trace for Run {
    fn format(&self) -> &'static str {
        self.document.format()
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.files.bytes() + self.beside.bytes()
    }

    fn scan(&self, monitor: &dyn Monitor) -> Result<Scan, FormatError> {
        let read = self.read(monitor)?;
        let matched = Matched::of(&read.files, &read.files, &read.places);
        self.take_up(read, matched, monitor)
    }

    fn timelines(
        &self,
        events: &[&[u32]],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        let read = self.read(monitor)?;
        self.check_asked(read, events.len())?;
        if let Some(hands) = &self.hands {
            let tasks = (0..read.files.len()).map(|number| {
                let events = Self::of_file(read, number, events);
                Task::Timelines(events.iter().map(|&it| it.into()).collect())
            });
            let timelines: Vec<Vec<Timeline>> = hands.each(tasks, monitor)?;
            return Ok(timelines.into_iter().flatten().collect());
        }
        let files = self.files.paths().par_iter().zip(&read.files).enumerate();
        let timelines = files.map(|(number, (path, file))| {
            timelines::of_file(path, file, Self::of_file(read, number, events))
        });
        let timelines: Vec<Vec<Timeline>> = first_error(timelines)?;
        Ok(timelines.into_iter().flatten().collect())
    }

    fn rematch(
        &self,
        correction: &Correction,
        monitor: &dyn Monitor,
    ) -> Result<Option<Scan>, FormatError> {
        let read = self.read(monitor)?;
        self.check_fits(read, correction)?;
        let moved = if let Some(hands) = &self.hands {
            let files = 0..read.files.len();
            let tasks = files.map(|it| Task::Move(Self::part(read, correction, it)));
            let times: Vec<Times> = hands.each(tasks, monitor)?;
            let files = read.files.iter().zip(times);
            files.map(|(file, times)| times.of_file(file)).collect()
        } else {
            let files = self.files.paths().par_iter().zip(&read.files).enumerate();
            first_error(files.map(|(number, (path, file))| {
                let times = new_times(path, file, &Self::maps(read, correction, number))?;
                Ok::<_, FormatError>(file.at(times))
            }))?
        };
        let matched = Matched::of(&moved, &read.files, &read.places);
        let last = self.last_matched();
        let is_last = last.as_ref().is_some_and(|it| it.joins_as(&matched));
        drop(last);
        if is_last {
            return Ok(None);
        }
        self.take_up(read, matched, monitor).map(Some)
    }

    fn rows(&self, location: LocationIndex) -> Result<Box<dyn EventRows + '_>, FormatError> {
        if self.hands.is_some() {
            return self.alone()?.rows(location);
        }
        let read = self.read(&())?;
        let table = if let Some(table) = self.table.get() {
            table
        } else {
            let table = self.unless_changed(Table::read(self.document, self.files.paths()))?;
            self.table.get_or_init(|| table)
        };
        let (file, track) = read.places.track(location);
        let of_file = read.files.get(file).ok_or_else(|| {
            let what = format!("has no track number {}", location.0);
            FileError::inconsistent(&self.path, what)
        })?;
        Ok(Box::new(table.rows(file, of_file, track as usize)))
    }

    fn operations(&self, location: LocationIndex, events: &[u32]) -> Vec<OperationFacts> {
        if self.hands.is_some() {
            let alone = self.alone().ok().filter(|it| it.read(&()).is_ok());
            return alone.map_or_else(Vec::new, |it| it.operations(location, events));
        }
        let Some(read) = self.read.get() else {
            return Vec::new();
        };
        let (file, track) = read.places.track(location);
        let file = read.files.get(file);
        file.map_or_else(Vec::new, |file| facts::of_track(file, track, events))
    }

    fn documents(&self) -> Vec<Document> {
        self.read.get().map_or_else(Vec::new, |read| {
            documents::of(self, read, self.last_matched().as_ref())
        })
    }

    fn zero(&self) -> Timestamp {
        let given = self.origin.unwrap_or_default();
        Timestamp(self.read.get().map_or(given, |it| it.origin))
    }

    fn time_of_day(&self, stamp: Timestamp) -> Option<SystemTime> {
        let nanoseconds = stamp.0.checked_sub(self.zero().0)?;
        (nanoseconds >= LEAST_OF_DAY).then(|| UNIX_EPOCH + Duration::from_nanos(nanoseconds))
    }

    fn region(&self, id: u32) -> Option<Cow<'_, str>> {
        Some(self.table.get()?.region(id)?.into())
    }

    fn unused(&self, _contents: &[Contents]) -> Vec<Unused> {
        let Some(read) = self.read.get() else {
            return Vec::new();
        };
        let unmatched = self
            .last_matched()
            .as_ref()
            .map(|it| it.unmatched(&read.files, &read.places));
        let unused = unmatched
            .into_iter()
            .flatten()
            .map(|(kind, records)| Unused {
                kind,
                reach: Reach::Trace,
                is_ordered: true,
                records,
            });
        unused.collect()
    }

    fn warnings(&self, _contents: &[Contents]) -> Vec<String> {
        let mut all: Vec<String> = left_out(&self.others).into_iter().collect();
        all.extend(recordings::warning(&self.other_recordings));
        if let Some(read) = self.read.get() {
            all.extend(warnings(self.files.paths(), &read.files));
            let merged = self.files.paths().iter().zip(&read.files);
            all.extend(hosts::warning(
                merged.map(|(path, it)| (path.as_path(), it)),
            ));
            all.extend(read.named.warning());
            let of_files = self.files.paths().iter().zip(&read.files);
            let of_files = of_files.map(|(path, file)| (path.as_path(), file.repeated));
            all.extend(repeated::warning(of_files));
            let matched = self.last_matched();
            all.extend(
                matched
                    .as_ref()
                    .map(Matched::warnings)
                    .into_iter()
                    .flatten(),
            );
            // Where only hosts and their devices depend on each other, no call is missed.
            let with_calls = |it: &&Matched| it.is_empty() || it.joined() > 0;
            if let Some(matched) = matched.as_ref().filter(with_calls) {
                let kinds = matched.unmatched(&read.files, &read.places);
                let others = kinds.iter().flat_map(|it| &it.1).sum();
                let joined = matched.joined();
                let share = Share {
                    joined,
                    others,
                    are_grouped: !read.files.iter().any(are_older),
                };
                all.extend(advice(share, kinds.iter().map(|it| it.0)));
            }
            let files = read.files.iter().zip(&read.places.apart);
            let files = self.files.paths().iter().zip(files);
            all.extend(early::warnings(files.map(|(path, (file, apart))| {
                EarlyInFile {
                    path,
                    early: file.early(),
                    is_apart: !apart.is_empty(),
                }
            })));
        }
        all
    }

    fn rewriting(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}
