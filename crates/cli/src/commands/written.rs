//! The corrected trace, read again from where it was written.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use retime::causality::{Defect, EventNode, LogColumns};
use retime::format::{Contents, Difference, Rewrite, Scan, Trace, Undo};
use retime::pipeline::Method;
use retime::{Causality, Clocks, Correction, LocationIndex, Timestamp, TraceInfo, plural};

use super::fresh::{Fresh, matched};
use crate::analysed::{Analysed, analyse_together};
use crate::args::CorrectArgs;
use crate::error::CliError;
use crate::formats;
use crate::load;
use crate::origin::Origin;
use crate::progress::{Interrupts, Progress, Stage};
use crate::saved::{SavedBounds, SavedCorrection};
use crate::saved_delay::SavedDelay;
use crate::staging::Staging;

/// The contents that a copy has to have: all that is needed of the analysis, which takes more room, once
/// the copy is written.
pub(super) struct Expected {
    info: TraceInfo,
    clocks: Clocks,
    contents: Vec<Contents>,
    /// The nodes of each location.
    nodes: Vec<Range<usize>>,
    /// The numbers of their events, by node.
    events: Arc<Vec<u32>>,
    /// Their corrected times.
    times: Vec<Timestamp>,
    /// Which of them lie outside of the stretch of time that is corrected, if it is not all.
    outside: Option<Vec<bool>>,
}

impl Expected {
    /// The contents that a solution makes of a trace.
    pub(super) fn of(analysed: &Analysed, correction: &Correction, times: Vec<Timestamp>) -> Self {
        let analysis = &analysed.analysis;
        let nodes = analysis.causality().nodes();
        let all = (0..nodes.locations()).map(|it| nodes.of(it));
        let ranges: Vec<Range<usize>> = all.map(|it| it.range()).collect();
        let outside = analysis.options().window.map(|(from, to)| {
            let stamps = nodes.timestamps().iter();
            stamps.map(|it| *it < from || *it > to).collect()
        });
        Self {
            info: analysis.info().clone(),
            clocks: correction.clocks().clone(),
            contents: analysed.opened.contents.clone(),
            events: nodes.event_numbers(),
            nodes: ranges,
            times,
            outside,
        }
    }

    fn events(&self, location: usize) -> &[u32] {
        let range = self.nodes.get(location).cloned().unwrap_or_default();
        self.events.get(range).unwrap_or_default()
    }

    fn times(&self, location: usize) -> &[Timestamp] {
        let range = self.nodes.get(location).cloned().unwrap_or_default();
        self.times.get(range).unwrap_or_default()
    }

    /// True if an event lies outside of the stretch of time that is corrected, or took part
    /// in nothing as recorded.
    fn is_outside(&self, outside: &[bool], location: usize, event: u64) -> bool {
        let found = u32::try_from(event).ok();
        let found = found.and_then(|it| self.events(location).binary_search(&it).ok());
        let range = self.nodes.get(location).cloned().unwrap_or_default();
        let node = found.and_then(|it| outside.get(range.start + it));
        node.copied().unwrap_or(true)
    }

    /// The first location of a copy that is not as computed, and how.
    fn difference(
        &self,
        copy: &dyn Trace,
        scan: &Scan,
    ) -> Result<Option<(LocationIndex, Difference)>, CliError> {
        let mut missing = false;
        for (location, expected) in self.contents.iter().enumerate() {
            let found = scan.logs.get(location).zip(scan.contents.get(location));
            let found = found.map(|(log, contents)| (log.columns(), contents));
            let (events, times) = (self.events(location), self.times(location));
            let difference = match found {
                Some((log, contents)) if contents == expected => {
                    let of_log = times_in(log, events, times);
                    missing |= of_log == OfLog::SomeMissing;
                    match (log.defects.count(Defect::TimeRunsBackwards), of_log) {
                        (0, OfLog::Other) => Some(Difference::OtherTime),
                        (0, _) => None,
                        (backwards, _) => Some(Difference::Backwards(backwards)),
                    }
                }
                _ => Some(Difference::OtherEvents),
            };
            if let Some(difference) = difference {
                return Ok(Some((LocationIndex(location as u32), difference)));
            }
        }
        if missing {
            return self.by_number(copy);
        }
        Ok(None)
    }

    /// The first difference where events that took part as recorded take part in nothing now, so that
    /// no log has their times.
    fn by_number(&self, copy: &dyn Trace) -> Result<Option<(LocationIndex, Difference)>, CliError> {
        let locations = 0..self.nodes.len();
        let events: Vec<&[u32]> = locations.clone().map(|it| self.events(it)).collect();
        let timelines = copy.timelines(&events, &Interrupts)?;
        let mut all = locations.zip(&timelines);
        Ok(all.find_map(|(location, timeline)| {
            let contents = self.contents.get(location)?;
            let difference = timeline.difference(contents, self.times(location))?;
            Some((LocationIndex(location as u32), difference))
        }))
    }

    /// Lets go what is not needed once the events and times were compared: to join what was
    /// scanned takes as much room as all before.
    fn let_go(&mut self) {
        self.times = Vec::new();
        self.contents = Vec::new();
        if self.outside.is_none() {
            self.events = Arc::default();
            self.nodes = Vec::new();
        }
    }

