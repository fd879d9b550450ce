//! Events of communication that no dependency rests on, since the recording lacks or contradicts
//! something: one row for each reason and event.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, SchemaRef};
use retime_cli::library::{Study, UnusedKind};

use super::columns::{
    Column, Ids, ROWS, batch, coded_short, dictionary, named, number, schema as schema_of, whole,
};
use super::stream::{Batches, Next};
use super::times::Times;

pub(super) fn schema(study: &Study) -> SchemaRef {
    let info = study.analysis().info();
    let mut fields = ["kind", "why"]
        .map(|it| named(it, DataType::Int16))
        .to_vec();
    fields.extend([Ids::of(info).field("location", false), number("event")]);
    schema_of(fields, info.rate.get())
}

/// Unused events on their way.
pub(super) struct UnusedEvents {
    study: Arc<Study>,
    schema: SchemaRef,
    kinds: Arc<Vec<UnusedKind>>,
    /// The kind that is looked at.
    kind: usize,
    /// How many of its events were looked at.
    taken: usize,
}

impl UnusedEvents {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef, kinds: Arc<Vec<UnusedKind>>) -> Self {
        Self {
            study,
            schema,
            kinds,
            kind: 0,
            taken: 0,
        }
    }

    fn names(&self, name: impl Fn(&UnusedKind) -> &str) -> ArrayRef {
        let all: Vec<&str> = self.kinds.iter().map(name).collect();
        dictionary(&all)
    }
}

impl Batches for UnusedEvents {
    fn next(&mut self) -> Next {
        let times = Times::of(&self.study);
        let (mut kinds, mut ids, mut events) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(kind) = self.kinds.get(self.kind)
            && kinds.len() < ROWS
        {
            let rest = kind.places.iter().skip(self.taken);
            for place in rest.take(ROWS - kinds.len()) {
                // There are no more kinds than reasons in the program.
                kinds.push(self.kind as i16);
                ids.push(times.id(place.location));
                events.push(place.event);
                self.taken += 1;
            }
            if self.taken == kind.places.len() {
                self.kind += 1;
                self.taken = 0;
            }
        }
        if kinds.is_empty() {
            return Next::End;
        }
        let columns: Vec<Column> = vec![
            coded_short(kinds.clone(), &self.names(|it| &it.name)),
            coded_short(kinds, &self.names(|it| &it.why)),
            Ids::of(self.study.analysis().info()).column(ids),
            whole(events),
        ];
        batch(&self.schema, columns)
    }
}
