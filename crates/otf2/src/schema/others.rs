//! The records of all other files, one line per record.
//!
//! References in snapshots are global ids, so they have no class here: no
//! mapping table applies to them.

use super::Wire::{C32, C64, F64, IdMap, S64, Str, U8, X64};
use super::{RecordSchema, f, rec};

#[rustfmt::skip]
pub(super) static SNAPSHOTS: &[RecordSchema] = &[
    rec(10, "SnapshotStart", &[f("numberOfRecords", C64)]),
    rec(11, "SnapshotEnd", &[f("contReadPos", C64)]),
    rec(12, "MeasurementOnOff", &[f("origEventTime", X64), f("measurementMode", U8)]),
    rec(13, "Enter", &[f("origEventTime", X64), f("region", C32)]),
    rec(14, "MpiSend", &[f("origEventTime", X64), f("receiver", C32), f("communicator", C32), f("msgTag", C32), f("msgLength", C64)]),
    rec(15, "MpiIsend", &[f("origEventTime", X64), f("receiver", C32), f("communicator", C32), f("msgTag", C32), f("msgLength", C64), f("requestID", C64)]),
    rec(16, "MpiIsendComplete", &[f("origEventTime", X64), f("requestID", C64)]),
    rec(17, "MpiRecv", &[f("origEventTime", X64), f("sender", C32), f("communicator", C32), f("msgTag", C32), f("msgLength", C64)]),
    rec(18, "MpiIrecvRequest", &[f("origEventTime", X64), f("requestID", C64)]),
    rec(19, "MpiIrecv", &[f("origEventTime", X64), f("sender", C32), f("communicator", C32), f("msgTag", C32), f("msgLength", C64), f("requestID", C64)]),
    rec(20, "MpiCollectiveBegin", &[f("origEventTime", X64)]),
    rec(21, "MpiCollectiveEnd", &[f("origEventTime", X64), f("collectiveOp", U8), f("communicator", C32), f("root", C32), f("sizeSent", C64), f("sizeReceived", C64)]),
    rec(22, "OmpFork", &[f("origEventTime", X64), f("numberOfRequestedThreads", C32)]),
    rec(23, "OmpAcquireLock", &[f("origEventTime", X64), f("lockID", C32), f("acquisitionOrder", C32)]),
    rec(24, "OmpTaskCreate", &[f("origEventTime", X64), f("taskID", C64)]),
    rec(25, "OmpTaskSwitch", &[f("origEventTime", X64), f("taskID", C64)]),
    rec(26, "Metric", &[f("origEventTime", X64), f("metric", C32), f("numberOfMetrics", U8).count(), f("typeIDs", U8).each(), f("metricValues", C64).each()]),
    rec(27, "ParameterString", &[f("origEventTime", X64), f("parameter", C32), f("string", C32)]),
    rec(28, "ParameterInt", &[f("origEventTime", X64), f("parameter", C32), f("value", S64)]),
    rec(29, "ParameterUnsignedInt", &[f("origEventTime", X64), f("parameter", C32), f("value", C64)]),
];

#[rustfmt::skip]
pub(super) static LOCAL_ONLY: &[RecordSchema] = &[
    rec(5, "MappingTable", &[f("mappingType", U8), f("idMap", IdMap)]),
    rec(6, "ClockOffset", &[f("time", X64), f("offset", S64), f("standardDeviation", F64)]),
];

#[rustfmt::skip]
pub(super) static MARKERS: &[RecordSchema] = &[
    rec(5, "DefMarker", &[f("self", C32), f("group", Str), f("category", Str), f("severity", U8)]),
    rec(6, "Marker", &[f("time", C64), f("duration", C64), f("marker", C32), f("scopeKind", U8), f("scope", C64), f("text", Str)]),
];

#[rustfmt::skip]
pub(super) static THUMBNAILS: &[RecordSchema] = &[
    rec(10, "Header", &[f("name", Str), f("description", Str), f("type", U8), f("samples", C32), f("metrics", C32).count(), f("refs", C64).each()]),
    rec(11, "Sample", &[f("baseline", C64), f("metrics", C32).count(), f("values", C64).each()]),
];
