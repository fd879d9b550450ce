//! Binary search for those who mostly ask for what comes next.
//!
//! Who goes through a trace in order looks up one knot after the other. Most answers
//! lie at the last one or right after it, where a search over all would begin from
//! nothing each time: so steps of 1, 2, 4, ... from the last answer on, and a search
//! between the last two of them. It takes time logarithmic in how far that was.

/// As [`slice::partition_point`], for answers that are mostly at `near` or somewhat
/// beyond; what `near` is matters for speed alone.
///
/// ```
/// use retime_model::partition_point_near;
/// let sorted = [10, 20, 30, 40, 50];
/// for near in 0..9 {
///     assert_eq!(partition_point_near(&sorted, near, |&it| it < 35), 3);
/// }
/// ```
#[inline]
pub fn partition_point_near<T>(
    sorted: &[T],
    near: usize,
    mut is_before: impl FnMut(&T) -> bool,
) -> usize {
    let known = sorted.get(..near);
    if !known.is_some_and(|known| known.last().is_none_or(&mut is_before)) {
        return known.unwrap_or(sorted).partition_point(is_before);
    }
    // All before `start` are before the answer.
    let (mut start, mut step) = (near, 1);
    while let Some(probe) = sorted.get(start + step - 1)
        && is_before(probe)
    {
        start += step;
        step *= 2;
    }
    let end = sorted.len().min(start + step - 1);
    start + sorted[start..end].partition_point(is_before)
}
