//! The Python package `retime`: the commands and tables of traces, for notebooks.
//!
//! ```text
//! python/retime     what users see: keyword arguments, results, plots; thin
//!   |  words of a command line, as retime takes them
//! waiting           the work on a thread of its own, while Python's hears interrupts
//!   |
//! retime_cli::library   ask: does a command    Study: an analysed trace in memory
//!   |
//! table             events, messages, .. as streams of Arrow's record batches
//! ```
//!
//! Whatever is asked for goes as words through the parser of the command, so that
//! options, refusals and reports are those of the command. `clock`, `filter` and `align`
//! give the library itself to programs with formats of their own.

mod align;
mod clock;
mod failure;
mod filter;
mod handle;
mod numbers;
mod table;
mod waiting;

use std::ffi::OsString;

use pyo3::prelude::*;
use retime::Delay;
use retime_cli::library::{self, Answer};

use crate::handle::{Opened, Studied};
use crate::table::Table;

/// Report as JSON, outcome, exit code, and what was written.
type Told = (Option<String>, String, u8, Vec<OsString>);

/// Does what the words of a command line ask for.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
fn ask(py: Python<'_>, words: Vec<OsString>, progress: Option<Py<PyAny>>) -> PyResult<Told> {
    let Answer {
        report,
        outcome,
        exit_code,
        written,
        ..
    } = waiting::supervised(py, words, progress, library::ask)?;
    let written = written.into_iter().map(Into::into).collect();
    Ok((report, outcome, exit_code, written))
}

/// Name, what a value is called, default, choices, help.
type Described = (String, Option<String>, Option<String>, Vec<String>, String);

/// The options of a command.
#[pyfunction]
fn options(command: &str) -> Vec<Described> {
    let all = library::options(command).into_iter();
    all.map(|it| (it.name, it.value, it.default, it.choices, it.help))
        .collect()
}

/// A span of time such as `2us` in ticks.
#[pyfunction]
fn ticks(py: Python<'_>, span: &str, ticks_per_second: u64) -> PyResult<i64> {
    let delay: Result<Delay, _> = span.parse();
    let delay = delay.map_err(|error| failure::refused(py, &error.to_string()))?;
    let ticks = delay.to_ticks(clock::rate(ticks_per_second)?);
    let ticks = ticks.ok_or_else(|| failure::refused(py, "a time span is too long"))?;
    Ok(ticks.0)
}

/// The command `retime`; returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, program: Vec<OsString>, words: Vec<OsString>) -> u8 {
    py.detach(|| retime_cli::run_as(program, words))
}

#[pymodule]
fn _retime(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Opened>()?;
    module.add_class::<Studied>()?;
    module.add_class::<Table>()?;
    module.add_class::<align::Alignment>()?;
    module.add_class::<clock::PiggybackClock>()?;
    module.add_class::<filter::Filter>()?;
    module.add_function(wrap_pyfunction!(ask, module)?)?;
    module.add_function(wrap_pyfunction!(options, module)?)?;
    module.add_function(wrap_pyfunction!(ticks, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(align::align, module)?)?;
    Ok(())
}
