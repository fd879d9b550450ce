//! Output against files in `tests/golden`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p retime-cli` rewrites the files; look at
//! the difference before you commit it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::Scratch;

/// Whether files of expected output are to be rewritten.
pub(crate) fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some_and(|it| it == "1")
}

/// Fails, with the difference, if the text is not that of the golden file.
#[track_caller]
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    compare(&path.join(name), text).unwrap_or_else(|difference| panic!("{difference}"));
}

/// The difference, if the text is not that of the file.
pub(crate) fn compare(path: &Path, text: &str) -> Result<(), String> {
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == text {
        return Ok(());
    }
    if updating() {
        fs::write(path, text).unwrap();
        return Ok(());
    }
    Err(format!(
        "output differs from {} (- expected, + found; UPDATE_GOLDEN=1 accepts it):\n{}",
        path.display(),
        difference(&expected, text)
    ))
}

/// What commands print, as a terminal would show it.
pub(crate) fn transcript(scratch: &Scratch, commands: &[&str]) -> String {
    let mut text = String::new();
    for (number, arguments) in commands.iter().enumerate() {
        let separator = if number > 0 { "\n" } else { "" };
        writeln!(text, "{separator}$ retime {arguments}").unwrap();
        let outcome = scratch.retime(arguments);
        text += &normalised(scratch, &outcome.stdout);
        for line in normalised(scratch, &outcome.stderr).lines() {
            writeln!(text, "stderr: {line}").unwrap();
        }
        match outcome.code {
            Some(code) => writeln!(text, "[exit {code}]").unwrap(),
            None => text += "[killed]\n",
        }
    }
    text
}

/// Without what differs from run to run: where it ran, how long it took, and
/// on how many threads.
pub(crate) fn normalised(scratch: &Scratch, text: &str) -> String {
    let text = text.replace(&*scratch.path().to_string_lossy(), "DIR");
    let mut timing = false;
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        timing = timing && !line.trim_start().starts_with('}') || line.contains("\"timing\": {");
        if line.starts_with("time ") || timing || line.contains("\"threads\":") {
            out += &without_figures(line);
        } else if let Some((start, _)) = line.split_once("read again and checked in ") {
            out += start;
            out += "read again and checked in TIME.\n";
        } else {
            out += &with_six_digits(line);
        }
    }
    out
}

/// A fraction in a JSON report to six digits: processors round the rest differently.
fn with_six_digits(line: &str) -> String {
    let rounded = || {
        let (start, value) = line.split_once("\": ")?;
        let number = value.trim_end().trim_end_matches(',');
        let rest = &value[number.len()..];
        let fraction: f64 = number.parse().ok().filter(|_| number.contains('.'))?;
        let shorter: f64 = format!("{fraction:.5e}").parse().ok()?;
        Some(format!("{start}\": {shorter:?}{rest}"))
    };
    rounded().unwrap_or_else(|| line.into())
}

fn without_figures(line: &str) -> String {
    let mut out = String::new();
    let mut in_number = false;
    for character in line.chars() {
        let number = character.is_ascii_digit() || in_number && "+-.e".contains(character);
        if number && !in_number {
            out.push('N');
        }
        if !number {
            out.push(character);
        }
        in_number = number;
    }
    out
}

/// The lines that differ, by the longest common subsequence.
fn difference(expected: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut text = String::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1] {
            writeln!(text, "{:>4} - {}", i + 1, old[i]).unwrap();
            i += 1;
        } else {
            writeln!(text, "{:>4} + {}", j + 1, new[j]).unwrap();
            j += 1;
        }
    }
    text
}
