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
//! The points are the fastest messages of windows of time, the eight or the sixteen lowest of them, whichever
//! lie closer for their number: where a few come in at once and all others late, sixteen tell of those. As
//! what delays messages lasts longer than a window, four count as one: `k = 4`. If nothing is known of the
//! other direction (`d'` is infinite) and `d = G`, the mean of `(1 + u)^-4` is `u = 2/7`; alike they give the
//! middle. Where both lie far closer than `G`, either end is as good, and the ratio of both decides, as
//! `(d / d')^3`: the mean goes from end to end smoothly, where a median would jump.
//!
//! **The floor.** Where a program waits in each message, as for a root that scatters and gathers, the
//! fastest of all is no floor. Then `L` is open as well. Latencies of machines lie orders of
//! magnitude apart, and twice as long ones are taken to be half as likely; less than a microsecond, `l`, a message
//! of MPI hardly takes. So floors and waits of both directions lie where
//!
//! ```text
//! p(L, g) ~ L^-2 (g + d)^-k (G - g + d')^-k,    a = L + g,    G = S - 2 L,    l < L < S/2,    0 < g < G
//! ```
//!
//! and `a` is known to a mean and a deviation. For one floor these are sums of integrals of `x^-m (A - x)^-n`, with
//! `x = g + d` and `A = G + d + d'`, of which all partial fractions are positive:
//!
//! ```text
//! x^-m (A - x)^-n = sum of  C(m+n-1-i, n-1) A^(i-m-n) x^-i        for i = 1 .. m
//!                     and of  C(m+n-1-i, m-1) A^(i-m-n) (A - x)^-i  for i = 1 .. n
//! ```
//!
//! Where both directions lie close, their floors are half of `S`: of small floors one of both would
//! have waited long, which its fastest deny. Where one alone does, it takes little more than `l`. So `L` is the least
//! latency of all, but no more than the mean and the deviation of any direction together.
//!
//! Source: that the spacing of the lowest values tells how far the end of their distribution lies
//! below them, P. Hall, *On Estimating the Endpoint of a Distribution*, Annals of Statistics 10
//! (1982); the prior of a scale, H. Jeffreys, *Theory of Probability* (1961), section 3.1.

use super::options::OPTIONS;

/// Points at which the probability is looked at, from either end to the middle. If spreads are a
/// millionth of what is open, each lies a fifth further from the end than the one before, and the
/// mean is off by 3 %.
const POINTS: usize = 64;
/// Floors that are looked at, small ones and those near half of the sum.
const FLOORS: usize = 24;
/// The windows whose fastest tell something new, as what delays messages lasts longer than one.
const LASTING: usize = OPTIONS.spread / OPTIONS.lasting;

/// How far the sixteen lowest of these latencies are spread, the fastest of each window, infinite
/// where it has none; less if the eight lowest lie closer for their number. `None` if fewer than
/// sixteen have any. Puts them in another order.
pub(super) fn spread(lowest: &mut [f64]) -> Option<f64> {
    let last = OPTIONS.spread - 1;
    // Most links of many clocks have too few.
    if lowest.iter().filter(|it| it.is_finite()).count() <= last {
        return None;
    }
    lowest.select_nth_unstable_by(last, f64::total_cmp);
    let lowest = &mut lowest[..=last];
    lowest.sort_unstable_by(f64::total_cmp);
    let of = |place: usize| (lowest[place] - lowest[0]) * (last as f64 / place as f64);
    Some(of(OPTIONS.spread / 2 - 1).min(of(last)))
}

/// The share of a direction of the `open` ticks that the fastest messages of both waited, if the
/// lowest of it are spread by `own` and those of the other by `back`: the mean.
pub(super) fn share_of_wait(open: f64, own: f64, back: f64) -> f64 {
    let windows = LASTING as i32;
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

/// The time that the fastest of a direction takes, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FastestTime {
    pub(super) mean: f64,
    /// The standard deviation.
    pub(super) deviation: f64,
}

