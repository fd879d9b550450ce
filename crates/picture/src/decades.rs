//! How long messages took, in so few classes that they fit a terminal: one for each power
//! of ten nanoseconds, of either sign, and one for zero.
//!
//! ```
//! use retime::TickRate;
//! use retime_picture::Decade;
//! let rate = TickRate::per_second(1_000_000).unwrap();
//! // 250 ticks of a microsecond are between 100 us and 1 ms.
//! assert_eq!(Decade::of(rate, 250), Decade(6));
//! assert_eq!(Decade(6).ends(), (1e-4, 1e-3));
//! assert_eq!(Decade::of(rate, -250).ends(), (-1e-3, -1e-4));
//! assert_eq!(Decade::of(rate, 0).ends(), (0.0, 0.0));
//! ```

use std::collections::BTreeMap;

use retime::causality::EventNode;
use retime::{Causality, TickRate, Timestamp};

/// A class of latencies: `n` for those from `10^(n-1)` to `10^n` ns, 0 for zero and what
/// is shorter than a nanosecond, `-n` for those that are as much too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decade(pub i32);

impl Decade {
    /// The decade of a latency in ticks.
    pub fn of(rate: TickRate, latency: i64) -> Self {
        let nanoseconds =
            u128::from(latency.unsigned_abs()) * 1_000_000_000 / u128::from(rate.get());
        let size = nanoseconds.checked_ilog10().map_or(0, |it| it as i32 + 1);
        Self(if latency < 0 { -size } else { size })
    }

    /// Between how many seconds its latencies lie.
    pub fn ends(self) -> (f64, f64) {
        let power = |exponent: i32| 10_f64.powi(exponent - 9);
        match self.0 {
            0 => (0.0, 0.0),
            size @ 1.. => (power(size - 1), power(size)),
            size => (-power(-size), -power(-size - 1)),
        }
    }
}

/// How many messages have which latency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decades {
    /// How many as recorded, and as corrected, by rising latency without gaps.
    pub classes: Vec<(Decade, u64, u64)>,
}

impl Decades {
    /// Counts the messages of a trace, and again at other times of its nodes.
    pub fn of(causality: &Causality, rate: TickRate, corrected: Option<&[Timestamp]>) -> Self {
        let nodes = causality.nodes();
        let mut counts: BTreeMap<Decade, (u64, u64)> = BTreeMap::new();
        let time = |times: &[Timestamp], node: EventNode| times.get(node.index()).copied();
        let latency = |times: &[Timestamp], send: EventNode, receive: EventNode| {
            let (send, receive) = (time(times, send)?, time(times, receive)?);
            Some(nodes.relative(receive).0 - nodes.relative(send).0)
        };
        for receive in nodes.all() {
            let Some(send) = causality.message_source(receive) else {
                continue;
            };
            if let Some(latency) = latency(nodes.timestamps(), send, receive) {
                counts.entry(Decade::of(rate, latency)).or_default().0 += 1;
            }
            if let Some(latency) = corrected.and_then(|it| latency(it, send, receive)) {
                counts.entry(Decade::of(rate, latency)).or_default().1 += 1;
            }
        }
        let ends = counts.keys().next().zip(counts.keys().next_back());
        let all = ends.into_iter().flat_map(|(first, last)| first.0..=last.0);
        let class = |decade: i32| {
            let (recorded, corrected) = counts.get(&Decade(decade)).copied().unwrap_or_default();
            (Decade(decade), recorded, corrected)
        };
        Self {
            classes: all.map(class).collect(),
        }
    }
}
