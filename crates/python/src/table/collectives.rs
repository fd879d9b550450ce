//! Who took part in which collective operation: one row for each participant, with its
//! begin where others depend on that, and its end where that depends on others; and what the
//! files say of the operation, how long it was waited in, and how fast it was.

use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, SchemaRef};
use retime::causality::{Class, EventNode};
use retime_cli::library::{CollectiveFacts, CollectiveRow, Study};

use super::columns::{
    Column, Ids, ROWS, batch, coded_short, dictionary, field, fraction, known, maybe, named,
    number, ordinal, schema as schema_of, text, truth, whole,
};
use super::stream::{Batches, Next};
use super::times::Times;

/// The names of classes of operations, by their code.
const CLASSES: [&str; 5] = ["one-to-all", "all-to-one", "all-to-all", "prefix", "none"];

const fn code(class: Class) -> i16 {
    match class {
        Class::OneToAll => 0,
        Class::AllToOne => 1,
        Class::AllToAll => 2,
        Class::Prefix => 3,
        Class::None => 4,
    }
}

pub(super) fn schema(study: &Study, is_corrected: bool) -> SchemaRef {
    let mut fields = vec![
        number("operation"),
        named("class", DataType::Int16),
        Ids::of(study.analysis().info()).field("location", false),
    ];
    for end in ["begin", "end"] {
        let all = ["event", "time", "corrected"];
        let shown = if is_corrected { &all[..] } else { &all[..2] };
        fields.extend(shown.iter().map(|it| maybe(&format!("{end}_{it}"))));
    }
    fields.push(field("group", DataType::Utf8));
    fields.push(maybe("sequence"));
    fields.push(field("kind", DataType::Utf8));
    fields.push(number("members"));
    fields.push(maybe("bytes"));
    fields.push(field("between_hosts", DataType::Boolean));
    fields.extend(["wait", "exposed", "transfer"].map(maybe));
    fields.push(field("bandwidth", DataType::Float64));
    fields.extend(["is_last", "is_certain"].map(|it| field(it, DataType::Boolean)));
    schema_of(fields, study.analysis().info().rate.get())
}

/// Participants on their way.
pub(super) struct Collectives {
    study: Arc<Study>,
    facts: CollectiveFacts,
    schema: SchemaRef,
    classes: ArrayRef,
    is_corrected: bool,
    /// The first operation that was not looked at.
    next: u32,
}

impl Collectives {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef, is_corrected: bool) -> Self {
        Self {
            facts: study.collective_facts(),
            study,
            schema,
            is_corrected,
            classes: dictionary(&CLASSES),
            next: 0,
        }
    }

    /// The participants of the next operations, enough for a batch.
    fn rows(&mut self) -> Vec<CollectiveRow> {
        let walk = self.study.collectives(&self.facts);
        let mut rows = Vec::new();
        while self.next < walk.operations() && rows.len() < ROWS {
            let Ok(()) = walk.each(self.next..self.next + 1, |row| {
                rows.push(row);
                Ok::<(), Infallible>(())
            });
            self.next += 1;
        }
        rows
    }
}

impl Batches for Collectives {
    fn next(&mut self) -> Next {
        let rows = self.rows();
        if rows.is_empty() {
            return Next::End;
        }
        let times = Times::of(&self.study);
        let of = |node: fn(&CollectiveRow) -> Option<EventNode>,
                  what: &dyn Fn(EventNode) -> u64| {
            known(rows.iter().map(|row| node(row).map(what)).collect())
        };
        let ids = Ids::of(self.study.analysis().info());
        let mut columns: Vec<Column> = vec![
            Ok(ordinal(rows.iter().map(|it| it.operation).collect())),
            coded_short(
                rows.iter().map(|it| code(it.class)).collect(),
                &self.classes,
            ),
            ids.column(rows.iter().map(|it| it.location).collect()),
        ];
        let ends: [fn(&CollectiveRow) -> Option<EventNode>; 2] = [|it| it.begun, |it| it.ended];
        for end in ends {
            columns.push(of(end, &|it| times.nodes.event(it)));
            columns.push(of(end, &|it| times.recorded(it)));
            if self.is_corrected {
                columns.push(of(end, &|it| times.corrected(it)));
            }
        }
        let numbers = |of: fn(&CollectiveRow) -> Option<u64>| known(rows.iter().map(of).collect());
        let truths =
            |of: fn(&CollectiveRow) -> Option<bool>| Ok(truth(rows.iter().map(of).collect()));
        let texts =
            |of: fn(&CollectiveRow) -> Option<String>| Ok(text(rows.iter().map(of).collect()));
        columns.extend([
            texts(|it| it.group.clone()),
            numbers(|it| it.sequence),
            texts(|it| it.kind.clone()),
            whole(rows.iter().map(|it| it.members as u64).collect()),
            numbers(|it| it.bytes),
            truths(|it| it.between_hosts),
            numbers(|it| it.wait),
            numbers(|it| it.exposed),
            numbers(|it| it.transfer),
            Ok(fraction(rows.iter().map(|it| it.bandwidth).collect())),
            truths(|it| it.is_last),
            truths(|it| it.is_certain),
        ]);
        batch(&self.schema, columns)
    }
}
