//! Columns from vectors, which they take over.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use retime_cli::library::Failure;

use super::stream::Next;

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

/// Numbers without a sign.
pub(super) fn unsigned(all: Vec<u64>) -> ArrayRef {
    Arc::new(UInt64Array::from(all))
}

/// Numbers of clocks and operations.
pub(super) fn ordinal(all: Vec<u32>) -> ArrayRef {
    Arc::new(UInt32Array::from(all))
}

/// Numbers with a sign.
pub(super) fn signed(all: Vec<i64>) -> ArrayRef {
    Arc::new(Int64Array::from(all))
}

/// Numbers that may be missing.
pub(super) fn known(all: Vec<Option<u64>>) -> ArrayRef {
    Arc::new(UInt64Array::from(all))
}

/// Numbers with a fraction that are missing where they have no bound.
pub(super) fn finite(all: Vec<f64>) -> ArrayRef {
    let is_known = BooleanBuffer::collect_bool(all.len(), |at| all[at].is_finite());
    Arc::new(Float64Array::new(
        all.into(),
        Some(NullBuffer::new(is_known)),
    ))
}

/// Numbers, and where there are any.
pub(super) fn present(all: Vec<u64>, is_there: BooleanBuffer) -> ArrayRef {
    let nulls = NullBuffer::new(is_there);
    let nulls = Some(nulls).filter(|it| it.null_count() > 0);
    Arc::new(UInt64Array::new(all.into(), nulls))
}

/// Positions in a dictionary, below 0 where there is no name.
pub(super) fn coded(mut codes: Vec<i32>, names: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let mut nulls = None;
    if codes.iter().any(|&it| it < 0) {
        let is_there = BooleanBuffer::collect_bool(codes.len(), |at| codes[at] >= 0);
        nulls = Some(NullBuffer::new(is_there));
        for code in &mut codes {
            *code = (*code).max(0);
        }
    }
    let codes = Int32Array::new(codes.into(), nulls);
    let all = DictionaryArray::<Int32Type>::try_new(codes, Arc::clone(names))?;
    Ok(Arc::new(all))
}

/// The same of few names, all there.
pub(super) fn coded_short(codes: Vec<i16>, names: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let codes = Int16Array::new(codes.into(), None);
    let all = DictionaryArray::<Int16Type>::try_new(codes, Arc::clone(names))?;
    Ok(Arc::new(all))
}

/// A dictionary.
pub(super) fn dictionary<S: AsRef<str>>(names: &[S]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(names))
}

/// A batch, if columns fit the schema.
pub(super) fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Next {
    match RecordBatch::try_new(Arc::clone(schema), columns) {
        Ok(batch) => Next::Batch(batch),
        Err(error) => Next::Failed(Failure::defect(error)),
    }
}
