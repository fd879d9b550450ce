//! Outputs that are in the way, or that would overwrite something.

use super::Case;
use super::files::{trace, with};

pub(super) fn outputs() -> Vec<Case> {
    let out = |name: &str| with(trace(), name, "mine\n");
    let mut two = trace();
    for name in ["a", "b"] {
        two.insert(
            format!("out/{name}.otf2"),
            trace()["trace/traces.otf2"].clone(),
        );
    }
    let mut written = trace();
    for (name, content) in trace() {
        written.insert(name.replacen("trace", "out", 1), content);
    }
    let mut notes = written.clone();
    notes.insert("out/notes/mine.txt".into(), b"mine\n".to_vec());
    vec![
        ("output-exists", "correct trace -o out", out("out/file")),
        (
            "output-is-a-file",
            "correct trace -o out --force",
            out("out"),
        ),
        ("output-is-the-input", "correct trace -o trace", trace()),
        (
            "output-is-the-input-force",
            "correct trace/traces.otf2 -o ./trace/ --force",
            trace(),
        ),
        ("output-holds-the-input", "correct a/trace -o a --force", {
            let files = trace().into_iter();
            files
                .map(|(name, content)| (format!("a/{name}"), content))
                .collect()
        }),
        (
            "output-in-the-input",
            "correct trace -o trace/traces/out",
            trace(),
        ),
        (
            "output-beside-the-anchor",
            "correct trace -o trace/out",
            trace(),
        ),
        (
            "from-after-the-end",
            "correct trace -o out --method clc --from 3600s",
            trace(),
        ),
        (
            "output-in-the-archive",
            "correct trace/traces.otf2 -o trace/traces/out",
            trace(),
        ),
        (
            "output-without-parent",
            "correct trace -o missing/out",
            trace(),
        ),
        ("output-without-name", "correct trace -o ..", trace()),
        (
            "output-below-a-file",
            "correct trace -o trace/traces.otf2/out",
            trace(),
        ),
        ("force-two-archives", "correct trace -o out --force", two),
        ("force-other-directory", "undo trace -o out --force", notes),
        (
            "force-other-file-beside",
            "correct trace -o out --force",
            with(written, "out/thesis.tex", "mine\n"),
        ),
        (
            "force-other-files",
            "apply x.json trace -o out --force",
            out("out/file"),
        ),
        (
            "json-without-parent",
            "check trace --json missing/report.json",
            trace(),
        ),
        ("json-is-a-directory", "check trace --json trace", trace()),
        (
            "json-is-the-anchor",
            "check trace --json trace/traces.otf2",
            trace(),
        ),
        (
            "json-is-a-correction",
            "correct trace -o out --json x.json",
            with(trace(), "x.json", "{\"format\": \"retime correction\"}\n"),
        ),
        ("demo-exists", "demo --keep trace", trace()),
    ]
}
