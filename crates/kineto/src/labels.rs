//! Whose events are, where all ranks are in one file.
//!
//! Servers put the profiles of their ranks together, and write in front of each `pid` whose it
//! is: `"[TP03] 1234"`, `"[TP00-DP01] 0"`. What the header of such a file says of one rank
//! holds for none of the others then.

/// The label of the rank that a `pid` is of.
pub(crate) fn label(pid: &str) -> Option<&str> {
    let (label, _) = pid.strip_prefix('[')?.split_once("] ")?;
    let is_counted = |part: &str| {
        let name = part.trim_end_matches(|it: char| it.is_ascii_digit());
        let is_name = !name.is_empty() && name.chars().all(|it| it.is_ascii_alphabetic());
        is_name && name.len() < part.len()
    };
    label.split('-').all(is_counted).then_some(label)
}

/// True if these are of several ranks.
pub(crate) fn is_merged<'a>(pids: impl Iterator<Item = &'a str>) -> bool {
    let mut labels = pids.filter_map(label);
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
        let is_merged = |pids: &[&str]| is_merged(pids.iter().copied());
        assert!(is_merged(&["[TP0] 1", "[TP0] 0", "[TP1] 1", "Spans"]));
        assert!(!is_merged(&["[TP0] 1", "[TP0] 0", "Spans"]));
    }
}
