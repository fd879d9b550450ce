//! Iterations of the program, by the numbers that PyTorch's profiler gives them.
//!
//! With `schedule` and `profiler.step()` each iteration is a range `ProfilerStep#10` on the
//! program's own thread. All ranks count alike, so that two profiles with iterations of one number
//! have recorded the same part of the run, however far their clocks are off, and the clocks differ
//! by about what the begins of such iterations do:
//!
//! ```text
//! rank 0   ProfilerStep#10 at 100 ms    ProfilerStep#11 at 120 ms
//! rank 4                                ProfilerStep#11 at 3125 ms    --> about 3005 ms apart
//! ```
//!
//! That is not exact, since nobody waits for anybody at the begin of an iteration, and a program
//! may count otherwise. It decides only where [clocks alone](crate::matching) leave several
//! possibilities; where these say otherwise, nothing is joined.

use serde::{Deserialize, Serialize};

/// An iteration that a profile has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Iteration {
    pub(crate) number: u64,
    /// The event that it is.
    pub(crate) event: u32,
}

impl Iteration {
    /// The iteration that a range of this name is.
    pub(crate) fn of(name: &[u8], event: u32) -> Option<Self> {
        let number = name.strip_prefix(b"ProfilerStep#")?;
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        Some(Self { number, event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_the_name_of_the_range() {
        let of = |name: &[u8]| Iteration::of(name, 3).map(|it| it.number);
        assert_eq!(of(b"ProfilerStep#10"), Some(10));
        assert_eq!(of(b"ProfilerStep*"), None);
        assert_eq!(of(b"ProfilerStep#"), None);
        assert_eq!(of(b"ProfilerStep#99999999999999999999999"), None);
    }
}
