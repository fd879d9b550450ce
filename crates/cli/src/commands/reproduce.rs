//! `retime reproduce`: the papers' experiments, our figures beside theirs.

use std::fmt::Write;

use retime_experiments::{ALL, Named, Row, Table};

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::load::with_threads;
use crate::report::to_stdout;

/// Width of notes.
const WIDTH: usize = 98;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ReproduceArgs) -> Result<u8, CliError> {
    let chosen = choose(&args.experiment)?;
    for (number, experiment) in chosen.iter().enumerate() {
        let table = with_threads(None, || {
            (experiment.run)().map_err(|error| {
                CliError::Usage(format!(
                    "the experiment {} failed: {error}",
                    experiment.name
                ))
            })
        })?;
        let separator = if number > 0 { "\n" } else { "" };
        to_stdout(&format!("{separator}{}", render(experiment, &table)))?;
    }
    Ok(0)
}

fn choose(name: &str) -> Result<Vec<&'static Named>, CliError> {
    if name == "all" {
        return Ok(ALL.iter().collect());
    }
    let found = ALL.iter().find(|experiment| experiment.name == name);
    found.map(|experiment| vec![experiment]).ok_or_else(|| {
        let known: Vec<String> = ALL
            .iter()
            .map(|it| format!("\n  {:<17}{}", it.name, it.about))
            .collect();
        CliError::Usage(format!(
            "no experiment is called \"{name}\"; there are{}\n  {:<17}one after the other",
            known.concat(),
            "all",
        ))
    })
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
