//! Names of events that have a rank put before them.
//!
//! Tools that put the profiles of several ranks into one file, or compare them side by side, tell
//! events apart by their names, `[R3] nccl:coalesced`. The name behind it is the one that PyTorch gave.

/// The name without the rank before it, if there is one.
#[inline]
pub(crate) fn without_rank(name: &[u8]) -> &[u8] {
    match name {
        [b'[', rest @ ..] => behind_rank(rest).unwrap_or(name),
        _ => name,
    }
}

fn behind_rank(name: &[u8]) -> Option<&[u8]> {
    let end = name.iter().position(|it| *it == b']')?;
    let (rank, rest) = name.split_at_checked(end)?;
    let digits = rank.iter().position(u8::is_ascii_digit)?;
    let (word, digits) = rank.split_at_checked(digits)?;
    let word = word.trim_ascii_end();
    let is_rank = [&b"r"[..], b"rank"]
        .iter()
        .any(|it| word.eq_ignore_ascii_case(it));
    let is_number = digits.iter().all(u8::is_ascii_digit);
    (is_rank && is_number).then_some(())?;
    rest.strip_prefix(b"] ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_before_a_name_is_left_out() {
        let bare = |name: &'static str| std::str::from_utf8(without_rank(name.as_bytes())).unwrap();
        for name in ["[R3] nccl:send", "[rank 12] nccl:send", "[Rank0] nccl:send"] {
            assert_eq!(bare(name), "nccl:send");
        }
        for name in [
            "nccl:send",
            "[",
            "[]",
            "[R] a",
            "[R3]a",
            "[3] a",
            "[R3x] a",
            "[memory] a",
            "[R3",
            "",
        ] {
            assert_eq!(bare(name), name);
        }
    }
}
