//! The correction as a filter, for Python: events in, corrected ones out.

use std::ffi::OsString;

use pyo3::prelude::*;
use retime::{LocationIndex, Timestamp};
use retime_cli::library::{Call, filter_options};
use retime_stream::{Collective, Event, EventKind, FilterError, MessageId};

use crate::failure::{raised, refused};

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
type Left = (u32, i128, i128, Option<Py<PyAny>>);

/// Where the first time that comes is put among those of the filter, which begin at 0: those of
/// Python may lie before their origin. The filter takes what is at most half as far from it.
const FIRST: i128 = 1 << 62;

/// Corrects a stream of events in one pass.
#[pyclass(module = "retime._retime", subclass)]
pub(crate) struct Filter {
    stream: retime_stream::Filter<Option<Py<PyAny>>>,
    locations: usize,
    /// The first time that came.
    first: Option<i128>,
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
            return Err(refused(py, "give at least one location"));
        }
        // Clocks are counted, so one far beyond the others would take memory for nothing.
        if let Some(far) = clocks.iter().find(|&&it| it as usize >= clocks.len()) {
            let message = format!(
                "there is no clock {far}: number them from 0, for {} locations",
                clocks.len()
            );
            return Err(refused(py, &message));
        }
        Ok(Self {
            stream: retime_stream::Filter::new(&clocks, options),
            locations: clocks.len(),
            first: None,
        })
    }

    fn internal(
        &mut self,
        py: Python<'_>,
        location: u32,
        time: i128,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.push(py, location, time, EventKind::Internal, payload)
    }

    fn send(
        &mut self,
        py: Python<'_>,
        location: u32,
        time: i128,
        message: Id,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.push(py, location, time, EventKind::Send(message.into()), payload)
    }

    fn receive(
        &mut self,
        py: Python<'_>,
        location: u32,
        time: i128,
        message: Id,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.push(
            py,
            location,
            time,
            EventKind::Receive(message.into()),
            payload,
        )
    }

    /// Takes the begin of a location in an operation of all with all.
    fn begin(
        &mut self,
        py: Python<'_>,
        location: u32,
        time: i128,
        operation: Id,
        participants: u32,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let operation = Collective::all_to_all(operation.into(), participants);
        self.push(py, location, time, EventKind::Begin(operation), payload)
    }

    /// Takes the end of a location in an operation of all with all.
    fn end_of(
        &mut self,
        py: Python<'_>,
        location: u32,
        time: i128,
        operation: Id,
        participants: u32,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let operation = Collective::all_to_all(operation.into(), participants);
        self.push(py, location, time, EventKind::End(operation), payload)
    }

    fn heartbeat(&mut self, py: Python<'_>, location: u32, time: i128) -> PyResult<()> {
        let location = self.known(py, location)?;
        let time = self.stamp(py, time)?;
        taken(py, self.stream.heartbeat(location, time))
    }

    fn end(&mut self, py: Python<'_>, location: u32) -> PyResult<()> {
        let location = self.known(py, location)?;
        taken(py, self.stream.end(location))
    }

    fn finish(&mut self) {
        self.stream.finish();
    }

    /// The next event that has left.
    fn pop(&mut self) -> Option<Left> {
        let event = self.stream.pop()?;
        let time = |it: Timestamp| i128::from(it.0) - FIRST + self.first.unwrap_or_default();
        Some((
            event.location.0,
            time(event.raw),
            time(event.time),
            event.payload,
        ))
    }

    /// How many events, messages and operations it holds.
    #[getter]
    fn load(&self) -> (usize, usize, usize) {
        self.stream.load().into()
    }
}

impl Filter {
    fn push(
        &mut self,
        py: Python<'_>,
        location: u32,
        time: i128,
        kind: EventKind,
        payload: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let event = Event {
            location: self.known(py, location)?,
            time: self.stamp(py, time)?,
            kind,
            payload,
        };
        taken(py, self.stream.push(event))
    }

    /// A time as the filter takes it.
    fn stamp(&mut self, py: Python<'_>, time: i128) -> PyResult<Timestamp> {
        let first = *self.first.get_or_insert(time);
        let stamp = time.checked_sub(first).and_then(|it| it.checked_add(FIRST));
        // Said here, as the filter would name the time that it is given.
        let near = stamp.filter(|it| (it - FIRST).unsigned_abs() <= 1 << 61);
        let message =
            || format!("time {time} is more than 2^61 ticks away from the first one, {first}");
        near.map(|it| Timestamp(it as u64))
            .ok_or_else(|| refused(py, &message()))
    }

    fn known(&self, py: Python<'_>, location: u32) -> PyResult<LocationIndex> {
        if (location as usize) < self.locations {
            return Ok(LocationIndex(location));
        }
        let message = format!(
            "there is no location {location}: there are {}",
            self.locations
        );
        Err(refused(py, &message))
    }
}

fn taken(py: Python<'_>, result: Result<(), FilterError>) -> PyResult<()> {
    result.map_err(|error| refused(py, &error.to_string()))
}
