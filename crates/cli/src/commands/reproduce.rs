//! `retime reproduce`: the papers' experiments, our figures beside theirs, and
//! measurements of our own.

use std::fmt::Write;

use retime_experiments::{ALL, Failure, Grid, MEASURED, Named, Row, Table};

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::load::with_threads;
use crate::progress::Steps;
use crate::report::columns::{columns, wrapped};
use crate::report::to_stdout;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ReproduceArgs) -> Result<u8, CliError> {
    if MEASURED.iter().any(|it| it.name == args.experiment) {
        return measured(&args.experiment);
    }
    for (number, experiment) in choose(&args.experiment)?.iter().enumerate() {
        let run = || (experiment.run)().map_err(|error| failed(experiment.name, error));
        let table = with_threads(None, run)?;
        let separator = if number > 0 { "\n" } else { "" };
        to_stdout(&format!("{separator}{}", render(experiment, &table)))?;
    }
    Ok(0)
}

/// Runs the measurement of that name; returns the exit code.
pub(crate) fn measured(name: &str) -> Result<u8, CliError> {
    let Some(measured) = MEASURED.iter().find(|it| it.name == name) else {
        return Ok(0);
    };
    let progress = Steps::new(measured.name, false);
    let watch = |next: &str| progress.go_on(next);
    let run = || (measured.run)(&watch).map_err(|error| failed(measured.name, error));
    let grid = with_threads(None, run)?;
    drop(progress);
    to_stdout(&render_grid(measured.name, &grid))?;
    Ok(0)
}

fn failed(name: &str, error: Failure) -> CliError {
    match error {
        Failure::Stopped => CliError::Interrupted,
        error => CliError::Usage(format!("the experiment {name} failed: {error}")),
    }
}

fn choose(name: &str) -> Result<Vec<&'static Named>, CliError> {
    if name == "all" {
        return Ok(ALL.iter().collect());
    }
    let found = ALL.iter().find(|experiment| experiment.name == name);
    found.map(|experiment| vec![experiment]).ok_or_else(|| {
        let papers = ALL.iter().map(|it| (it.name, it.about));
        let together = ("all", "one after the other");
        let own = MEASURED.iter().map(|it| (it.name, it.about));
        let known = papers.chain([together]).chain(own);
        let known: Vec<String> = known
            .map(|(name, about)| format!("\n  {name:<17}{about}"))
            .collect();
        CliError::Usage(format!(
            "no experiment is called \"{name}\"; there are{}",
            known.concat()
        ))
    })
}

fn render_grid(name: &str, grid: &Grid) -> String {
    let bold = anstyle::Style::new().bold();
    let mut text = format!("{bold}{name}: {}{bold:#}\n\n", grid.title);
    text += &columns(&grid.heading, &grid.rows);
    for note in &grid.notes {
        let _ = write!(text, "\n{}", wrapped(note));
    }
    text
}

fn render(experiment: &Named, table: &Table) -> String {
    let bold = anstyle::Style::new().bold();
    let mut text = format!(
        "{bold}{}: {}{bold:#}\n{}\n\n",
        experiment.name, table.title, table.source
    );
    let heading = Row::new("", "printed", "ours", "difference");
    let all = || std::iter::once(&heading).chain(&table.rows);
    let width = |of: fn(&Row) -> &String| all().map(|row| of(row).chars().count()).max();
    let widths = [
        width(|row| &row.quantity).unwrap_or(0),
        width(|row| &row.printed).unwrap_or(0),
        width(|row| &row.ours).unwrap_or(0),
    ];
    for row in all() {
        let [quantity, printed, ours] = widths;
        let line = format!(
            "{:<quantity$}  {:<printed$}  {:<ours$}  {}",
            row.quantity, row.printed, row.ours, row.difference
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for note in &table.notes {
        let _ = write!(text, "\n{}", wrapped(note));
    }
    text
}
