//! The records of all other files, one line per record.

use super::codes;
use super::field::Wire::{C32, C64, F64, IdMap, S64, Str, U8, X64};
use super::field::{RecordSchema, f, rec};

#[rustfmt::skip]
pub(super) static LOCAL_ONLY: &[RecordSchema] = &[
    rec(codes::MAPPING_TABLE, "MappingTable", &[f("mappingType", U8), f("idMap", IdMap)]),
    rec(codes::CLOCK_OFFSET, "ClockOffset", &[f("time", X64), f("offset", S64), f("standardDeviation", F64)]),
];

#[rustfmt::skip]
pub(super) static MARKERS: &[RecordSchema] = &[
    rec(codes::DEF_MARKER, "DefMarker", &[f("self", C32), f("group", Str), f("category", Str), f("severity", U8)]),
    rec(codes::MARKER, "Marker", &[f("time", C64), f("duration", C64), f("marker", C32), f("scopeKind", U8), f("scope", C64), f("text", Str)]),
];

#[rustfmt::skip]
pub(super) static THUMBNAILS: &[RecordSchema] = &[
    rec(10, "Header", &[f("name", Str), f("description", Str), f("type", U8), f("samples", C32), f("metrics", C32).count(), f("refs", C64).each()]),
    rec(11, "Sample", &[f("baseline", C64), f("metrics", C32).count(), f("values", C64).each()]),
];
