//! The global definitions of an archive: what all locations share.

use std::collections::{HashMap, HashSet};

use super::{
    chunked::ChunkedFile,
    encode::Payload,
    failure::{WriteError, WriteResult},
    legacy,
    summary::LocationSummary,
};
use crate::enums::{
    GroupType, LocationGroupType, LocationType, Paradigm, ParadigmClass, RegionRole,
    SystemTreeDomain, Type,
};
use crate::refs::{
    AttributeRef, CommRef, GroupRef, LocationGroupRef, RegionRef, StringRef, SystemTreeNodeRef,
};
use crate::schema::codes::{
    ATTRIBUTE, CLOCK_PROPERTIES, COMM, GROUP, INTER_COMM, LOCATION, LOCATION_GROUP, PARADIGM,
    REGION, STRING, SYSTEM_TREE_NODE, SYSTEM_TREE_NODE_DOMAIN,
};

/// Collects the global definitions.
///
/// Definitions are numbered in the order they are made, from 0 for each kind,
/// and stand in the file in that order. The number of events of a location and
/// the range of times are filled in when the archive is finished.
///
/// Mistakes (text with a NUL inside, a location defined twice) do not stop the
/// collection; [`ArchiveWriter::finish`](super::ArchiveWriter::finish) reports the first.
#[derive(Debug, Default)]
pub struct DefinitionsWriter {
    entries: Vec<Definition>,
    strings: HashMap<Box<str>, StringRef>,
    locations: Vec<u64>,
    attributes: u32,
    system_tree_nodes: u32,
    location_groups: u32,
    regions: u32,
    groups: u32,
    comms: u32,
    mistake: Option<WriteError>,
}

#[derive(Debug)]
enum Definition {
    Record {
        code: u8,
        payload: Box<[u8]>,
    },
    /// Kept apart because its number of events is known last.
    Location {
        id: u64,
        name: StringRef,
        kind: LocationType,
        group: LocationGroupRef,
    },
}

impl DefinitionsWriter {
    /// A text. The same text gives the same reference.
    pub fn string(&mut self, text: &str) -> StringRef {
        if let Some(&known) = self.strings.get(text) {
            return known;
        }
        if text.contains('\0') {
            self.note(WriteError::NulInText(text.to_owned()));
        }
        let string = StringRef(self.strings.len() as u32);
        self.strings.insert(text.into(), string);
        self.record(STRING, Payload::new().c32(string.0).text(text));
        string
    }

    /// Describes a paradigm that definitions or events name.
    pub fn paradigm(&mut self, paradigm: Paradigm, name: &str, class: ParadigmClass) {
        let name = self.string(name);
        self.record(
            PARADIGM,
            Payload::new().u8(paradigm.0).c32(name.0).u8(class.0),
        );
    }

    /// An attribute for events with values of this type.
    pub fn attribute(&mut self, name: &str, description: &str, kind: Type) -> AttributeRef {
        let (name, description) = (self.string(name), self.string(description));
        let attribute = AttributeRef(take(&mut self.attributes));
        self.record(
            ATTRIBUTE,
            Payload::new()
                .c32(attribute.0)
                .c32(name.0)
                .u8(kind.0)
                .c32(description.0),
        );
        attribute
    }

    /// A node of the system tree. Score-P uses the classes "machine" and
    /// "node".
    pub fn system_tree_node(
        &mut self,
        name: &str,
        class: &str,
        parent: Option<SystemTreeNodeRef>,
    ) -> SystemTreeNodeRef {
        let (name, class) = (self.string(name), self.string(class));
        let node = SystemTreeNodeRef(take(&mut self.system_tree_nodes));
        self.record(
            SYSTEM_TREE_NODE,
            Payload::new()
                .c32(node.0)
                .c32(name.0)
                .c32(class.0)
                .c32(parent.unwrap_or(SystemTreeNodeRef::UNDEFINED).0),
        );
        node
    }

    /// Says what a node of the system tree stands for.
    pub fn system_tree_domain(&mut self, node: SystemTreeNodeRef, domain: SystemTreeDomain) {
        self.record(
            SYSTEM_TREE_NODE_DOMAIN,
            Payload::new().c32(node.0).u8(domain.0),
        );
    }

    /// A group of locations, usually a process.
    pub fn location_group(
        &mut self,
        name: &str,
        kind: LocationGroupType,
        parent: Option<SystemTreeNodeRef>,
    ) -> LocationGroupRef {
        self.created_location_group(name, kind, parent, LocationGroupRef::UNDEFINED)
    }

    /// A group of locations that another one made, say a process the context of an
    /// accelerator.
    pub fn created_location_group(
        &mut self,
        name: &str,
        kind: LocationGroupType,
        parent: Option<SystemTreeNodeRef>,
        creator: LocationGroupRef,
    ) -> LocationGroupRef {
        let name = self.string(name);
        let group = LocationGroupRef(take(&mut self.location_groups));
        self.record(
            LOCATION_GROUP,
            Payload::new()
                .c32(group.0)
                .c32(name.0)
                .u8(kind.0)
                .c32(parent.unwrap_or(SystemTreeNodeRef::UNDEFINED).0)
                .c32(creator.0),
        );
        group
    }

