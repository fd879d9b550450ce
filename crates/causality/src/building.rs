//! From logs to what must follow what.
//!
//! Of a trace that is in one place, the logs of all locations are joined at once. Of a
//! [part](Whole) they are joined together with ghosts of other locations' events, as far as
//! own ones depend on them; operations of which the calls are known elsewhere are
//! [completed](Incomplete::complete) by what was found there:
//!
//! ```text
//!  PartLogs --> Causality::of_part --> Incomplete --- complete --> Causality
//!                                        | outcomes      ^ outcomes
//!                                        v               |
//!                                       parts that have other participants
//! ```

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use retime_model::{
    Cancelled, Defects, LocationIndex, LocationLog, LogColumns, Monitor, TraceInfo,
};

use crate::collectives::Collectives;
use crate::error::CausalityError;
use crate::ids::Slot;
use crate::joining::{self, Joined, Outcome, Shared, Turns};
use crate::message_lengths::MessageLengths;
use crate::message_waits::MessageWaits;
use crate::nodes::Nodes;
use crate::noted::Noted;
use crate::options::CausalityOptions;
use crate::overlaps::Overlaps;
use crate::point_to_point::Paired;
use crate::usage::Usage;
use crate::whole::Whole;
use crate::{Causality, named, point_to_point, synchronous};
use retime_model::pace::Pace;

/// The logs of a part of a trace.
#[derive(Debug, Default)]
pub struct PartLogs {
    /// Per location: all that is here; of locations that are elsewhere, ghosts only.
    pub logs: Vec<LogColumns>,
    /// Per location: the number of its events with a role.
    pub counts: Vec<u32>,
    /// Communicators of which each operation is joined in one part, which has all its calls.
    pub turns: FxHashMap<u32, Turns>,
    /// Locations with calls of which no begin is recorded, also elsewhere.
    pub lack_begins: FxHashSet<LocationIndex>,
    /// Where the other parts are.
    pub whole: Whole,
}

impl PartLogs {
    /// A trace that is here as a whole.
    fn all(logs: Vec<LocationLog>) -> Self {
        let logs: Vec<LogColumns> = logs.into_iter().map(LocationLog::into_columns).collect();
        Self {
            counts: logs.iter().map(|it| it.times.len() as u32).collect(),
            lack_begins: lacking_begins(&logs).collect(),
            logs,
            ..Self::default()
        }
    }
}

/// The locations with calls of which no begin is recorded.
pub fn lacking_begins(logs: &[LogColumns]) -> impl Iterator<Item = LocationIndex> {
    let lacking = |log: &&LogColumns| log.calls.iter().any(|call| call.begin.is_none());
    logs.iter().filter(lacking).map(|log| log.location)
}

/// A part that is joined, but for operations of which calls are known elsewhere.
#[derive(Debug)]
pub struct Incomplete {
    nodes: Nodes,
    paired: Paired,
    joined: Joined,
    usage: Usage,
    defects: Defects,
    waits: MessageWaits,
    overlaps: Overlaps,
    lengths: Option<MessageLengths>,
}

impl Causality {
    /// Joins the logs of all locations, given in the order of
    /// [`TraceInfo::locations`].
    pub fn build(
        info: &TraceInfo,
        logs: Vec<LocationLog>,
        options: CausalityOptions,
    ) -> Result<Self, CausalityError> {
        Self::build_watched(info, logs, options, &())
    }

    /// Does what [`Self::build`] does, and ends where `monitor` says so.
    pub fn build_watched(
        info: &TraceInfo,
        logs: Vec<LocationLog>,
        options: CausalityOptions,
        monitor: &dyn Monitor,
    ) -> Result<Self, CausalityError> {
        let joined = Self::of_part(info, PartLogs::all(logs), options, monitor)?;
        Ok(joined.complete(info, Vec::new()).0)
    }

