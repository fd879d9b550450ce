//! A trace that was analysed, and maybe corrected, in memory: what `check` and `correct`
//! know of it, without anything being written.

use std::sync::OnceLock;

use retime::causality::{Place, Records};
use retime::format::Trace;
use retime::pipeline::{Analysis, Bounds, Solution};
use retime_picture::Picture;

use super::answer::hush;
use super::json::json;
use super::{Call, Failure, Summary, parsed};
use crate::analysed::Analysed;
use crate::args::{CheckArgs, CorrectArgs};
use crate::call;
use crate::collectives::{CollectiveFacts, CollectiveRows};
use crate::command_line::Command;
use crate::commands::asked::{Asked, analyse, is_left_alone};
use crate::commands::check;
use crate::commands::explain::event::{Seen, explained};
use crate::commands::explain::{EventName, place_of};
use crate::commands::found::{Found, as_corrected, as_recorded};
use crate::drawn;
use crate::error::CliError;
use crate::explained::{records, words};
use crate::load::{Source, with_threads};
use crate::progress::{Progress, Stage};
use crate::report::clock_names;

/// An analysed trace.
pub struct Study {
    analysed: Analysed,
    found: Found,
    /// Read again when they are asked for first.
    records: OnceLock<Records>,
}

/// Events of communication that no dependency rests on for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedKind {
    /// The name of the reason, as `retime explain --unused` takes it.
    pub name: String,
    /// The reason in words: a thing that the recording lacks or contradicts.
    pub why: String,
    /// The events, by location and number.
    pub places: Vec<Place>,
}

impl Study {
    fn new(analysed: Analysed, found: Found) -> Self {
        Self {
            analysed,
            found,
            records: OnceLock::new(),
        }
    }

    /// Analyses the trace that a call names: given the words of `check`, as recorded; given those
    /// of `correct`, whose output is not written, as corrected.
    pub fn of(call: &Call) -> Result<Self, Failure> {
        let command = parsed(call)?;
        if command.max_memory().is_some() {
            return Err(Failure::option(
                "--max-memory limits a whole process: use the command retime",
            ));
        }
        let studied = |work: &(dyn Fn() -> Result<Self, CliError> + Sync), threads| {
            let done = call::within(call.clone(), || with_threads(threads, work));
            done.map_err(|error| Failure::of(&error, &[]))
        };
        match command {
            Command::Check(mut args) => {
                hush(&mut args.run)?;
                studied(&|| recorded(&args), args.run.threads)
            }
            Command::Correct(mut args) => {
                hush(&mut args.run)?;
                let files = [
                    &args.run.json,
                    &args.run.html,
                    &args.tables.collectives,
                    &args.offsets.offsets_out,
                ];
                if args.merged || files.iter().any(|it| it.is_some()) {
                    return Err(Failure::option(
                        "--merged, --json, --html, --collectives and --offsets-out write files, and nothing \
                         is written here",
                    ));
                }
                studied(&|| corrected(&args), args.run.threads)
            }
            _ => Err(Failure::option("give the words of check or correct")),
        }
    }

    /// The trace.
    pub fn trace(&self) -> &dyn Trace {
        &*self.analysed.opened.trace
    }

    /// The analysis of the trace: its causality, clocks and check.
    pub fn analysis(&self) -> &Analysis {
        &self.analysed.analysis
    }

    /// The correction; none as recorded, and of a trace without contradictions.
    pub fn solution(&self) -> Option<&Solution> {
        self.found.solved.as_ref().map(|it| &it.0)
    }

    /// How far times can be from the truth, if that was asked for and is known.
    pub fn bounds(&self) -> Option<&Bounds> {
        self.found.bounds.as_ref()
    }

    /// The facts that the files state about its collective operations.
    pub fn collective_facts(&self) -> CollectiveFacts {
        CollectiveFacts::of(self.trace(), self.analysis())
    }

