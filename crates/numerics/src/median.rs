//! The middle of values: a mean that takes no notice of outliers.
//!
//! Values are selected, not sorted, in a time in proportion to their number.
//!
//! ```
//! use retime_numerics::median::median;
//! assert_eq!(median(&mut [1.0, 2.0, 900.0]), Some(2.0));
//! assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
//! ```
//!
//! Source: C. A. R. Hoare, *Algorithm 65: Find* (1961).

/// The middle value, of an even number the mean of both; `None` without values.
/// Reorders them.
pub fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_value() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
    }
}