    fn refuse(&self, found: Option<(LocationIndex, Difference)>) -> Result<(), CliError> {
        let Some((location, how)) = found else {
            return Ok(());
        };
        Err(other_than_computed(how, &self.info.describe(location)))
    }
}

/// The error that says how a copy is wrong at a location of this name.
pub(super) fn other_than_computed(how: Difference, name: &str) -> CliError {
    CliError::Verification(match how {
        Difference::OtherEvents => format!("other events at {name}"),
        Difference::Backwards(count) => {
            format!("{} out of order at {name}", plural(count, "event"))
        }
        Difference::OtherTime => format!("an event with another time than computed at {name}"),
    })
}

/// How the times of a log are those expected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfLog {
    AsExpected,
    /// It agrees as far as it has the events.
    SomeMissing,
    Other,
}

/// Compares the times of events with those of a log, which may have further ones.
fn times_in(log: &LogColumns, events: &[u32], times: &[Timestamp]) -> OfLog {
    if log.numbers == events {
        return if log.times == times {
            OfLog::AsExpected
        } else {
            OfLog::Other
        };
    }
    let mut found = OfLog::AsExpected;
    let mut own = log.numbers.iter().zip(&log.times).peekable();
    for (event, time) in events.iter().zip(times) {
        while own.next_if(|it| it.0 < event).is_some() {}
        match own.next_if(|it| it.0 == event) {
            None => found = OfLog::SomeMissing,
            Some((_, stamp)) if stamp == time => {}
            Some(_) => return OfLog::Other,
        }
    }
    found
}

/// Reads the written copy again, once for both: the same events, in order, those that took
/// part in happened-before at the given times; and what it says of itself.
pub(super) fn verify(
    args: &CorrectArgs,
    original: &dyn Rewrite,
    mut expected: Expected,
    copy: &Path,
) -> Result<Fresh, CliError> {
    let written = if let Some(written) = original.open_copy(copy, &Interrupts) {
        written?
    } else {
        let format = formats::of(&args.input.trace, args.format.asked())?;
        formats::open(
            copy,
            format,
            args.format.team.as_ref(),
            args.format.together,
        )?
    };
    let scan = {
        let progress = Progress::new(Stage::Verifying, written.bytes(), args.run.quiet);
        written.scan(&progress)?
    };
    expected.refuse(expected.difference(&*written, &scan)?)?;
    expected.let_go();
    let expected = &expected;
    let outside = expected.outside.as_deref().map(|outside| {
        move |causality: &Causality, node: EventNode| {
            let place = causality.nodes().place(node);
            expected.is_outside(outside, place.location.as_usize(), place.event)
        }
    });
    let clocks = &expected.clocks;
    matched(copy, &*written, scan, &args.model, clocks, outside)
}

/// [`verify`] by all processes of a team that has analysed the trace together; `None` where
/// this one has.
pub(super) fn verify_together(
    args: &CorrectArgs,
    analysed: &Analysed,
    expected: &Expected,
    copy: &Path,
) -> Result<Option<Fresh>, CliError> {
    let nodes = analysed.analysis.causality().nodes();
    let team = args.format.team.as_ref();
    let Some(team) = team.filter(|_| !nodes.whole().is_here()) else {
        return Ok(None);
    };
    let format = formats::of(&args.input.trace, args.format.asked())?;
    let opened = retime_parallel::open_in_parts(team, format, copy, &Interrupts)?;
    let Some(written) = opened else {
        return Ok(None);
    };
    let progress = Progress::new(Stage::Verifying, written.bytes(), args.run.quiet);
    let found = written.verify(&expected.contents, nodes, &expected.times, &progress)?;
    drop(progress);
    expected.refuse(found)?;
    let source = load::Source {
        path: copy,
        ..args.input.shared(&args.format, args.run.quiet)
    };
    let again = analyse_together(written, source, &args.model)?;
    Ok(Some(Fresh::of_analysed(&again)))
}

/// Writes the correction beside the copy.
pub(super) fn save(
    method: &Method,
    analysed: &Analysed,
    correction: &Correction,
    bounds: Option<SavedBounds>,
    undo: Undo,
    staging: &Staging,
) -> Result<(), CliError> {
    let gamma = method
        .gamma_max()
        .map_or(String::new(), |gamma| format!(", gamma {gamma}"));
    let rate = method
        .amortization()
        .map_or(String::new(), |rate| format!(", amortised at {rate}"));
    let name = format!("{method}{gamma}{rate}");
    let info = analysed.analysis.info();
    let origin = Origin::of_nodes(analysed.analysis.causality().nodes(), info);
    let saved = SavedCorrection::new(correction, info, origin, name, undo)?;
    let used = analysed.analysis.delay();
    let delay = SavedDelay::of(&used.delay, used.is_given(), info);
    let saved = saved.with_bounds(bounds).with_min_delay(Some(delay));
    let trace = analysed.opened.rewriting()?;
    staging.written(saved.write(&staging.correction(trace), trace.path()))
}
