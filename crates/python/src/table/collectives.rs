//! Who took part in which collective operation: one row for each participant, with its
//! begin where others depend on that, and its end where that depends on others.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, SchemaRef};
use retime::causality::{Class, EventNode, Instance};
use retime_cli::library::Study;

use super::columns::{
    ROWS, batch, coded_short, dictionary, known, named, ordinal, schema as schema_of, unsigned,
};
use super::stream::{Batches, Next};
use super::times::Times;

/// What an operation proves, by its number.
const CLASSES: [&str; 5] = ["one-to-all", "all-to-one", "all-to-all", "prefix", "none"];

const fn number(class: Class) -> i16 {
    match class {
        Class::OneToAll => 0,
        Class::AllToOne => 1,
        Class::AllToAll => 2,
        Class::Prefix => 3,
        Class::None => 4,
    }
}

pub(super) fn schema(study: &Study) -> SchemaRef {
    let maybe = |name: &str| Field::new(name, DataType::UInt64, true);
    let fields = vec![
        Field::new("operation", DataType::UInt32, false),
        named("class", DataType::Int16),
        Field::new("location", DataType::UInt64, false),
        maybe("begin_event"),
        maybe("begin_time"),
        maybe("begin_corrected"),
        maybe("end_event"),
        maybe("end_time"),
        maybe("end_corrected"),
    ];
    schema_of(fields, study.analysis().info().rate.get())
}

/// Participants on their way.
pub(super) struct Collectives {
    study: Arc<Study>,
    schema: SchemaRef,
    classes: ArrayRef,
    /// The first operation that was not looked at.
    next: u32,
}

impl Collectives {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef) -> Self {
        Self {
            study,
            schema,
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
            let class = number(collectives.operation(instance).class);
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
        let classes = coded_short(rows.iter().map(|it| it.class).collect(), &self.classes);
        let classes = match classes {
            Ok(classes) => classes,
            Err(error) => return Next::Failed(retime_cli::library::Failure::defect(error)),
        };
        let of = |node: fn(&Row) -> Option<EventNode>, what: &dyn Fn(EventNode) -> u64| {
            known(rows.iter().map(|row| node(row).map(what)).collect())
        };
        let columns = vec![
            ordinal(rows.iter().map(|it| it.operation).collect()),
            classes,
            unsigned(rows.iter().map(|it| it.location).collect()),
            of(|it| it.begin, &|it| times.nodes.event(it)),
            of(|it| it.begin, &|it| times.recorded(it)),
            of(|it| it.begin, &|it| times.corrected(it)),
            of(|it| it.end, &|it| times.nodes.event(it)),
            of(|it| it.end, &|it| times.recorded(it)),
            of(|it| it.end, &|it| times.corrected(it)),
        ];
        batch(&self.schema, columns)
    }
}
