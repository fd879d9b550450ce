//! For which trace a correction was made.
//!
//! A correction names locations by their ids, and nearly every trace has locations 0, 1
//! and 2. So what the definitions say of them is saved with it: how many locations and
//! processes there are, and a check sum over the id and the name of each location, and
//! the process and the node that it belongs to. All runs of one program say the same of
//! them, and so do all traces of one run, in whatever order; what tells runs apart is
//! [what was recorded](crate::recorded) and when.

use crc32fast::Hasher;
use retime::causality::Nodes;
use retime::format::Timeline;
use retime::{Location, Timestamp, TraceInfo, plural};
use serde::{Deserialize, Serialize};

use crate::recorded::{self, Recorded};

/// The marks of the trace that a correction was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    locations: u64,
    processes: u64,
    /// Check sum over what is said of each location.
    digest: u32,
    /// The range of each location with events; corrections that were saved before runs were
    /// told apart have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recorded: Vec<Recorded>,
}

impl Origin {
    /// The origin of the stamps of a trace that was analysed.
    pub(crate) fn of_nodes(nodes: &Nodes, info: &TraceInfo) -> Self {
        Self::new(info, Recorded::of_nodes(nodes, info))
    }

    /// The origin of the stamps of a trace that was only read.
    pub(crate) fn of_timelines(timelines: &[Timeline], info: &TraceInfo) -> Self {
        Self::new(info, Recorded::of_timelines(timelines, info))
    }

    fn new(info: &TraceInfo, recorded: Vec<Recorded>) -> Self {
        Self {
            locations: info.locations.len() as u64,
            processes: info.processes.len() as u64,
            digest: digest(info),
            recorded,
        }
    }

    /// In which way a trace is not that one or of the same run; `None` if nothing speaks
    /// against it. Times are told from `zero`.
    pub(crate) fn differs(
        &self,
        found: &Self,
        info: &TraceInfo,
        zero: Timestamp,
    ) -> Option<String> {
        let size = |it: &Self| {
            format!(
                "{} in {}",
                plural(it.locations, "location"),
                plural(it.processes, "process")
            )
        };
        let (made, here) = (size(self), size(found));
        if made != here {
            return Some(format!("that has {made}, where this one has {here}"));
        }
        if self.digest != found.digest {
            return Some(format!(
                "that has {made} as this one, but with other ids, names, processes or nodes"
            ));
        }
        recorded::differ(&self.recorded, &found.recorded, info, zero)
    }
}

fn digest(info: &TraceInfo) -> u32 {
    let mut locations: Vec<&Location> = info.locations.iter().collect();
    locations.sort_by_key(|it| it.id);
    // Processes may have no names: what counts is who belongs together.
    let mut first_of = vec![None; info.processes.len()];
    let mut sum = Hasher::new();
    for location in locations {
        sum.update(&location.id.to_le_bytes());
        text(&mut sum, &location.name);
        if let Some(first) = first_of.get_mut(location.process) {
            let first: u64 = *first.get_or_insert(location.id);
            sum.update(&first.to_le_bytes());
        }
        if let Some(process) = info.processes.get(location.process) {
            text(&mut sum, &process.name);
            let node = process.node.and_then(|node| info.nodes.get(node));
            text(&mut sum, node.map_or("", |it| it));
        }
    }
    sum.finalize()
}

/// A text so that it is told where it ends.
fn text(sum: &mut Hasher, text: &str) {
    sum.update(&(text.len() as u64).to_le_bytes());
    sum.update(text.as_bytes());
}
