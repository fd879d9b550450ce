//! Corrections that cannot be applied, and corrected archives that cannot be undone.

use super::Case;
use super::files::{changed, corrected, trace, with};

pub(super) fn corrections() -> Vec<Case> {
    let apply = "apply correction.json trace -o out";
    let saved = |text: &str| with(trace(), "correction.json", text);
    let clocks = |clocks: &str| {
        saved(&format!(
            "{{\"format\": \"retime correction\", \"version\": 1, \"clocks\": [{clocks}]}}\n"
        ))
    };
    let head = "\"format\": \"retime correction\"";
    vec![
        ("correction-missing", apply, trace()),
        ("correction-not-json", apply, saved("0 0\n1000 1001\n")),
        (
            "correction-truncated",
            apply,
            saved("{\"format\": \"retime correction\", \"ver"),
        ),
        (
            "correction-format",
            apply,
            saved("{\"format\": \"x\", \"version\": 1, \"clocks\": []}\n"),
        ),
        (
            "correction-version",
            apply,
            saved(&format!("{{{head}, \"version\": 2, \"clocks\": []}}\n")),
        ),
        (
            "correction-unknown-field",
            apply,
            saved(&format!("{{{head}, \"version\": 1, \"clock\": []}}\n")),
        ),
        (
            "correction-tick-rate",
            apply,
            saved(&format!(
                "{{{head}, \"version\": 1, \"ticks_per_second\": 1000, \"clocks\": []}}\n"
            )),
        ),
        (
            "correction-knots-not-rising",
            apply,
            clocks("{\"knots\": [[5, 5], [5, 6]]}"),
        ),
        (
            "correction-falls",
            apply,
            clocks("{\"knots\": [[5, 50], [6, 49]]}"),
        ),
        (
            "correction-misplaced-step",
            apply,
            clocks("{\"knots\": [[5, 5]], \"steps\": [[6, 0, 0, 6]]}"),
        ),
        (
            "correction-negative",
            apply,
            clocks("{\"knots\": [[5, -5]]}"),
        ),
        (
            "correction-listed-twice",
            apply,
            clocks("{\"locations\": [0, 1], \"knots\": []}, {\"locations\": [1], \"knots\": []}"),
        ),
        (
            "correction-two-rests",
            apply,
            clocks("{\"knots\": [[0, 1]]}, {\"knots\": [[0, 2]]}"),
        ),
        (
            "correction-out-of-range",
            apply,
            clocks("{\"locations\": [0], \"knots\": [[0, 18446744073709551615]]}"),
        ),
    ]
}

pub(super) fn undo() -> Vec<Case> {
    let undo = "undo trace -o out";
    let saved = |from: &str, to: &str| {
        changed(corrected(), "trace/traces.retime", |json| {
            let text = String::from_utf8(std::mem::take(json)).unwrap();
            assert!(text.contains(from), "{text}");
            *json = text.replacen(from, to, 1).into_bytes();
        })
    };
    let flip = |name: &str, at: usize| changed(corrected(), name, |bytes| bytes[at] ^= 1);
    let only_maps = "{\"format\": \"retime correction\", \"version\": 1, \"clocks\": []}\n";
    vec![
        ("undo-not-corrected", undo, trace()),
        (
            "undo-maps-only",
            undo,
            with(trace(), "trace/traces.retime", only_maps),
        ),
        ("undo-changed-events", undo, flip("trace/traces/1.evt", 20)),
        ("undo-damaged-events", undo, flip("trace/traces/1.evt", 30)),
        ("undo-changed-anchor", undo, flip("trace/traces.otf2", 48)),
        (
            "undo-file-outside",
            undo,
            saved("\"path\":\"traces.otf2\"", "\"path\":\"../traces.otf2\""),
        ),
        (
            "undo-format",
            undo,
            saved("\"undo\":{\"format\":1", "\"undo\":{\"format\":9"),
        ),
        (
            "undo-of-another-format",
            undo,
            saved("\"undo\":{\"format\":1", "\"undo\":{\"format\":\"lines\""),
        ),
        (
            "undo-other-maps",
            undo,
            saved("\"knots\":[[700,1100]", "\"knots\":[[700,1101]"),
        ),
        (
            "correct-again",
            "correct trace -o out --clocks location --min-delay 9us",
            {
                let mut files = trace();
                files.extend(
                    corrected()
                        .into_iter()
                        .filter(|(name, _)| name.contains(".retime.")),
                );
                files
            },
        ),
        (
            "apply-again",
            "apply shift.json trace -o out",
            with(
                corrected(),
                "shift.json",
                "{\"format\": \"retime correction\", \"version\": 1, \"clocks\": [{\"knots\": [[0, 1]]}]}\n",
            ),
        ),
    ]
}
