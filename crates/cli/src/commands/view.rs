//! `retime view`: a trace in the browser, recorded and corrected.
//!
//! ```text
//! analyse -> serve a first page: recorded times, without calls
//!         -> contradictions? -> solve -> draw, keep all calls in temporary files
//!         -> serve the page; of each stretch that it asks for, what there is to see
//! ```
//!
//! Most of the time goes into the lines after the first. While they run, the first page is served
//! by a thread of its own, from a copy of the analysis, since a method may join other
//! events. It says what it lacks, and asks for the other page once that is there.

mod answer;
mod asked;
mod browser;
mod connections;
mod request;
mod server;
mod timed;

use std::cell::OnceCell;
use std::io::{self, Write};
use std::sync::Arc;

use clap::Args;
use retime::causality::Records;
use retime::pipeline::Method;
use retime_picture::{FirstLook, Live, Picture, Subject};

use super::asked::{Asked, analyse, is_left_alone};
use super::explain::event::Seen;
use super::explain::{self, EventName};
use super::found::{Found, as_corrected, as_recorded};
use crate::analysed::Analysed;
use crate::args::{SolvingArgs, TraceArgs};
use crate::drawn::{self, PageUse, sketch};
use crate::error::CliError;
use crate::explained::records;
use crate::load::{Source, with_threads};
use crate::progress::{Interrupts, Progress, Stage, check_interrupt};
use crate::report;
use crate::report::model::Report;
use crate::temporary;
use asked::{PageNumber, Question};
use server::{Server, Serving};

#[derive(Debug, Args)]
#[command(
    after_help = "The page is served on this machine only, to whoever knows the address that is \
    printed. On another machine: ssh -L PORT:127.0.0.1:PORT. Exit codes: 2 usage, input or system \
    error; 130 interrupted, as Ctrl-C ends it."
)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) input: TraceArgs,
    /// The port to listen on; any that is free if not given
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) port: u16,
    /// Open the page in the browser: that which $BROWSER names, or the one of the desktop
    #[arg(long)]
    pub(crate) open: bool,
    /// Show what leaves more dependencies reversed than the recording has, or cannot be
    /// right
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) solving: SolvingArgs,
}

impl<'a> From<&'a ViewArgs> for Asked<'a> {
    fn from(args: &'a ViewArgs) -> Self {
        let solving = &args.solving;
        let source = Source {
            keep_all_places: true,
            ..args.input.source(solving.format.asked(), solving.run.quiet)
        };
        Self::of(source, solving, args.force)
    }
}

/// Runs the command until it is interrupted.
pub(crate) fn run(args: &ViewArgs) -> Result<u8, CliError> {
    args.solving.refuse_strangers()?;
    report::target::check(&args.solving.run, None)?;
    // First of all, so that a port that is taken is known before any work.
    let server = Server::listen(args.port)?;
    with_threads(args.solving.run.threads, || view(args, &server))
}

fn view(args: &ViewArgs, server: &Server) -> Result<u8, CliError> {
    let (mut analysed, method) = analyse(args.into())?;
    let is_left_alone = is_left_alone(args.into(), &method, &analysed);
    let (trace, analysis) = (
        Arc::clone(&analysed.opened.trace),
        analysed.analysis.clone(),
    );
    let recorded = drawn::recorded(&*trace, &analysis);
    let first = FirstLook::new(&recorded, &Interrupts);
    check_interrupt()?;
    let first = first?;
    let report = analysed.report(&args.solving.model);
    let outcome = if is_left_alone {
        UNCORRECTED
    } else {
        CORRECTING
    };
    let page = page(
        args,
        &report,
        outcome,
        first.picture(),
        PageUse::ServedFirst,
    )?;
    let look = |question: &Question| match question {
        Question::View(looked, PageNumber::First) => {
            let view = first.view(&recorded, looked)?;
            Ok(Some(serde_json::to_vec(&view)?))
        }
        Question::View(_, PageNumber::Last) | Question::Explain(_) => Ok(None),
    };
    let address = server.address();
    server.serve(&page, |serving| {
        announce(args, &address)?;
        let work = || Complete::of(args, &method, is_left_alone, &mut analysed);
        let complete = serving.answer_while(look, work)?;
        complete.serve(args, &analysed, serving, &address)
    })
}

/// The words of the first page where nothing is to be corrected,
const UNCORRECTED: &str = "First look: the times are those of the recording. Calls, waits and error \
                           bounds are still being computed, and not shown yet.";
/// and where something is.
const CORRECTING: &str = "First look at recorded times, and at what belongs together by them. Corrected \
                          times, calls, waits and error bounds are still being computed, and not \
                          shown yet.";

