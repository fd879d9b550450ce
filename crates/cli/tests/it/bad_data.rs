//! Bad input: every case of `bad_data/` against its message and exit code.
//!
//! `bad_data/README.md` says what a case consists of and how to add one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::golden::{compare, normalised};
use crate::common::{Scratch, directory};

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_data");
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    cases
}

/// The arguments, from the first line of a file `expected`.
fn arguments(expected: &str) -> Option<&str> {
    expected.lines().next()?.strip_prefix("$ retime ")
}

#[test]
fn every_case_fails_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 80, "only {} cases", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(|case| run(case).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn run(case: &Path) -> Result<(), String> {
    let path = case.join("expected");
    let because = |why: &str| format!("{}: {why}", path.display());
    let expected = fs::read_to_string(&path).map_err(|error| because(&error.to_string()))?;
    let arguments = arguments(&expected).ok_or_else(|| because("no line \"$ retime ...\""))?;

    let scratch = Scratch::new();
    directory::copy(case, scratch.path());
    fs::remove_file(scratch.join("expected")).unwrap();
    let before = directory::tree(scratch.path());
    let outcome = scratch.retime(arguments);

    let Some(code @ (1 | 2)) = outcome.code else {
        return Err(because(&format!("{outcome:#?}")));
    };
    let found = format!(
        "$ retime {arguments}\n[exit {code}]\n{}",
        normalised(&scratch, &outcome.stderr)
    );
    compare(&path, &found)?;
    if !outcome.stdout.is_empty() {
        return Err(because(&format!("prints {}", outcome.stdout)));
    }
    if directory::tree(scratch.path()) != before {
        let names = directory::tree(scratch.path()).into_keys();
        return Err(because(&format!(
            "files were added or changed: {:?}",
            names.collect::<Vec<_>>()
        )));
    }
    Ok(())
}

/// The messages of our error types that no case can bring about.
const UNREACHABLE: [&str; 12] = [
    // More than 2^32 events.
    "events that communicate; at most",
    "per location are supported",
    // Such times fail to be checked first; see the tests of retime-export.
    "corrected time stamps do not fit into 64 bits, or lie too far apart",
    // An interrupt; see `staging.rs`.
    "interrupted; nothing was written",
    "interrupted; what was written to standard output is not all",
    "cancelled",
    // Comes after a trace was written; see `manners.rs`.
    "; only the report is missing:",
    // Take faults of the file system, or others at work; see `faults.rs`, `races.rs`.
    "is complete, but",
    "changed while it was being read",
    // A defect of retime.
    "the written copy differs from what was computed",
    // Takes a file of a whole chunk, 256 KiB; see `robust.rs` of retime-otf2.
    "the file ends without an end-of-file mark",
    "chunk without an end mark",
];

/// The texts of an error type, from its source: those between placeholders
/// that are long enough to be recognised.
fn messages(source: &str) -> Vec<String> {
    let mut texts = Vec::new();
    // In attributes, and in the implementation of `Display` of reasons.
    let starts = source.match_indices("#[error(").map(|(at, _)| at);
    let reasons = source
        .match_indices("=> \"")
        .filter(|(at, _)| {
            source[..*at]
                .trim_end()
                .lines()
                .last()
                .unwrap_or_default()
                .contains("Self::")
        })
        .map(|(at, _)| at);
    for start in starts.chain(reasons) {
        let Some(text) = literal(&source[start..]) else {
            continue;
        };
        let longest = text
            .split(['{', '}'])
            .step_by(2)
            .max_by_key(|part| part.len())
            .unwrap_or_default()
            .trim();
        if longest.len() > 8 {
            texts.push(longest.to_owned());
        }
    }
    texts
}

/// The first string literal, if it comes soon, with its line breaks joined.
fn literal(source: &str) -> Option<String> {
    let start = source.find('"')?;
    if source[..start].contains([']', ';']) {
        return None;
    }
    let mut text = String::new();
    let mut characters = source[start + 1..].chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some(text),
            '\\' => match characters.next()? {
                '\n' => {
                    let rest = characters.as_str().trim_start();
                    characters = rest.chars();
                }
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    None
}

/// So that a new kind of error cannot come without a case.
#[test]
fn every_kind_of_error_has_a_case() {
    let all: String = cases()
        .iter()
        .map(|case| fs::read_to_string(case.join("expected")).unwrap())
        .collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut missing = Vec::new();
    let mut found = 0;
    for file in [
        "otf2/src/error.rs",
        "cli/src/error.rs",
        "causality/src/error.rs",
        "model/src/map.rs",
        "model/src/saved.rs",
        "model/src/time.rs",
        "model/src/format.rs",
        "otf2-format/src/error.rs",
        "export/src/error.rs",
        "logical-clocks/src/gamma.rs",
        "logical-clocks/src/amortization.rs",
    ] {
        let source = fs::read_to_string(crates.join(file)).unwrap();
        let messages = messages(&source);
        found += messages.len();
        for message in messages {
            if !all.contains(&message) && !UNREACHABLE.iter().any(|it| message.contains(it)) {
                missing.push(format!("{file}: {message}"));
            }
        }
    }
    assert!(found > 30, "found only {found} messages in the sources");
    assert!(missing.is_empty(), "no case in bad_data/ for: {missing:#?}");
}
