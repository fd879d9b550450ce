//! The definitions that a correction of timestamps has to understand.
//!
//! Names are ids of strings; [`super::Definitions::text`] looks them up. A
//! reference that is not set is `None`.

use std::sync::Arc;

use super::table::Identified;
use crate::enums::{Domain, GroupKind, LocationGroupKind, LocationKind, Paradigm};
use crate::error::Result;
use crate::fields::FieldValue;
use crate::records::Entry;
use crate::value::Value;

/// The fields of a definition, by name.
///
/// A group may have millions of members, so what is repeated is kept as plain
/// numbers. No definition that is understood here has two repeated fields.
pub(super) struct Values<'a> {
    fields: Vec<FieldValue<'a>>,
    list: Vec<u64>,
}

impl<'a> Values<'a> {
    /// Decodes a definition and shows every field to `note`.
    pub(super) fn of(entry: &Entry<'a>, mut note: impl FnMut(&FieldValue<'a>)) -> Result<Self> {
        let mut values = Self {
            fields: Vec::new(),
            list: Vec::new(),
        };
        for field in entry.fields() {
            let field = field.map_err(|error| entry.error(error))?;
            note(&field);
            if field.field.is_repeated() {
                values.list.extend(field.value.unsigned());
            } else {
                values.fields.push(field);
            }
        }
        Ok(values)
    }

    fn value(&self, name: &'static str) -> Option<Value<'a>> {
        let field = self.fields.iter().find(|field| field.name() == name);
        field.map(|field| field.value)
    }

    pub(super) fn u64(&self, name: &'static str) -> u64 {
        self.value(name).and_then(Value::unsigned).unwrap_or(0)
    }

    pub(super) fn u32(&self, name: &'static str) -> u32 {
        self.u64(name) as u32
    }

    fn u8(&self, name: &'static str) -> u8 {
        self.u64(name) as u8
    }

    fn reference(&self, name: &'static str) -> Option<u32> {
        Some(self.u32(name)).filter(|&id| id != u32::MAX)
    }

    pub(super) fn text(&self, name: &'static str) -> &'a [u8] {
        self.value(name).and_then(Value::text).unwrap_or_default()
    }
}

/// Tick rate and extent of the trace. The extent is a hint: writers get it
/// wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockProperties {
    /// Ticks per second of all timestamps.
    pub ticks_per_second: u64,
    /// Not later than the first event.
    pub global_offset: u64,
    /// Ticks from there to the last event.
    pub trace_length: u64,
    /// Nanoseconds since 1970 at the global offset.
    pub realtime: Option<u64>,
}

/// A string.
#[derive(Clone, Debug)]
pub struct Text {
    /// Its id.
    pub id: u32,
    /// Its bytes.
    pub bytes: Box<[u8]>,
}

/// A machine, node, socket and the like.
#[derive(Clone, Debug)]
pub struct SystemTreeNode {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// What it is, in words.
    pub class_name: u32,
    /// The node above.
    pub parent: Option<u32>,
    /// What everything below it shares.
    pub domains: Vec<Domain>,
}

/// A process, or another set of locations with one address space.
#[derive(Clone, Debug)]
pub struct LocationGroup {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// What it is.
    pub kind: LocationGroupKind,
    /// Where it runs.
    pub system_tree_parent: Option<u32>,
    /// What started it.
    pub creating_location_group: Option<u32>,
}

/// A thread, or another sequence of events.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its id, also the name of its files.
    pub id: u64,
    /// Its name.
    pub name: u32,
    /// What it is.
    pub kind: LocationKind,
    /// The number of its events; a hint, writers get it wrong.
    pub events: u64,
    /// The process it belongs to.
    pub group: Option<u32>,
}

/// A function or another piece of code.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// Its mangled name.
    pub canonical_name: u32,
    /// Its description.
    pub description: u32,
    /// Its role, as `OTF2_RegionRole`.
    pub role: u8,
    /// The paradigm it belongs to.
    pub paradigm: Paradigm,
    /// Flags, as `OTF2_RegionFlag`.
    pub flags: u32,
}

/// A set of locations, ranks, regions or metrics.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// What its members are.
    pub kind: GroupKind,
    /// The paradigm it belongs to.
    pub paradigm: Paradigm,
    /// Flags, as `OTF2_GroupFlag`.
    pub flags: u32,
    /// Its members as written.
    pub members: Arc<[u64]>,
}

/// A communicator.
#[derive(Clone, Debug)]
pub struct Comm {
    /// Its id, in one space with [`InterComm`].
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// Its group.
    pub group: u32,
    /// The communicator it was made from.
    pub parent: Option<u32>,
    /// Flags, as `OTF2_CommFlag`.
    pub flags: u32,
}

