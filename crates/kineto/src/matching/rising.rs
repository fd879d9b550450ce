//! The longest row of numbers that rise.
//!
//! For each length the least number is kept with which a row so long can end; each number follows the row
//! that it can make longest (patience sorting).
//!
//! Source: C. Schensted, *Longest increasing and decreasing subsequences* (1961).

/// Which of some numbers are among the most that rise, or stay, from each to the next.
pub(super) fn rising(numbers: &[u64]) -> Vec<bool> {
    // For each length the place of the least number with which a row so long can end.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (place, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|&end| numbers.get(end) <= Some(number));
        before.push(length.checked_sub(1).and_then(|it| ends.get(it)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut is_one = vec![false; numbers.len()];
    let mut at = ends.last().copied();
    while let Some(place) = at {
        if let Some(is_one) = is_one.get_mut(place) {
            *is_one = true;
        }
        at = before.get(place).copied().flatten();
    }
    is_one
}

#[cfg(test)]
mod tests {
    use super::rising;

    #[test]
    fn as_many_as_rise_are_kept() {
        let kept = |numbers: &[u64]| -> Vec<u64> {
            let rise = rising(numbers);
            let kept = numbers.iter().zip(rise).filter(|it| it.1);
            kept.map(|it| *it.0).collect()
        };
        assert!(kept(&[]).is_empty());
        assert_eq!(kept(&[20, 23, 21, 24, 22, 25]), [20, 21, 22, 25]);
        assert_eq!(kept(&[5, 6, 6, 7]), [5, 6, 6, 7]);
        assert_eq!(kept(&[8, 1, 2, 3]), [1, 2, 3]);
    }
}
