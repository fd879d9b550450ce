//! Random numbers that are the same on every machine.
//!
//! A trace made from a seed must be reproducible to the last bit, so nothing
//! here depends on a library of mathematical functions, whose last digits
//! differ between platforms: only integer arithmetic and the basic operations
//! on floating point numbers are used.

/// A stream of random numbers (`SplitMix64`).
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream number `stream` of a seed. Streams of one seed are
    /// independent of each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self { state: seed };
        let start = random.bits();
        random.state = start ^ stream.wrapping_mul(0xD134_2543_DE82_EF95);
        random.bits();
        random
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number from 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `-limit` to `limit`.
    pub fn within(&mut self, limit: f64) -> f64 {
        (2.0 * self.uniform() - 1.0) * limit
    }

    /// A number with exponential distribution around the given mean.
    ///
    /// Von Neumann's method, which only compares uniform numbers: the length
    /// of a falling run that starts at x is odd with probability exp(-x).
    pub fn exponential(&mut self, mean: f64) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.uniform();
            let mut last = first;
            let mut odd = true;
            loop {
                let next = self.uniform();
                if next > last {
                    break;
                }
                last = next;
                odd = !odd;
            }
            if odd {
                return (whole + first) * mean;
            }
            whole += 1.0;
        }
    }

    /// A number above 0 with a Pareto distribution: more than `x` with probability
    /// `(1 + x)^-index`.
    ///
    /// With `e` exponential of mean `1/index`, `exp(e) - 1` is so distributed.
    pub fn pareto(&mut self, index: f64) -> f64 {
        growth(self.exponential(1.0 / index))
    }
}

/// `exp(x) - 1` for `x` of 0 and more: by the series where `x` is small, to which
/// `exp(2x) - 1 = (exp(x) - 1) (exp(x) + 1)` leads.
fn growth(x: f64) -> f64 {
    const SMALL: f64 = 1.0 / 64.0;
    if x > f64::from(f64::MAX_EXP) {
        return f64::INFINITY;
    }
    if x > SMALL {
        let half = growth(x / 2.0);
        return half * (half + 2.0);
    }
    let term = |rest: f64, number: u32| x / f64::from(number) * (1.0 + rest);
    (1..=8).rev().fold(0.0, term)
}

#[cfg(test)]
mod tests {
    use super::{Random, growth};

    const DRAWS: usize = 200_000;

    #[test]
    fn exponential_has_its_mean_and_its_tail() {
        let mut random = Random::new(1, 2);
        let draws: Vec<_> = (0..DRAWS).map(|_| random.exponential(3.0)).collect();
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        assert!((mean - 3.0).abs() < 0.03, "{mean}");
        let tail = draws.iter().filter(|&&it| it > 9.0).count() as f64 / DRAWS as f64;
        assert!((tail - (-3.0_f64).exp()).abs() < 0.002, "{tail}");
    }

    #[test]
    fn growth_is_that_of_the_exponential() {
        for x in [0.0, 1e-12, 1e-3, 0.5, 1.0, 7.0, 40.0] {
            let (found, exact) = (growth(x), f64::exp_m1(x));
            assert!((found - exact).abs() <= 1e-13 * exact, "{x}: {found}");
        }
        assert!(growth(1e300).is_infinite());
    }

    #[test]
    fn uniform_fills_its_range() {
        let mut random = Random::new(1, 2);
        let draws: Vec<_> = (0..DRAWS).map(|_| random.within(1.0)).collect();
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!(draws.iter().all(|it| (-1.0..=1.0).contains(it)));
        assert!(draws.iter().any(|&it| it < -0.999) && draws.iter().any(|&it| it > 0.999));
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first: Vec<_> = (0..100)
            .map(|stream| Random::new(7, stream).bits())
            .collect();
        let again: Vec<_> = (0..100)
            .map(|stream| Random::new(7, stream).bits())
            .collect();
        assert_eq!(first, again);
        let distinct: std::collections::HashSet<_> = first.into_iter().collect();
        assert_eq!(distinct.len(), 100);
    }
}
