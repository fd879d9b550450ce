//! An archive whose locations are read and written in parts.
//!
//! Each location has its files. What is concluded of several of them (which streams a
//! host has launched work on, what threads hand over) concerns one process and those it
//! has made, so that it is the same whatever else is in the part. Calls are followed in
//! a second pass if any location of the whole trace gives a reason to.

use std::path::Path;

use rayon::prelude::*;
use retime_model::format::{
    Contents, FormatError, InParts, PartLocation, PartScan, PartUndo, Timeline, Undo,
};
use retime_model::{Correction, LocationIndex, Monitor, TraceInfo};
use retime_otf2::EventCounts;

use crate::archive::Archive;
use crate::concluded::Concluded;
use crate::error::{TraceError, failed};
use crate::scan::{self, Accelerators, Calls, LookedUp, Scanned};

impl Archive {
    /// Reads the events of some locations; follows calls if it is to be done `thoroughly`.
    pub(crate) fn scan_some(
        &self,
        part: &[LocationIndex],
        accelerators: &Accelerators,
        thoroughly: bool,
        monitor: &dyn Monitor,
    ) -> Result<PartScan, TraceError> {
        let (definitions, info) = (self.otf2.definitions(), self.info());
        let regions = scan::Regions::find(definitions, info);
        let waiting_calls = scan::WaitingCalls::find(definitions);
        let teams = scan::Teams::find(definitions, info);
        let calls = thoroughly.then(|| Calls::find(definitions, info));
        let silent = scan::SilentCalls::find(definitions);
        let looked_up = LookedUp {
            regions: &regions,
            waiting_calls: &waiting_calls,
            teams: &teams,
            accelerators,
            silent: &silent,
            calls: calls.as_ref(),
        };
        // Not into a `Result` at once: which of several errors that gives depends on threads.
        let scanned: Vec<_> = part
            .par_iter()
            .map(|&it| scan::read(&self.otf2, &self.description, looked_up, it, monitor))
            .collect();
        let scanned = scanned.into_iter().collect::<Result<Vec<_>, TraceError>>();
        let scanned = self.otf2.archive().unless_changed(scanned)?;
        let wants_more = !thoroughly && scanned.iter().any(|it| it.wants_calls);
        let scanned = scan::name_handovers(scanned, info, &self.otf2)?;
        let locations = scanned.into_iter().map(|it| PartLocation {
            contents: contents(&it.counts),
            concluded: concluded(accelerators.taken_up(it.log.location()), &it),
            log: it.log,
            causes: it.epochs.posted,
            effects: it.epochs.fetched,
        });
        Ok(PartScan {
            locations: locations.collect(),
            wants_more,
        })
    }
}

impl InParts for Archive {
    fn info(&self) -> &TraceInfo {
        &self.description.info
    }

    fn sizes(&self) -> Vec<u64> {
        self.otf2.event_bytes_by_location().to_vec()
    }

    fn scan_part(
        &self,
        part: &[LocationIndex],
        thoroughly: bool,
        monitor: &dyn Monitor,
    ) -> Result<PartScan, FormatError> {
        let accelerators = Accelerators::find(&self.otf2, self.info(), part, monitor)?;
        Ok(self.scan_some(part, &accelerators, thoroughly, monitor)?)
    }

    fn take_up(&self, concluded: &[Vec<u64>]) {
        // A second scan concludes the same.
        self.concluded
            .get_or_init(|| concluded.iter().map(|it| Concluded::of(it)).collect());
    }

    fn timelines_of(
        &self,
        events: &[(LocationIndex, &[u32])],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Timeline>, FormatError> {
        let timeline = |&(location, events): &(LocationIndex, &[u32])| {
            let found = self.otf2.times(location, events, monitor);
            found.map_err(failed).map(|it| Timeline {
                times: it.times,
                contents: contents(&it.counts),
                events: it.counts.total(),
                range: it.first.zip(it.range.map(|(_, last)| last)),
                backwards: it.backwards,
            })
        };
        // Not into a `Result` at once: which of several errors that gives depends on threads.
        let found: Vec<_> = events.par_iter().map(timeline).collect();
        found.into_iter().collect()
    }

    fn write_part(
        &self,
        correction: Option<&Correction>,
        part: &[LocationIndex],
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<PartUndo, FormatError> {
        let written = self.otf2.rewrite_part(correction, part, to, monitor);
        let json = serde_json::to_string(&written.map_err(failed)?);
        Ok(PartUndo(json.map_err(FormatError::failed)?))
    }

    fn write_rest(
        &self,
        correction: Option<&Correction>,
        parts: Vec<PartUndo>,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Undo, FormatError> {
        let parts = parts.iter().map(|it| serde_json::from_str(&it.0));
        let parts = parts.collect::<Result<_, _>>();
        let parts = parts.map_err(FormatError::failed)?;
        let rewritten = self.otf2.rewrite_rest(correction, parts, to, monitor);
        let json = serde_json::to_string(&rewritten.map_err(failed)?.undo);
        Ok(Undo(json.map_err(FormatError::failed)?))
    }
}

/// Packs what was concluded as plain numbers, for [`InParts::take_up`].
fn concluded(launched: u64, scanned: &Scanned) -> Vec<u64> {
    let mut numbers = vec![launched, scanned.epochs.looked_at];
    numbers.extend(scanned.unrecorded.numbers());
    numbers.extend(scanned.twice.numbers());
    numbers.extend(scanned.cycles.numbers());
    numbers
}

fn contents(counts: &EventCounts) -> Contents {
    Contents {
        kinds: counts
            .iter()
            .map(|(code, count)| (code.into(), count))
            .collect(),
        rest: vec![counts.attribute_lists(), counts.bytes()],
    }
}
