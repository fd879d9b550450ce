//! Drawings of a trace: `--html`, a report to look at, and the sketch that `--verbose` shows on a
//! terminal.

pub(crate) mod sketch;
mod subject;

use retime::pipeline::{Bounds, Solution};
use retime_picture::{Page, Picture};
use serde::Serialize;

use crate::analysed::Analysed;
use crate::args::RunArgs;
use crate::call;
use crate::error::CliError;
use crate::explained;
use crate::progress::{Progress, Stage, check_interrupt};
use crate::report::model::Report;
use crate::report::quoted::quoted;
use crate::report::{self, target};
pub(crate) use subject::{recorded, subject};

/// The drawings of a trace and its solution, if there is one, that the options ask for.
#[derive(Default)]
pub(crate) struct Drawn {
    /// For the page.
    picture: Option<Picture>,
    /// For the terminal.
    sketch: String,
}

/// Draws a trace and its solution, if there is one.
pub(crate) fn draw(
    analysed: &Analysed,
    solution: Option<&Solution>,
    bounds: Option<&Bounds>,
    run: &RunArgs,
) -> Result<Drawn, CliError> {
    let sketch = sketch::of(analysed, solution, run);
    if run.html.is_none() {
        let picture = None;
        return Ok(Drawn { picture, sketch });
    }
    let subject = subject(analysed, solution, bounds);
    let progress = Progress::new(Stage::Drawing, subject.trace.bytes(), run.quiet);
    let drawn = Picture::of(&subject, &progress);
    drop(progress);
    check_interrupt()?;
    let mut picture = drawn?;
    explained::explain(&mut picture, analysed, solution)?;
    let picture = Some(picture);
    Ok(Drawn { picture, sketch })
}

impl Drawn {
    /// Writes the page that was asked for, and prints the report.
    pub(crate) fn print(
        &self,
        report: &Report,
        outcome: &str,
        run: &RunArgs,
    ) -> Result<(), CliError> {
        self.write(&report.judged(), outcome, run)?;
        report::print(report, &self.sketch, outcome, run)
    }

    /// Writes the page that was asked for, with a report of any kind.
    pub(crate) fn write(
        &self,
        report: &impl Serialize,
        outcome: &str,
        run: &RunArgs,
    ) -> Result<(), CliError> {
        write(report, outcome, self.picture.as_ref(), run)
    }
}

/// Writes the page that was asked for.
pub(crate) fn write(
    report: &impl Serialize,
    outcome: &str,
    picture: Option<&Picture>,
    run: &RunArgs,
) -> Result<(), CliError> {
    let Some(path) = &run.html else {
        return Ok(());
    };
    let page = page(report, outcome, picture, PageUse::File);
    let page = page.map_err(|error| CliError::io(path, error.into()))?;
    target::Place::prepare(path)?.write_text(&page)
}

/// The use that is made of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageUse {
    /// It is a file that has all it shows.
    File,
    /// It is served with what it asks for,
    Served,
    /// and shows what is known before the trace was corrected.
    ServedFirst,
}

/// The page with a report of any kind.
pub(crate) fn page(
    report: &impl Serialize,
    outcome: &str,
    picture: Option<&Picture>,
    to_be: PageUse,
) -> Result<String, serde_json::Error> {
    let report = serde_json::to_value(report)?;
    let trace = report["trace"]["path"].as_str().unwrap_or_default();
    let page = Page {
        title: format!("{trace} - retime"),
        command: command_line(),
        version: env!("CARGO_PKG_VERSION"),
        outcome: outcome.to_owned(),
        picture,
        live: to_be != PageUse::File,
        first: to_be == PageUse::ServedFirst,
        report,
    };
    page.html()
}

/// The command as it was given, such that a shell would read it.
fn command_line() -> String {
    let words = call::words().into_iter();
    let words: Vec<String> = words.map(quoted).collect();
    format!("retime {}", words.join(" "))
}
