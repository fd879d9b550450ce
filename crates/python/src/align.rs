//! Alignment by a list of dependencies, for formats that retime does not read.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use retime::align::{Relation, align_edges};
use retime::{ClockId, Edge, Edges};
use retime_cli::library::{Failure, Watch, in_parallel};

use crate::clock::rate;
use crate::numbers::{bytes, signed};
use crate::waiting::supervised;

/// Aligned clocks.
#[pyclass(frozen, module = "retime._retime")]
pub(crate) struct Alignment(retime::align::Alignment);

/// A clock that was set: which, the stamps around that, what it gained, and those of which one may have
/// been set instead.
type Set = (u32, i64, i64, f64, Vec<u32>);

#[pymethods]
impl Alignment {
    /// The tie of each clock to the reference: both ways, one way or unrelated.
    #[getter]
    fn relations(&self) -> Vec<&'static str> {
        let named = |it: &Relation| match it {
            Relation::BothWays => "both ways",
            Relation::OneWay => "one way",
            Relation::Unrelated => "unrelated",
        };
        self.0.relations.iter().map(named).collect()
    }

    /// The minimal delay that shows, in ticks.
    #[getter]
    fn shortest(&self) -> Option<f64> {
        self.0.shortest
    }

    /// How many dependencies contradict all others.
    #[getter]
    fn outliers(&self) -> usize {
        self.0.outliers.len()
    }

    /// Where clocks were set.
    #[getter]
    fn steps(&self) -> Vec<Set> {
        let set = |it: &retime::align::ClockStep| {
            let instead = it.alternatives.iter().map(|it| it.0).collect();
            (it.clock.0, it.after, it.until, it.by, instead)
        };
        self.0.steps.iter().map(set).collect()
    }

    /// The knots of a clock's offset: stamps, and the ticks to add there, linear in between; empty
    /// where the clock is not related to any.
    fn knots(&self, clock: u32) -> Vec<(i64, f64)> {
        let offsets = &self.0.estimate.offsets;
        let offset = offsets.get(clock as usize).and_then(Option::as_ref);
        offset.map_or(Vec::new(), |it| it.knots().to_vec())
    }

    /// Stamps of a clock on the common time, as eight-byte numbers.
    fn corrected<'py>(&self, py: Python<'py>, clock: u32, stamps: &[u8]) -> Bound<'py, PyBytes> {
        let estimate = &self.0.estimate;
        let time = |it: i64| estimate.common_time(ClockId(clock), it);
        let corrected: Vec<i64> = signed(stamps).into_iter().map(time).collect();
        bytes(py, &corrected)
    }
}

/// Aligns clocks by columns of eight-byte numbers: clock of the cause, its stamp, clock of
/// the effect, its stamp.
#[pyfunction]
#[pyo3(signature = (from_clock, sent, to_clock, received, ticks_per_second, reference, progress=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn align(
    py: Python<'_>,
    from_clock: &[u8],
    sent: &[u8],
    to_clock: &[u8],
    received: &[u8],
    ticks_per_second: u64,
    reference: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<Alignment> {
    let rate = rate(ticks_per_second)?;
    let columns = [from_clock, sent, to_clock, received].map(signed);
    let edges = edges(columns)?;
    let clocks = edges.1;
    if reference as usize >= clocks {
        let message = format!("there is no clock {reference}: there are {clocks}");
        return Err(PyValueError::new_err(message));
    }
    let edges = Edges::new(edges.0, edges.2);
    let alignment = supervised(py, Vec::new(), progress, move |call| {
        let watch = call.watch.clone();
        let aligned = in_parallel(call, || {
            let monitor = Asks(watch.as_deref());
            align_edges(&edges, rate, ClockId(reference), &monitor)
        })?;
        aligned.map_err(|_| Failure::option("interrupted"))
    })?;
    Ok(Alignment(alignment))
}

/// Hears that the work is to stop.
struct Asks<'a>(Option<&'a dyn Watch>);

impl retime::Monitor for Asks<'_> {
    fn cancelled(&self) -> bool {
        self.0.is_some_and(Watch::cancelled)
    }
}

/// The dependencies, how many clocks there are, and the first and last stamp of each.
type Read = (Vec<Edge>, usize, Vec<Option<(i64, i64)>>);

fn edges([from, sent, to, received]: [Vec<i64>; 4]) -> PyResult<Read> {
    let rows = from.len();
    if [sent.len(), to.len(), received.len()] != [rows; 3] {
        return Err(PyValueError::new_err(
            "the columns of edges differ in length",
        ));
    }
    let clock = |number: i64| {
        // What nobody speaks of takes memory for nothing.
        let clock = u32::try_from(number).ok();
        let clock = clock.filter(|it| (*it as usize) < 2 * rows);
        clock.ok_or_else(|| {
            let message = format!("there is a clock {number}: they are numbered from 0, in a row");
            PyValueError::new_err(message)
        })
    };
    let mut extents: Vec<Option<(i64, i64)>> = Vec::new();
    let mut edges = Vec::with_capacity(rows);
    for row in 0..rows {
        let ends = [
            (clock(from[row])?, sent[row]),
            (clock(to[row])?, received[row]),
        ];
        for (clock, stamp) in ends {
            if stamp.unsigned_abs() >= 1 << 61 {
                let message = "stamps have to be nearer to 0 than 2^61: subtract the first one";
                return Err(PyValueError::new_err(message));
            }
            let clock = clock as usize;
            if extents.len() <= clock {
                extents.resize(clock + 1, None);
            }
            let (first, last) = extents[clock].unwrap_or((stamp, stamp));
            extents[clock] = Some((first.min(stamp), last.max(stamp)));
        }
        let [(from, sent), (to, received)] = ends;
        if from != to {
            edges.push(Edge::message(ClockId(from), sent, ClockId(to), received));
        }
    }
    Ok((edges, extents.len(), extents))
}
