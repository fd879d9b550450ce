//! The records of definition files, a list of fields per record.
//!
//! Codes below 10 mean different things in global and local files; the rest
//! is common to both.

use super::class::Class;
use super::field::Wire::{C32, C64, S64, Str, Type, U8, Val};
use super::field::{Absent, RecordSchema, STRING_TYPE, UNDEFINED, f, rec};
use super::{codes, legacy};

pub(super) static GLOBAL_ONLY: &[RecordSchema] = &[
    rec(
        codes::CLOCK_PROPERTIES,
        "ClockProperties",
        &[
            f("timerResolution", C64),
            f("globalOffset", C64),
            f("traceLength", C64),
            f("realtimeTimestamp", C64).or(Absent::Value(u64::MAX)),
        ],
    ),
    rec(
        codes::PARADIGM,
        "Paradigm",
        &[
            f("paradigm", U8),
            f("name", C32).to(Class::String),
            f("paradigmClass", U8),
        ],
    ),
    rec(
        7,
        "ParadigmProperty",
        &[
            f("paradigm", U8),
            f("property", U8),
            f("type", Type),
            f("value", Val),
        ],
    ),
    rec(
        8,
        "IoParadigm",
        &[
            f("self", U8).defines(Class::IoParadigm),
            f("identification", C32).to(Class::String),
            f("name", C32).to(Class::String),
            f("ioParadigmClass", U8),
            f("ioParadigmFlags", C32),
            f("numberOfProperties", U8).count(),
            f("properties", U8).each(),
            f("types", Type).each(),
            f("values", Val).each(),
        ],
    ),
];

