//! Messages with both ends, as they arrive at each location. The completion of a
//! synchronous send, which depends on the posting of its receive, stands here too.
//!
//! The true latency lies between two values, if the true times of both ends lie within
//! their error bounds:
//!
//! ```text
//! latency - before(receive) - after(send) <= truth <= latency + after(receive) + before(send)
//! ```

use std::sync::Arc;

use arrow_schema::{DataType, Field, SchemaRef};
use retime::causality::EventNode;
use retime_cli::library::Study;

use super::columns::{ROWS, batch, finite, schema as schema_of, signed, unsigned};
use super::stream::{Batches, Next};
use super::times::{Times, span};

pub(super) fn schema(study: &Study) -> SchemaRef {
    let number = |name: &str| Field::new(name, DataType::UInt64, false);
    let ticks = |name: &str| Field::new(name, DataType::Int64, false);
    let bound = |name: &str| Field::new(name, DataType::Float64, true);
    let fields = vec![
        number("send_location"),
        number("send_event"),
        number("send_time"),
        number("send_corrected"),
        number("receive_location"),
        number("receive_event"),
        number("receive_time"),
        number("receive_corrected"),
        ticks("latency"),
        ticks("latency_corrected"),
        ticks("least_latency"),
        bound("latency_from"),
        bound("latency_to"),
    ];
    schema_of(fields, study.analysis().info().rate.get())
}

/// Messages on their way.
pub(super) struct Messages {
    study: Arc<Study>,
    schema: SchemaRef,
    /// The first node that was not looked at.
    next: u32,
}

impl Messages {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef) -> Self {
        Self {
            study,
            schema,
            next: 0,
        }
    }
}

impl Batches for Messages {
    fn next(&mut self) -> Next {
        let causality = self.study.analysis().causality();
        let times = Times::of(&self.study);
        let delay = &self.study.analysis().delay().delay;
        let enforced = self.study.solution().and_then(|it| it.enforced.as_ref());
        let delay = enforced.map_or(delay, |it| &it.delay);
        let all = times.nodes.len() as u32;
        let mut ends: Vec<(EventNode, EventNode)> = Vec::new();
        while self.next < all && ends.len() < ROWS {
            let receive = EventNode(self.next);
            self.next += 1;
            ends.extend(causality.message_source(receive).map(|it| (it, receive)));
        }
        if ends.is_empty() {
            return Next::End;
        }
        let of = |what: &dyn Fn(EventNode, EventNode) -> u64| {
            unsigned(
                ends.iter()
                    .map(|&(send, receive)| what(send, receive))
                    .collect(),
            )
        };
        let ticks = |what: &dyn Fn(EventNode, EventNode) -> i64| {
            signed(
                ends.iter()
                    .map(|&(send, receive)| what(send, receive))
                    .collect(),
            )
        };
        let corrected = |send, receive| span(times.corrected(send), times.corrected(receive));
        let from = |&(send, receive): &(EventNode, EventNode)| {
            corrected(send, receive) as f64 - times.error(receive).0 - times.error(send).1
        };
        let to = |&(send, receive): &(EventNode, EventNode)| {
            corrected(send, receive) as f64 + times.error(receive).1 + times.error(send).0
        };
        let least = |send, receive| {
            let (from, to) = (times.nodes.location(send), times.nodes.location(receive));
            delay.between(from, to).0
        };
        let columns = vec![
            of(&|send, _| times.location(send)),
            of(&|send, _| times.nodes.event(send)),
            of(&|send, _| times.recorded(send)),
            of(&|send, _| times.corrected(send)),
            of(&|_, receive| times.location(receive)),
            of(&|_, receive| times.nodes.event(receive)),
            of(&|_, receive| times.recorded(receive)),
            of(&|_, receive| times.corrected(receive)),
            ticks(&|send, receive| span(times.recorded(send), times.recorded(receive))),
            ticks(&corrected),
            ticks(&least),
            finite(ends.iter().map(from).collect()),
            finite(ends.iter().map(to).collect()),
        ];
        batch(&self.schema, columns)
    }
}
