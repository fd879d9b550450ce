//! Figures that the documentation shows, against those of the command.
//!
//! A page marks what a command has printed:
//!
//! ```text
//! <!-- figures: NAME -->
//! ...
//! <!-- /figures -->
//! ```
//!
//! `UPDATE_GOLDEN=1 cargo test -p retime-cli documents::` writes these parts anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::Scratch;
use crate::common::golden::{compare, normalised};
use crate::real_traces::unpacked;

/// A page of the documentation, by its path in the repository.
fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

/// Fails unless the marked part of a page is this text, as far as that is the same in
/// each run.
#[track_caller]
fn assert_shown(name: &str, part: &str, text: &str) {
    let path = page(name);
    let content = fs::read_to_string(&path).unwrap();
    let begin = format!("<!-- figures: {part} -->\n");
    let (before, rest) = content
        .split_once(&begin)
        .expect("the page marks that part");
    let (shown, after) = rest.split_once("<!-- /figures -->").unwrap();
    let scratch = Scratch::new();
    if normalised(&scratch, shown) != normalised(&scratch, text) {
        let whole = format!("{before}{begin}{text}<!-- /figures -->{after}");
        compare(&path, &whole).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// The recording that the command carries, under the name that the README gives it.
fn recording() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("demo --keep kept");
    fs::rename(scratch.join("kept/halo"), scratch.join("scorep-run")).unwrap();
    scratch
}

#[test]
fn the_readme_shows_what_correct_says() {
    let said = recording().succeed("correct scorep-run/ -o corrected/");
    assert_shown("README.md", "correct", &format!("```\n{said}```\n"));
}

/// The report of `correct` of a trace by a method.
fn corrected(scratch: &Scratch, trace: &str, method: &str) -> Value {
    let arguments = format!("correct {trace} -o out-{method} --method {method} -q --json -");
    serde_json::from_str(&scratch.succeed(&arguments)).unwrap()
}

/// The methods side by side: how each has changed the intervals of a trace.
fn intervals(scratch: &Scratch, trace: &str) -> String {
    let heading = "| method | unchanged | mean change | largest | where |\n|---|---|---|---|---|\n";
    let rows = ["auto", "clc"].map(|method| row(scratch, trace, method));
    heading.to_owned() + &rows.concat()
}

/// A row of that table.
fn row(scratch: &Scratch, trace: &str, method: &str) -> String {
    let report = corrected(scratch, trace, method);
    let distortion = &report["distortion"];
    let number = |key: &str| distortion[key].as_f64().unwrap();
    let at = &distortion["largest_at"];
    if at.is_null() {
        return format!("| `{method}` | 100 % | 0 | 0 | |\n");
    }
    let percent = |share: f64| match 100.0 * share {
        percent if percent >= 100.0 => format!("{percent:.0} %"),
        percent if percent >= 1.0 => format!("{percent:.1} %"),
        percent if percent >= 1e-3 => format!("{percent:.3} %"),
        percent => format!("{percent:.1e} %"),
    };
    format!(
        "| `{method}` | {} | {} | {} | before event {} of location {} |\n",
        percent(number("unchanged") / number("intervals")),
        percent(number("mean")),
        percent(number("largest")),
        at["event"],
        at["location"],
    )
}

#[test]
fn reproductions_show_what_happens_to_intervals_of_a_real_trace() {
    let table = intervals(&recording(), "scorep-run");
    assert_shown("docs/REPRODUCTIONS.md", "bundled recording", &table);
}

#[test]
fn reproductions_show_what_happens_to_intervals_of_a_shared_trace() {
    let Some(scratch) = unpacked(&["ezr1"]) else {
        return;
    };
    let table = intervals(&scratch, "ezr1/ring_trace/eztrace_log.otf2");
    assert_shown("docs/REPRODUCTIONS.md", "shared recording", &table);
}

/// The cells of a row that docs/ACCURACY.md prints for a case: recorded, `clc`, `auto`.
fn measured(case: &str) -> [f64; 3] {
    let page = fs::read_to_string(page("docs/ACCURACY.md")).unwrap();
    let cells = |line: &str| {
        let mut cells = line.strip_prefix(case)?.split_whitespace();
        let mut next = || cells.next()?.parse().ok();
        Some([next()?, next()?, next()?])
    };
    page.lines().find_map(cells).unwrap()
}

/// The clocks of the recording were set off by constants, as `retime demo` says: these are
/// taken back.
const TRUTH: &str = r#"{ "format": "retime correction", "version": 1, "clocks": [
    { "locations": [1], "knots": [[150000, 0]] },
    { "locations": [2], "knots": [[0, 80000]] },
    { "locations": [3], "knots": [[40000, 0]] },
    { "knots": [[0, 0]] } ] }"#;

