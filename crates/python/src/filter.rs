//! The correction as a filter, for Python: events in, corrected ones out.

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retime::{LocationIndex, Timestamp};
use retime_cli::library::{Call, filter_options};
use retime_stream::{Collective, Event, EventKind, FilterError, MessageId};

use crate::failure::raised;

/// A message or operation: a number or a name.
#[derive(FromPyObject)]
enum Id {
    Number(u64),
    Name(String),
}

impl From<Id> for MessageId {
    fn from(id: Id) -> Self {
        match id {
            Id::Number(number) => Self::number(number),
            Id::Name(name) => Self::name(&name),
        }
    }
}

/// An event that has left: its location, its time as recorded and as corrected, and what
/// was given along.
type Left = (u32, u64, u64, Option<Py<PyAny>>);

/// Corrects a stream of events in one pass.
#[pyclass(module = "retime._retime", subclass)]
pub(crate) struct Filter {
    filter: retime_stream::Filter<Option<Py<PyAny>>>,
    locations: usize,
}

#[pymethods]
impl Filter {
    /// For locations that read the given clocks, by the words of `retime stream`.
    #[new]
    fn new(py: Python<'_>, clocks: Vec<u32>, words: Vec<OsString>) -> PyResult<Self> {
        let call = Call {
            words,
            program: Vec::new(),
            watch: None,
        };
        let options = filter_options(&call).map_err(|failure| raised(py, &failure))?;
        if clocks.is_empty() {
            return Err(PyValueError::new_err("give at least one location"));
        }
        // Clocks are counted, so one far beyond the others would take memory for nothing.
        if let Some(far) = clocks.iter().find(|&&it| it as usize >= clocks.len()) {
            let message = format!(
                "there is no clock {far}: number them from 0, for {} locations",
                clocks.len()
            );
            return Err(PyValueError::new_err(message));
        }
        Ok(Self {
            filter: retime_stream::Filter::new(&clocks, options),
            locations: clocks.len(),
        })
    }

    fn internal(&mut self, location: u32, time: u64, payload: Option<Py<PyAny>>) -> PyResult<()> {
        self.push(location, time, EventKind::Internal, payload)
    }

    fn send(
        &mut self,
        location: u32,
        time: u64,
        message: Id,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.push(location, time, EventKind::Send(message.into()), payload)
    }

    fn receive(
        &mut self,
        location: u32,
        time: u64,
        message: Id,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.push(location, time, EventKind::Receive(message.into()), payload)
    }

    /// Takes the begin of a location in an operation of all with all.
    fn begin(
        &mut self,
        location: u32,
        time: u64,
        operation: Id,
        participants: u32,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let operation = Collective::all_to_all(operation.into(), participants);
        self.push(location, time, EventKind::Begin(operation), payload)
    }

    /// Takes the end of a location in an operation of all with all.
    fn end_of(
        &mut self,
        location: u32,
        time: u64,
        operation: Id,
        participants: u32,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let operation = Collective::all_to_all(operation.into(), participants);
        self.push(location, time, EventKind::End(operation), payload)
    }

    fn heartbeat(&mut self, location: u32, time: u64) -> PyResult<()> {
        let location = self.known(location)?;
        taken(self.filter.heartbeat(location, Timestamp(time)))
    }

    fn end(&mut self, location: u32) -> PyResult<()> {
        let location = self.known(location)?;
        taken(self.filter.end(location))
    }

    fn finish(&mut self) {
        self.filter.finish();
    }

    /// The next event that has left.
    fn pop(&mut self) -> Option<Left> {
        let event = self.filter.pop()?;
        Some((event.location.0, event.raw.0, event.time.0, event.payload))
    }

    /// How many events, messages and operations it holds.
    #[getter]
    fn load(&self) -> (usize, usize, usize) {
        self.filter.load().into()
    }
}

impl Filter {
    fn push(
        &mut self,
        location: u32,
        time: u64,
        kind: EventKind,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let event = Event {
            location: self.known(location)?,
            time: Timestamp(time),
            kind,
            payload,
        };
        taken(self.filter.push(event))
    }

    fn known(&self, location: u32) -> PyResult<LocationIndex> {
        if (location as usize) < self.locations {
            return Ok(LocationIndex(location));
        }
        let message = format!(
            "there is no location {location}: there are {}",
            self.locations
        );
        Err(PyValueError::new_err(message))
    }
}

fn taken(result: Result<(), FilterError>) -> PyResult<()> {
    result.map_err(|error| PyValueError::new_err(error.to_string()))
}
