//! `retime correct --merged`: one file with all events in one order.
//!
//! OTF2 keeps the events of each location in a file of its own, so the merged
//! output is in the line format of `retime stream`. It is made of the same
//! correction as a corrected archive, read again, and checked:
//!
//! ```text
//! analyse -> clock -> amortise -> one staged file -> read it again, check -> rename
//! ```

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use retime::causality::{EventNode, Ids, RetimingError};
use retime::format::{Shape, Trace};
use retime::{Access, Causality, Correction, Timestamp};
use serde::Deserialize;

use super::asked::{analyse, is_left_alone};
use super::done::Done;
use super::fresh::{Fresh, read};
use super::offsets_out;
use super::outcome::{Short, outcome};
use super::refused::refused;
use super::solved::{describe, solve};
use crate::analysed::Analysed;
use crate::args::CorrectArgs;
use crate::collectives;
use crate::drawn;
use crate::error::CliError;
use crate::progress::{Interrupts, check_interrupt};
use crate::report::{examined, model};
use crate::serial::line::{Lines, write_header};
use crate::serial::{Listed, each_event};
use crate::staging::Staging;

/// Bytes of input and output that are buffered.
const BUFFER: usize = 1 << 16;

/// Corrects a trace into one file.
pub(super) fn correct(args: &CorrectArgs) -> Result<Done, CliError> {
    let staging = Staging::for_events(args.output.target(), args.input.inputs())?;
    let (mut analysed, method) = analyse(args.into())?;
    let (found, bounds, mut report) = if is_left_alone(args.into(), &method, &analysed) {
        let mut report = analysed.report(&args.model);
        let bounds = analysed.bound(&mut report, &args.bounds, &args.run, None)?;
        (None, bounds, report)
    } else {
        let solved = solve(args.into(), &method, &mut analysed)
            .map_err(|error| refused(args, &analysed, error))?;
        let found = Some((solved.solution, solved.after));
        (found, solved.bounds, solved.report)
    };
    let solution = found.as_ref().map(|it| &it.0);
    let drawn = drawn::draw(&analysed, solution, bounds.as_ref(), &args.run)?;
    collectives::write(&analysed, solution, bounds.as_ref(), &args.tables)?;
    offsets_out::write(&analysed, solution, bounds.as_ref(), &args.offsets)?;
    let analysis = &analysed.analysis;
    let unchanged = Correction::new(analysis.clocks().clone(), Vec::new());
    let correction = found.as_ref().map_or(&unchanged, |it| &it.0.correction);
    check_interrupt()?;

    let stage = Instant::now();
    let retimed = analysis.causality().retimed(correction, &Interrupts);
    let retimed = retimed.map_err(|error| match error {
        RetimingError::TooFar => CliError::input(&analysed.opened.path, error.to_string()),
        RetimingError::Cancelled(_) => CliError::Interrupted,
    })?;
    staging.written(write(&staging.file(), &analysed, &retimed, correction))?;
    check_interrupt()?;
    report.timing.writing_seconds = Some(stage.elapsed().as_secs_f64());

    let stage = Instant::now();
    staging.written(verify(&staging.file(), &analysed, &retimed))?;
    let read = fresh(args, &analysed, &retimed, &staging.file(), &report.examined);
    let fresh = staging.written(read)?;
    report.accuracy = analysed.accuracy_by(&method, retimed.nodes().timestamps())?;
    if let Some((solution, after)) = &found {
        describe(
            &mut report,
            args.into(),
            &method,
            &analysed,
            solution,
            after,
        )?;
    }
    check_interrupt()?;
    staging.commit_file()?;
    report.timing.verification_seconds = Some(stage.elapsed().as_secs_f64());
    report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();

    let after = found.as_ref().map_or(analysis.recorded(), |it| &it.1);
    let short = Short {
        count: after.short(),
        is_given: report.parameters.min_delay.is_condition,
    };
    let (outcome, exit) = outcome(args, short, &fresh);
    Ok(Done {
        report,
        outcome,
        exit,
        drawn,
    })
}

