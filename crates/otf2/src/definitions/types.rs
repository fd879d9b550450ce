//! The definitions that a correction of timestamps has to understand.
//!
//! [`super::Definitions::text`] looks up names. A reference that may be missing
//! is `None` then.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::table::Identified;
use crate::enums::{
    CommFlags, GroupFlags, GroupType, LocationGroupType, LocationType, MetricOccurrence, Paradigm,
    ParameterType, RegionFlags, RegionRole, RmaWinFlags, SystemTreeDomain, Type,
};
use crate::error::Result;
use crate::fields::FieldValue;
use crate::records::Entry;
use crate::refs::{
    AttributeRef, CommRef, GroupRef, LocationGroupRef, MetricMemberRef, MetricRef, ParameterRef,
    RegionRef, RmaWinRef, StringRef, SystemTreeNodeRef,
};
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

    pub(super) fn u8(&self, name: &'static str) -> u8 {
        self.u64(name) as u8
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

impl ClockProperties {
    /// The time of day of a stamp; `None` if the archive does not tell that of any.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use retime_otf2::definitions::ClockProperties;
    ///
    /// let clock = ClockProperties {
    ///     ticks_per_second: 1_000,
    ///     global_offset: 5_000,
    ///     trace_length: 9_000,
    ///     realtime: Some(1_700_000_000_000_000_000),
    /// };
    /// let two_seconds_before = UNIX_EPOCH + Duration::from_secs(1_699_999_998);
    /// assert_eq!(clock.time_of_day(3_000), Some(two_seconds_before));
    /// ```
    pub fn time_of_day(&self, stamp: u64) -> Option<SystemTime> {
        let ticks = i128::from(stamp) - i128::from(self.global_offset);
        // Neither factor has more than 65 and 30 bits.
        let nanoseconds = ticks * 1_000_000_000 / i128::from(self.ticks_per_second.max(1));
        let since_1970 = i128::from(self.realtime?) + nanoseconds;
        let since_1970 = Duration::from_nanos(u64::try_from(since_1970).ok()?);
        UNIX_EPOCH.checked_add(since_1970)
    }
}

/// A string.
#[derive(Clone, Debug)]
pub struct Text {
    /// Its id.
    pub id: StringRef,
    /// Its bytes.
    pub bytes: Box<[u8]>,
}

/// A machine, node, socket and the like.
#[derive(Clone, Debug)]
pub struct SystemTreeNode {
    /// Its id.
    pub id: SystemTreeNodeRef,
    /// Its name.
    pub name: StringRef,
    /// The kind of node in words, such as `machine` or `node`.
    pub class_name: StringRef,
    /// The node above.
    pub parent: Option<SystemTreeNodeRef>,
    /// The resources that everything below the node shares.
    pub domains: Vec<SystemTreeDomain>,
}

/// A process, or another set of locations with one address space.
#[derive(Clone, Debug)]
pub struct LocationGroup {
    /// Its id.
    pub id: LocationGroupRef,
    /// Its name.
    pub name: StringRef,
    /// The kind of group: a process or an accelerator.
    pub kind: LocationGroupType,
    /// Where it runs.
    pub system_tree_parent: Option<SystemTreeNodeRef>,
    /// The process that started this one, if that is recorded.
    pub creating_location_group: Option<LocationGroupRef>,
}

/// A thread, or another sequence of events.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its id, also the name of its files.
    pub id: u64,
    /// Its name.
    pub name: StringRef,
    /// The kind of location: a thread, a stream of an accelerator, or metrics.
    pub kind: LocationType,
    /// The number of its events; a hint, writers get it wrong.
    pub events: u64,
    /// The process it belongs to.
    pub group: Option<LocationGroupRef>,
}

/// A function or another piece of code.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its id.
    pub id: RegionRef,
    /// Its name.
    pub name: StringRef,
    /// Its mangled name.
    pub canonical_name: StringRef,
    /// Its description.
    pub description: StringRef,
    /// The purpose of the region.
    pub role: RegionRole,
    /// The paradigm it belongs to.
    pub paradigm: Paradigm,
    /// Its properties.
    pub flags: RegionFlags,
}

/// A set of locations, ranks, regions or metrics.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its id.
    pub id: GroupRef,
    /// Its name.
    pub name: StringRef,
    /// The kind of members that the group has.
    pub kind: GroupType,
    /// The paradigm it belongs to.
    pub paradigm: Paradigm,
    /// Its properties.
    pub flags: GroupFlags,
    /// Its members as written.
    pub members: Arc<[u64]>,
}

/// A communicator.
#[derive(Clone, Debug)]
pub struct Comm {
    /// Its id, in one space with [`InterComm`].
    pub id: CommRef,
    /// Its name.
    pub name: StringRef,
    /// Its group.
    pub group: GroupRef,
    /// The communicator it was made from.
    pub parent: Option<CommRef>,
    /// Its properties.
    pub flags: CommFlags,
}

/// A communicator between two groups.
#[derive(Clone, Debug)]
pub struct InterComm {
    /// Its id, in one space with [`Comm`].
    pub id: CommRef,
    /// Its name.
    pub name: StringRef,
    /// One group.
    pub group_a: GroupRef,
    /// The other group.
    pub group_b: GroupRef,
    /// A communicator that holds both.
    pub common: Option<CommRef>,
    /// Its properties.
    pub flags: CommFlags,
}

