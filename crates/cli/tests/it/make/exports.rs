//! What cannot be exported, or not to there.

use super::Case;
use super::files::{none, trace, with};

/// A second tick of a clock that ticks once a second comes after 35,000 years.
const CENTURIES: &str = r#"{"retime-stream":1,"ticks_per_second":1,"locations":[0]}
{"location":0,"time":0}
{"location":0,"time":1099511627776}
"#;

pub(super) fn exports() -> Vec<Case> {
    let mine = with(trace(), "out.pftrace", "mine\n");
    let ours = with(trace(), "out.pftrace", *b"\x0a\x04\x50\x01\xe2\x03");
    vec![
        ("export-exists", "export trace -o out.pftrace", ours),
        (
            "export-over-another-file",
            "export trace -o out.pftrace --force",
            mine,
        ),
        (
            "export-in-the-input",
            "export trace -o trace/out.json",
            trace(),
        ),
        (
            "export-kind-unknown",
            "export trace -o out --to svg",
            none(),
        ),
        (
            "export-two-ends",
            "export trace -o out --to 1s --to 2s",
            none(),
        ),
        (
            "export-from-after-to",
            "export trace -o out --from 2s --to 1s --to chrome",
            trace(),
        ),
        (
            "export-no-such-location",
            "export trace -o out --locations 0,7-9",
            trace(),
        ),
        (
            "export-bad-locations",
            "export trace -o out --locations 3-1",
            none(),
        ),
        ("export-two-to-stdout", "export trace -o - --json -", none()),
        (
            "export-option-without-part",
            "export trace -o out --gamma-max 0.5",
            none(),
        ),
        (
            "export-centuries",
            "export trace.jsonl -o out",
            with(none(), "trace.jsonl", CENTURIES),
        ),
    ]
}