/// All that is known of a trace, and its picture.
struct Complete {
    found: Found,
    live: Live,
}

impl Complete {
    fn of(
        args: &ViewArgs,
        method: &Method,
        is_left_alone: bool,
        analysed: &mut Analysed,
    ) -> Result<Self, CliError> {
        let found = if is_left_alone {
            as_recorded(args.into(), analysed)?
        } else {
            as_corrected(args.into(), method, analysed)?
        };
        let subject = subject(analysed, &found);
        let progress = Progress::new(
            Stage::Drawing,
            subject.trace.bytes(),
            args.solving.run.quiet,
        );
        let live = Live::new(&subject, &temporary::file, &progress);
        drop(progress);
        check_interrupt()?;
        Ok(Self { live: live?, found })
    }

    /// Prints the report and serves the page.
    fn serve(
        &self,
        args: &ViewArgs,
        analysed: &Analysed,
        serving: &mut Serving<'_>,
        address: &str,
    ) -> Result<u8, CliError> {
        let Self { found, live } = self;
        let outcome = match &found.solved {
            Some(_) => "Corrected times are shown beside the recorded ones; nothing is written.",
            None => "No contradiction: the times are those of the recording.",
        };
        let page = page(
            args,
            &found.report,
            outcome,
            live.picture(),
            PageUse::Served,
        )?;
        let run = &args.solving.run;
        drawn::write(&found.report.judged(), outcome, Some(live.picture()), run)?;
        let solution = found.solved.as_ref().map(|it| &it.0);
        let sketch = sketch::of(analysed, solution, run);
        let told = format!("{outcome}\nOpen {address}");
        report::print(&found.report, &sketch, &told, run)?;
        let subject = subject(analysed, found);
        let explainer = Explainer {
            analysed,
            found,
            records: OnceCell::new(),
        };
        serving.answer(&page, |question| match question {
            Question::View(looked, PageNumber::Last) => {
                let view = live.view(&subject, looked)?;
                Ok(Some(serde_json::to_vec(&view)?))
            }
            Question::View(_, PageNumber::First) => Ok(None),
            Question::Explain(event) => {
                let explained = explainer.explained(*event);
                explained
                    .map(Some)
                    .map_err(|it| io::Error::other(it.to_string()))
            }
        })
    }
}

/// Says what `retime explain` says of single events. The trace is read once more for the first that
/// somebody asks about.
struct Explainer<'a> {
    analysed: &'a Analysed,
    found: &'a Found,
    records: OnceCell<Records>,
}

impl Explainer<'_> {
    fn explained(&self, event: EventName) -> Result<Vec<u8>, CliError> {
        let place = explain::place_of(self.analysed, event)?;
        let solution = self.found.solved.as_ref().map(|it| &it.0);
        let records = if let Some(records) = self.records.get() {
            records
        } else {
            let records = records(self.analysed, solution, true)?;
            self.records.get_or_init(|| records)
        };
        let bounds = self.found.bounds.as_ref();
        let seen = Seen::of(self.analysed, records, solution, bounds);
        let explanation = explain::event::explained(&seen, place)?;
        serde_json::to_vec(&explanation)
            .map_err(|error| CliError::io(&self.analysed.opened.path, error.into()))
    }
}

fn page(
    args: &ViewArgs,
    report: &Report,
    outcome: &str,
    picture: &Picture,
    to_be: PageUse,
) -> Result<String, CliError> {
    let page = drawn::page(&report.judged(), outcome, Some(picture), to_be);
    page.map_err(|error| CliError::io(&args.input.trace, error.into()))
}

/// Says where the page is as soon as it is served, and opens it if that is wanted: without the
/// address nobody can see it, so it is said whatever else is to be silent.
fn announce(args: &ViewArgs, address: &str) -> Result<(), CliError> {
    let run = &args.solving.run;
    if run.quiet && !report::goes_to_stdout(run) {
        report::to_stdout(&format!("{address}\n"))?;
    } else {
        // The report comes to stdout later. If even this cannot be written, nobody is there to
        // see it.
        let _ = writeln!(anstream::stderr(), "Open {address}");
    }
    if args.open && !browser::open(address) {
        let message = "warning: no browser could be started: open the address above in one";
        // The address is printed, so nothing is lost.
        let _ = writeln!(anstream::stderr(), "{message}");
    }
    Ok(())
}

fn subject<'a>(analysed: &'a Analysed, found: &'a Found) -> Subject<'a> {
    let solution = found.solved.as_ref().map(|it| &it.0);
    drawn::subject(analysed, solution, found.bounds.as_ref())
}
