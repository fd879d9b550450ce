//! The largest of some values that are not in a given domain.
//!
//! One pass answers that for every domain: if the largest of all is in the domain that is
//! asked for, the answer is the largest of those in other domains than that one.
//!
//! ```text
//! outside(d) = best, if its domain is not d; else max of the values outside of best's domain
//! ```
//!
//! ```
//! use retime_numerics::top_two::TopTwo;
//! let mut top = TopTwo::default();
//! for (value, of, domain) in [(10, 'a', 0), (40, 'b', 1), (30, 'c', 0), (35, 'd', 1)] {
//!     top.push(value, of, domain);
//! }
//! assert_eq!(top.outside(0), Some((40, 'b')));
//! assert_eq!(top.outside(1), Some((30, 'c')));
//! ```

/// The largest value seen, and the largest of another domain, with what they are of:
/// values of type `T` in domains `D`.
#[derive(Clone, Copy, Debug)]
pub struct TopTwo<D, T> {
    best: Option<(i64, T, D)>,
    other: Option<(i64, T)>,
}

impl<D, T> Default for TopTwo<D, T> {
    fn default() -> Self {
        Self {
            best: None,
            other: None,
        }
    }
}

impl<D: PartialEq + Copy, T: Copy> TopTwo<D, T> {
    /// Takes a value `of` something in `domain`. Of equal values the first counts.
    #[inline]
    pub fn push(&mut self, value: i64, of: T, domain: D) {
        match self.best {
            Some((best, ..)) if value <= best => {
                let same = self.best.is_some_and(|(_, _, best)| best == domain);
                if !same && self.other.is_none_or(|(other, _)| value > other) {
                    self.other = Some((value, of));
                }
            }
            previous => {
                if let Some((value, of, best)) = previous
                    && best != domain
                {
                    self.other = Some((value, of));
                }
                self.best = Some((value, of, domain));
            }
        }
    }

    /// The largest value.
    pub fn largest(&self) -> Option<i64> {
        self.best.map(|(value, ..)| value)
    }

    /// The largest value outside of `domain`, and what it is of.
    #[inline]
    pub fn outside(&self, domain: D) -> Option<(i64, T)> {
        match self.best {
            Some((value, of, best)) if best != domain => Some((value, of)),
            _ => self.other,
        }
    }
}
