//! The steps of the alignment, one after the other.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::options::OPTIONS;
use retime_causality::edges::Source;
use retime_model::ClockId;
use retime_model::TickRate;
use retime_model::{Cancelled, Monitor};

use super::across::Across;
use super::active_set::Setting;
use super::candidates::Candidates;
use super::components::components;
use super::curves::{Curves, estimate};
use super::frame::Frame;
use super::latency::{LatencyExchange, shortest};
use super::lines::add_lines;
use super::links::{Link, Links};
use super::outliers::OutlierTest;
use super::pairwise::pairwise_offsets;
use super::recorded::RecordedOffsets;
use super::recorded_parts::joined;
use super::reduced::{LinkPoint, Reduced, Reduction};
use super::selection::{ModelSelection, Offsets, Selected, Stiffness};
use super::survey::Survey;
use super::{Alignment, Relation};
use retime_causality::edges::Edge;

/// Clocks as they are known before a division is looked for.
pub(super) struct RoughClocks {
    /// With a constant and a line each.
    pub(super) lines: Frame,
    /// The base beside which offsets are looked for: constants, and the lines of clocks that are known to run at
    /// other rates than clocks do. Nothing that is said of rates, as that they hardly differ by more
    /// than [`proven`](super::options::AlignOptions::proven), holds for a frequency that was declared
    /// wrongly; beside its line it does.
    pub(super) base: Frame,
    /// Constants alone.
    pub(super) level: Frame,
}

/// Constants and lines, by the tightest dependencies of so many windows of the run.
pub(super) fn rough(
    source: &dyn Source,
    windows: usize,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<RoughClocks, Cancelled> {
    // As long as nothing is known, each clock begins at its own first event.
    let clocks = (0..source.clocks() as u32).map(ClockId);
    let begin = |clock| source.extent(clock).map_or(0, |(first, _)| -first);
    let shifts = clocks.map(begin).collect();
    let begun = Frame::new(source, shifts, reference.as_usize(), monitor)?;
    let reduction = Reduction {
        axis: begun.axis.clone(),
        windows,
        layers: 1,
    };
    let reduced = Reduced::new(source, &reduction, &FxHashSet::default(), monitor)?;
    let links = Links::new(source.clocks(), &reduced, |_| true);
    let level = shifted(source, &begun, &links, monitor)?;
    let mut lines = level.clone();
    let added = add_lines(&links, &mut lines, OPTIONS.rough_lines, monitor)?;
    let base = if added.are_steep {
        lines.clone()
    } else {
        level.clone()
    };
    Ok(RoughClocks { lines, base, level })
}

/// An alignment by smooth functions.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SmoothAlignment {
    pub(super) alignment: Alignment,
    /// True if dependencies contradict it, outliers or others.
    pub(super) contradicted: bool,
    /// The amount by which rates wander in a second that the trace does not prove wrong, as a
    /// fraction.
    pub(super) wander: f64,
    /// The wander that rates need so that nothing contradicts the alignment, if that is known.
    pub(super) needed: f64,
}

impl SmoothAlignment {
    /// The wander of rates that it takes, as a fraction: what is needed, if that is known.
    pub(super) fn likely_wander(&self) -> f64 {
        if self.needed.is_finite() {
            self.needed
        } else {
            self.wander
        }
    }
}

/// One alignment to be done: on whose time, in which ticks, and how stiff clocks are known to be.
#[derive(Clone, Copy)]
pub(super) struct AlignmentTask {
    pub(super) rate: TickRate,
    pub(super) reference: ClockId,
    pub(super) stiffness: Stiffness,
}

impl AlignmentTask {
    /// An alignment of clocks of which nothing is known.
    pub(super) fn of(rate: TickRate, reference: ClockId) -> Self {
        Self {
            rate,
            reference,
            stiffness: Stiffness::default(),
        }
    }
}

/// Aligns clocks that do not step.
pub(super) fn align_plainly(
    source: &dyn Source,
    task: AlignmentTask,
    monitor: &dyn Monitor,
) -> Result<SmoothAlignment, Cancelled> {
    let rough = rough(source, OPTIONS.rough_windows, task.reference, monitor)?;
    let base = if task.stiffness.is_held {
        rough.level
    } else {
        rough.base
    };
    align_roughly_aligned(source, base, task, monitor)
}

/// Aligns clocks beside the [base](RoughClocks::base) that is known of them.
pub(super) fn align_roughly_aligned(
    source: &dyn Source,
    base: Frame,
    task: AlignmentTask,
    monitor: &dyn Monitor,
) -> Result<SmoothAlignment, Cancelled> {
    Stages::new(source, base, task, monitor)?.finish(task.reference)
}

/// How far the alignment is.
struct Stages<'a> {
    source: &'a dyn Source,
    monitor: &'a dyn Monitor,
    candidates: Candidates<'a>,
    frame: Frame,
    curves: Curves,
    nanosecond: f64,
    stiffness: Stiffness,
    contradicted: bool,
    wander: f64,
    needed: f64,
}