/// The time that the fastest of a direction takes, if it and the fastest back take `sum` ticks together,
/// the lowest of both are spread by `own` and `back`, and none takes less than `least`. Half of
/// the sum where nothing else is left.
pub(super) fn fastest_time(sum: f64, own: f64, back: f64, least: f64) -> FastestTime {
    let middle = FastestTime {
        mean: 0.5 * sum,
        deviation: 0.5 * sum.max(0.0),
    };
    if !(2.0 * least < sum && least > 0.0) {
        return middle;
    }
    let waits = Waits {
        own: own / sum,
        back: back / sum,
    };
    let least = least / sum;
    let (mut all, mut times, mut squares) = (0.0, 0.0, 0.0);
    // `stretch` is the length of the stretch of floors that one stands for.
    let mut add = |floor: f64, stretch: f64| {
        let prior = stretch / (floor * floor);
        let [likely, waited, squared] = waits.likelihood(1.0 - 2.0 * floor);
        all += prior * likely;
        times += prior * (floor * likely + waited);
        squares += prior * (floor * (floor * likely + 2.0 * waited) + squared);
    };
    // Small floors at equal steps of their logarithm; near half of the sum, of that of what is left.
    let turn = 0.25_f64.max(least);
    let step = (turn / least).ln() / FLOORS as f64;
    for point in 0..FLOORS {
        let floor = least * (step * (point as f64 + 0.5)).exp();
        add(floor, floor * step);
    }
    let near = waits.own.min(waits.back);
    let step = ((1.0 - 2.0 * turn) / near).ln_1p() / FLOORS as f64;
    for point in 0..FLOORS {
        let grown = near * (step * (point as f64 + 0.5)).exp();
        add(0.5 * (1.0 - (grown - near)), 0.5 * grown * step);
    }
    let (mean, square) = (times / all, squares / all);
    let found = FastestTime {
        mean: sum * mean,
        deviation: sum * (square - mean * mean).max(0.0).sqrt(),
    };
    // Of what is no number nothing is known.
    let is_known = found.mean.is_finite() && found.deviation.is_finite();
    if is_known { found } else { middle }
}

/// How far the lowest of two directions are spread, as shares of what both fastest take.
struct Waits {
    own: f64,
    back: f64,
}

impl Waits {
    /// The likelihood of all ways to divide an `open` share, and the sums of what this direction waits
    /// in them and of its square, each times its own.
    fn likelihood(&self, open: f64) -> [f64; 3] {
        let both = Integrals::new(self, open);
        let [all, first, second] = [0, 1, 2].map(|it| both.moment(LASTING - it, LASTING));
        let waited = (first - self.own * all).max(0.0);
        let squared = second - self.own * (2.0 * first - self.own * all);
        [all, waited, squared.max(0.0)]
    }
}

/// The integrals and powers that partial fractions are made of, for waits that are `open` together: `x` is
/// what the one direction waits and is spread by, `y` that of the other, and their sum stays.
struct Integrals {
    /// The integrals of `x^-i` and of `y^-i`, for `i` from 1.
    own: [f64; LASTING],
    back: [f64; LASTING],
    /// The sum of `x` and `y` to the power of `i`, for `i` from 0.
    sum: [f64; 2 * LASTING],
}

impl Integrals {
    fn new(waits: &Waits, open: f64) -> Self {
        let powers = |from: f64| {
            std::array::from_fn(|at| match at as i32 {
                0 => (open / from).ln_1p(),
                i => (from.powi(-i) - (from + open).powi(-i)) / f64::from(i),
            })
        };
        let sum = open + waits.own + waits.back;
        Self {
            own: powers(waits.own),
            back: powers(waits.back),
            sum: std::array::from_fn(|i| sum.powi(i as i32)),
        }
    }

