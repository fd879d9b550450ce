//! Tables of a trace as streams of Arrow's record batches.
//!
//! ```text
//! Table --__arrow_c_stream__--> Stream --> Batches: events, or what is known of causality
//! ```
//!
//! A table holds no rows: each stream makes them anew, batch by batch, as whoever takes
//! them asks for more. Columns are made once and handed over, not copied; names stand in
//! dictionaries. Columns of corrected times are there where they were asked for, though
//! nothing may have had to be corrected; tables of a recording have none.

mod clocks;
mod collectives;
mod columns;
mod events;
mod intervals;
mod lane;
mod messages;
mod names;
mod stream;
mod times;
mod unused;

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use retime_cli::library::{Failure, Study, UnusedKind};

pub(crate) use self::events::{Asked, Source};
use self::stream::{Batches, Stream};
use crate::failure::{defect, raised};

/// A table.
#[pyclass(frozen)]
pub(crate) struct Table {
    schema: SchemaRef,
    make: Box<dyn Fn() -> Box<dyn Batches> + Send + Sync>,
    /// Why the last stream ended early.
    failure: Arc<Mutex<Option<Failure>>>,
}

impl Table {
    fn new<B: Batches + 'static>(
        schema: SchemaRef,
        make: impl Fn() -> B + Send + Sync + 'static,
    ) -> Self {
        Self {
            schema,
            make: Box::new(move || Box::new(make())),
            failure: Arc::default(),
        }
    }

    /// A table of events.
    pub(crate) fn events(py: Python<'_>, source: Source, asked: Asked) -> PyResult<Self> {
        let wanted = events::wanted(source, asked).map_err(|failure| raised(py, &failure))?;
        let (schema, wanted) = (wanted.schema(), Arc::new(wanted));
        Ok(Self::new(schema, move || {
            events::Events::new(Arc::clone(&wanted))
        }))
    }

    /// A table of messages with both ends.
    pub(crate) fn messages(study: Arc<Study>, is_corrected: bool) -> Self {
        let (schema, study) = (messages::schema(&study, is_corrected), study);
        let own = Arc::clone(&schema);
        Self::new(schema, move || {
            messages::Messages::new(Arc::clone(&study), Arc::clone(&own), is_corrected)
        })
    }

    /// A table of the participants of collective operations.
    pub(crate) fn collectives(study: Arc<Study>, is_corrected: bool) -> Self {
        let schema = collectives::schema(&study, is_corrected);
        let own = Arc::clone(&schema);
        Self::new(schema, move || {
            collectives::Collectives::new(Arc::clone(&study), Arc::clone(&own), is_corrected)
        })
    }

    /// A table of the correction of each clock.
    pub(crate) fn clocks(study: Arc<Study>, is_corrected: bool) -> Self {
        let schema = clocks::schema(&study, is_corrected);
        let own = Arc::clone(&schema);
        Self::new(schema, move || {
            clocks::ClockKnots::new(Arc::clone(&study), Arc::clone(&own), is_corrected)
        })
    }

    /// A table of the intervals between events that communicate.
    pub(crate) fn intervals(study: Arc<Study>, is_corrected: bool) -> Self {
        let schema = intervals::schema(&study, is_corrected);
        let own = Arc::clone(&schema);
        Self::new(schema, move || {
            intervals::Intervals::new(Arc::clone(&study), Arc::clone(&own), is_corrected)
        })
    }

    /// A table of the events of some kinds that no dependency rests on.
    pub(crate) fn unused(study: Arc<Study>, kinds: Vec<UnusedKind>) -> Self {
        let (schema, kinds) = (unused::schema(&study), Arc::new(kinds));
        let own = Arc::clone(&schema);
        Self::new(schema, move || {
            unused::UnusedEvents::new(Arc::clone(&study), Arc::clone(&own), Arc::clone(&kinds))
        })
    }
}

#[pymethods]
impl Table {
    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|it| it.name().clone()).collect()
    }

    /// The schema, for whatever knows Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(|_| defect(py))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, for whatever knows Arrow. All that asks for another schema gets this one,
    /// as the protocol allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let stream = Stream::new(
            Arc::clone(&self.schema),
            (self.make)(),
            Arc::clone(&self.failure),
        );
        let stream = FFI_ArrowArrayStream::new(Box::new(stream));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Raises why the last stream ended early, if it did.
    fn raise_failure(&self, py: Python<'_>) -> PyResult<()> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match failure.take() {
            Some(failure) => Err(raised(py, &failure)),
            None => Ok(()),
        }
    }
}
