//! The correction of each clock, and how sure it is: at the knots of its map, at those of its error
//! bounds, and at its first and last event. In between both are linear; where a clock was set there
//! are two rows of one recorded time.

use std::sync::Arc;

use arrow_schema::{DataType, Field, SchemaRef};
use retime::{ClockId, Timestamp};
use retime_cli::library::Study;

use super::columns::{
    batch, coded, dictionary, finite, named, number, ordinal, schema as schema_of, whole,
};
use super::stream::{Batches, Next};

pub(super) fn schema(study: &Study, is_corrected: bool) -> SchemaRef {
    let mut fields = vec![
        number("clock"),
        named("name", DataType::Int32),
        number("recorded"),
    ];
    fields.extend(is_corrected.then(|| number("corrected")));
    fields.extend(["before", "after"].map(|it| Field::new(it, DataType::Float64, true)));
    schema_of(fields, study.analysis().info().rate.get())
}

/// Clocks on their way, one for each batch.
pub(super) struct ClockKnots {
    study: Arc<Study>,
    schema: SchemaRef,
    is_corrected: bool,
    next: u32,
}

impl ClockKnots {
    pub(super) fn new(study: Arc<Study>, schema: SchemaRef, is_corrected: bool) -> Self {
        Self {
            study,
            schema,
            is_corrected,
            next: 0,
        }
    }

    /// Recorded and corrected stamps of a clock, by rising time.
    fn points(&self, clock: ClockId) -> Vec<(u64, u64)> {
        let analysis = self.study.analysis();
        let nodes = analysis.causality().nodes();
        let locations = analysis.clocks().locations(clock);
        let extents = locations
            .iter()
            .filter_map(|it| nodes.extent(it.as_usize()));
        let (mut stamps, mut points) = (Vec::new(), Vec::new());
        for extent in extents {
            stamps.extend([extent.first.0, extent.last.0]);
        }
        stamps.sort_unstable();
        // Those of the clock, not of each of its locations.
        stamps = stamps
            .first()
            .into_iter()
            .chain(stamps.last())
            .copied()
            .collect();
        stamps.extend(self.bounds(clock).iter().map(|it| it.0));
        let map = self.study.solution().map(|it| it.correction.map(clock));
        if let Some(map) = map {
            for knot in map.knots() {
                points.push((knot.raw.0, knot.arrive.0));
                points.push((knot.raw.0, knot.leave.0));
            }
            let at_knot = |stamp: &u64| map.knots().iter().any(|it| it.raw.0 == *stamp);
            stamps.retain(|it| !at_knot(it));
        }
        stamps.sort_unstable();
        stamps.dedup();
        let mut cursor = map
            .zip(locations.first())
            .map(|(map, &location)| map.cursor(location));
        for stamp in stamps {
            let corrected = match &mut cursor {
                Some(cursor) => cursor.map_time(Timestamp(stamp)).map(|it| it.0),
                None => Some(stamp),
            };
            points.extend(corrected.map(|it| (stamp, it)));
        }
        points.sort_unstable();
        points.dedup();
        points
    }

    fn bounds(&self, clock: ClockId) -> &[retime::optimal::ErrorKnot] {
        let bounds = self.study.bounds();
        let bound = bounds.and_then(|it| it.errors.clocks.get(clock.as_usize())?.as_ref());
        bound.map_or(&[], |it| it.knots())
    }
}

impl Batches for ClockKnots {
    fn next(&mut self) -> Next {
        let analysis = self.study.analysis();
        let clocks = analysis.clocks();
        if self.next as usize >= clocks.len() {
            return Next::End;
        }
        let clock = ClockId(self.next);
        self.next += 1;
        let points = self.points(clock);
        let bounds = self.study.bounds();
        let bound = bounds.and_then(|it| it.errors.clocks.get(clock.as_usize())?.as_ref());
        let error = |&(raw, _): &(u64, u64)| {
            bound.map_or((f64::INFINITY, f64::INFINITY), |it| it.at(Timestamp(raw)))
        };
        let names = dictionary(&self.study.clock_names());
        let mut columns = vec![
            Ok(ordinal(vec![clock.0; points.len()])),
            coded(vec![clock.0 as i32; points.len()], &names),
            whole(points.iter().map(|it| it.0).collect()),
        ];
        if self.is_corrected {
            columns.push(whole(points.iter().map(|it| it.1).collect()));
        }
        columns.extend([
            Ok(finite(points.iter().map(|it| error(it).0).collect())),
            Ok(finite(points.iter().map(|it| error(it).1).collect())),
        ]);
        batch(&self.schema, columns)
    }
}
