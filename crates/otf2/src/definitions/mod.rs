//! The global definitions: everything that events refer to.
//!
//! Definitions come in any order, with duplicates and gaps, so nothing is
//! resolved before all are read. Defects are kept in a list for a report; reading
//! fails only if bytes do not make sense.
//!
//! An id that is defined twice stands for its first definition, but all are
//! kept: EZTrace defines group 0 as a list of locations and then again as the
//! group of `MPI_COMM_WORLD`, and both are needed to find out where the ranks
//! of that communicator are (see [`crate::comms`]).
//!
//! ```
//! use retime_otf2::{Archive, Definitions};
//!
//! fn describe(archive: &Archive) -> retime_otf2::Result<String> {
//!     let definitions = Definitions::read(archive)?;
//!     let location = definitions.locations.iter().next().unwrap();
//!     Ok(format!("{} <{}>", definitions.text(location.name), location.id))
//! }
//! ```

mod defects;
mod table;
mod types;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::archive::Archive;
use crate::comms::{self, Comms, Members};
use crate::enums::{GroupType, Paradigm, SystemTreeDomain};
use crate::error::Result;
use crate::records::RecordReader;
use crate::refs::{CommRef, GroupRef, RmaWinRef, StringRef, SystemTreeNodeRef};
use crate::schema::Class;

use self::defects::References;
use self::types::Values;

pub use self::defects::{DefinitionDefect, DefinitionDefects};
pub use self::table::{Identified, Table};
pub use self::types::{
    AttributeDefinition, ClockProperties, Comm, Group, InterComm, Location, LocationGroup,
    MetricClass, MetricMember, Parameter, Region, RmaWin, SystemTreeNode, Text,
};

/// All global definitions of an archive.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// Tick rate and extent; `None` if the archive does not say.
    pub clock: Option<ClockProperties>,
    /// Strings.
    pub strings: Table<Text>,
    /// Machines, nodes and the like.
    pub system_tree: Table<SystemTreeNode>,
    /// Processes.
    pub location_groups: Table<LocationGroup>,
    /// Threads and other sequences of events.
    pub locations: Table<Location>,
    /// Pieces of code.
    pub regions: Table<Region>,
    /// Sets of locations, ranks, regions or metrics.
    pub groups: Table<Group>,
    /// Communicators.
    pub comms: Table<Comm>,
    /// Communicators between groups.
    pub inter_comms: Table<InterComm>,
    /// Windows for one-sided communication.
    pub windows: Table<RmaWin>,
    /// Attributes of events.
    pub attributes: Table<AttributeDefinition>,
    /// Measured quantities.
    pub metric_members: Table<MetricMember>,
    /// Quantities recorded together.
    pub metric_classes: Table<MetricClass>,
    /// Parameters of regions.
    pub parameters: Table<Parameter>,
    /// How many records of each kind there are, also of those not listed above.
    pub counts: BTreeMap<&'static str, u64>,
    /// How many records had unknown codes.
    pub unknown: u64,
    /// The defects found in the definitions.
    pub defects: DefinitionDefects,
    members: Comms,
}

impl Definitions {
    /// Reads the global definitions of an archive.
    pub fn read(archive: &Archive) -> Result<Self> {
        let mut definitions = Self::default();
        let mut references = References::default();
        let mut domains = Vec::new();
        let mut records = RecordReader::new(archive.open_definitions()?)?;
        while let Some(entry) = records.next()? {
            let Some(schema) = entry.schema() else {
                continue;
            };
            let values = Values::of(&entry, |field| references.note(schema.name, field))?;
            *definitions.counts.entry(schema.name).or_default() += 1;
            if schema.name == "SystemTreeNodeDomain" {
                let domain = SystemTreeDomain(values.u8("systemTreeDomain"));
                domains.push((SystemTreeNodeRef(values.u32("systemTreeNode")), domain));
            }
            definitions.add(schema.name, &values);
        }
        definitions.unknown = records.unknown();
        definitions.finish(references, &domains);
        Ok(definitions)
    }

