//! `retime explain`: what became of an event of communication, and why.
//!
//! ```text
//! analyse -> contradictions? -> solve -> read again: what each event is recorded as
//!         -> the dependencies of the event, or why it has none
//! ```

pub(crate) mod args;
pub(crate) mod event;
mod model;
mod text;

use retime::causality::Place;
use retime::{LocationIndex, plural};

pub(crate) use self::args::EventName;
use self::args::{ALL, ExplainArgs};
use self::event::{Seen, explained};
use self::model::{SCHEMA, UnusedKindPart, UnusedList, WithoutUsePart};
use super::asked::{analyse, is_left_alone};
use super::found::{Found, as_corrected, as_recorded};
use crate::analysed::Analysed;
use crate::error::CliError;
use crate::explained::{records, words};
use crate::load::with_threads;
use crate::report::{self, build};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ExplainArgs) -> Result<u8, CliError> {
    args.refuse_strangers()?;
    report::target::check(&args.solving.run, None)?;
    with_threads(args.solving.run.threads, || explain(args))
}

fn explain(args: &ExplainArgs) -> Result<u8, CliError> {
    let (mut analysed, method) = analyse(args.into())?;
    let Some(event) = args.event else {
        let kind = args.unused.as_deref().filter(|it| *it != ALL);
        let list = unused(&analysed, kind)?;
        report::print_as(&list, &args.solving.run, || text::of_unused(&list))?;
        return Ok(0);
    };
    // A name that is wrong is known before any work.
    let place = place_of(&analysed, event)?;
    let Found { bounds, solved, .. } = if is_left_alone(args.into(), &method, &analysed) {
        as_recorded(args.into(), &analysed)?
    } else {
        as_corrected(args.into(), &method, &mut analysed)?
    };
    let solution = solved.as_ref().map(|it| &it.0);
    let records = records(&analysed, solution, args.solving.run.quiet)?;
    let seen = Seen::of(&analysed, &records, solution, bounds.as_ref());
    let explanation = explained(&seen, place)?;
    report::print_as(&explanation, &args.solving.run, || text::of(&explanation))?;
    Ok(0)
}

/// The place of an event, if there is one of that name.
pub(crate) fn place_of(analysed: &Analysed, name: EventName) -> Result<Place, CliError> {
    let (info, nodes) = (
        analysed.analysis.info(),
        analysed.analysis.causality().nodes(),
    );
    let found = info.locations.iter().position(|it| it.id == name.location);
    let Some(index) = found else {
        let message = format!(
            "no location has the id {}; retime order lists those of all events",
            name.location
        );
        return Err(CliError::input(&analysed.opened.path, message));
    };
    let events = nodes.event_count(index);
    if name.event >= events {
        let message = format!(
            "location {} has {}, numbered from 0; there is no event {}",
            name.location,
            plural(events, "event"),
            name.event
        );
        return Err(CliError::input(&analysed.opened.path, message));
    }
    Ok(Place {
        location: LocationIndex(index as u32),
        event: name.event,
    })
}

/// Events of communication that no dependency rests on; of one kind, if that is given.
fn unused(analysed: &Analysed, asked: Option<&str>) -> Result<UnusedList, CliError> {
    let info = analysed.analysis.info();
    let all = analysed.analysis.causality().defects().iter();
    let kinds = all.map(|(kind, found)| UnusedKindPart {
        kind: words::name(kind),
        why: kind.describe(found.count),
        count: found.count,
        places: found
            .places
            .iter()
            .map(|&it| build::place_part(info, it))
            .collect(),
    });
    let mut kinds: Vec<UnusedKindPart> = kinds.collect();
    let mut calls_without_dependency = analysed.analysis.causality().usage().calls.unused();
    let records = analysed.opened.unused().into_iter();
    let mut without_use: Vec<WithoutUsePart> = records
        .map(|it| WithoutUsePart {
            kind: it.kind,
            count: it.records.iter().sum(),
        })
        .filter(|it| it.count > 0)
        .collect();
    if let Some(asked) = asked {
        if !words::is_name(asked) {
            let message = format!(
                "--unused: there is no kind \"{asked}\"; the kinds are {}",
                words::names().join(", ")
            );
            return Err(CliError::Usage(message));
        }
        kinds.retain(|it| it.kind == asked);
        without_use.clear();
        calls_without_dependency = 0;
    }
    Ok(UnusedList {
        schema: SCHEMA,
        kinds,
        without_use,
        calls_without_dependency,
    })
}