/// A communicator between two groups.
#[derive(Clone, Debug)]
pub struct InterComm {
    /// Its id, in one space with [`Comm`].
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// One group.
    pub group_a: u32,
    /// The other group.
    pub group_b: u32,
    /// A communicator that holds both.
    pub common: Option<u32>,
    /// Flags, as `OTF2_CommFlag`.
    pub flags: u32,
}

/// A window for one-sided communication.
#[derive(Clone, Debug)]
pub struct RmaWin {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// The communicator it was made from.
    pub comm: u32,
    /// Flags, as `OTF2_RmaWinFlag`.
    pub flags: u32,
}

/// What an attribute of events means.
#[derive(Clone, Debug)]
pub struct AttributeDefinition {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// Its description.
    pub description: Option<u32>,
    /// The type of its values.
    pub type_code: u8,
}

/// One measured quantity.
#[derive(Clone, Debug)]
pub struct MetricMember {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// Its unit.
    pub unit: Option<u32>,
    /// The type of its values.
    pub value_type: u8,
}

/// Quantities that are recorded together.
#[derive(Clone, Debug)]
pub struct MetricClass {
    /// Its id.
    pub id: u32,
    /// The quantities.
    pub members: Vec<u64>,
    /// When they are recorded, as `OTF2_MetricOccurrence`.
    pub occurrence: u8,
}

/// What a parameter of a region means.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: u32,
    /// Its type: 0 string, 1 signed, 2 unsigned.
    pub type_code: u8,
}

macro_rules! identified {
    ($($name:ident),*) => {
        $(impl Identified for $name {
            fn id(&self) -> u64 {
                self.id.into()
            }
        })*
    };
}

identified!(
    Text,
    SystemTreeNode,
    LocationGroup,
    Location,
    Region,
    Group,
    Comm,
    InterComm,
    RmaWin,
    AttributeDefinition,
    MetricMember,
    MetricClass,
    Parameter
);

macro_rules! from_values {
    ($name:ident($values:ident) { $($field:ident: $value:expr,)* }) => {
        impl From<&Values<'_>> for $name {
            fn from($values: &Values<'_>) -> Self {
                Self { $($field: $value,)* }
            }
        }
    };
}

from_values!(ClockProperties(v) {
    ticks_per_second: v.u64("timerResolution"),
    global_offset: v.u64("globalOffset"),
    trace_length: v.u64("traceLength"),
    realtime: Some(v.u64("realtimeTimestamp")).filter(|&time| time != u64::MAX),
});
from_values!(Text(v) {
    id: v.u32("self"),
    bytes: v.text("string").into(),
});
from_values!(SystemTreeNode(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    class_name: v.u32("className"),
    parent: v.reference("parent"),
    domains: Vec::new(),
});
from_values!(LocationGroup(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    kind: LocationGroupKind(v.u8("locationGroupType")),
    system_tree_parent: v.reference("systemTreeParent"),
    creating_location_group: v.reference("creatingLocationGroup"),
});
from_values!(Location(v) {
    id: v.u64("self"),
    name: v.u32("name"),
    kind: LocationKind(v.u8("locationType")),
    events: v.u64("numberOfEvents"),
    group: v.reference("locationGroup"),
});
from_values!(Region(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    canonical_name: v.u32("canonicalName"),
    description: v.u32("description"),
    role: v.u8("regionRole"),
    paradigm: Paradigm(v.u8("paradigm")),
    flags: v.u32("regionFlags"),
});
from_values!(Group(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    kind: GroupKind(v.u8("groupType")),
    paradigm: Paradigm(v.u8("paradigm")),
    flags: v.u32("groupFlags"),
    members: v.list.as_slice().into(),
});
from_values!(Comm(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    group: v.u32("group"),
    parent: v.reference("parent"),
    flags: v.u32("flags"),
});
from_values!(InterComm(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    group_a: v.u32("groupA"),
    group_b: v.u32("groupB"),
    common: v.reference("commonCommunicator"),
    flags: v.u32("flags"),
});
from_values!(RmaWin(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    comm: v.u32("comm"),
    flags: v.u32("flags"),
});
from_values!(AttributeDefinition(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    description: v.reference("description"),
    type_code: v.u8("type"),
});
from_values!(MetricMember(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    unit: v.reference("unit"),
    value_type: v.u8("valueType"),
});
from_values!(MetricClass(v) {
    id: v.u32("self"),
    members: v.list.clone(),
    occurrence: v.u8("metricOccurrence"),
});
from_values!(Parameter(v) {
    id: v.u32("self"),
    name: v.u32("name"),
    type_code: v.u8("parameterType"),
});
