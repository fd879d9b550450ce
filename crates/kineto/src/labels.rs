//! Whose events are, where all ranks are in one file.
//!
//! Whoever puts the profiles of ranks together says whose each `pid` is:
//!
//! | by | where |
//! |---|---|
//! | `SGLang` | in front of it: `"[TP03] 1234"`, `"[TP00-DP01] 0"` |
//! | `TraceFuse` | numbers that are moved by some power of ten for each rank, and as arguments of each event the rank and what the number was (`rank`, `pid_raw`) |
//! | `retime merge` | in front of the name of the process: `rank 3: python3 59814` |
//! | others | the label of the process (`process_labels`), `rank 3`, or its name: `Rank 3 (node1)`, `rank3: python`, `[rank 3] python`, `[TP03] 1234` |
//! | others | an argument `rank` of each event that communicates, where each `pid` is of one rank alone |
//!
//! The header of such a file speaks of one rank, and holds for none of the others. The host of a
//! rank is what stands behind it in parentheses, `Rank 3 (node1)`, if that is called a node or a host and
//! has a number: other words may be devices, or parts of a job.

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
    said(args).map(|it| it.to_string())
}

/// The rank that arguments say.
pub(crate) fn said(args: &[u8]) -> Option<u32> {
    memmem::find(args, b"\"rank\"")?;
    let args: Value = serde_json::from_slice(args).unwrap_or_default();
    number(args.get("rank"))
}

/// The rank that the label or the name of a process begins with, by its number or the label that stands
/// for it.
pub(crate) fn of_process(name: &str) -> Option<String> {
    let name = name.trim();
    if let Some((inner, _)) = name.strip_prefix('[').and_then(|it| it.split_once(']')) {
        return number_of(inner).or_else(|| is_of_job(inner).then(|| inner.to_owned()));
    }
    let counted = || {
        let (rank, _) = name.strip_prefix("rank ")?.split_once(": ")?;
        is_label(rank).then(|| rank.to_owned())
    };
    number_of(name).or_else(counted)
}

/// The host that the label or the name of the process of a rank names.
pub(crate) fn host_of_process(name: &str) -> Option<&str> {
    const HOSTS: [&str; 3] = ["node", "host", "nid"];
    of_process(name)?;
    let (_, host) = name.trim().strip_suffix(')')?.rsplit_once('(')?;
    let lower = host.to_ascii_lowercase();
    let is_called_so = HOSTS.iter().any(|it| lower.starts_with(it));
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let is_numbered = host.contains(|it: char| it.is_ascii_digit());
    (is_called_so && is_numbered && host.chars().all(is_word)).then_some(host)
}

/// The number behind "rank" at the beginning, if nothing goes on there that makes it another word.
fn number_of(name: &str) -> Option<String> {
    let (rank, behind) = name.split_at_checked("rank".len())?;
    if !rank.eq_ignore_ascii_case("rank") {
        return None;
    }
    let number = behind.trim_start_matches([' ', '-', '_', '=', ':', '#']);
    let end = number.find(|it: char| !it.is_ascii_digit());
    let (number, behind) = number.split_at_checked(end.unwrap_or(number.len()))?;
    let mut behind = behind.chars();
    let ends = match behind.next() {
        None => true,
        Some('.') => behind.next().is_none_or(|it| !it.is_ascii_digit()),
        // One number of several, as of a whole host.
        Some('-' | ',' | '+' | '~') => false,
        Some(next) => !next.is_alphanumeric() && next != '_',
    };
    let number = number.parse::<u32>().ok().filter(|_| ends)?;
    Some(number.to_string())
}

/// The ways in which jobs are divided, by which programs number their ranks.
const DIVISIONS: [&str; 6] = ["TP", "DP", "PP", "EP", "CP", "SP"];

/// True for a label of counted ways in which a job is divided.
fn is_of_job(label: &str) -> bool {
    let is_division = |part: &str| {
        let word = part.trim_end_matches(|it: char| it.is_ascii_digit());
        DIVISIONS.iter().any(|it| it.eq_ignore_ascii_case(word))
    };
    is_label(label) && label.split('-').all(is_division)
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
        for (name, rank) in [
            ("Rank 12", "12"),
            ("rank_0", "0"),
            ("rank 3: python3 7 (a)", "3"),
            ("rank TP0-DP1: python3", "TP0-DP1"),
            ("rank 3", "3"),
            ("rank 3 of 4", "3"),
            ("Rank 3 (node1)", "3"),
            ("Rank 3 - GPU Stream", "3"),
            ("Rank 3 training loop process", "3"),
            ("rank3.pt.trace.json: python", "3"),
            ("[rank 3] python", "3"),
            ("[Rank3]: python", "3"),
            ("[TP03] 1234", "TP03"),
            ("[tp0-pp1] python", "tp0-pp1"),
        ] {
            assert_eq!(of_process(name).as_deref(), Some(rank), "{name}");
        }
        for name in [
            "GPU 0",
            "CPU",
            "rank",
            "ranks 3",
            "rank 3-5",
            "rank 0, 1",
            "rank 3rd",
            "rank 3.5",
            "ranking 3",
            "rank x: python3",
            "rank 99999999999",
            "[GPU0] python",
            "[worker3] python",
        ] {
            assert_eq!(of_process(name), None, "{name}");
        }
    }

    #[test]
    fn hosts_stand_behind_ranks() {
        let cluster = "nid001234.cluster-2";
        assert_eq!(host_of_process("Rank 3 (node1)"), Some("node1"));
        let named = format!("rank 0: python3 (torchrun) ({cluster})");
        assert_eq!(host_of_process(&named), Some(cluster));
        for name in [
            "Rank 3 (GPU 0)",
            "Rank 3 (host)",
            "Rank 3 (TP1)",
            "Rank 3 (node 1)",
            "Rank 3 node1",
            "python (node1)",
        ] {
            assert_eq!(host_of_process(name), None, "{name}");
        }
    }
}
