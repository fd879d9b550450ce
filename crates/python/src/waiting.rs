//! Long work, while Python hears interrupts and others of its threads go on.
//!
//! ```text
//! thread of Python   waits without the lock, looks for signals 20 times a second,
//!   |        ^       and tells how far the work is
//!   v        |
//! thread of the work: asks its meter every few milliseconds whether to stop
//! ```
//!
//! Only Python's main thread hears signals, so the work cannot ask for them itself.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use retime_cli::library::{Call, Failure, Watch};

use crate::failure::{defect, raised};

/// How long an interrupt waits to be heard.
const PATIENCE: Duration = Duration::from_millis(50);

/// How far the work is, and whether it is to stop.
#[derive(Default)]
pub(crate) struct Meter {
    stop: AtomicBool,
    stage: Mutex<&'static str>,
    done: AtomicU64,
    all: AtomicU64,
}

impl Meter {
    /// Lets the work end as soon as it can.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Stage, bytes that are done, and all of them.
    fn reading(&self) -> (&'static str, u64, u64) {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |it: &AtomicU64| it.load(Ordering::Relaxed);
        (stage, read(&self.done), read(&self.all))
    }
}

impl Watch for Meter {
    fn stage(&self, name: &'static str, bytes: u64) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = name;
        self.done.store(0, Ordering::Relaxed);
        self.all.store(bytes, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    fn announce(&self, bytes: u64) {
        self.all.fetch_add(bytes, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A call that a meter watches.
pub(crate) fn call(words: Vec<OsString>, meter: &Arc<Meter>) -> Call {
    let watch: Arc<dyn Watch> = Arc::clone(meter) as _;
    Call {
        words,
        program: Vec::new(),
        watch: Some(watch),
    }
}

/// Does `work` without the lock; an exception of a signal's handler, or of `progress`,
/// which hears `(stage, bytes done, bytes of all)`, ends it.
pub(crate) fn supervised<T: Send + 'static>(
    py: Python<'_>,
    words: Vec<OsString>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Call) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let meter = Arc::new(Meter::default());
    let call = call(words, &meter);
    let (sender, mut receiver) = sync_channel(1);
    let worker = thread::Builder::new().name("retime".into()).spawn(move || {
        // Whoever waits does so until the end.
        let _ = sender.send(work(call));
    });
    let worker = worker.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    loop {
        let waited;
        (waited, receiver) = py.detach(move || (receiver.recv_timeout(PATIENCE), receiver));
        match waited {
            Ok(done) => return done.map_err(|failure| raised(py, &failure)),
            Err(RecvTimeoutError::Disconnected) => return Err(defect(py)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let told = py.check_signals().and_then(|()| match &progress {
            Some(progress) => progress.call1(py, meter.reading()).map(drop),
            None => Ok(()),
        });
        if let Err(error) = told {
            meter.stop();
            // It has died if this fails, and then there is nothing to wait for.
            let _ = py.detach(|| worker.join());
            return Err(error);
        }
    }
}
