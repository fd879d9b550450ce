//! `--truth`: a trace with the same events at their true times.
//!
//! Simulations write one beside the trace, and a run on one machine whose stamps
//! were made wrong afterwards has one: the original. It must hold the same events
//! in the same order; that is checked by location, kind of event, and part in
//! happened-before. Where joining takes times, one of both may join more than the other; what
//! both join must be the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use retime::causality::{Defect, EventNode, Nodes};
use retime::format::Trace;
use retime::optimal::Coverage;
use retime::pipeline::{Analysis, BoundedOffsets, Bounds};
use retime::{Accuracy, Timestamp, printable, printable_path};

use crate::args::ModelArgs;
use crate::error::CliError;
use crate::load::{Loaded, Source, load, load_opened};
use crate::progress::Interrupts;
use crate::report::model::{AccuracyPart, LocationAccuracyPart, MeasuredPart};

/// True times of all events with a role of a trace.
pub(crate) struct Truth {
    path: PathBuf,
    trace: Arc<dyn Trace>,
    times: Vec<Timestamp>,
}

impl Truth {
    /// Reads the truth, if one was given.
    pub(crate) fn of(
        recorded: &Loaded,
        model: &ModelArgs,
        quiet: bool,
    ) -> Result<Option<Self>, CliError> {
        let Some(path) = &model.truth else {
            return Ok(None);
        };
        let options = model.matching.options();
        let mut truth = load(Source::alone(path, None, quiet), options)?;
        if is_divided_otherwise(recorded, &truth)
            && let Some(divided) = divided_alike(recorded, path)?
        {
            truth = load_opened(path, divided, options, quiet)?;
        }
        compare(recorded, &truth).map_err(|difference| {
            CliError::input(path, not_the_truth(&recorded.opened.path, &difference))
        })?;
        let nodes = recorded.causality.nodes();
        let has_the_same = (0..nodes.locations()).all(|it| {
            let other = truth.causality.nodes();
            nodes.events(&nodes.of(it)) == other.events(&other.of(it))
        });
        let mut found = Self {
            path: path.clone(),
            trace: truth.opened.trace,
            times: truth.causality.into_timestamps(),
        };
        if !has_the_same {
            found.follow(nodes)?;
        }
        Ok(Some(found))
    }

    /// Takes the true times of other events of the same trace.
    pub(crate) fn follow(&mut self, nodes: &Nodes) -> Result<(), CliError> {
        let all: Vec<_> = (0..nodes.locations()).map(|it| nodes.of(it)).collect();
        let events: Vec<&[u32]> = all.iter().map(|it| nodes.events(it)).collect();
        let timelines = self.trace.timelines(&events, &Interrupts)?;
        self.times = timelines.into_iter().flat_map(|it| it.times).collect();
        Ok(())
    }

    /// How many events have their true time within bounds.
    pub(crate) fn coverage(
        &self,
        bounds: &Bounds,
        analysis: &Analysis,
    ) -> Result<Coverage, CliError> {
        let found = bounds.coverage(analysis.causality(), analysis.clocks(), &self.times);
        found.map_err(|error| CliError::input(&self.path, error.to_string()))
    }

    /// The share of events with their true time within bounds, for several corrections of the trace.
    pub(crate) fn share_inside(
        &self,
        bounds: &BoundedOffsets,
        analysis: &Analysis,
    ) -> Result<f64, CliError> {
        let found = bounds.coverage(analysis.causality(), analysis.clocks(), &self.times);
        let found = found.map_err(|error| CliError::input(&self.path, error.to_string()))?;
        Ok(found.share())
    }

    /// How far the recorded and, if there are any, the corrected times are from it.
    pub(crate) fn measure(
        &self,
        recorded: &Analysis,
        corrected: Option<&[Timestamp]>,
    ) -> Result<AccuracyPart, CliError> {
        let times = recorded.causality().nodes().timestamps();
        let corrected = corrected.map(|times| self.against(recorded, times));
        Ok(AccuracyPart {
            truth: self.path.display().to_string(),
            recorded: self.against(recorded, times)?,
            corrected: corrected.transpose()?,
        })
    }

    /// Where it was read from.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How far the given times are from it.
    pub(crate) fn against(
        &self,
        recorded: &Analysis,
        times: &[Timestamp],
    ) -> Result<MeasuredPart, CliError> {
        let accuracy = Accuracy::measure(recorded.causality(), times, &self.times)
            .map_err(|error| CliError::input(&self.path, error.to_string()))?;
        let ids = recorded.info().locations.iter().map(|it| it.id);
        let locations = ids.zip(&accuracy.locations).filter_map(|(location, it)| {
            it.map(|it| LocationAccuracyPart {
                location,
                ahead_ticks: it.ahead,
                behind_ticks: it.behind,
                deviation: it.deviation,
            })
        });
        Ok(MeasuredPart {
            relative_ticks: accuracy.relative,
            synchronization_ticks: accuracy.synchronization,
            message_delay_ticks: accuracy.message_delay,
            ahead_ticks: accuracy.ahead,
            behind_ticks: accuracy.behind,
            deviation: accuracy.deviation,
            locations: locations.collect(),
        })
    }
}

