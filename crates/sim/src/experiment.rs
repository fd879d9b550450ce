//! A program, the clocks that stamp it, and what comes out.

use std::path::Path;

use retime_otf2::writer::{ArchiveSummary, WriteOptions};

use crate::{
    clock::{Clock, Timer},
    event::Sink,
    failure::{Error, Result},
    layout::Layout,
    memory::{InMemory, MemorySink},
    scenario::{Scenario, Statistics, none_is_zero},
    trace::{StampingWriter, TraceWriter},
};

/// A program with clocks.
///
/// Without further words all clocks show true time, in nanoseconds.
///
/// ```
/// use retime::{Clocks, Grouping, MinimalDelay, Ticks, causality};
/// use retime_sim::{Experiment, FiniteElements, Length};
///
/// let program = FiniteElements { length: Length::iterations(10), ..FiniteElements::default() };
/// let ahead = program.one_wrong_clock(8, 1_000_000);
/// let memory = Experiment::new(&program).clocks(ahead).in_memory()?;
///
/// let least = MinimalDelay::Uniform(Ticks(250_000));
/// let causality = retime::Causality::build(&memory.info, memory.logs, Default::default())?;
/// let clocks = Grouping::Process.clocks(&memory.info, &causality);
/// let recorded = causality::check(&causality, &clocks, &least, causality.nodes().timestamps(), &()).unwrap();
/// let truth = causality::check(&causality, &clocks, &least, &memory.truth, &()).unwrap();
/// // Most messages of process 8 arrive before they were sent.
/// assert_eq!((recorded.messages.total, recorded.violated()), (560, 21));
/// assert_eq!((truth.violated(), truth.short()), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Experiment<'a> {
    scenario: &'a dyn Scenario,
    clocks: Vec<Clock>,
    timer: Timer,
    stop: Option<fn() -> bool>,
}

/// A trace that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The simulation.
    pub statistics: Statistics,
    /// The trace as the processes' clocks stamped it.
    pub trace: ArchiveSummary,
    /// The trace with true times, if asked for.
    pub truth: Option<ArchiveSummary>,
}

impl<'a> Experiment<'a> {
    /// A program on true clocks.
    pub fn new(scenario: &'a dyn Scenario) -> Self {
        Self {
            scenario,
            clocks: Vec::new(),
            timer: Timer::default(),
            stop: None,
        }
    }

    /// The clock of each rank; none at all stands for true clocks.
    #[must_use]
    pub fn clocks(self, clocks: Vec<Clock>) -> Self {
        Self { clocks, ..self }
    }

    /// How the clocks' times are written down.
    #[must_use]
    pub fn timer(self, timer: Timer) -> Self {
        Self { timer, ..self }
    }

    /// Ends with [`Error::Stopped`] soon after `stop` says so.
    #[must_use]
    pub fn stop_if(self, stop: fn() -> bool) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// Runs the program and keeps what a scan of its trace would find, with the
    /// truth.
    pub fn in_memory(&self) -> Result<InMemory> {
        let layout = self.scenario.layout();
        let mut sink = MemorySink::new(layout, &self.clocks_of(&layout)?, self.timer)?;
        let statistics = self.run(&mut sink)?;
        sink.finish(statistics)
    }

    /// Runs the program and writes the trace with the given anchor file.
    pub fn write(&self, anchor: &Path) -> Result<Written> {
        let mut trace = self.stamping(anchor, true)?;
        Ok(Written {
            statistics: self.run(&mut trace)?,
            trace: trace.finish()?,
            truth: None,
        })
    }

    /// Runs the program and writes two traces: one as the clocks stamped it,
    /// and one with the same events at their true times.
    pub fn write_with_truth(&self, anchor: &Path, truth: &Path) -> Result<Written> {
        let mut both = (self.stamping(anchor, true)?, self.stamping(truth, false)?);
        Ok(Written {
            statistics: self.run(&mut both)?,
            trace: both.0.finish()?,
            truth: Some(both.1.finish()?),
        })
    }

    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics> {
        match self.stop {
            None => self.scenario.run(sink),
            Some(stop) => self.scenario.run(&mut Stoppable {
                sink,
                stop,
                events: 0,
            }),
        }
    }

    fn stamping(&self, anchor: &Path, skewed: bool) -> Result<StampingWriter> {
        none_is_zero([("the resolution", self.timer.resolution)])?;
        let layout = self.scenario.layout();
        let clocks = if skewed {
            self.clocks_of(&layout)?
        } else {
            vec![Clock::TRUE; layout.ranks as usize]
        };
        let options = WriteOptions {
            resolution: self.timer.resolution,
            machine: "simulation".to_owned(),
            creator: "retime-sim".to_owned(),
            trace_id: self.scenario.seed(),
            allow_disorder: clocks.iter().any(|clock| clock.backwards),
            ..WriteOptions::default()
        };
        let trace = TraceWriter::create(anchor, &layout, options)?;
        Ok(StampingWriter::new(trace, layout, &clocks, self.timer))
    }

    /// One clock for each rank.
    fn clocks_of(&self, layout: &Layout) -> Result<Vec<Clock>> {
        let ranks = layout.ranks as usize;
        match self.clocks.len() {
            0 => Ok(vec![Clock::TRUE; ranks]),
            clocks if clocks == ranks => Ok(self.clocks.clone()),
            clocks => Err(Error::Clocks {
                clocks,
                ranks: layout.ranks,
            }),
        }
    }
}

/// Passes events on until it is told to stop.
struct Stoppable<'a> {
    sink: &'a mut dyn Sink,
    stop: fn() -> bool,
    events: u64,
}

impl Sink for Stoppable<'_> {
    fn event(&mut self, location: usize, time: u64, event: crate::Event) -> Result<()> {
        self.events += 1;
        if self.events.is_multiple_of(4096) && (self.stop)() {
            return Err(Error::Stopped);
        }
        self.sink.event(location, time, event)
    }
}