    /// Joins what is known of a part.
    pub fn of_part(
        info: &TraceInfo,
        part: PartLogs,
        options: CausalityOptions,
        monitor: &dyn Monitor,
    ) -> Result<Incomplete, CausalityError> {
        let PartLogs {
            mut logs,
            counts,
            turns,
            lack_begins,
            whole,
        } = part;
        let nodes = Nodes::gather(info, &mut logs, counts, whole.clone())?;
        let usage = Usage::recorded(info, &logs, &nodes, options);
        let mut defects = options.no_defects();
        let own = |log: &&mut LogColumns| whole.has(log.location.as_usize());
        for log in logs.iter_mut().filter(own) {
            defects.merge(std::mem::take(&mut log.defects));
        }
        let overlaps = Overlaps::recorded(&logs, &nodes);
        // Neither looks at what the other finds; of defects messages have the first say.
        let messages = || {
            let mut noted = Noted::new(&nodes, options.no_defects());
            let mut pace = Pace::of(monitor);
            let mut paired = point_to_point::pair(info, &logs, &nodes, &mut noted, &mut pace)?;
            named::pair(&logs, &nodes, &mut paired.partner, &mut noted, &mut pace)?;
            Ok::<_, Cancelled>((paired, noted.into_defects()))
        };
        let operations = || {
            let mut noted = Noted::new(&nodes, options.no_defects());
            let mut pace = Pace::of(monitor);
            let shared = Shared {
                turns: &turns,
                lack_begins: &lack_begins,
            };
            let mut joined =
                joining::join(info, &logs, &nodes, options, shared, &mut noted, &mut pace)?;
            named::join(&logs, &nodes, &mut joined.visited, &mut noted, &mut pace)?;
            Ok::<_, Cancelled>((joined, noted.into_defects()))
        };
        let (messages, operations) = rayon::join(messages, operations);
        let (paired, of_messages) = messages?;
        let lengths = || MessageLengths::recorded(&logs, &nodes, &paired.partner);
        let lengths = options.keep_lengths.then(lengths);
        let waits = MessageWaits::recorded(&mut logs, &nodes, &paired.partner);
        let (joined, of_operations) = operations?;
        defects.merge(of_messages);
        defects.merge(of_operations);
        Ok(Incomplete {
            nodes,
            paired,
            joined,
            usage,
            defects,
            waits,
            overlaps,
            lengths,
        })
    }
}

impl Incomplete {
    /// The outcomes of operations in turns that were joined here.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.joined.outcomes
    }

    /// The participants of these that are ghosts here, as they are called here; rising.
    pub fn ghost_participants(&self) -> &[(Slot, LocationIndex)] {
        &self.joined.ghost_participants
    }

    /// Adds operations that were joined elsewhere, by part. All parts come here at a time.
    /// Also says which own participants they have, by part, rising.
    pub fn complete(
        self,
        info: &TraceInfo,
        outcomes: Vec<Vec<Outcome>>,
    ) -> (Causality, Vec<Vec<Slot>>) {
        let Self {
            nodes,
            paired,
            joined,
            usage,
            defects,
            waits,
            overlaps,
            lengths,
        } = self;
        let (collectives, away): (Collectives, _) = joined.complete(info, nodes.whole(), outcomes);
        let mut partner = paired.partner;
        let usage = usage.count(&nodes, &partner, &collectives);
        let completions = synchronous::enter(&paired.acknowledged, &mut partner);
        collectives.enter(&mut partner);
        let (defects, usage) = nodes.whole().all_reduce((defects, usage));
        let causality = Causality {
            nodes,
            partner: Arc::new(partner),
            collectives: Arc::new(collectives),
            defects: Arc::new(defects),
            usage: usage.each_once(),
            completions: completions.into(),
            waits: Arc::new(waits),
            overlaps: Arc::new(overlaps),
            lengths: lengths.map(Arc::new),
        };
        (causality, away)
    }
}
