//! Columns from vectors, which they take over.
//!
//! All whole numbers have a sign: `receive_time - send_time` is below 0 where it matters, and
//! what takes columns as arrays of 64 bits without a sign would make 1.8e19 of that. Only ids of
//! locations can need the last bit, as those of OTF2 may; nobody subtracts them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, StringArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use retime::TraceInfo;
use retime_cli::library::{Failure, FailureKind};

use super::stream::Next;

/// A column, or why there is none.
pub(super) type Column = Result<ArrayRef, Failure>;

/// Rows of a batch: enough that what a batch costs by itself does not count.
pub(super) const ROWS: usize = 1 << 16;

/// A name that is repeated.
pub(super) fn named(name: &str, codes: DataType) -> Field {
    let kind = DataType::Dictionary(Box::new(codes), Box::new(DataType::Utf8));
    Field::new(name, kind, true)
}

/// A schema that says how fast ticks run.
pub(super) fn schema(fields: Vec<Field>, ticks_per_second: u64) -> SchemaRef {
    let rate = ("ticks_per_second".into(), ticks_per_second.to_string());
    Arc::new(Schema::new_with_metadata(fields, HashMap::from([rate])))
}

/// A field of whole numbers.
pub(super) fn number(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

/// A field of whole numbers that may be missing.
pub(super) fn maybe(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

/// A field of another type that may be missing.
pub(super) fn field(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, true)
}

/// Text that may be missing.
pub(super) fn text(all: Vec<Option<String>>) -> ArrayRef {
    Arc::new(StringArray::from(all))
}

/// Truth that may be missing.
pub(super) fn truth(all: Vec<Option<bool>>) -> ArrayRef {
    Arc::new(BooleanArray::from(all))
}

/// Numbers with a fraction that may be missing.
pub(super) fn fraction(all: Vec<Option<f64>>) -> ArrayRef {
    Arc::new(Float64Array::from(all))
}

/// Numbers that cannot be negative.
pub(super) fn whole(all: Vec<u64>) -> Column {
    Ok(Arc::new(Int64Array::new(with_sign(all)?, None)))
}

/// Numbers of 32 bits that cannot be negative.
pub(super) fn ordinal(all: Vec<u32>) -> ArrayRef {
    signed(all.into_iter().map(i64::from).collect())
}

/// Numbers of any sign.
pub(super) fn signed(all: Vec<i64>) -> ArrayRef {
    Arc::new(Int64Array::from(all))
}

/// Numbers that may be missing, and cannot be negative.
pub(super) fn known(all: Vec<Option<u64>>) -> Column {
    let is_there = BooleanBuffer::collect_bool(all.len(), |at| all[at].is_some());
    let all = all.into_iter().map(Option::unwrap_or_default).collect();
    let column = Int64Array::new(with_sign(all)?, Some(NullBuffer::new(is_there)));
    Ok(Arc::new(column))
}

/// Numbers as signed ones of the same bits; fails if one of them is too large for that.
fn with_sign(all: Vec<u64>) -> Result<ScalarBuffer<i64>, Failure> {
    if let Some(&large) = all.iter().find(|&&it| it > i64::MAX as u64) {
        return Err(too_large(&large.to_string()));
    }
    Ok(ScalarBuffer::from(Buffer::from_vec(all)))
}

/// An error that says that something does not fit.
pub(super) fn too_large(what: &str) -> Failure {
    Failure {
        kind: FailureKind::Trace,
        message: format!(
            "{what} does not fit into a table, whose whole numbers have a sign and are below \
             2^63; `retime order` lists all numbers"
        ),
        exit_code: 2,
    }
}

/// How the ids of a trace's locations are kept.
#[derive(Clone, Copy)]
pub(super) enum Ids {
    /// Ids as all other whole numbers are.
    Signed,
    /// Some take all 64 bits.
    Unsigned,
}

impl Ids {
    pub(super) fn of(info: &TraceInfo) -> Self {
        let are_small = info.locations.iter().all(|it| i64::try_from(it.id).is_ok());
        if are_small {
            Self::Signed
        } else {
            Self::Unsigned
        }
    }

    pub(super) fn field(self, name: &str, may_be_missing: bool) -> Field {
        let kind = match self {
            Self::Signed => DataType::Int64,
            Self::Unsigned => DataType::UInt64,
        };
        Field::new(name, kind, may_be_missing)
    }

    pub(super) fn column(self, all: Vec<u64>) -> Column {
        self.present(all, None)
    }

    /// Where there are any, if not all are.
    pub(super) fn present(self, all: Vec<u64>, is_there: Option<BooleanBuffer>) -> Column {
        let nulls = is_there.map(NullBuffer::new);
        let nulls = nulls.filter(|it| it.null_count() > 0);
        Ok(match self {
            Self::Signed => Arc::new(Int64Array::new(with_sign(all)?, nulls)),
            Self::Unsigned => Arc::new(UInt64Array::new(all.into(), nulls)),
        })
    }
}

/// Numbers with a fraction that are missing where they have no bound.
pub(super) fn finite(all: Vec<f64>) -> ArrayRef {
    let is_known = BooleanBuffer::collect_bool(all.len(), |at| all[at].is_finite());
    Arc::new(Float64Array::new(
        all.into(),
        Some(NullBuffer::new(is_known)),
    ))
}

/// Positions in a dictionary, below 0 where there is no name.
pub(super) fn coded(mut codes: Vec<i32>, names: &ArrayRef) -> Column {
    let mut nulls = None;
    if codes.iter().any(|&it| it < 0) {
        let is_there = BooleanBuffer::collect_bool(codes.len(), |at| codes[at] >= 0);
        nulls = Some(NullBuffer::new(is_there));
        for code in &mut codes {
            *code = (*code).max(0);
        }
    }
    let codes = Int32Array::new(codes.into(), nulls);
    let all = DictionaryArray::<Int32Type>::try_new(codes, Arc::clone(names));
    Ok(Arc::new(all.map_err(Failure::defect)?))
}

/// Positions in a dictionary of few names, none of them missing.
pub(super) fn coded_short(codes: Vec<i16>, names: &ArrayRef) -> Column {
    let codes = Int16Array::new(codes.into(), None);
    let all = DictionaryArray::<Int16Type>::try_new(codes, Arc::clone(names));
    Ok(Arc::new(all.map_err(Failure::defect)?))
}

/// A dictionary.
pub(super) fn dictionary<S: AsRef<str>>(names: &[S]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(names))
}

/// A batch, if there are all columns and they fit the schema.
pub(super) fn batch(schema: &SchemaRef, columns: Vec<Column>) -> Next {
    match joined(schema, columns) {
        Ok(batch) => Next::Batch(batch),
        Err(failure) => Next::Failed(failure),
    }
}

/// The columns as one batch; fails if one is missing or they do not fit the schema.
pub(super) fn joined(schema: &SchemaRef, columns: Vec<Column>) -> Result<RecordBatch, Failure> {
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(Failure::defect)
}
