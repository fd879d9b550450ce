//! Figures on pages are those that commands print.
//!
//! `UPDATE_GOLDEN=1 cargo test -p retime-cli` writes the sample of the README again.

use std::path::{Path, PathBuf};

use crate::common::golden::compare;
use crate::common::{Scratch, traces};
use crate::real_traces::{report, unpacked};

fn page(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Without the line that tells how long it took.
fn untimed(text: &str) -> String {
    let lines = text.lines().filter(|it| !it.starts_with("time  "));
    lines.map(|it| format!("{it}\n")).collect()
}

/// The sample comes from the recording that `retime demo` shows.
#[test]
fn the_sample_of_the_readme_is_what_correct_prints() {
    let scratch = Scratch::new();
    traces::recording(scratch.path());
    std::fs::rename(scratch.join("halo"), scratch.join("scorep-run")).unwrap();
    let printed = scratch.succeed("correct scorep-run/ -o corrected/");
    let (path, readme) = page("README.md");
    let (before, rest) = readme.split_once("```\ntrace ").unwrap();
    let (sample, after) = rest.split_once("```\n").unwrap();
    let sample = format!("trace {sample}");
    if untimed(&sample) == untimed(&printed) {
        return;
    }
    let expected = format!("{before}```\n{printed}```\n{after}");
    compare(&path, &expected).unwrap_or_else(|difference| panic!("{difference}"));
}

/// A row of the table of real traces.
fn row(scratch: &Scratch, trace: &str, method: &str) -> String {
    let name = trace.split(['.', '/']).next().unwrap();
    let command = format!("correct {trace} -o {name}-{method} --method {method} --json -");
    let found = report(&scratch.succeed(&command));
    let distortion = &found["distortion"];
    let number = |name: &str| distortion[name].as_f64().unwrap();
    let digits = |value: f64| match value {
        it if it < 0.001 => format!("{it:.1e} %"),
        it if it < 1.0 => format!("{it:.3} %"),
        it => format!("{it:.0} %"),
    };
    let (event, location) = (
        &distortion["largest_at"]["event"],
        &distortion["largest_at"]["location"],
    );
    format!(
        "| {name} | `{method}` | {:.1} % | {} | {} | before event {event} of location {location} |",
        100.0 * number("unchanged") / number("intervals"),
        digits(100.0 * number("mean")),
        digits(100.0 * number("largest")),
    )
}

#[test]
fn figures_of_real_traces_are_those_of_the_commands() {
    let Some(scratch) = unpacked(&["rtns.mono", "ezr1"]) else {
        return;
    };
    let (_, page) = page("docs/REPRODUCTIONS.md");
    for trace in ["rtns.mono", "ezr1/ring_trace"] {
        for method in ["auto", "clc"] {
            let row = row(&scratch, trace, method);
            assert!(page.contains(&row), "not in docs/REPRODUCTIONS.md: {row}");
        }
    }
}

/// The page of the method shows some rows of the table in docs/ACCURACY.md, which the tests of
/// `retime-experiments` compare with what is measured.
#[test]
fn figures_of_the_controlled_clock_are_those_of_the_accuracy_page() {
    let (_, accuracy) = page("docs/ACCURACY.md");
    let (_, method) = page("docs/methods/clc.md");
    let (_, measured) = method.split_once("## Measured").unwrap();
    let rows = measured.lines().filter(|it| it.starts_with("| ")).skip(1);
    let mut seen = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let line = accuracy
            .lines()
            .find(|it| it.starts_with(&format!("{:<14}", cells[1])));
        let line = line.unwrap_or_else(|| panic!("not in docs/ACCURACY.md: {row}"));
        let figures: Vec<&str> = line[cells[1].len()..].split_whitespace().collect();
        assert_eq!(figures[..3], cells[2..5], "{line}");
        seen += 1;
    }
    assert!(seen >= 6, "{measured}");
}
