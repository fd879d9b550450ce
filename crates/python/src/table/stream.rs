//! A stream of batches to whoever takes them, by Arrow's interface for other languages.
//!
//! Who takes them may be any thread, with Python's lock or without. Interrupts are looked
//! for on the thread that asked for the stream, and nowhere else: there the lock can be
//! had. What reads the stream sees an error then; the interrupt itself is sent again, so
//! that it is heard as soon as Python's code goes on.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use retime_cli::library::{Failure, FailureKind};

/// How long an interrupt waits to be heard.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

/// The next piece of a table.
pub(super) enum Next {
    /// This batch.
    Batch(RecordBatch),
    /// None yet, after as long as an interrupt may wait.
    Later,
    /// None, and the reason.
    Failed(Failure),
    /// None any more.
    End,
}

/// Batches of one schema.
pub(super) trait Batches: Send {
    /// The next one.
    fn next(&mut self) -> Next;
}

/// Batches on their way to Arrow.
pub(super) struct Stream {
    schema: SchemaRef,
    /// None at the end.
    batches: Option<Box<dyn Batches>>,
    failure: Arc<Mutex<Option<Failure>>>,
    asker: ThreadId,
    listened: Instant,
}

impl Stream {
    pub(super) fn new(
        schema: SchemaRef,
        batches: Box<dyn Batches>,
        failure: Arc<Mutex<Option<Failure>>>,
    ) -> Self {
        Self {
            schema,
            batches: Some(batches),
            failure,
            asker: thread::current().id(),
            listened: Instant::now(),
        }
    }

    /// True if somebody has interrupted.
    fn interrupted(&mut self) -> bool {
        if self.listened.elapsed() < PATIENCE || thread::current().id() != self.asker {
            return false;
        }
        self.listened = Instant::now();
        Python::attach(|py| {
            let heard = py.check_signals();
            let is_heard = heard.is_err();
            if is_heard {
                let again = || py.import("_thread")?.call_method0("interrupt_main");
                // The error of the stream says it in any case.
                let _ = again();
            }
            is_heard
        })
    }

    /// Ends early.
    fn fails(&mut self, failure: Failure) -> ArrowError {
        self.batches = None;
        let message = failure.message.clone();
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        ArrowError::ExternalError(message.into())
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.batches.is_some() && self.interrupted() {
                let failure = Failure {
                    kind: FailureKind::Interrupted,
                    message: "interrupted".into(),
                    exit_code: 130,
                };
                return Some(Err(self.fails(failure)));
            }
            match self.batches.as_mut()?.next() {
                Next::Batch(batch) => return Some(Ok(batch)),
                Next::Later => {}
                Next::Failed(failure) => return Some(Err(self.fails(failure))),
                Next::End => self.batches = None,
            }
        }
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