/// The mean error in microseconds of the recording that the command carries: recorded,
/// `clc`, `auto`.
fn errors_of_the_recording() -> [f64; 3] {
    let scratch = recording();
    scratch.write("truth.json", TRUTH);
    scratch.succeed("apply truth.json scorep-run -o truth -q");
    let mean = |method: &str, times: &str| {
        let arguments = format!(
            "correct scorep-run -o out-{method} --method {method} --truth truth -q --json -"
        );
        let report: Value = serde_json::from_str(&scratch.succeed(&arguments)).unwrap();
        let mean = &report["accuracy"][times]["relative_ticks"]["mean_abs"];
        // Its ticks are nanoseconds.
        mean.as_f64().unwrap() / 1e3
    };
    let clc = mean("clc", "corrected");
    fs::remove_dir_all(scratch.join("out-clc")).unwrap();
    [mean("clc", "recorded"), clc, mean("auto", "corrected")]
}

#[test]
fn the_page_of_the_logical_clock_shows_the_accuracy_measured() {
    let row = |name: &str, errors: [f64; 3]| {
        let [raw, clc, auto] = errors.map(|error| match error {
            error if error >= 100.0 => format!("{error:.0}"),
            error if error >= 10.0 => format!("{error:.1}"),
            error if error >= 1.0 => format!("{error:.2}"),
            error => format!("{error:.3}"),
        });
        format!("| {name} | {raw} | {clc} | {auto} |\n")
    };
    let name = "a real run, constant offsets (`make demo`)";
    let real = errors_of_the_recording();
    let mut rows = "| case | recorded | `clc` | `auto` |\n|---|---|---|---|\n".to_owned();
    rows += &row(name, real);
    for case in [
        "offsets",
        "drift 20 ppm",
        "drift 100 ppm",
        "wander",
        "tick 10 us",
        "5 glitches",
    ] {
        rows += &row(case, measured(case));
    }
    assert_shown("docs/methods/clc.md", "accuracy", &rows);

    let [raw, clc, auto] = real;
    let sentence = format!(
        "{raw:.1} us recorded, {auto:.2} us corrected ({clc:.2} us by the controlled logical clock"
    );
    let readme = fs::read_to_string(page("README.md")).unwrap();
    assert!(readme.contains(&sentence), "README.md lacks: {sentence}");
}

/// The names of all files and directories below a directory, without what stands behind a dot.
fn stems(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy();
        found.insert(stem.into_owned());
        if path.is_dir() {
            stems(&path, found);
        }
    }
}

#[test]
fn modules_that_are_listed_exist() {
    let text = fs::read_to_string(page("docs/MODULES.md")).unwrap();
    let mut listed = 0;
    for section in text.split("\n## `").skip(1) {
        let (name, rest) = section.split_once('`').unwrap();
        let mut there = BTreeSet::new();
        stems(&page("crates").join(name), &mut there);
        let rows = rest.lines().filter_map(|it| it.strip_prefix("| `"));
        for names in rows.filter_map(|it| it.split(" | ").next()) {
            let parts = names.split(|it: char| !it.is_alphanumeric() && it != '_');
            for part in parts.filter(|it| !it.is_empty()) {
                listed += 1;
                assert!(there.contains(part), "{name} has no module {part}");
            }
        }
    }
    assert!(listed > 600, "{listed}");
}
