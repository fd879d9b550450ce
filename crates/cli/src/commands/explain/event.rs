//! One event: its times, its dependencies, or why it has none.

use retime::causality::{EventNode, Fate, Fates, Place, Records, Role};
use retime::format::{CorrectedEvent, CorrectedEvents, Trace};
use retime::optimal::ErrorBounds;
use retime::pipeline::{Analysis, Bounds, Solution};
use retime::{Timestamp, printable};

use super::model::{BoundPart, DependenciesPart, DependencyPart, EventPart, Explanation, SCHEMA};
use crate::analysed::Analysed;
use crate::error::CliError;
use crate::explained::words;
use crate::progress::check_interrupt;
use crate::report::build;

/// So many events are read between two looks whether the user wants to stop.
const STEP: u64 = 1 << 14;

/// A trace with all that is known of it.
pub(crate) struct Seen<'a> {
    trace: &'a dyn Trace,
    analysis: &'a Analysis,
    fates: Fates<'a>,
    /// `None` if nothing is to be corrected.
    solution: Option<&'a Solution>,
    bounds: Option<&'a ErrorBounds>,
}

impl<'a> Seen<'a> {
    pub(crate) fn of(
        analysed: &'a Analysed,
        records: &'a Records,
        solution: Option<&'a Solution>,
        bounds: Option<&'a Bounds>,
    ) -> Self {
        let analysis = &analysed.analysis;
        let options = analysis.options().causality;
        Self {
            trace: &*analysed.opened.trace,
            analysis,
            fates: Fates::of(analysis.info(), analysis.causality(), records, options),
            solution,
            bounds: bounds.map(|it| &it.errors),
        }
    }
}

/// Explains the event at a place, which exists.
pub(crate) fn explained(seen: &Seen<'_>, place: Place) -> Result<Explanation, CliError> {
    let info = seen.analysis.info();
    let fate = seen.fates.at(place).ok_or_else(|| {
        // The number of events was looked at before.
        CliError::input(
            seen.trace.path(),
            "it was changed while it was read".to_owned(),
        )
    })?;
    let role = fate.role.map(|role| words::role(role, &fate.recorded));
    let said = words::of_fate(info, &fate);
    Ok(Explanation {
        schema: SCHEMA,
        ticks_per_second: info.rate.get(),
        event: seen.event(place, fate.node)?,
        role,
        next: fate.next.map(|it| build::place_part(info, it)),
        recorded_as: said.recorded_as,
        rule: said.rule,
        follows: seen.dependencies(&fate, &fate.follows, DependencyDirection::Causes)?,
        precedes: seen.dependencies(&fate, &fate.precedes, DependencyDirection::Effects)?,
        defects: fate
            .defects
            .iter()
            .map(|&kind| words::defect(kind))
            .collect(),
        unused: fate.unused.map(words::unused),
    })
}

/// The direction in which dependencies lead from an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DependencyDirection {
    Causes,
    Effects,
}

impl DependencyDirection {
    /// The cause and the effect, one of which is the event that is explained.
    fn in_order<T>(self, own: T, other: T) -> (T, T) {
        match self {
            Self::Causes => (other, own),
            Self::Effects => (own, other),
        }
    }
}