    /// The integral of `x^-m y^-n`, by partial fractions, none of which is negative.
    fn moment(&self, m: usize, n: usize) -> f64 {
        let part = |powers: &[f64], own: usize, other: usize| -> f64 {
            let powers = (1..=own).zip(powers);
            let of = powers.map(|(exponent, power)| {
                let ways = choose(m + n - 1 - exponent, other - 1);
                ways * power / self.sum[m + n - exponent]
            });
            of.sum()
        };
        part(&self.own, m, n) + part(&self.back, n, m)
    }
}

/// How many ways there are to choose `k` of `n`.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|at| (n - at) as f64 / (at + 1) as f64).product()
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

    /// The mean of the time of the fastest, by plain sums over floors and waits.
    fn summed(sum: f64, own: f64, back: f64, least: f64) -> f64 {
        let (mut all, mut times) = (0.0, 0.0);
        let steps = 4_000;
        for at in 0..steps {
            let step = (0.5 * sum / least).ln() / f64::from(steps);
            let floor = least * (step * (f64::from(at) + 0.5)).exp();
            let open = sum - 2.0 * floor;
            for part in 0..400 {
                let wait = open * (f64::from(part) + 0.5) / 400.0;
                let likely = ((wait + own) * (open - wait + back)).powi(-4) * open / 400.0;
                let likely = likely * step / floor;
                all += likely;
                times += (floor + wait) * likely;
            }
        }
        times / all
    }

    #[test]
    fn the_mean_is_that_of_sums() {
        for (own, back, least) in [(20.0, 30.0, 1.0), (5.0, 300.0, 0.1), (40.0, 8.0, 20.0)] {
            let found = fastest_time(100.0, own, back, least).mean;
            let right = summed(100.0, own, back, least);
            assert!((found / right - 1.0).abs() < 0.02, "{found} {right}");
        }
    }

    #[test]
    fn who_lies_close_alone_takes_little_and_both_take_half() {
        let alone = fastest_time(1_000.0, 1.0, 1e4, 1.0);
        assert!(alone.mean < 12.0 && alone.deviation < 100.0, "{alone:?}");
        let other = fastest_time(1_000.0, 1e4, 1.0, 1.0);
        assert!(
            (alone.mean + other.mean - 1_000.0).abs() < 1e-6,
            "{other:?}"
        );
        let close = fastest_time(1_000.0, 1.0, 1.0, 1.0);
        assert!(close.deviation < 2.0, "{close:?}");
        // However far they lie, alike they tell nothing.
        for spread in [1e-3, 1.0, 100.0, 1e6] {
            let both = fastest_time(1_000.0, spread, spread, 1.0);
            assert!((both.mean - 500.0).abs() < 1e-6, "{both:?}");
            assert!(both.deviation < 2.0 * spread.max(250.0), "{both:?}");
        }
    }

    #[test]
    fn where_no_floor_is_left_it_is_the_middle() {
        let mean = |sum, own, least| fastest_time(sum, own, 9.0, least).mean;
        assert!((mean(30.0, 1.0, 15.0) - 15.0).abs() < 1e-12);
        assert!((mean(-30.0, 1.0, 1.0) + 15.0).abs() < 1e-12);
        assert!((mean(30.0, f64::NAN, 1.0) - 15.0).abs() < 1e-12);
    }

    #[test]
    fn a_spread_is_that_of_the_sixteen_lowest() {
        let squares = (0..20).rev().map(|at| f64::from(at * at));
        let lowest: Vec<f64> = squares.chain([f64::INFINITY; 3]).collect();
        // Of 0, 1, 4, ... 225 the eight lowest, up to 49, lie closer for their number.
        assert_eq!(spread(&mut lowest.clone()), Some(49.0 * 15.0 / 7.0));
        assert_eq!(spread(&mut lowest[..15].to_vec()), None);
        assert_eq!(spread(&mut lowest[5..].to_vec()), None);
        assert_eq!(spread(&mut [7.0; 16]), Some(0.0));
    }
}
