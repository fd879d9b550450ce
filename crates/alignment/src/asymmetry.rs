//! Which of two directions between clocks is the faster one.
//!
//! Of the fastest messages of a pair only the sum `S = a + b` of both directions is known: an offset
//! takes from the one what it adds to the other. The middle, `a = b`, is wrong by half of what they
//! differ by. Where a process polls, or is woken up late, one direction takes hundreds of
//! microseconds and the other two, and then the difference is nearly all of `S`.
//!
//! How the fastest messages are spread tells which it is. Let no message of a direction take less
//! than `L`, and the fastest `g` more. Near their least value, unless their density vanishes there,
//! waits lie as evenly as the points of a Poisson process. If `k` of them lie within `d` of the fastest,
//! their likelihood is `rate^k exp(-rate (g + d))`, and over all rates alike (`1 / rate`)
//!
//! ```text
//! p(g) ~ (g + d)^(-k)                        a direction of which the fastest lie close is near its floor
//! ```
//!
//! Between idle processes both directions take about the same, `L`, as the fastest message of all does. So
//! both waits are `G = S - 2 L` together, and the share `u` of one of them lies where
//!
//! ```text
//! p(u) ~ (1 + u G / d)^(-k) (1 + (1 - u) G / d')^(-k),    0 < u < 1
//! a = L + u G,   b = L + (1 - u) G           with the mean of u
//! ```
//!
//! The points are the fastest messages of windows of time, the sixteen lowest of them. As what delays
//! messages lasts longer than a window, four count as one: `k = 4`. If nothing is known of the other
//! direction (`d'` is infinite) and `d = G`, the mean of `(1 + u)^-4` is `u = 2/7`; alike they give the
//! middle. Where both lie far closer than `G`, either end is as good, and the ratio of both decides, as
//! `(d / d')^3`: the mean goes from end to end smoothly, where a median would jump.
//!
//! Source: that the spacing of the lowest values tells how far the end of their distribution lies
//! below them, P. Hall, *On Estimating the Endpoint of a Distribution*, Annals of Statistics 10
//! (1982); the prior of a scale, H. Jeffreys, *Theory of Probability* (1961), section 3.1.

use super::options::OPTIONS;

/// Points at which the probability is looked at, from either end to the middle. If spreads are a
/// millionth of what is open, each lies a fifth further from the end than the one before, and the
/// mean is off by 3 %.
const POINTS: usize = 64;

/// How far the sixteen lowest of these latencies are spread, the fastest of each window, infinite
/// where it has none; `None` if fewer have any. Puts them in another order.
pub(super) fn spread(lowest: &mut [f64]) -> Option<f64> {
    let last = OPTIONS.spread - 1;
    // Most links of many clocks have too few.
    if lowest.iter().filter(|it| it.is_finite()).count() <= last {
        return None;
    }
    let (before, at, _) = lowest.select_nth_unstable_by(last, f64::total_cmp);
    let first = before.iter().copied().fold(*at, f64::min);
    Some(*at - first)
}

/// The share of a direction of the `open` ticks that the fastest messages of both waited, if the
/// lowest of it are spread by `own` and those of the other by `back`: the mean.
pub(super) fn share_of_wait(open: f64, own: f64, back: f64) -> f64 {
    let windows = (OPTIONS.spread / OPTIONS.lasting) as i32;
    // The likelihood changes within the spreads, however little of what is open these are. So each
    // half is walked from its end, at equal steps of the logarithm of `wait + spread`.
    let half = |near: f64, far: f64| {
        let step = (0.5 * open / near).ln_1p() / POINTS as f64;
        let (mut all, mut waits) = (0.0, 0.0);
        let (growth, whole) = (step.exp(), 1.0 + open / far);
        let mut grown = (0.5 * step).exp();
        for _ in 0..POINTS {
            let wait = near * (grown - 1.0);
            let likely = (grown * (whole - wait / far)).powi(-windows);
            // d wait = near * grown d(ln grown)
            let probable = grown * likely;
            all += probable;
            waits += probable * wait;
            grown *= growth;
        }
        [all, waits].map(|it| it * near * step)
    };
    let ([own_all, waits], [back_all, others]) = (half(own, back), half(back, own));
    let (all, waits) = (own_all + back_all, waits + open * back_all - others);
    let share = waits / (all * open);
    // Of what is no number nothing is known.
    if share.is_finite() { share } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_of_which_the_fastest_lie_close_waited_less() {
        // The worked example.
        let alone = share_of_wait(100.0, 100.0, 1e12);
        assert!((alone - 2.0 / 7.0).abs() < 1e-4, "{alone}");
        assert!((share_of_wait(100.0, 1e12, 100.0) - 5.0 / 7.0).abs() < 1e-4);
        // Alike they tell nothing, however close they lie.
        for spread in [0.1, 10.0, 1e6] {
            assert!((share_of_wait(100.0, spread, spread) - 0.5).abs() < 1e-9);
        }
        // Far closer than what is open, ten times as far apart: the ends are as 1000 to 1.
        let ends = share_of_wait(1e6, 1.0, 10.0);
        assert!((ends - 1e-3).abs() < 1e-4, "{ends}");
    }

    #[test]
    fn a_share_grows_with_the_spread_of_its_direction() {
        let shares = [1.0, 3.0, 10.0, 30.0, 100.0].map(|own| share_of_wait(50.0, own, 10.0));
        assert!(
            shares.is_sorted() && (shares[2] - 0.5).abs() < 1e-9,
            "{shares:?}"
        );
        assert!((share_of_wait(f64::NAN, 1.0, 1.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_spread_is_that_of_the_sixteen_lowest() {
        let squares = (0..20).rev().map(|at| f64::from(at * at));
        let lowest: Vec<f64> = squares.chain([f64::INFINITY; 3]).collect();
        assert_eq!(spread(&mut lowest.clone()), Some(225.0));
        assert_eq!(spread(&mut lowest[..15].to_vec()), None);
        assert_eq!(spread(&mut lowest[5..].to_vec()), None);
        assert_eq!(spread(&mut [7.0; 16]), Some(0.0));
    }
}
