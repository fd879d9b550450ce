//! Whose events are, where all ranks are in one file.
//!
//! Whoever puts the profiles of ranks together says whose each `pid` is:
//!
//! | by | where |
//! |---|---|
//! | `SGLang` | in front of it: `"[TP03] 1234"`, `"[TP00-DP01] 0"` |
//! | `TraceFuse` | numbers that are moved by some power of ten for each rank, and as arguments of each event the rank and what the number was (`rank`, `pid_raw`) |
//! | `retime merge` | in front of the name of the process: `rank 3: python3 59814` |
//! | others | the label of the process (`process_labels`), `rank 3` |
//!
//! What the header of such a file says of one rank holds for none of the others then.

use memchr::memmem;
use serde_json::Value;

use crate::header::number;

/// The label of the rank that a track with this `pid` is of, of which this is an event.
pub(crate) fn of_event(pid: &str, args: &[u8]) -> Option<String> {
    let label = label(pid).map(str::to_owned);
    label.or_else(|| of_arguments(pid, args))
}

/// The rank that is said beside a number that was moved.
fn of_arguments(pid: &str, args: &[u8]) -> Option<String> {
    let is_moved = memmem::find(args, b"\"pid_raw\"").is_some();
    if !is_moved || pid.parse::<u64>().is_err() {
        return None;
    }
    let args: Value = serde_json::from_slice(args).unwrap_or_default();
    number::<u32>(args.get("rank")).map(|it| it.to_string())
}

/// The rank that the label of a process says.
pub(crate) fn of_process(label: &str) -> Option<String> {
    let label = label.trim().to_ascii_lowercase();
    let number = label.strip_prefix("rank")?;
    let number = number.trim_start_matches([' ', '-', '_', '=', ':']);
    number.parse::<u32>().ok().map(|it| it.to_string())
}

/// The rank that the name of a process begins with, by its number or the label that stands for it.
pub(crate) fn of_name(name: &str) -> Option<String> {
    let (rank, _) = name.strip_prefix("rank ")?.split_once(": ")?;
    let number = rank.parse::<u32>().ok().map(|it| it.to_string());
    number.or_else(|| is_label(rank).then(|| rank.to_owned()))
}

/// The label in front of a `pid`.
fn label(pid: &str) -> Option<&str> {
    let (label, _) = pid.strip_prefix('[')?.split_once("] ")?;
    is_label(label).then_some(label)
}

/// True for words that are counted, `TP00-DP01`.
fn is_label(label: &str) -> bool {
    label.split('-').all(|part| {
        let name = part.trim_end_matches(|it: char| it.is_ascii_digit());
        let is_name = !name.is_empty() && name.chars().all(|it| it.is_ascii_alphabetic());
        is_name && name.len() < part.len()
    })
}

/// True if these are labels of several ranks.
pub(crate) fn is_merged<'a>(mut labels: impl Iterator<Item = &'a str>) -> bool {
    let first = labels.next();
    labels.any(|it| Some(it) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_before_a_pid() {
        assert_eq!(label("[TP03] 1234"), Some("TP03"));
        assert_eq!(label("[TP00-DP01] 0"), Some("TP00-DP01"));
        assert_eq!(label("[TP00] "), Some("TP00"));
        for pid in [
            "1234",
            "[TP03]",
            "[worker] 7",
            "[3] 7",
            "[TP1-] 7",
            "x [TP1] 7",
        ] {
            assert_eq!(label(pid), None, "{pid}");
        }
        let is_merged = |pids: &[&str]| is_merged(pids.iter().filter_map(|it| label(it)));
        assert!(is_merged(&["[TP0] 1", "[TP0] 0", "[TP1] 1", "Spans"]));
        assert!(!is_merged(&["[TP0] 1", "[TP0] 0", "Spans"]));
    }

    #[test]
    fn ranks_are_said_beside_moved_numbers_and_by_processes() {
        let args = br#"{"rank": 3, "pid_raw": 17}"#;
        assert_eq!(of_event("30017", args).as_deref(), Some("3"));
        assert_eq!(of_event("[TP1] 7", args).as_deref(), Some("TP1"));
        for (pid, args) in [
            ("Spans", &args[..]),
            ("17", br#"{"rank": 3}"#),
            ("17", br#"{"pid_raw": 17}"#),
            ("17", b""),
        ] {
            assert_eq!(of_event(pid, args), None);
        }
        assert_eq!(of_process("Rank 12").as_deref(), Some("12"));
        assert_eq!(of_process("rank_0").as_deref(), Some("0"));
        assert_eq!(of_name("rank 3: python3 7 (a)").as_deref(), Some("3"));
        assert_eq!(of_name("rank TP0-DP1: python3").as_deref(), Some("TP0-DP1"));
        assert_eq!(of_name("rank 3"), None);
        assert_eq!(of_name("rank x: python3"), None);
        for label in ["GPU 0", "CPU", "rank", "rank 3 of 4", "ranks 3"] {
            assert_eq!(of_process(label), None, "{label}");
        }
    }
}