    /// The participants of its collective operations.
    pub fn collectives<'a>(&'a self, facts: &'a CollectiveFacts) -> CollectiveRows<'a> {
        CollectiveRows::of(
            self.trace(),
            facts,
            self.analysis(),
            self.solution(),
            self.bounds(),
        )
    }

    /// The report, as `--json` writes it.
    pub fn report(&self) -> Result<String, Failure> {
        json(&self.found.report.judged()).map_err(|error| Failure::of(&error, &[]))
    }

    /// The figures of the report.
    pub fn summary(&self) -> Summary {
        Summary::from(&self.found.report)
    }

    /// The name of each clock, as the report calls it.
    pub fn clock_names(&self) -> Vec<String> {
        let analysis = self.analysis();
        let names = clock_names::names(analysis.info(), analysis.clocks());
        let name = |(clock, name): (usize, Option<String>)| {
            name.unwrap_or_else(|| format!("clock {clock}"))
        };
        names.into_iter().enumerate().map(name).collect()
    }

    /// The fate of an event, by the id of its location and its number there, as `retime explain
    /// --json` writes it.
    pub fn explain(&self, call: Call, location: u64, event: u64) -> Result<String, Failure> {
        let name = EventName { location, event };
        let explain = || {
            let place = place_of(&self.analysed, name)?;
            let seen = Seen::of(
                &self.analysed,
                self.records()?,
                self.solution(),
                self.bounds(),
            );
            json(&explained(&seen, place)?)
        };
        let explained = call::within(call, || with_threads(None, explain));
        explained.map_err(|error| Failure::of(&error, &[]))
    }

    /// The events of communication that no dependency rests on, since the recording lacks or
    /// contradicts something.
    pub fn unused(&self, call: Call) -> Result<Vec<UnusedKind>, Failure> {
        let list = || {
            let defects = self.analysis().causality().defects().iter();
            let kinds = defects.map(|(kind, found)| UnusedKind {
                name: words::name(kind),
                why: words::defect(kind).why,
                places: found.places.clone(),
            });
            Ok(kinds.collect())
        };
        let listed = call::within(call, || with_threads(None, list));
        listed.map_err(|error| Failure::of(&error, &[]))
    }

    fn records(&self) -> Result<&Records, CliError> {
        if let Some(known) = self.records.get() {
            return Ok(known);
        }
        let found = records(&self.analysed, self.solution(), true)?;
        // Of two that ask at a time, one is kept.
        Ok(self.records.get_or_init(|| found))
    }

    /// Draws the trace as JSON: a [`Picture`]. Reads all events once.
    pub fn picture(&self, call: Call) -> Result<String, Failure> {
        let draw = || {
            let subject = drawn::subject(&self.analysed, self.solution(), self.bounds());
            let progress = Progress::new(Stage::Drawing, subject.trace.bytes(), true);
            json(&Picture::of(&subject, &progress)?)
        };
        let drawn = call::within(call, || with_threads(None, draw));
        drawn.map_err(|error| Failure::of(&error, &[]))
    }
}

fn recorded(args: &CheckArgs) -> Result<Study, CliError> {
    args.bounds.refuse_strangers(false)?;
    let source = Source {
        keep_all_places: true,
        ..args.input.shared(&args.format, args.run.quiet)
    };
    let (analysed, found) = check::found(args, source)?;
    Ok(Study::new(analysed, found))
}

fn corrected(args: &CorrectArgs) -> Result<Study, CliError> {
    args.method.refuse_strangers(&args.bounds)?;
    let mut asked = Asked::from(args);
    asked.source.keep_all_places = true;
    let (mut analysed, method) = analyse(asked)?;
    let mut found = if is_left_alone(asked, &method, &analysed) {
        as_recorded(asked, &analysed)?
    } else {
        as_corrected(asked, &method, &mut analysed)?
    };
    found.report.timing.total_seconds = analysed.start.elapsed().as_secs_f64();
    Ok(Study::new(analysed, found))
}
