//! `retime view`: a trace in the browser, recorded and corrected.
//!
//! ```text
//! analyse -> contradictions? -> solve -> draw, keep all calls in temporary files
//!         -> serve the page; of each stretch that it asks for, what there is to see
//! ```

mod answer;
mod asked;
mod browser;
mod connections;
mod request;
mod server;
mod timed;

use std::io::Write;
use std::path::Path;

use clap::Args;
use retime_picture::{Live, Subject};

use super::asked::{Asked, analyse, is_left_alone};
use super::found::{Found, as_corrected, as_recorded};
use crate::analysed::Analysed;
use crate::args::{SolvingArgs, TraceArgs};
use crate::drawn::{self, sketch};
use crate::error::CliError;
use crate::load::with_threads;
use crate::progress::{Progress, Stage, check_interrupt};
use crate::report;
use server::Server;

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
        let source = args.input.source(solving.format.asked(), solving.run.quiet);
        Self::of(source, solving, args.force)
    }
}

/// Runs the command until it is interrupted.
pub(crate) fn run(args: &ViewArgs) -> Result<u8, CliError> {
    args.solving.method.refuse_strangers()?;
    report::target::check(&args.solving.run, None)?;
    // First of all, so that a port that is taken is known before any work.
    let server = Server::listen(args.port)?;
    with_threads(args.solving.run.threads, || view(args, &server))
}

fn view(args: &ViewArgs, server: &Server) -> Result<u8, CliError> {
    let (mut analysed, method) = analyse(args.into())?;
    let found = if is_left_alone(args.into(), &method, &analysed) {
        as_recorded(args.into(), &analysed)?
    } else {
        as_corrected(args.into(), &method, &mut analysed)?
    };
    let subject = subject(&analysed, &found);
    let progress = Progress::new(
        Stage::Drawing,
        subject.trace.bytes(),
        args.solving.run.quiet,
    );
    let live = Live::new(&subject, &tempfile::tempfile, &progress);
    drop(progress);
    check_interrupt()?;
    let live = live?;
    let outcome = match &found.solved {
        Some(_) => "Corrected times are shown beside the recorded ones; nothing is written.",
        None => "No contradiction: the times are those of the recording.",
    };
    let page = drawn::page(&found.report.judged(), outcome, Some(live.picture()), true);
    let page = page.map_err(|error| CliError::io(&args.input.trace, error.into()))?;
    drawn::write(
        &found.report.judged(),
        outcome,
        Some(live.picture()),
        &args.solving.run,
    )?;
    let address = server.address();
    tell(args, &analysed, &found, outcome, &address)?;
    if args.open && !browser::open(&address) {
        let message = "warning: no browser could be started: open the address above in one";
        // The address is printed, so nothing is lost.
        let _ = writeln!(anstream::stderr(), "{message}");
    }
    server.serve(&page, |looked| {
        let view = live.view(&subject, looked)?;
        Ok(serde_json::to_vec(&view)?)
    })
}

/// Prints the report, and where the page is: without that nobody can see it, so it is said
/// whatever else is to be silent.
fn tell(
    args: &ViewArgs,
    analysed: &Analysed,
    found: &Found,
    outcome: &str,
    address: &str,
) -> Result<(), CliError> {
    let solution = found.solved.as_ref().map(|it| &it.0);
    let sketch = sketch::of(analysed, solution, &args.solving.run);
    let outcome = format!("{outcome}\nOpen {address}");
    report::print(&found.report, &sketch, &outcome, &args.solving.run)?;
    if args.solving.run.json.as_deref() == Some(Path::new("-")) {
        // Beside the report. If even this cannot be written, nobody is there to see it.
        let _ = writeln!(anstream::stderr(), "Open {address}");
    } else if args.solving.run.quiet {
        report::to_stdout(&format!("{address}\n"))?;
    }
    Ok(())
}

fn subject<'a>(analysed: &'a Analysed, found: &'a Found) -> Subject<'a> {
    let solution = found.solved.as_ref().map(|it| &it.0);
    drawn::subject(analysed, solution, found.bounds.as_ref())
}
