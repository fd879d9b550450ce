//! The most frequent value of a sample, without bins.
//!
//! Half of the values lie in the shortest stretch that holds half of them; half of those in the
//! shortest that holds a quarter; and so on, until there are two or three left. Neither a long
//! tail nor a few stray values move it, and no width of bins has to be chosen. Where stretches
//! are equally short, the lowest counts.
//!
//! ```
//! use retime_numerics::mode::half_sample_mode;
//! let mut values = vec![900, 53, 50, 400, 52, 51, 90, 51, 2_000, 54];
//! assert_eq!(half_sample_mode(&mut values), Some(51));
//! assert_eq!(half_sample_mode(&mut []), None);
//! ```
//!
//! Source: D. R. Bickel and R. Frühwirth, *On a fast, robust estimator of the mode*,
//! Computational Statistics & Data Analysis 50 (2006); the idea is from Robertson and Cryer (1974).

/// The most frequent of values, which get sorted; rounded down between two of them.
pub fn half_sample_mode(values: &mut [i64]) -> Option<i64> {
    values.sort_unstable();
    let mut rest: &[i64] = values;
    loop {
        match *rest {
            [] => return None,
            [one] => return Some(one),
            [low, high] => return Some(middle(low, high)),
            [low, mid, high] => {
                let (below, above) = (mid.abs_diff(low), high.abs_diff(mid));
                return Some(match below.cmp(&above) {
                    std::cmp::Ordering::Less => middle(low, mid),
                    std::cmp::Ordering::Equal => mid,
                    std::cmp::Ordering::Greater => middle(mid, high),
                });
            }
            _ => {
                let half = rest.len().div_ceil(2);
                let shortest = rest
                    .windows(half)
                    .min_by_key(|it| it[half - 1].abs_diff(it[0]));
                rest = shortest.unwrap_or(&[]);
            }
        }
    }
}

fn middle(low: i64, high: i64) -> i64 {
    let sum = i128::from(low) + i128::from(high);
    // It lies between the two.
    sum.div_euclid(2) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_most_have_is_found_among_coarse_ticks() {
        let mut values = vec![0, 10, 10, 10, 10, 10, 20, 20, 30, 990];
        assert_eq!(half_sample_mode(&mut values), Some(10));
    }

    #[test]
    fn a_tail_does_not_move_it() {
        // Round trips around 100, and as many that waited for something.
        let near = (0..50_i64).map(|it| 100 + it * it / 50);
        let far = (0..49_i64).map(|it| 1_000 + 97 * it);
        let mut values: Vec<i64> = near.chain(far).collect();
        assert!(half_sample_mode(&mut values).is_some_and(|it| (100..103).contains(&it)));
    }

    #[test]
    fn ends_of_all_numbers_overflow_nothing() {
        assert_eq!(half_sample_mode(&mut [i64::MIN, i64::MAX]), Some(-1));
        let mut values = [i64::MAX, i64::MIN, 5, 6, 7, i64::MAX];
        assert_eq!(half_sample_mode(&mut values), Some(6));
    }
}
