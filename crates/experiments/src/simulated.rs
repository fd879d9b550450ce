//! A simulated trace that logical clocks can be run over.

use retime::causality::{CausalityError, Check, EventNode, Ids, check};
use retime::clock::{
    AmortizationRate, ClockError, Control, LogicalTimes, RateError, Regulation, Steps,
    amortize_with_ramp, regulated, simple,
};
use retime::estimate::NoEstimate;
use retime::{
    Accuracy, Cancelled, Causality, Clocks, CorrectionError, Edges, Grouping, LocationIndex,
    MinimalDelay, TickRate, Ticks, Timestamp, TruthError,
};
use retime_sim::InMemory;
use retime_stream::FilterError;

/// Why an experiment gave nothing; a defect of the experiment, unless it was stopped.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Its simulation.
    #[error(transparent)]
    Simulation(#[from] retime_sim::Error),
    /// Its events cannot be joined.
    #[error(transparent)]
    Causality(#[from] CausalityError),
    /// Its events contradict themselves, or no clock gets as far as they demand.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// Its rate of amortisation is none.
    #[error(transparent)]
    Rate(#[from] RateError),
    /// Its corrected times make no clock maps.
    #[error(transparent)]
    Correction(#[from] CorrectionError),
    /// Its truth is that of another trace.
    #[error(transparent)]
    Truth(#[from] TruthError),
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
    /// Its events cannot be taken one by one.
    #[error(transparent)]
    Stream(#[from] FilterError),
    /// Its clocks cannot be estimated.
    #[error("no estimate: {0:?}")]
    Estimate(NoEstimate),
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Stopped
    }
}

impl From<NoEstimate> for Failure {
    fn from(why: NoEstimate) -> Self {
        Self::Estimate(why)
    }
}

/// A simulated trace with one clock per location. Times are in nanoseconds.
#[derive(Debug)]
pub struct Simulated {
    /// The dependencies between the events of the trace.
    pub causality: Causality,
    /// The clocks.
    pub clocks: Clocks,
    memory: InMemory,
}

impl Simulated {
    /// Joins the events of a simulation.
    pub fn new(mut memory: InMemory) -> Result<Self, Failure> {
        let causality = memory.causality()?;
        let clocks = Grouping::Location.clocks(&memory.info, &causality);
        Ok(Self {
            causality,
            clocks,
            memory,
        })
    }

    /// Ticks per second.
    pub fn rate(&self) -> TickRate {
        self.memory.info.rate
    }

    /// Number of clocks.
    pub fn len(&self) -> usize {
        self.clocks.len()
    }

    /// True if it has no clocks.
    pub fn is_empty(&self) -> bool {
        self.clocks.is_empty()
    }

    /// The simple logical clock.
    pub fn simple(&self, mu: i64, delta: i64) -> Result<LogicalTimes, Failure> {
        let delay = MinimalDelay::Uniform(Ticks(mu));
        Ok(simple(
            &self.causality,
            &self.clocks,
            &delay,
            &Ticks(delta).into(),
            &(),
        )?)
    }

    /// The controlled logical clock.
    pub fn regulated(&self, regulation: &Regulation) -> Result<LogicalTimes, Failure> {
        Ok(regulated(
            &self.causality,
            &self.clocks,
            self.rate(),
            regulation,
            &(),
        )?)
    }

    /// The controlled logical clock where events of a location may be at one time.
    pub fn controlled(
        &self,
        delay: &MinimalDelay,
        control: Control,
    ) -> Result<LogicalTimes, Failure> {
        self.regulated(&Regulation {
            delay: delay.clone(),
            distance: Ticks(0).into(),
            control,
            steps: Steps::default(),
        })
    }

    /// The stamps of all events once the jumps of a logical clock are amortised, over what the
    /// largest jump takes, or one that was expected.
    pub fn amortized(
        &self,
        delay: &MinimalDelay,
        rate: AmortizationRate,
        expected: Ticks,
        times: &LogicalTimes,
    ) -> Result<Vec<Timestamp>, Failure> {
        let ramp = Ticks(rate.ramp(times.largest_jump().max(expected).0));
        let (causality, clocks) = (&self.causality, &self.clocks);
        let correction = amortize_with_ramp(causality, clocks, delay, ramp, times, &())?;
        let nodes = self.causality.nodes();
        let mut stamps = Vec::with_capacity(nodes.len());
        for clock in 0..self.len() {
            let location = LocationIndex(clock as u32);
            let mut cursor = correction.map_of(location).cursor(location);
            for node in nodes.of(clock) {
                let raw = nodes.timestamp(node);
                stamps.push(cursor.map(nodes.event(node), raw).unwrap_or(raw));
            }
        }
        Ok(stamps)
    }

    /// The dependencies between clocks, for methods that work on them alone.
    pub fn edges(&self) -> Result<Edges, Failure> {
        let nodes = self.causality.nodes();
        let time = |node| nodes.time(node).0;
        Ok(Edges::collect(&self.causality, &self.clocks, time, &())?)
    }

    /// How many dependencies have their effect before their cause.
    pub fn reversed(&self, stamps: &[Timestamp]) -> Result<Check, Failure> {
        let delay = MinimalDelay::Uniform(Ticks(0));
        Ok(check(&self.causality, &self.clocks, &delay, stamps, &())?)
    }

    /// The events with edges of a clock.
    pub fn nodes(&self, clock: usize) -> Ids<EventNode> {
        self.causality.nodes().of(clock)
    }

    /// How far an event is ahead of its own clock, in nanoseconds.
    pub fn lead(&self, times: &LogicalTimes, node: EventNode) -> i64 {
        times.get(node).0 - self.causality.nodes().time(node).0
    }

    /// The largest lead of some events, in nanoseconds.
    pub fn largest_lead(
        &self,
        times: &LogicalTimes,
        nodes: impl Iterator<Item = EventNode>,
    ) -> i64 {
        nodes
            .map(|node| self.lead(times, node))
            .max()
            .unwrap_or_default()
    }

    /// The stamps of all events.
    pub fn stamps(&self, times: &LogicalTimes) -> Vec<Timestamp> {
        let base = self.causality.nodes().base().0;
        self.causality
            .nodes()
            .all()
            .map(|node| Timestamp(base.wrapping_add_signed(times.get(node).0)))
            .collect()
    }

    /// The stamps of all events as recorded.
    pub fn recorded(&self) -> Vec<Timestamp> {
        self.causality.nodes().timestamps().to_vec()
    }

    /// The true times of all events.
    pub fn truth(&self) -> &[Timestamp] {
        &self.memory.truth
    }

    /// How far stamps are from the truth.
    pub fn accuracy(&self, stamps: &[Timestamp]) -> Result<Accuracy, Failure> {
        Ok(Accuracy::measure(
            &self.causality,
            stamps,
            &self.memory.truth,
        )?)
    }
}