    /// A location: a thread or another source of events. Its id is free, but
    /// unique in the archive, and names its files.
    pub fn location(&mut self, id: u64, name: &str, kind: LocationType, group: LocationGroupRef) {
        if id == u64::MAX {
            self.note(WriteError::LocationId);
        }
        let name = self.string(name);
        self.locations.push(id);
        self.entries.push(Definition::Location {
            id,
            name,
            kind,
            group,
        });
    }

    /// A region of code.
    pub fn region(&mut self, name: &str, role: RegionRole, paradigm: Paradigm) -> RegionRef {
        let (name, empty) = (self.string(name), self.string(""));
        let region = RegionRef(take(&mut self.regions));
        self.record(
            REGION,
            Payload::new()
                .c32(region.0)
                .c32(name.0)
                .c32(empty.0)
                .u8(legacy::region_type(role, paradigm))
                .c32(empty.0)
                .c32(0)
                .c32(0)
                .c32(name.0)
                .u8(role.0)
                .u8(paradigm.0)
                .c32(0),
        );
        region
    }

    /// A group. What the members are depends on its kind: see [`GroupType`].
    pub fn group(
        &mut self,
        name: &str,
        kind: GroupType,
        paradigm: Paradigm,
        members: &[u64],
    ) -> GroupRef {
        let name = self.string(name);
        let group = GroupRef(take(&mut self.groups));
        let mut payload = Payload::new();
        payload
            .c32(group.0)
            .c32(name.0)
            .u8(legacy::group_type(kind, paradigm))
            .c32(members.len() as u32);
        for &member in members {
            payload.c64(member);
        }
        payload.u8(kind.0).u8(paradigm.0).c32(0);
        self.record(GROUP, &payload);
        group
    }

    /// A communicator over a group of kind `CommGroup` or `CommSelf`.
    pub fn comm(&mut self, name: &str, group: GroupRef, parent: Option<CommRef>) -> CommRef {
        let name = self.string(name);
        let comm = CommRef(take(&mut self.comms));
        self.record(
            COMM,
            Payload::new()
                .c32(comm.0)
                .c32(name.0)
                .c32(group.0)
                .c32(parent.unwrap_or(CommRef::UNDEFINED).0)
                .c32(0),
        );
        comm
    }

    /// A communicator between two groups, whose union is `common`.
    pub fn inter_comm(
        &mut self,
        name: &str,
        first: GroupRef,
        second: GroupRef,
        common: Option<CommRef>,
    ) -> CommRef {
        let name = self.string(name);
        let comm = CommRef(take(&mut self.comms));
        self.record(
            INTER_COMM,
            Payload::new()
                .c32(comm.0)
                .c32(name.0)
                .c32(first.0)
                .c32(second.0)
                .c32(common.unwrap_or(CommRef::UNDEFINED).0)
                .c32(0),
        );
        comm
    }

    /// Any other definition. The payload begins with the definition's number,
    /// which is the caller's to choose.
    pub fn raw(&mut self, code: u8, payload: &Payload) {
        // Codes below 5 frame the file; 5 is written by `ArchiveWriter::finish`.
        if code <= CLOCK_PROPERTIES {
            self.note(WriteError::ReservedCode(code));
        } else {
            self.record(code, payload);
        }
    }

    /// Ids of the locations in the order of definition.
    pub(super) fn locations(&self) -> &[u64] {
        &self.locations
    }

    /// Number of records, without the clock properties.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The first mistake.
    pub(super) fn check(&mut self) -> WriteResult {
        let mut seen = HashSet::new();
        let repeated = self.locations.iter().find(|&&id| !seen.insert(id)).copied();
        if let Some(id) = repeated {
            self.note(WriteError::LocationDefinedTwice(id));
        }
        self.mistake.take().map_or(Ok(()), Err)
    }

    /// Writes the records, clock properties first.
    pub(super) fn write(
        &self,
        file: &mut ChunkedFile,
        clock: &Payload,
        summaries: &HashMap<u64, LocationSummary>,
    ) -> WriteResult {
        file.record(CLOCK_PROPERTIES, clock.as_bytes())?;
        for entry in &self.entries {
            match entry {
                Definition::Record { code, payload } => file.record(*code, payload)?,
                Definition::Location {
                    id,
                    name,
                    kind,
                    group,
                } => {
                    let events = summaries.get(id).map_or(0, |summary| summary.events);
                    let mut payload = Payload::new();
                    payload
                        .c64(*id)
                        .c32(name.0)
                        .u8(kind.0)
                        .c64(events)
                        .c32(group.0);
                    file.record(LOCATION, payload.as_bytes())?;
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, code: u8, payload: &Payload) {
        self.entries.push(Definition::Record {
            code,
            payload: payload.as_bytes().into(),
        });
    }

    fn note(&mut self, mistake: WriteError) {
        self.mistake.get_or_insert(mistake);
    }
}

/// The next number of a kind of definition.
fn take(counter: &mut u32) -> u32 {
    let number = *counter;
    *counter += 1;
    number
}
