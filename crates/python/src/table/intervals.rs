//! The time from each event that communicates to the next one of its location: what a
//! correction should leave as it is.

use std::sync::Arc;

use arrow_schema::{DataType, SchemaRef};
use retime::LocationIndex;
use retime::causality::{EventNode, Role};
use retime_cli::library::Study;

use super::columns::{
    Ids, ROWS, batch, coded_short, dictionary, named, number, schema as schema_of, signed, whole,
};
use super::stream::{Batches, Next};
use super::times::{Times, span};

/// The roles of events that communicate, by their codes.
const ROLES: [&str; 4] = ["send", "receive", "collective_begin", "collective_end"];

fn code(role: Role) -> i16 {
    match role {
        Role::Send => 0,
        Role::Receive => 1,
        Role::CollectiveBegin => 2,
        Role::CollectiveEnd => 3,
    }
}

pub(super) fn schema(study: &Study, is_corrected: bool) -> SchemaRef {
    let mut fields = vec![Ids::of(study.analysis().info()).field("location", false)];
    fields.extend(["from_event", "to_event"].map(number));
    fields.push(named("to_role", DataType::Int16));
    fields.extend(["from_time", "recorded"].map(number));
    if is_corrected {
        fields.extend(["corrected", "change"].map(number));
    }
    schema_of(fields, study.analysis().info().rate.get())
}

/// Intervals on their way.
pub(super) struct Intervals {
    study: Arc<Study>,
    schema: SchemaRef,
    is_corrected: bool,
    location: u32,
    /// How many of its nodes were looked at.
    taken: usize,
}

impl Intervals {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef, is_corrected: bool) -> Self {
        Self {
            study,
            schema,
            is_corrected,
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
        let roles = ends.iter().map(|it| code(times.nodes.role(it.1)));
        let roles: Vec<i16> = roles.collect();
        let mut columns = vec![
            Ids::of(self.study.analysis().info()).column(ids),
            whole(ends.iter().map(|it| times.nodes.event(it.0)).collect()),
            whole(ends.iter().map(|it| times.nodes.event(it.1)).collect()),
            coded_short(roles, &dictionary(&ROLES)),
            whole(ends.iter().map(|it| times.recorded(it.0)).collect()),
            Ok(ticks(&recorded)),
        ];
        if self.is_corrected {
            columns.push(Ok(ticks(&corrected)));
            let change = |from, to| corrected(from, to).wrapping_sub(recorded(from, to));
            columns.push(Ok(ticks(&change)));
        }
        batch(&self.schema, columns)
    }
}