impl<'a> Stages<'a> {
    /// Up to the selection of a division.
    fn new(
        source: &'a dyn Source,
        frame: Frame,
        task: AlignmentTask,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let candidates = Candidates::new(source, frame.axis.clone(), monitor)?;
        let mut stages = Self {
            source,
            monitor,
            candidates,
            curves: Curves::flat(source.clocks(), 1, frame.axis.span),
            frame,
            nanosecond: task.rate.get() as f64 / 1e9,
            stiffness: task.stiffness,
            contradicted: false,
            wander: OPTIONS.usual_wander(),
            needed: OPTIONS.usual_wander(),
        };
        stages.pin();
        let first = stages.reject_by_lines()?;
        stages.align(first)?;
        Ok(stages)
    }

    /// The offsets of the stiffest clocks, without what contradicts their lines.
    ///
    /// Misreadings tear offsets that follow all dependencies; the lines, through medians,
    /// hardly notice them. But lines can be far off where messages wait, and then what
    /// contradicts them are the only messages that do not. So it is left out only if it
    /// is what contradicts the offsets.
    fn reject_by_lines(&mut self) -> Result<Offsets<'a>, Cancelled> {
        let first = self.selection().stiffest(&mut self.candidates)?;
        let before = first.found.survey.contradictions(0.0);
        if before.sum <= 0.0 {
            return Ok(first);
        }
        let links = self.candidates.links();
        let mut lines = self.frame.clone();
        let added = add_lines(&links, &mut lines, 1, self.monitor)?;
        let outlier_test = OutlierTest {
            links: &links,
            frame: &lines,
            curves: &self.curves,
            fastest: &added.least,
            nanosecond: self.nanosecond,
        };
        let outliers =
            outlier_test.outliers(self.source, self.candidates.left_out(), self.monitor)?;
        if outliers.is_empty() {
            return Ok(first);
        }
        self.candidates.leave_out(outliers)?;
        self.candidates.find_components();
        self.pin();
        let without = self.selection().stiffest(&mut self.candidates)?;
        if without.found.survey.contradictions(0.0).sum <= OPTIONS.gain * before.sum {
            return Ok(without);
        }
        self.candidates.take_back()?;
        self.pin();
        Ok(first)
    }

    /// Holds one clock of each component fast, the reference or the first, and sees where
    /// that leaves the recorded times.
    fn pin(&mut self) {
        let zero = self.frame.reference;
        let component = self.candidates.component();
        let own = component.get(zero).copied();
        let named = component.iter().enumerate();
        let firsts = named.filter(|(clock, name)| clock == *name && Some(**name) != own);
        self.frame.pinned = firsts
            .map(|(clock, _)| clock)
            .chain(own.map(|_| zero))
            .collect();
        let links = self.candidates.links();
        let Frame {
            axis,
            grains,
            pinned,
            ..
        } = &self.frame;
        self.frame.recorded = RecordedOffsets::of(&links, axis, grains, pinned, component);
    }

    /// Finds offsets from those of the stiffest clocks; and once more if they show that
    /// dependencies are outliers.
    fn align(&mut self, first: Offsets<'a>) -> Result<(), Cancelled> {
        let mut selected = self.selection().select(&mut self.candidates, first)?;
        self.note_contradictions(&selected);
        let more = self.outliers(&selected)?;
        if !more.is_empty() && !selected.is_refuted {
            self.candidates.leave_out(more)?;
            let first = self.selection().stiffest(&mut self.candidates)?;
            selected = self.selection().select(&mut self.candidates, first)?;
            self.note_contradictions(&selected);
        }
        if self.take_back_what_fits(&selected)? {
            let first = self.selection().stiffest(&mut self.candidates)?;
            selected = self.selection().select(&mut self.candidates, first)?;
            self.note_contradictions(&selected);
        }
        self.needed = self.needed(&selected)?;
        self.wander = selected.found.division.wander;
        self.curves = selected.found.curves;
        Ok(())
    }

    /// Takes back what was left out though these offsets do not contradict it; false if there is
    /// nothing of that kind.
    fn take_back_what_fits(&mut self, selected: &Selected<'a>) -> Result<bool, Cancelled> {
        let fastest = least(&selected.found.survey);
        let outlier_test = OutlierTest {
            links: &selected.problem.links,
            frame: &self.frame,
            curves: &selected.found.curves,
            fastest: &fastest,
            nanosecond: self.nanosecond,
        };
        let is_back = self
            .candidates
            .take_back_but(|edge| outlier_test.contradict(edge))?;
        if is_back {
            self.pin();
        }
        Ok(is_back)
    }

    /// The wander of rates with which nothing contradicts them, as a fraction, as far as that is
    /// asked for.
    fn needed(&mut self, selected: &Selected<'a>) -> Result<f64, Cancelled> {
        if selected.needed.is_finite() || selected.is_refuted {
            return Ok(selected.needed);
        }
        let pieces = selected.found.division.pieces;
        let needed = self.selection().needed(&mut self.candidates, selected)?;
        self.candidates.refine(pieces)?;
        Ok(needed)
    }

    /// Remembers it if dependencies contradict these offsets, or were left out.
    fn note_contradictions(&mut self, selected: &Selected<'a>) {
        let survey = &selected.found.survey;
        let fastest = least(survey);
        let is_contradicted =
            survey.contradictions(0.0).sum > 0.0 || self.outlier_test(selected, &fastest).any();
        self.contradicted |= is_contradicted || !self.candidates.outliers().is_empty();
    }

    /// Dependencies that these offsets show to be outliers.
    fn outliers(&self, selected: &Selected<'a>) -> Result<Vec<Edge>, Cancelled> {
        let fastest = least(&selected.found.survey);
        let outlier_test = self.outlier_test(selected, &fastest);
        outlier_test.outliers(self.source, self.candidates.left_out(), self.monitor)
    }

    fn outlier_test<'b>(
        &'b self,
        selected: &'b Selected<'a>,
        fastest: &'b [f64],
    ) -> OutlierTest<'b> {
        OutlierTest {
            links: &selected.problem.links,
            frame: &self.frame,
            curves: &selected.found.curves,
            fastest,
            nanosecond: self.nanosecond,
        }
    }

    fn selection(&self) -> ModelSelection<'a> {
        let grains = OPTIONS.knee_grains * self.frame.grains.finest();
        ModelSelection {
            frame: self.frame.clone(),
            setting: Setting {
                knee: (OPTIONS.knee_ns * self.nanosecond).max(grains),
                second: 1e9 * self.nanosecond,
            },
            stiffness: self.stiffness,
            monitor: self.monitor,
        }
    }

    /// The minimal delay of clocks as they are aligned now.
    fn shortest(&self, links: &Links) -> Result<Option<f64>, Cancelled> {
        let exchange = LatencyExchange::of_links(links, &self.frame, &self.curves);
        shortest(&exchange, self.monitor)
    }

    /// From the offsets of components on.
    fn finish(self, reference: ClockId) -> Result<SmoothAlignment, Cancelled> {
        let links = self.candidates.links();
        let shortest = self.shortest(&links)?;
        let least = shortest.unwrap_or(0.0).max(0.0);
        let zero = reference.as_usize();
        let (frame, curves) = (&self.frame, &self.curves);
        let component = self.candidates.component();
        let ties = Across {
            links: &links,
            component,
            frame,
            curves,
            least,
        }
        .tie(zero, self.monitor)?;
        let frame = frame.clone().tilted(&ties.lines);
        let relation = |clock: usize| {
            if component.get(clock) == component.get(zero) {
                Relation::BothWays
            } else if ties.root[clock] == zero {
                Relation::OneWay
            } else {
                Relation::Unrelated
            }
        };
        let alignment = Alignment {
            estimate: estimate(&frame, curves, &ties.root, reference),
            relations: (0..self.source.clocks()).map(relation).collect(),
            part: parts(&ties.root),
            outliers: self.candidates.outliers().to_vec(),
            pieces: curves.pieces,
            steps: Vec::new(),
            instead: Vec::new(),
            rate_changes: Vec::new(),
            is_loose: frame.recorded.is_loose,
            wanders: self.wander > OPTIONS.usual_wander(),
            common: None,
            shortest,
        };
        Ok(SmoothAlignment {
            alignment,
            contradicted: self.contradicted,
            wander: self.wander,
            needed: self.needed,
        })
    }
}

