//! Locations of a rank beside its threads: streams of accelerators, and metrics.

use retime_otf2::writer::DefinitionsWriter;
use retime_otf2::{LocationGroupType, LocationType};

use crate::layout::{Layout, Placed};

/// A location of a rank that is none of its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Beside {
    /// The stream of an accelerator, whose context the rank has made.
    Stream,
    /// Where the metrics of the process are recorded.
    Metrics,
}

impl Beside {
    /// Defines it as Score-P does; its id.
    pub(crate) fn define(
        self,
        definitions: &mut DefinitionsWriter,
        layout: &Layout,
        rank: u32,
        placed: Placed,
    ) -> u64 {
        let (name, kind, number) = match self {
            Self::Stream => ("CUDA[0:7]", LocationType::ACCELERATOR_STREAM, 0),
            Self::Metrics => ("Per process metrics", LocationType::METRIC, 1),
        };
        let group = match self {
            Self::Stream => {
                let device = definitions.system_tree_node("0", "CUDA Device", placed.node);
                definitions.created_location_group(
                    "CUDA Context 0",
                    LocationGroupType::ACCELERATOR,
                    Some(device),
                    placed.process,
                )
            }
            Self::Metrics => placed.process,
        };
        let id = layout.beside(rank, number);
        definitions.location(id, name, kind, group);
        id
    }
}
