//! How long parts of a [log](crate::log) lasted, and what went on meanwhile.

use serde::{Deserialize, Serialize};

use crate::log_node::LogNode;
use crate::packed_fields;
use crate::time::Ticks;

/// A number of ticks in 32 bits: how long a location waited for a message, was kept by it, or took part in
/// an operation.
/// Exact up to 2^27, beyond to 27 digits.
///
/// ```
/// use retime_model::{Lasted, Ticks};
/// let ticks = |it: i64| Lasted::of(Ticks(it)).ticks();
/// assert_eq!(ticks(134_217_727), Some(Ticks(134_217_727)));
/// assert_eq!(ticks((1 << 40) + 1), Some(Ticks(1 << 40)));
/// assert_eq!(ticks(-1), Some(Ticks(0)));
/// assert_eq!([Lasted::UNKNOWN, Lasted::SAME_CALL].map(Lasted::ticks), [None, None]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lasted(u32);

packed_fields!(Lasted { 0: u32 });

impl Lasted {
    /// Nothing tells.
    pub const UNKNOWN: Self = Self(0);
    /// As long as the receive before it of the same location has been waited for since: one call
    /// completes both.
    pub const SAME_CALL: Self = Self(u32::MAX);
    const DIGITS: u32 = 27;

    /// So many ticks, or none if they are negative.
    #[inline]
    pub const fn of(ticks: Ticks) -> Self {
        let ticks = if ticks.0 < 0 { 0 } else { ticks.0 as u64 };
        let digits = u64::BITS - ticks.leading_zeros();
        let beyond = digits.saturating_sub(Self::DIGITS);
        // The largest numbers of all would have no exponent, or those of what is no number.
        if beyond >= 31 {
            return Self(Self::SAME_CALL.0 - 1);
        }
        Self((beyond << Self::DIGITS | (ticks >> beyond) as u32) + 1)
    }

    /// The ticks, if they are known.
    #[inline]
    pub const fn ticks(self) -> Option<Ticks> {
        if self.0 == Self::UNKNOWN.0 || self.0 == Self::SAME_CALL.0 {
            return None;
        }
        let code = self.0 - 1;
        let digits = code & ((1 << Self::DIGITS) - 1);
        Some(Ticks((digits as i64) << (code >> Self::DIGITS)))
    }
}

/// A send that kept its location from later on than it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldLater {
    /// The send.
    pub send: LogNode,
    /// The ticks until its location did nothing else but wait for it to be complete.
    pub since: Lasted,
}

packed_fields!(HeldLater {
    send: LogNode,
    since: Lasted,
});

/// A stretch of time in which the device of a location computed while something was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Overlap {
    /// The begin of a collective operation, a send, or a receive, which is complete there, or the end
    /// of an operation whose begin is no cause.
    pub node: LogNode,
    /// The ticks from where that began, or was asked for, to where this begins.
    pub since: Ticks,
    /// Its length.
    pub lasted: Ticks,
}

packed_fields!(Overlap {
    node: LogNode,
    since: Ticks,
    lasted: Ticks,
});
