//! The OTF2 tools as a judge of what we write.
//!
//! Without the tools the tests that need them pass with a note, unless
//! `RETIME_REQUIRE_OTF2_TOOLS=1` demands them.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// What `otf2-print` shows of an archive, and its complaints.
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) complaints: Vec<String>,
}

/// Runs `otf2-print`, which has to succeed; `None` if there is none.
#[track_caller]
pub(crate) fn otf2_print(anchor: &Path, arguments: &[&str]) -> Option<Printed> {
    let output = Command::new("otf2-print")
        .args(arguments)
        .arg(anchor)
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let needed = std::env::var_os("RETIME_REQUIRE_OTF2_TOOLS").is_some_and(|it| it == "1");
            assert!(
                !needed,
                "otf2-print is not installed (Debian package otf2-tools)"
            );
            eprintln!("skipped: otf2-print is not installed (Debian package otf2-tools)");
            return None;
        }
        Err(error) => panic!("otf2-print: {error}"),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaints = text(&output.stderr);
    assert!(
        output.status.success(),
        "otf2-print {}: {}\n{complaints}",
        anchor.display(),
        output.status
    );
    Some(Printed {
        text: text(&output.stdout),
        complaints: complaints.lines().map(str::to_owned).collect(),
    })
}

/// Fails if `otf2-print` has anything to say against an archive.
#[track_caller]
pub(crate) fn assert_readable(anchor: &Path) {
    if let Some(printed) = otf2_print(anchor, &["--silent"]) {
        assert!(printed.complaints.is_empty(), "{:#?}", printed.complaints);
    }
}