/// Per clock the first of its part.
fn parts(root: &[usize]) -> Vec<ClockId> {
    let first = joined(root.len(), root.iter().copied().enumerate());
    first.into_iter().map(|it| ClockId(it as u32)).collect()
}

/// The least latency of each link.
fn least(survey: &Survey) -> Vec<f64> {
    survey.links.iter().map(|link| link.least).collect()
}

/// Shifts by one constant per clock, in whole ticks.
fn shifted(
    source: &dyn Source,
    begun: &Frame,
    links: &Links,
    monitor: &dyn Monitor,
) -> Result<Frame, Cancelled> {
    let least = |link: &Link| {
        links
            .of(link)
            .iter()
            .map(LinkPoint::latency)
            .min()
            .unwrap_or(0)
    };
    let least: Vec<i64> = links.list().iter().map(least).collect();
    let pairs: Vec<(usize, usize)> = links.list().iter().map(|it| (it.from, it.to)).collect();
    let component = components(links.clocks(), &pairs);
    let zero = begun.reference;
    let middle = pairwise_offsets(links.list(), &least, &component, zero, monitor)?;
    let frame = begun.shifted(source, middle);
    let flat = Curves::flat(links.clocks(), 1, frame.axis.span);
    let across = Across {
        links,
        component: &component,
        frame: &frame,
        curves: &flat,
        least: 0.0,
    };
    let ties = across.tie_to_fastest(zero, monitor)?;
    let tied = frame.axis.shifts.iter().zip(&ties.lines);
    let shifts = tied.map(|(shift, line)| shift.saturating_add(line.intercept as i64));
    Ok(begun.shifted(source, shifts.collect()))
}