    fn add(&mut self, record: &'static str, values: &Values<'_>) {
        let fresh = match record {
            "ClockProperties" => return self.add_clock(values),
            "String" => self.strings.add(values.into()),
            "SystemTreeNode" => self.system_tree.add(values.into()),
            "LocationGroup" => self.location_groups.add(values.into()),
            "Location" => self.locations.add(values.into()),
            "Region" => self.regions.add(values.into()),
            "Group" => self.groups.add(values.into()),
            "Comm" => self.comms.add(values.into()),
            "InterComm" => self.inter_comms.add(values.into()),
            "RmaWin" => self.windows.add(values.into()),
            "Attribute" => self.attributes.add(values.into()),
            "MetricMember" => self.metric_members.add(values.into()),
            "MetricClass" => self.metric_classes.add(values.into()),
            "Parameter" => self.parameters.add(values.into()),
            _ => return,
        };
        if !fresh {
            let id = values.u64("self");
            self.defects.add(DefinitionDefect::Duplicate { record, id });
        }
    }

    fn add_clock(&mut self, values: &Values<'_>) {
        if self.clock.is_some() {
            self.defects.add(DefinitionDefect::SeveralClocks);
        } else {
            self.clock = Some(values.into());
        }
    }

    fn finish(
        &mut self,
        mut references: References,
        domains: &[(SystemTreeNodeRef, SystemTreeDomain)],
    ) {
        if self.clock.is_none() {
            self.defects.add(DefinitionDefect::NoClock);
        }
        for &(node, domain) in domains {
            if let Some(node) = self.system_tree.get_mut(node) {
                node.domains.push(domain);
            }
        }
        for group in &self.groups {
            let class = match group.kind {
                GroupType::LOCATIONS | GroupType::COMM_LOCATIONS => Class::Location,
                GroupType::COMM_LOCATION_GROUPS => Class::LocationGroup,
                _ => continue,
            };
            for &member in group.members.iter() {
                references.want(class, member, "Group", "members");
            }
        }
        references.report(&mut self.defects);
        self.members = Comms::resolve(comms::Parts {
            locations: &self.locations,
            groups: &self.groups,
            comms: &self.comms,
            inter_comms: &self.inter_comms,
        });
        for &comm in self.members.unresolved() {
            self.defects.add(DefinitionDefect::UnresolvedComm { comm });
        }
    }

    /// A string as text; bytes that are not UTF-8 are replaced. Empty if the
    /// string is not defined.
    pub fn text(&self, string: StringRef) -> Cow<'_, str> {
        match self.strings.get(string) {
            Some(text) => String::from_utf8_lossy(&text.bytes),
            None => Cow::Borrowed(""),
        }
    }

    /// Who communicates over a communicator or inter-communicator.
    pub fn comm_members(&self, comm: CommRef) -> Option<&Members> {
        self.members.get(comm)
    }

    /// Who communicates through a window.
    pub fn window_members(&self, window: RmaWinRef) -> Option<&Members> {
        self.comm_members(self.windows.get(window)?.comm)
    }

    /// The locations of all ranks of a paradigm: what the indices in its
    /// communicators refer to. For a rank that is a whole location group stands one
    /// location of it.
    pub fn ranks(&self, paradigm: Paradigm) -> Option<&Arc<[u64]>> {
        self.members.world(paradigm)
    }

    /// The locations of a group, if it has any.
    pub fn group_locations(&self, group: GroupRef) -> Option<&Arc<[u64]>> {
        self.members.group(group)
    }

    /// The ids of all locations, in file order, each once.
    pub fn location_ids(&self) -> Vec<u64> {
        let mut seen = std::collections::HashSet::new();
        self.locations
            .iter()
            .map(|location| location.id)
            .filter(|&id| seen.insert(id))
            .collect()
    }
}
