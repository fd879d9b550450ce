//! Traces as Python holds them: opened, and analysed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use retime::TraceInfo;
use retime::format::Trace;
use retime_cli::library::{self, AskedFormat, Study};

use crate::table::{Asked, Source, Table};
use crate::waiting::supervised;

/// A trace that was opened; its events are not read.
#[pyclass(frozen)]
pub(crate) struct Opened {
    trace: Arc<dyn Trace>,
    info: OnceLock<Arc<TraceInfo>>,
}

/// Id and name of a location, position and name of its process, and the node of that.
type Place = (u64, String, usize, Option<String>, Option<String>);

#[pymethods]
impl Opened {
    #[new]
    #[pyo3(signature = (path, others, format=None, rank_from=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        others: Vec<PathBuf>,
        format: Option<String>,
        rank_from: Option<String>,
    ) -> PyResult<Self> {
        let trace = supervised(py, Vec::new(), None, move |_| {
            let asked = match (&format, &rank_from) {
                (_, Some(pattern)) => AskedFormat::RankFrom(pattern),
                (Some(name), None) => AskedFormat::Named(name),
                (None, None) => AskedFormat::Shown,
            };
            library::open(&path, &others, asked)
        })?;
        let info = OnceLock::new();
        if let Some(known) = trace.describe() {
            // Nobody else can have set it.
            let _ = info.set(Arc::new(known.clone()));
        }
        Ok(Self {
            trace: trace.into(),
            info,
        })
    }

    /// The name of its format.
    #[getter]
    fn format(&self) -> &'static str {
        self.trace.format()
    }

    /// The file that stands for it.
    #[getter]
    fn path(&self) -> OsString {
        self.trace.path().as_os_str().to_owned()
    }

    #[getter]
    fn ticks_per_second(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.info(py)?.rate.get())
    }

    #[getter]
    fn locations(&self, py: Python<'_>) -> PyResult<Vec<Place>> {
        Ok(places(&*self.info(py)?))
    }

    /// Its events as recorded. A stretch of time is counted from `base`.
    #[pyo3(signature = (columns=None, locations=None, window=None))]
    fn events(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        locations: Option<Vec<usize>>,
        window: Option<(u64, u64)>,
    ) -> PyResult<Table> {
        let asked = Asked {
            columns,
            locations,
            window,
        };
        let source = Source::Opened(Arc::clone(&self.trace), self.info(py)?);
        Table::events(py, source, asked)
    }
}

impl Opened {
    /// Describes the trace; some formats have to read their events for that.
    fn info(&self, py: Python<'_>) -> PyResult<Arc<TraceInfo>> {
        if let Some(known) = self.info.get() {
            return Ok(Arc::clone(known));
        }
        let trace = Arc::clone(&self.trace);
        let info = supervised(py, Vec::new(), None, move |call| {
            library::describe(&*trace, call)
        })?;
        Ok(Arc::clone(self.info.get_or_init(|| Arc::new(info))))
    }
}

/// A trace that was analysed, and maybe corrected.
#[pyclass(frozen)]
pub(crate) struct Studied(Arc<Study>);

#[pymethods]
impl Studied {
    /// Analyses a trace as the words of `check` or `correct` say.
    #[new]
    #[pyo3(signature = (words, progress=None))]
    fn new(py: Python<'_>, words: Vec<OsString>, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let study = supervised(py, words, progress, |call| Study::of(&call))?;
        Ok(Self(Arc::new(study)))
    }

    /// The report as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.0.report();
        report.map_err(|failure| crate::failure::raised(py, &failure))
    }

    /// The picture of the trace, as JSON.
    #[pyo3(signature = (progress=None))]
    fn picture(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<String> {
        let study = Arc::clone(&self.0);
        supervised(py, Vec::new(), progress, move |call| study.picture(call))
    }

    /// The fate of an event, as JSON.
    #[pyo3(signature = (location, event, progress=None))]
    fn explain(
        &self,
        py: Python<'_>,
        location: u64,
        event: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let study = Arc::clone(&self.0);
        supervised(py, Vec::new(), progress, move |call| {
            study.explain(call, location, event)
        })
    }

    /// The events of communication that no dependency rests on.
    #[pyo3(signature = (progress=None))]
    fn unused(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<Table> {
        let study = Arc::clone(&self.0);
        let kinds = supervised(py, Vec::new(), progress, move |call| study.unused(call))?;
        Ok(Table::unused(Arc::clone(&self.0), kinds))
    }

    /// The least recorded stamp.
    #[getter]
    fn base(&self) -> u64 {
        self.0.analysis().causality().nodes().base().0
    }

    /// True if the trace has corrected times.
    #[getter]
    fn is_corrected(&self) -> bool {
        self.0.solution().is_some()
    }

    #[getter]
    fn ticks_per_second(&self) -> u64 {
        self.0.analysis().info().rate.get()
    }

    #[getter]
    fn locations(&self) -> Vec<Place> {
        places(self.0.analysis().info())
    }

    /// Its events. A stretch of time is one of corrected times, if there are any.
    #[pyo3(signature = (columns=None, locations=None, window=None))]
    fn events(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        locations: Option<Vec<usize>>,
        window: Option<(u64, u64)>,
    ) -> PyResult<Table> {
        let asked = Asked {
            columns,
            locations,
            window,
        };
        Table::events(py, Source::Studied(Arc::clone(&self.0)), asked)
    }

    fn messages(&self, is_corrected: bool) -> Table {
        Table::messages(Arc::clone(&self.0), is_corrected)
    }

    fn collectives(&self, is_corrected: bool) -> Table {
        Table::collectives(Arc::clone(&self.0), is_corrected)
    }

    fn clocks(&self, is_corrected: bool) -> Table {
        Table::clocks(Arc::clone(&self.0), is_corrected)
    }

    fn intervals(&self, is_corrected: bool) -> Table {
        Table::intervals(Arc::clone(&self.0), is_corrected)
    }
}

fn places(info: &TraceInfo) -> Vec<Place> {
    let place = |it: &retime::Location| {
        let process = info.processes.get(it.process);
        let node = process.and_then(|it| info.nodes.get(it.node?));
        (
            it.id,
            it.name.clone(),
            it.process,
            process.map(|it| it.name.clone()),
            node.cloned(),
        )
    };
    info.locations.iter().map(place).collect()
}