/// True if the same locations, in one format, belong to other processes. In the truth no kernel begins before its
/// launch, so that nothing shows there which devices have clocks of their own.
fn is_divided_otherwise(recorded: &Loaded, truth: &Loaded) -> bool {
    let (own, other) = (&recorded.info.locations, &truth.info.locations);
    let are_alike = recorded.opened.trace.format() == truth.opened.trace.format()
        && own.len() == other.len()
        && own.iter().zip(other).all(|(a, b)| a.name == b.name);
    are_alike && own.iter().zip(other).any(|(a, b)| a.process != b.process)
}

/// The trace at a path with the processes of another one of its format; `None` if that format
/// divides all traces by what is in them alone.
fn divided_alike(recorded: &Loaded, path: &Path) -> Result<Option<Box<dyn Trace>>, CliError> {
    let Ok(rewriting) = recorded.opened.rewriting() else {
        return Ok(None);
    };
    Ok(rewriting.open_copy(path, &Interrupts).transpose()?)
}

fn not_the_truth(recorded: &Path, difference: &str) -> String {
    format!(
        "is not the truth of {}: {difference}",
        printable_path(recorded)
    )
}

/// Fails with the first difference of the traces that is not one of times.
fn compare(recorded: &Loaded, truth: &Loaded) -> Result<(), String> {
    let (own, other) = (&recorded.info, &truth.info);
    if own.rate != other.rate {
        return Err(format!(
            "its clock has {} ticks per second, not {}",
            other.rate.get(),
            own.rate.get()
        ));
    }
    let ids = |info: &retime::TraceInfo| -> Vec<u64> {
        info.locations.iter().map(|location| location.id).collect()
    };
    if ids(own) != ids(other) {
        return Err("it has other locations".into());
    }
    let described = own.locations.iter().zip(&other.locations);
    if let Some((here, there)) = described.clone().find(|(a, b)| a.name != b.name) {
        return Err(format!(
            "location {} is called \"{}\" there, not \"{}\"",
            here.id,
            printable(&there.name),
            printable(&here.name)
        ));
    }
    if described.clone().any(|(a, b)| a.process != b.process) {
        return Err("its locations belong to other processes".into());
    }
    for (location, _) in (0..).zip(&own.locations) {
        compare_location(recorded, truth, location).map_err(|what| {
            format!(
                "{what} at {}",
                own.describe(retime::LocationIndex(location))
            )
        })?;
    }
    match truth.causality.defects().count(Defect::TimeRunsBackwards) {
        0 => Ok(()),
        _ => Err("its time runs backwards".into()),
    }
}

fn compare_location(recorded: &Loaded, truth: &Loaded, location: u32) -> Result<(), &'static str> {
    let location = location as usize;
    let kinds = |loaded: &Loaded| loaded.opened.contents[location].kinds.clone();
    if kinds(recorded) != kinds(truth) {
        return Err("other events");
    }
    let (own, other) = (recorded.causality.nodes(), truth.causality.nodes());
    let both = in_both(own, other, location);
    let fewest = own.of(location).len().min(other.of(location).len());
    let have_one_role = |it: &(EventNode, EventNode)| own.role(it.0) == other.role(it.1);
    if both.len() < fewest || !both.iter().all(have_one_role) {
        return Err("another order of events");
    }
    compare_partners(recorded, truth, &both)
}

/// The events of a location that have a role in both.
fn in_both(own: &Nodes, other: &Nodes, location: usize) -> Vec<(EventNode, EventNode)> {
    let mut there = other.of(location).peekable();
    let same = |here: EventNode| {
        let number = own.event(here);
        while there.next_if(|it| other.event(*it) < number).is_some() {}
        let there = there.next_if(|it| other.event(*it) == number)?;
        Some((here, there))
    };
    own.of(location).filter_map(same).collect()
}

/// Which of the events with a role are matched may depend on times; those that are in both must
/// have the same partner.
fn compare_partners(
    recorded: &Loaded,
    truth: &Loaded,
    both: &[(EventNode, EventNode)],
) -> Result<(), &'static str> {
    let (own, other) = (&recorded.causality, &truth.causality);
    for &(here, there) in both {
        let here = own.message_source(here).map(|it| own.nodes().place(it));
        let there = other
            .message_source(there)
            .map(|it| other.nodes().place(it));
        if here.is_some() && there.is_some() && here != there {
            return Err("messages of other senders");
        }
    }
    Ok(())
}