/// Judges the list of events from its own lines. Where lines cannot say that something was not
/// looked at, the trace still tells.
fn fresh(
    args: &CorrectArgs,
    analysed: &Analysed,
    retimed: &Causality,
    list: &Path,
    recorded: &model::ExaminedPart,
) -> Result<Fresh, CliError> {
    let analysis = &analysed.analysis;
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let mut fresh = if analysis.options().window.is_some() {
        // In lines nothing says which dependencies are of the stretch that is corrected.
        let examined = analysis.examined(&analysed.opened.unused());
        Fresh::of(retimed, info, clocks, examined)?
    } else {
        read(list, &args.model, clocks, args.run.quiet)?
    };
    if examined::exit_code(&fresh.examined) == 0 {
        fresh.examined = recorded.clone();
    }
    fresh.examined.stretch.clone_from(&recorded.stretch);
    Ok(fresh)
}

fn write(
    path: &Path,
    analysed: &Analysed,
    causality: &Causality,
    correction: &Correction,
) -> Result<(), CliError> {
    let failed = |error| CliError::io(path, error);
    let file = File::create_new(path).map_err(failed)?;
    let access = access(&*analysed.opened.trace)?;
    access.give(&file).map_err(failed)?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let analysis = &analysed.analysis;
    let listed = Listed {
        trace: &*analysed.opened.trace,
        info: analysis.info(),
        causality,
    };
    write_header(&mut out, analysis.info(), Some(analysis.clocks())).map_err(failed)?;
    let lines = Lines { listed, raw: true };
    each_event(listed, Some(correction), |row| {
        lines.write(&mut out, row).map_err(failed).map(|()| true)
    })?;
    out.flush().map_err(failed)
}

/// Who may read a list of its events: whom the trace lets read them.
pub(super) fn access(trace: &dyn Trace) -> Result<Access, CliError> {
    let of = |path: &Path| {
        let access = fs::metadata(path).and_then(|found| Access::of(&found, path));
        access.map_err(|error| CliError::io(path, error))
    };
    let file = of(trace.path())?;
    Ok(match trace.path().parent() {
        _ if trace
            .rewriting()
            .is_some_and(|it| it.shape() == Shape::File) =>
        {
            file
        }
        Some(parent) if !parent.as_os_str().is_empty() => file.outside(&of(parent)?),
        _ => file.outside(&of(Path::new("."))?),
    })
}

/// The fields of a line by which it is checked.
#[derive(Deserialize)]
struct Written {
    location: u64,
    event: u64,
    time: u64,
}

/// Reads the file again: all events, those of a location as recorded, in order of
/// time, and those that take part in happened-before at theirs.
fn verify(path: &Path, analysed: &Analysed, causality: &Causality) -> Result<(), CliError> {
    let nodes = causality.nodes();
    let info = analysed.analysis.info();
    let ids = info.locations.iter().map(|it| it.id);
    let index: std::collections::HashMap<u64, usize> = ids.zip(0..).collect();
    let wrong = |what: &str| CliError::Verification(format!("{what} in the list of events"));
    let mut next: Vec<(u64, Ids<EventNode>)> =
        (0..nodes.locations()).map(|it| (0, nodes.of(it))).collect();
    let mut latest = 0;
    let failed = |error: io::Error| CliError::io(path, error);
    let file = BufReader::with_capacity(BUFFER, File::open(path).map_err(failed)?);
    let mut lines = file.lines();
    // The first is the header.
    lines.next().transpose().map_err(failed)?;
    for line in lines {
        let line = line.map_err(failed)?;
        let event: Written = serde_json::from_str(&line).map_err(|_| wrong("no event"))?;
        let location = index.get(&event.location).copied();
        let location = location.ok_or_else(|| wrong("another location"))?;
        let (number, ahead) = &mut next[location];
        if event.event != *number || event.time < latest {
            return Err(wrong("an event out of order"));
        }
        (*number, latest) = (*number + 1, event.time);
        let node = ahead.first();
        if let Some(node) = node.filter(|&it| nodes.event(it) == event.event) {
            if nodes.timestamp(node) != Timestamp(event.time) {
                return Err(wrong("an event with another time than computed"));
            }
            ahead.next();
        }
    }
    let complete = |location: usize| next[location].0 == nodes.event_count(location);
    if !(0..nodes.locations()).all(complete) {
        return Err(wrong("an event missing"));
    }
    Ok(())
}
