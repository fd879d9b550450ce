//! `retime reproduce`: the papers' experiments, our figures beside theirs, and
//! measurements of our own.

use std::fmt::Write;

use retime_experiments::{ALL, Failure, Grid, MEASURED, Measured, Named, Row, Table};

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::load::with_threads;
use crate::progress::Steps;
use crate::report::to_stdout;

/// Width of notes.
const WIDTH: usize = 98;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ReproduceArgs) -> Result<u8, CliError> {
    if let Some(measured) = MEASURED.iter().find(|it| it.name == args.experiment) {
        return measure(measured);
    }
    for (number, experiment) in choose(&args.experiment)?.iter().enumerate() {
        let run = || (experiment.run)().map_err(|error| failed(experiment.name, error));
        let table = with_threads(None, run)?;
        let separator = if number > 0 { "\n" } else { "" };
        to_stdout(&format!("{separator}{}", render(experiment, &table)))?;
    }
    Ok(0)
}

fn measure(measured: &Measured) -> Result<u8, CliError> {
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

/// Words to the left, figures to the right.
fn render_grid(name: &str, grid: &Grid) -> String {
    let bold = anstyle::Style::new().bold();
    let mut text = format!("{bold}{name}: {}{bold:#}\n\n", grid.title);
    let all = || std::iter::once(&grid.heading).chain(&grid.rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..grid.heading.len()).map(width).collect();
    for row in all() {
        let cells = row.iter().zip(&widths).enumerate();
        let line: Vec<String> = cells
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
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

/// The words of a text in lines that fit.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}
