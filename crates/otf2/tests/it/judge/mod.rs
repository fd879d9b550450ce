//! The OTF2 tools as a judge of what we write.
//!
//! Without the tools the tests that need them pass with a note, unless
//! `RETIME_REQUIRE_OTF2_TOOLS=1` demands them.

// Not every test file uses all of it.
#![allow(dead_code)]

use std::{
    fs::File,
    io::ErrorKind,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// The tools hang on some broken archives.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything `otf2-print` says about an archive, or nothing if there is no
/// `otf2-print`. Fails if it complains.
pub(crate) fn otf2_print(anchor: &Path, arguments: &[&str]) -> Option<String> {
    let mut all = vec!["-Werror"];
    all.extend(arguments);
    run("otf2-print", anchor, &all)
}

/// Runs a tool on an archive.
pub(crate) fn run(tool: &str, anchor: &Path, arguments: &[&str]) -> Option<String> {
    let scratch = tempfile::tempdir().unwrap();
    let (out, err) = (scratch.path().join("out"), scratch.path().join("err"));
    let child = Command::new(tool)
        .args(arguments)
        .arg(anchor)
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => return missing(tool),
        Err(error) => panic!("{tool}: {error}"),
    };
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{tool} {} does not end", anchor.display());
        }
        sleep(Duration::from_millis(2));
    };
    let complaints = std::fs::read_to_string(err).unwrap();
    assert!(
        status.success() && complaints.is_empty(),
        "{tool}: {status}\n{complaints}"
    );
    Some(String::from_utf8(std::fs::read(out).unwrap()).unwrap())
}

fn missing(tool: &str) -> Option<String> {
    assert!(
        std::env::var_os("RETIME_REQUIRE_OTF2_TOOLS").is_none_or(|it| it != "1"),
        "{tool} is not installed (Debian package otf2-tools)"
    );
    eprintln!("skipped: {tool} is not installed (Debian package otf2-tools)");
    None
}

/// The printed events of one kind, with single spaces.
pub(crate) fn lines(text: &str, kind: &str) -> Vec<String> {
    text.lines()
        .filter(|line| line.split_whitespace().next() == Some(kind))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}
