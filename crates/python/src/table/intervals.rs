//! The time from each event that communicates to the next one of its location: what a
//! correction should leave as it is.

use std::sync::Arc;

use arrow_schema::{DataType, Field, SchemaRef};
use retime::LocationIndex;
use retime::causality::EventNode;
use retime_cli::library::Study;

use super::columns::{ROWS, batch, schema as schema_of, signed, unsigned};
use super::stream::{Batches, Next};
use super::times::{Times, span};

pub(super) fn schema(study: &Study) -> SchemaRef {
    let number = |name: &str| Field::new(name, DataType::UInt64, false);
    let ticks = |name: &str| Field::new(name, DataType::Int64, false);
    let fields = vec![
        number("location"),
        number("from_event"),
        number("to_event"),
        number("from_time"),
        ticks("recorded"),
        ticks("corrected"),
        ticks("change"),
    ];
    schema_of(fields, study.analysis().info().rate.get())
}

/// Intervals on their way.
pub(super) struct Intervals {
    study: Arc<Study>,
    schema: SchemaRef,
    location: u32,
    /// How many of its nodes were looked at.
    taken: usize,
}

impl Intervals {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef) -> Self {
        Self {
            study,
            schema,
            location: 0,
            taken: 0,
        }
    }
}

impl Batches for Intervals {
    fn next(&mut self) -> Next {
        let times = Times::of(&self.study);
        let (mut ids, mut ends): (Vec<u64>, Vec<(EventNode, EventNode)>) = Default::default();
        while ids.len() < ROWS && (self.location as usize) < times.nodes.locations() {
            let own = times.nodes.of(self.location as usize);
            let id = times.id(LocationIndex(self.location));
            let pairs = own.clone().zip(own.skip(1));
            let before = ids.len();
            ends.extend(pairs.skip(self.taken).take(ROWS - before));
            ids.resize(ends.len(), id);
            self.taken += ids.len() - before;
            if ids.len() < ROWS {
                self.location += 1;
                self.taken = 0;
            }
        }
        if ids.is_empty() {
            return Next::End;
        }
        let recorded = |from, to| span(times.recorded(from), times.recorded(to));
        let corrected = |from, to| span(times.corrected(from), times.corrected(to));
        let ticks = |what: &dyn Fn(EventNode, EventNode) -> i64| {
            signed(ends.iter().map(|&(from, to)| what(from, to)).collect())
        };
        let columns = vec![
            unsigned(ids),
            unsigned(ends.iter().map(|it| times.nodes.event(it.0)).collect()),
            unsigned(ends.iter().map(|it| times.nodes.event(it.1)).collect()),
            unsigned(ends.iter().map(|it| times.recorded(it.0)).collect()),
            ticks(&recorded),
            ticks(&corrected),
            ticks(&|from, to| corrected(from, to).wrapping_sub(recorded(from, to))),
        ];
        batch(&self.schema, columns)
    }
}
