//! The first few of many, in words.

/// The first `most`, and how many more there are; nothing if there are none.
pub(crate) fn few(all: impl ExactSizeIterator<Item = String>, most: usize) -> Option<String> {
    let more = match all.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named: Vec<String> = all.take(most).collect();
    (!named.is_empty()).then(|| named.join(", ") + &more)
}

#[cfg(test)]
mod tests {
    use super::few;

    #[test]
    fn the_rest_is_counted() {
        let all = |count: usize| {
            few(
                [7, 8, 9].map(|it| it.to_string()).into_iter().take(count),
                2,
            )
        };
        assert_eq!(all(0), None);
        assert_eq!(all(2).as_deref(), Some("7, 8"));
        assert_eq!(all(3).as_deref(), Some("7, 8 and 1 more"));
    }
}
