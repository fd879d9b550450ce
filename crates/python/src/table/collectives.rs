//! Who took part in which collective operation: one row for each participant, with its
//! begin where others depend on that, and its end where that depends on others.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, SchemaRef};
use retime::causality::{Class, EventNode, Instance};
use retime_cli::library::Study;

use super::columns::{
    Column, Ids, ROWS, batch, coded_short, dictionary, known, maybe, named, number, ordinal,
    schema as schema_of,
};
use super::stream::{Batches, Next};
use super::times::Times;

/// What an operation proves, by its number.
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
    schema_of(fields, study.analysis().info().rate.get())
}

/// Participants on their way.
pub(super) struct Collectives {
    study: Arc<Study>,
    schema: SchemaRef,
    classes: ArrayRef,
    is_corrected: bool,
    /// The first operation that was not looked at.
    next: u32,
}

impl Collectives {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef, is_corrected: bool) -> Self {
        Self {
            study,
            schema,
            is_corrected,
            classes: dictionary(&CLASSES),
            next: 0,
        }
    }
}

/// A participant.
struct Row {
    operation: u32,
    class: i16,
    location: u64,
    begin: Option<EventNode>,
    end: Option<EventNode>,
}

impl Batches for Collectives {
    fn next(&mut self) -> Next {
        let times = Times::of(&self.study);
        let collectives = self.study.analysis().causality().collectives();
        let all = collectives.instances().len() as u32;
        let mut rows: Vec<Row> = Vec::new();
        while self.next < all && rows.len() < ROWS {
            let instance = Instance(self.next);
            let class = code(collectives.operation(instance).class);
            for it in collectives.participants(instance) {
                let (begin, end) = (it.cause(), it.effect());
                let Some(node) = begin.or(end) else { continue };
                rows.push(Row {
                    operation: self.next,
                    class,
                    location: times.location(node),
                    begin,
                    end,
                });
            }
            self.next += 1;
        }
        if rows.is_empty() {
            return Next::End;
        }
        let of = |node: fn(&Row) -> Option<EventNode>, what: &dyn Fn(EventNode) -> u64| {
            known(rows.iter().map(|row| node(row).map(what)).collect())
        };
        let ids = Ids::of(self.study.analysis().info());
        let mut columns: Vec<Column> = vec![
            Ok(ordinal(rows.iter().map(|it| it.operation).collect())),
            coded_short(rows.iter().map(|it| it.class).collect(), &self.classes),
            ids.column(rows.iter().map(|it| it.location).collect()),
        ];
        let ends: [fn(&Row) -> Option<EventNode>; 2] = [|it| it.begin, |it| it.end];
        for end in ends {
            columns.push(of(end, &|it| times.nodes.event(it)));
            columns.push(of(end, &|it| times.recorded(it)));
            if self.is_corrected {
                columns.push(of(end, &|it| times.corrected(it)));
            }
        }
        batch(&self.schema, columns)
    }
}
