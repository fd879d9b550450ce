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

use super::columns::{Ids, ROWS, batch, finite, number, schema as schema_of, signed, whole};
use super::stream::{Batches, Next};
use super::times::{Times, span};

pub(super) fn schema(study: &Study, is_corrected: bool) -> SchemaRef {
    let ids = Ids::of(study.analysis().info());
    let corrected = |name: &str| is_corrected.then(|| number(name));
    let mut fields = Vec::new();
    for end in ["send", "receive"] {
        fields.push(ids.field(&format!("{end}_location"), false));
        fields.extend(["event", "time"].map(|it| number(&format!("{end}_{it}"))));
        fields.extend(corrected(&format!("{end}_corrected")));
    }
    fields.push(number("latency"));
    fields.extend(corrected("latency_corrected"));
    fields.push(number("least_latency"));
    fields.extend(["latency_from", "latency_to"].map(|it| Field::new(it, DataType::Float64, true)));
    schema_of(fields, study.analysis().info().rate.get())
}

/// Messages on their way.
pub(super) struct Messages {
    study: Arc<Study>,
    schema: SchemaRef,
    is_corrected: bool,
    /// The first node that was not looked at.
    next: u32,
}

impl Messages {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef, is_corrected: bool) -> Self {
        Self {
            study,
            schema,
            is_corrected,
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
        let least = |send, receive| causality.message_delay(delay, send, receive).0;
        let ids = Ids::of(self.study.analysis().info());
        let mut columns = Vec::new();
        for is_sender in [true, false] {
            let side = |it: &(EventNode, EventNode)| if is_sender { it.0 } else { it.1 };
            let nodes = || ends.iter().map(side);
            columns.push(ids.column(nodes().map(|it| times.location(it)).collect()));
            columns.push(whole(nodes().map(|it| times.nodes.event(it)).collect()));
            columns.push(whole(nodes().map(|it| times.recorded(it)).collect()));
            if self.is_corrected {
                columns.push(whole(nodes().map(|it| times.corrected(it)).collect()));
            }
        }
        let recorded = |send, receive| span(times.recorded(send), times.recorded(receive));
        columns.push(Ok(ticks(&recorded)));
        if self.is_corrected {
            columns.push(Ok(ticks(&corrected)));
        }
        columns.extend([
            Ok(ticks(&least)),
            Ok(finite(ends.iter().map(from).collect())),
            Ok(finite(ends.iter().map(to).collect())),
        ]);
        batch(&self.schema, columns)
    }
}
