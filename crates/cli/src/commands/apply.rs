//! `retime apply`: a saved correction, for another trace of the same run.

use std::path::Path;

use retime::format::{Rewrite, Timeline, Trace};
use retime::{LocationIndex, Timestamp, TraceInfo, plural, printable_path};

use super::written::other_than_computed;
use crate::args::ApplyArgs;
use crate::clock_offsets::Offsets;
use crate::error::CliError;
use crate::formats;
use crate::load::{describe, with_threads};
use crate::origin::Origin;
use crate::progress::{Interrupts, Progress, Stage, check_interrupt};
use crate::report::{tell, warned};
use crate::saved::{SavedCorrection, refuse_second, take_along};
use crate::staging::{Inputs, Staging};

/// Runs the command.
pub(crate) fn run(args: &ApplyArgs) -> Result<u8, CliError> {
    let outcome = applied(args)?;
    if !args.run.quiet {
        tell(&outcome, &args.output.output)?;
    }
    Ok(0)
}

/// Applies the correction, on the threads asked for; returns what was done, in words.
pub(crate) fn applied(args: &ApplyArgs) -> Result<String, CliError> {
    with_threads(args.run.threads, || apply(args))
}

/// How many events each location has, from when to when, and what they are.
fn timelines(
    trace: &dyn Trace,
    info: &TraceInfo,
    stage: Stage,
    quiet: bool,
) -> Result<Vec<Timeline>, CliError> {
    let progress = Progress::new(stage, trace.bytes(), quiet);
    let none: Vec<&[u32]> = vec![&[]; info.locations.len()];
    Ok(trace.timelines(&none, &progress)?)
}

/// Reads what was written again: the same events, none before the one before it.
fn verify(
    args: &ApplyArgs,
    trace: &dyn Rewrite,
    info: &TraceInfo,
    recorded: &[Timeline],
    copy: &Path,
) -> Result<(), CliError> {
    let written = if let Some(written) = trace.open_copy(copy, &Interrupts) {
        written?
    } else {
        let format = formats::of(args.trace(), args.format.asked())?;
        formats::open(
            copy,
            format,
            args.format.team.as_ref(),
            args.format.together,
        )?
    };
    let again = timelines(&*written, info, Stage::Verifying, args.run.quiet)?;
    let both = (0..).map(LocationIndex).zip(recorded.iter().zip(&again));
    for (location, (recorded, again)) in both {
        // Of no event the time is asked for.
        if let Some(how) = again.difference(&recorded.contents, &[]) {
            return Err(other_than_computed(how, &info.describe(location)));
        }
    }
    Ok(())
}

/// The file that was given.
enum GivenFile {
    Correction(SavedCorrection),
    Offsets(Offsets),
}

impl GivenFile {
    fn read(args: &ApplyArgs) -> Result<Self, CliError> {
        Ok(match &args.offsets {
            Some(path) => Self::Offsets(Offsets::read(path)?),
            None => Self::Correction(SavedCorrection::read_given(args.given())?),
        })
    }

    /// The correction; of offsets of several traces, that of the one that it can be.
    fn saved(
        self,
        path: &Path,
        info: &TraceInfo,
        found: &Origin,
        zero: Timestamp,
    ) -> Result<SavedCorrection, CliError> {
        let mut traces = match self {
            Self::Correction(saved) => return Ok(saved),
            Self::Offsets(offsets) => offsets.traces,
        };
        if traces.len() > 1 {
            let differs = |it: &Origin| it.differs(found, info, zero).is_some();
            traces.retain(|it| !it.trace.as_ref().is_some_and(differs));
        }
        match (traces.pop(), traces.len()) {
            (Some(only), 0) => SavedCorrection::of_offsets(path, only),
            (None, _) => Err(CliError::input(
                path,
                "has the offsets of other traces alone",
            )),
            (_, others) => {
                let message = format!(
                    "has the offsets of {} that this one can be; leave only its own in the file",
                    plural(others as u64 + 1, "trace")
                );
                Err(CliError::input(path, message))
            }
        }
    }
}

fn apply(args: &ApplyArgs) -> Result<String, CliError> {
    let format = formats::of_writable(args.trace(), args.format.asked())?;
    let staging = Staging::for_trace(args.output.target(), format, Inputs::alone(args.trace()))?;
    let given = GivenFile::read(args)?;
    let opened = formats::open(
        args.trace(),
        format,
        args.format.team.as_ref(),
        args.format.together,
    )?;
    let trace = formats::rewriting(&*opened)?;
    let info = describe(trace, args.run.quiet)?;
    let recorded = timelines(trace, &info, Stage::Reading, args.run.quiet)?;
    let origin = Origin::of_timelines(&recorded, &info);
    let path = args.given();
    let saved = given.saved(path, &info, &origin, trace.zero())?;
    if !args.output.force {
        saved.refuse_stranger(path, &info, &origin, trace.zero())?;
    }
    let correction = saved.correction(path, &info)?;
    let progress = Progress::new(Stage::Writing, trace.bytes(), args.run.quiet);
    let to = staging.place(trace.shape());
    let output = printable_path(&args.output.output);
    if correction.is_identity() {
        staging.written(trace.copy(&to, &progress))?;
        staging.written(take_along(trace, &staging))?;
        let warnings = warned(&progress.end());
        check_interrupt()?;
        staging.commit(trace)?;
        return Ok(format!(
            "{warnings}The correction changes no time: {output} is a plain copy.\n"
        ));
    }
    refuse_second(trace)?;
    staging.refuse_long_name(trace)?;
    let undo = staging.written(trace.rewrite(&correction, &to, &progress))?;
    let warnings = warned(&progress.end());
    let method = format!("applied from {}", printable_path(path));
    let applied = SavedCorrection::new(&correction, &info, origin, method, undo)?;
    let applied = applied.with_min_delay(saved.min_delay().cloned());
    staging.written(applied.write(&staging.correction(trace), trace.path()))?;
    let copy = trace.copy_at(&to);
    staging.written(verify(args, trace, &info, &recorded, &copy))?;
    check_interrupt()?;
    staging.commit(trace)?;
    let clocks = correction.clocks();
    let changed = clocks
        .iter()
        .filter(|&clock| !correction.map(clock).is_identity());
    let locations: usize = changed.map(|clock| clocks.locations(clock).len()).sum();
    let untouched = info.locations.len() - locations;
    let kept = if untouched > 0 {
        format!(
            "; the times of {} are kept, as the correction says nothing else of them",
            plural(untouched as u64, "location")
        )
    } else {
        String::new()
    };
    Ok(format!(
        "{warnings}Wrote {output}: corrected {}{kept}. Read again it has the same events, in \
         order; retime check says whether effects follow their causes.\n",
        plural(locations as u64, "location")
    ))
}