impl Seen<'_> {
    /// The dependencies of an event with others.
    fn dependencies(
        &self,
        fate: &Fate,
        others: &[EventNode],
        direction: DependencyDirection,
    ) -> Result<Option<DependenciesPart>, CliError> {
        let Some(own) = fate.node else {
            return Ok(None);
        };
        let by = |latency: &dyn Fn(EventNode) -> Option<i64>| {
            let timed = others.iter().filter_map(|&it| Some((latency(it)?, it)));
            timed.min_by_key(|it| it.0).map(|it| it.1)
        };
        let recorded = |other| Some(self.recorded_latency(own, other, direction));
        let corrected = |other| self.corrected_latency(own, other, direction);
        let Some(tightest) = by(&recorded) else {
            return Ok(None);
        };
        let part = |other: EventNode| self.dependency(own, other, direction);
        Ok(Some(DependenciesPart {
            count: others.len(),
            tightest_recorded: part(tightest)?,
            tightest_corrected: by(&corrected).map(part).transpose()?,
        }))
    }

    fn dependency(
        &self,
        own: EventNode,
        other: EventNode,
        direction: DependencyDirection,
    ) -> Result<DependencyPart, CliError> {
        let nodes = self.fates.causality().nodes();
        let clocks = self.analysis.clocks();
        Ok(DependencyPart {
            other: self.event(nodes.place(other), Some(other))?,
            recorded_latency_ticks: self.recorded_latency(own, other, direction),
            corrected_latency_ticks: self.corrected_latency(own, other, direction),
            least_latency_ticks: self.least_latency(own, other, direction),
            within_clock: clocks.of(nodes.location(own)) == clocks.of(nodes.location(other)),
        })
    }

    fn recorded_latency(
        &self,
        own: EventNode,
        other: EventNode,
        direction: DependencyDirection,
    ) -> i64 {
        let nodes = self.fates.causality().nodes();
        latency(direction, nodes.timestamp(own), nodes.timestamp(other))
    }

    fn corrected_latency(
        &self,
        own: EventNode,
        other: EventNode,
        direction: DependencyDirection,
    ) -> Option<i64> {
        let times = &self.solution?.times;
        let time = |node: EventNode| times.get(node.index()).copied();
        Some(latency(direction, time(own)?, time(other)?))
    }

    /// The minimal delay from the cause to the effect: the one that was enforced, if any was.
    fn least_latency(
        &self,
        own: EventNode,
        other: EventNode,
        direction: DependencyDirection,
    ) -> i64 {
        let (causality, given) = (self.fates.causality(), &self.analysis.delay().delay);
        let enforced = self.solution.and_then(|it| it.enforced.as_ref());
        let delay = enforced.map_or(given, |it| &it.delay);
        let (cause, effect) = direction.in_order(own, other);
        let least = if causality.nodes().role(effect) == Role::Receive {
            causality.message_delay(delay, cause, effect)
        } else {
            let location = |node| causality.nodes().location(node);
            delay.between(location(cause), location(effect))
        };
        least.0
    }

    fn event(&self, place: Place, node: Option<EventNode>) -> Result<EventPart, CliError> {
        let (info, clocks) = (self.analysis.info(), self.analysis.clocks());
        let location = &info.locations[place.location.as_usize()];
        let CorrectedEvent { row, corrected, .. } = self.row(place)?;
        let base = self.fates.causality().nodes().base();
        let after = |time: Timestamp| (i128::from(time.0) - i128::from(base.0)) as i64;
        let of_node = |node: EventNode| self.solution?.times.get(node.index()).copied();
        let corrected = node.map_or(corrected, of_node);
        let bound = self.bounds.and_then(|bounds| {
            let clock = clocks.of(place.location);
            let (before, after) = bounds.clocks.get(clock.as_usize())?.as_ref()?.at(row.time);
            (before.is_finite() && after.is_finite()).then_some(BoundPart { before, after })
        });
        let region = row.region.and_then(|it| self.trace.region(it));
        Ok(EventPart {
            location: location.id,
            location_name: words::location(info, location),
            event: place.event,
            kind: row.kind.to_owned(),
            region: region.map(|it| printable(&it).into_owned()),
            clock: clocks.of(place.location).0,
            recorded_ticks: after(row.time),
            corrected_ticks: corrected.map(after),
            bound_ticks: bound,
        })
    }

    /// Reads a location up to an event of it.
    fn row(&self, place: Place) -> Result<CorrectedEvent, CliError> {
        let correction = self.solution.map(|it| &it.correction);
        let mut events = CorrectedEvents::open(self.trace, place.location, correction)?;
        while let Some(event) = events.read()? {
            if event.number == place.event {
                return Ok(event);
            }
            if events.count() % STEP == 0 {
                check_interrupt()?;
            }
        }
        let message = "it has fewer events than when it was read first; it was changed meanwhile";
        Err(CliError::input(self.trace.path(), message.to_owned()))
    }
}

/// The time from a cause to its effect, one of which is the event that is explained.
fn latency(direction: DependencyDirection, own: Timestamp, other: Timestamp) -> i64 {
    let (cause, effect) = direction.in_order(own, other);
    // Stamps of a trace lie within 2^61 ticks of each other.
    (i128::from(effect.0) - i128::from(cause.0)) as i64
}
