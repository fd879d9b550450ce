//! Galloping search: a binary search that begins at the last answer.
//!
//! A walk through a trace in order looks up one knot after the other, and most answers lie at
//! the last one or right after it, where a search over all would begin from nothing each time.
//! So the steps from the last answer double, 1, 2, 4, ..., until they are past the next one, and a
//! binary search goes between the last two of them: time logarithmic in the distance.
//!
//! Source: J. L. Bentley and A. C. Yao, *An almost optimal algorithm for unbounded searching*,
//! Information Processing Letters 5 (1976).

/// The answer of [`slice::partition_point`], found fast if it lies at `near` or somewhat beyond;
/// `near` matters for speed alone.
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