pub(super) static COMMON: &[RecordSchema] = &[
    rec(
        codes::STRING,
        "String",
        &[f("self", C32).defines(Class::String), f("string", Str)],
    ),
    rec(
        codes::ATTRIBUTE,
        "Attribute",
        &[
            f("self", C32).defines(Class::Attribute),
            f("name", C32).to(Class::String),
            f("type", U8),
            f("description", C32).to(Class::String).or(UNDEFINED),
        ],
    ),
    rec(
        codes::SYSTEM_TREE_NODE,
        "SystemTreeNode",
        &[
            f("self", C32).defines(Class::SystemTreeNode),
            f("name", C32).to(Class::String),
            f("className", C32).to(Class::String),
            f("parent", C32).to(Class::SystemTreeNode),
        ],
    ),
    rec(
        codes::LOCATION_GROUP,
        "LocationGroup",
        &[
            f("self", C32).defines(Class::LocationGroup),
            f("name", C32).to(Class::String),
            f("locationGroupType", U8),
            f("systemTreeParent", C32).to(Class::SystemTreeNode),
            f("creatingLocationGroup", C32)
                .to(Class::LocationGroup)
                .or(UNDEFINED),
        ],
    ),
    rec(
        codes::LOCATION,
        "Location",
        &[
            f("self", C64).defines(Class::Location),
            f("name", C32).to(Class::String),
            f("locationType", U8),
            f("numberOfEvents", C64),
            f("locationGroup", C32).to(Class::LocationGroup),
        ],
    ),
    rec(
        codes::REGION,
        "Region",
        &[
            f("self", C32).defines(Class::Region),
            f("name", C32).to(Class::String),
            f("description", C32).to(Class::String),
            f("regionType", U8).deprecated(),
            f("sourceFile", C32).to(Class::String),
            f("beginLineNumber", C32),
            f("endLineNumber", C32),
            f("canonicalName", C32).to(Class::String).or(Absent::Name),
            f("regionRole", U8).or(Absent::FromDeprecated(legacy::region_role)),
            f("paradigm", U8).or(Absent::FromDeprecated(legacy::region_paradigm)),
            f("regionFlags", C32).or(Absent::FromDeprecated(legacy::region_flags)),
        ],
    ),
    rec(
        16,
        "Callsite",
        &[
            f("self", C32),
            f("sourceFile", C32).to(Class::String),
            f("lineNumber", C32),
            f("enteredRegion", C32).to(Class::Region),
            f("leftRegion", C32).to(Class::Region),
        ],
    ),
    rec(
        17,
        "Callpath",
        &[
            f("self", C32).defines(Class::Callpath),
            f("parent", C32).to(Class::Callpath),
            f("region", C32).to(Class::Region),
        ],
    ),
    rec(
        codes::GROUP,
        "Group",
        &[
            f("self", C32).defines(Class::Group),
            f("name", C32).to(Class::String),
            f("groupTypePre12", U8).deprecated(),
            f("numberOfMembers", C32).count(),
            f("members", C64).each(),
            f("groupType", U8).or(Absent::FromDeprecated(legacy::group_type)),
            f("paradigm", U8).or(Absent::FromDeprecated(legacy::group_paradigm)),
            f("groupFlags", C32).or(Absent::FromDeprecated(legacy::group_flags)),
        ],
    ),
    rec(
        19,
        "MetricMember",
        &[
            f("self", C32).defines(Class::MetricMember),
            f("name", C32).to(Class::String),
            f("description", C32).to(Class::String),
            f("metricType", U8),
            f("metricMode", U8),
            f("valueType", U8),
            f("base", U8),
            f("exponent", S64),
            f("unit", C32).to(Class::String),
        ],
    ),
    rec(
        20,
        "MetricClass",
        &[
            f("self", C32).defines(Class::Metric),
            f("numberOfMetrics", U8).count(),
            f("metricMembers", C32).to(Class::MetricMember).each(),
            f("metricOccurrence", U8),
            f("recorderKind", U8).or(Absent::Value(0)),
        ],
    ),
    rec(
        21,
        "MetricInstance",
        &[
            f("self", C32).defines(Class::Metric),
            f("metricClass", C32).to(Class::Metric),
            f("recorder", C64).to(Class::Location),
            f("metricScope", U8),
            f("scope", C64),
        ],
    ),
    rec(
        codes::COMM,
        "Comm",
        &[
            f("self", C32).defines(Class::Comm),
            f("name", C32).to(Class::String),
            f("group", C32).to(Class::Group),
            f("parent", C32).to(Class::Comm),
            f("flags", C32).or(Absent::Value(0)),
        ],
    ),
    rec(
        23,
        "Parameter",
        &[
            f("self", C32).defines(Class::Parameter),
            f("name", C32).to(Class::String),
            f("parameterType", U8),
        ],
    ),
    rec(
        24,
        "RmaWin",
        &[
            f("self", C32).defines(Class::RmaWin),
            f("name", C32).to(Class::String),
            f("comm", C32).to(Class::Comm),
            f("flags", C32).or(Absent::Value(1)),
        ],
    ),
    rec(
        25,
        "MetricClassRecorder",
        &[
            f("metric", C32).to(Class::Metric),
            f("recorder", C64).to(Class::Location),
        ],
    ),
    rec(
        26,
        "SystemTreeNodeProperty",
        &[
            f("systemTreeNode", C32).to(Class::SystemTreeNode),
            f("name", C32).to(Class::String),
            f("stringValue", C32).deprecated(),
            f("type", Type).or(STRING_TYPE),
            f("value", Val).or(Absent::Deprecated),
        ],
    ),
    rec(
        codes::SYSTEM_TREE_NODE_DOMAIN,
        "SystemTreeNodeDomain",
        &[
            f("systemTreeNode", C32).to(Class::SystemTreeNode),
            f("systemTreeDomain", U8),
        ],
    ),
    rec(
        28,
        "LocationGroupProperty",
        &[
            f("locationGroup", C32).to(Class::LocationGroup),
            f("name", C32).to(Class::String),
            f("stringValue", C32).deprecated(),
            f("type", Type).or(STRING_TYPE),
            f("value", Val).or(Absent::Deprecated),
        ],
    ),
    rec(
        29,
        "LocationProperty",
        &[
            f("location", C64).to(Class::Location),
            f("name", C32).to(Class::String),
            f("stringValue", C32).deprecated(),
            f("type", Type).or(STRING_TYPE),
            f("value", Val).or(Absent::Deprecated),
        ],
    ),
    rec(
        30,
        "CartDimension",
        &[
            f("self", C32).defines(Class::CartDimension),
            f("name", C32).to(Class::String),
            f("size", C32),
            f("cartPeriodicity", U8),
        ],
    ),
    rec(
        31,
        "CartTopology",
        &[
            f("self", C32).defines(Class::CartTopology),
            f("name", C32).to(Class::String),
            f("communicator", C32).to(Class::Comm),
            f("numberOfDimensions", U8).count(),
            f("cartDimensions", C32).to(Class::CartDimension).each(),
        ],
    ),
    rec(
        32,
        "CartCoordinate",
        &[
            f("cartTopology", C32).to(Class::CartTopology),
            f("rank", C32),
            f("numberOfDimensions", U8).count(),
            f("coordinates", C32).each(),
        ],
    ),
    rec(
        33,
        "SourceCodeLocation",
        &[
            f("self", C32).defines(Class::SourceCodeLocation),
            f("file", C32).to(Class::String),
            f("lineNumber", C32),
        ],
    ),
    rec(
        34,
        "CallingContext",
        &[
            f("self", C32).defines(Class::CallingContext),
            f("region", C32).to(Class::Region),
            f("sourceCodeLocation", C32).to(Class::SourceCodeLocation),
            f("parent", C32).to(Class::CallingContext),
        ],
    ),
    rec(
        35,
        "CallingContextProperty",
        &[
            f("callingContext", C32).to(Class::CallingContext),
            f("name", C32).to(Class::String),
            f("type", Type),
            f("value", Val),
        ],
    ),
    rec(
        36,
        "InterruptGenerator",
        &[
            f("self", C32).defines(Class::InterruptGenerator),
            f("name", C32).to(Class::String),
            f("interruptGeneratorMode", U8),
            f("base", U8),
            f("exponent", S64),
            f("period", C64),
        ],
    ),
    rec(
        37,
        "IoFileProperty",
        &[
            f("ioFile", C32).to(Class::IoFile),
            f("name", C32).to(Class::String),
            f("type", Type),
            f("value", Val),
        ],
    ),
    rec(
        38,
        "IoRegularFile",
        &[
            f("self", C32).defines(Class::IoFile),
            f("name", C32).to(Class::String),
            f("scope", C32).to(Class::SystemTreeNode),
        ],
    ),
    rec(
        39,
        "IoDirectory",
        &[
            f("self", C32).defines(Class::IoFile),
            f("name", C32).to(Class::String),
            f("scope", C32).to(Class::SystemTreeNode),
        ],
    ),
    rec(
        40,
        "IoHandle",
        &[
            f("self", C32).defines(Class::IoHandle),
            f("name", C32).to(Class::String),
            f("file", C32).to(Class::IoFile),
            f("ioParadigm", U8).to(Class::IoParadigm),
            f("ioHandleFlags", C32),
            f("comm", C32).to(Class::Comm),
            f("parent", C32).to(Class::IoHandle),
        ],
    ),
    rec(
        41,
        "IoPreCreatedHandleState",
        &[
            f("ioHandle", C32).to(Class::IoHandle),
            f("mode", U8),
            f("statusFlags", C32),
        ],
    ),
    rec(
        42,
        "CallpathParameter",
        &[
            f("callpath", C32).to(Class::Callpath),
            f("parameter", C32).to(Class::Parameter),
            f("type", Type),
            f("value", Val),
        ],
    ),
    rec(
        codes::INTER_COMM,
        "InterComm",
        &[
            f("self", C32).defines(Class::Comm),
            f("name", C32).to(Class::String),
            f("groupA", C32).to(Class::Group),
            f("groupB", C32).to(Class::Group),
            f("commonCommunicator", C32).to(Class::Comm),
            f("flags", C32),
        ],
    ),
];