/// A window for one-sided communication.
#[derive(Clone, Debug)]
pub struct RmaWin {
    /// Its id.
    pub id: RmaWinRef,
    /// Its name.
    pub name: StringRef,
    /// The communicator it was made from.
    pub comm: CommRef,
    /// Its properties.
    pub flags: RmaWinFlags,
}

/// The definition of an attribute of events.
#[derive(Clone, Debug)]
pub struct AttributeDefinition {
    /// Its id.
    pub id: AttributeRef,
    /// Its name.
    pub name: StringRef,
    /// Its description.
    pub description: Option<StringRef>,
    /// The type of its values.
    pub kind: Type,
}

/// One measured quantity.
#[derive(Clone, Debug)]
pub struct MetricMember {
    /// Its id.
    pub id: MetricMemberRef,
    /// Its name.
    pub name: StringRef,
    /// Its unit.
    pub unit: Option<StringRef>,
    /// The type of its values.
    pub value_type: Type,
}

/// Quantities that are recorded together.
#[derive(Clone, Debug)]
pub struct MetricClass {
    /// Its id.
    pub id: MetricRef,
    /// The quantities.
    pub members: Vec<MetricMemberRef>,
    /// When they are recorded.
    pub occurrence: MetricOccurrence,
}

/// The definition of a parameter of regions.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its id.
    pub id: ParameterRef,
    /// Its name.
    pub name: StringRef,
    /// The type of its values.
    pub kind: ParameterType,
}

macro_rules! identified {
    ($($name:ident by $id:ty,)*) => {
        $(impl Identified for $name {
            type Id = $id;

            fn id(&self) -> $id {
                self.id
            }
        })*
    };
}

identified! {
    Text by StringRef,
    SystemTreeNode by SystemTreeNodeRef,
    LocationGroup by LocationGroupRef,
    Location by u64,
    Region by RegionRef,
    Group by GroupRef,
    Comm by CommRef,
    InterComm by CommRef,
    RmaWin by RmaWinRef,
    AttributeDefinition by AttributeRef,
    MetricMember by MetricMemberRef,
    MetricClass by MetricRef,
    Parameter by ParameterRef,
}

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
    id: StringRef(v.u32("self")),
    bytes: v.text("string").into(),
});
from_values!(SystemTreeNode(v) {
    id: SystemTreeNodeRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    class_name: StringRef(v.u32("className")),
    parent: SystemTreeNodeRef(v.u32("parent")).defined(),
    domains: Vec::new(),
});
from_values!(LocationGroup(v) {
    id: LocationGroupRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    kind: LocationGroupType(v.u8("locationGroupType")),
    system_tree_parent: SystemTreeNodeRef(v.u32("systemTreeParent")).defined(),
    creating_location_group: LocationGroupRef(v.u32("creatingLocationGroup")).defined(),
});
from_values!(Location(v) {
    id: v.u64("self"),
    name: StringRef(v.u32("name")),
    kind: LocationType(v.u8("locationType")),
    events: v.u64("numberOfEvents"),
    group: LocationGroupRef(v.u32("locationGroup")).defined(),
});
from_values!(Region(v) {
    id: RegionRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    canonical_name: StringRef(v.u32("canonicalName")),
    description: StringRef(v.u32("description")),
    role: RegionRole(v.u8("regionRole")),
    paradigm: Paradigm(v.u8("paradigm")),
    flags: RegionFlags(v.u32("regionFlags")),
});
from_values!(Group(v) {
    id: GroupRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    kind: GroupType(v.u8("groupType")),
    paradigm: Paradigm(v.u8("paradigm")),
    flags: GroupFlags(v.u32("groupFlags")),
    members: v.list.as_slice().into(),
});
from_values!(Comm(v) {
    id: CommRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    group: GroupRef(v.u32("group")),
    parent: CommRef(v.u32("parent")).defined(),
    flags: CommFlags(v.u32("flags")),
});
from_values!(InterComm(v) {
    id: CommRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    group_a: GroupRef(v.u32("groupA")),
    group_b: GroupRef(v.u32("groupB")),
    common: CommRef(v.u32("commonCommunicator")).defined(),
    flags: CommFlags(v.u32("flags")),
});
from_values!(RmaWin(v) {
    id: RmaWinRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    comm: CommRef(v.u32("comm")),
    flags: RmaWinFlags(v.u32("flags")),
});
from_values!(AttributeDefinition(v) {
    id: AttributeRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    description: StringRef(v.u32("description")).defined(),
    kind: Type(v.u8("type")),
});
from_values!(MetricMember(v) {
    id: MetricMemberRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    unit: StringRef(v.u32("unit")).defined(),
    value_type: Type(v.u8("valueType")),
});
from_values!(MetricClass(v) {
    id: MetricRef(v.u32("self")),
    members: v.list.iter().copied().map(MetricMemberRef::new).collect(),
    occurrence: MetricOccurrence(v.u8("metricOccurrence")),
});
from_values!(Parameter(v) {
    id: ParameterRef(v.u32("self")),
    name: StringRef(v.u32("name")),
    kind: ParameterType(v.u8("parameterType")),
});
