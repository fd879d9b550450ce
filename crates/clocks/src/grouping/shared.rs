//! Clocks that several processes are taken to read because they ran on one node.
//!
//! That two processes name one node is no proof that they read one clock: containers and
//! virtual machines can bear one name on machines that are several. As long as no dependency
//! contradicts, nothing else tells. So all that is concluded of such a clock, error bounds above
//! all, holds if the name does not deceive. Processes that are tied to nothing count as little as
//! those that another one has made: nothing is concluded from what they do.
//!
//! ```
//! use retime_clocks::{Grouping, SharedClock, ClockAttribution};
//! # use retime_causality::{Causality, CausalityOptions};
//! # let trace = retime_testing::trace("0 on 7: send 2 @10
//! #                                    1 on 7: send 2 @11
//! #                                    2 on 8: receive 0 @20, receive 1 @21")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! // Two ranks of a node send to one that has a node for itself.
//! let clocks = Grouping::Node.clocks(&trace.info, &causality);
//! let attributions = ClockAttribution::of_locations(&clocks, &trace.info, &causality);
//! let shared = SharedClock::all(&clocks, &trace.info, &attributions);
//! assert_eq!(shared.len(), 1);
//! assert_eq!((shared[0].clock.0, shared[0].processes), (0, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;

use retime_model::{ClockId, Clocks, LocationIndex, TraceInfo};

use super::silent::ClockAttribution;

/// A clock that several processes of a node are taken to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedClock {
    /// The clock.
    pub clock: ClockId,
    /// The position of the node in [`TraceInfo::nodes`].
    pub node: usize,
    /// How many processes read it, without those that others have made.
    pub processes: usize,
}

impl SharedClock {
    /// All such clocks, by the reasons for which each location is taken to read its own.
    pub fn all(clocks: &Clocks, info: &TraceInfo, attributions: &[ClockAttribution]) -> Vec<Self> {
        let is_judged = |it: &&LocationIndex| {
            let attribution = attributions.get(it.as_usize());
            matches!(
                attribution,
                Some(ClockAttribution::Tied | ClockAttribution::Unknown)
            )
        };
        let process = |it: &LocationIndex| info.locations.get(it.as_usize()).map(|it| it.process);
        let shared = |clock: ClockId| {
            let judged = clocks.locations(clock).iter().filter(is_judged);
            let families = judged.filter_map(process).map(|it| info.family(it));
            let families: BTreeSet<usize> = families.collect();
            let node = info.processes.get(*families.first()?)?.node?;
            (families.len() > 1).then_some(Self {
                clock,
                node,
                processes: families.len(),
            })
        };
        clocks.iter().filter_map(shared).collect()
    }
}
