//! The steps of the alignment, one after the other.

use rayon::prelude::*;

use crate::clocks::ClockId;
use crate::edges::Edges;
use retime_model::TickRate;

use super::active::Survey;
use super::components::components;
use super::constants::constants;
use super::curves::Curves;
use super::frame::Frame;
use super::ladder::climb;
use super::lines::add_lines;
use super::links::{Link, Links};
use super::offsets::estimate;
use super::settle::{Found, Setting};
use super::ties::tie;
use super::trim::{self, defective};
use super::{Alignment, Relation, latency};

/// How often lines are fitted: with drifting clocks the least latency of a window
/// mixes its beginning and its end, until the drift is known.
const LINES: usize = 2;
/// The share of the minimal delay that counts as no slack.
const DELAY: f64 = 0.9;
/// The least slack the barrier tells apart, in nanoseconds.
const KNEE: f64 = 10.0;
/// And in grains of the clocks.
const GRAIN: f64 = 0.05;

/// Constants and lines: what is known before the ladder.
pub(super) fn rough(edges: &Edges, reference: ClockId) -> Frame {
    let links = Links::new(edges, |_, _| true);
    let mut frame = shifted(edges, &links, reference);
    add_lines(&links, &mut frame, LINES);
    frame
}

/// An alignment by smooth functions.
pub(super) struct Aligned {
    pub(super) alignment: Alignment,
    /// Whether dependencies contradict it, trimmed ones or others.
    pub(super) contradicted: bool,
}

/// Aligns clocks that do not step.
pub(super) fn align_plainly(edges: &Edges, rate: TickRate, reference: ClockId) -> Aligned {
    let links = Links::new(edges, |_, _| true);
    let frame = shifted(edges, &links, reference);
    Stages::new(edges, links, frame, LINES, rate).finish(reference)
}

/// Aligns clocks whose [rough] differences are known.
pub(super) fn align_roughly_aligned(
    edges: &Edges,
    frame: Frame,
    rate: TickRate,
    reference: ClockId,
) -> Aligned {
    let links = Links::new(edges, |_, _| true);
    Stages::new(edges, links, frame, 1, rate).finish(reference)
}

/// How far the alignment is.
struct Stages<'a> {
    edges: &'a Edges,
    /// Without the trimmed ones.
    links: Links<'a>,
    frame: Frame,
    curves: Curves,
    component: Vec<usize>,
    /// Positions, in rising order.
    trimmed: Vec<u32>,
    nanosecond: f64,
    contradicted: bool,
}

impl<'a> Stages<'a> {
    /// Up to the ladder.
    fn new(
        edges: &'a Edges,
        links: Links<'a>,
        mut frame: Frame,
        rounds: usize,
        rate: TickRate,
    ) -> Self {
        let fastest = add_lines(&links, &mut frame, rounds);
        let curves = Curves::flat(edges.clocks(), 1, frame.span);
        let nanosecond = rate.get() as f64 / 1e9;
        let trimmed = defective(&links, &frame, &curves, &fastest, nanosecond);
        let links = links.without(&trimmed);
        let mut stages = Self {
            component: components(links.clocks(), links.list()),
            edges,
            links,
            frame,
            curves,
            trimmed,
            nanosecond,
            contradicted: false,
        };
        stages.pin();
        stages.climb();
        stages
    }

    /// Holds one clock of each component fast: the reference, or the first.
    fn pin(&mut self) {
        let zero = self.frame.reference;
        let own = self.component.get(zero).copied();
        let named = self.component.iter().enumerate();
        let firsts = named.filter(|(clock, name)| clock == *name && Some(**name) != own);
        self.frame.pinned = firsts
            .map(|(clock, _)| clock)
            .chain(own.map(|_| zero))
            .collect();
    }

    /// The ladder; and once more if it shows that dependencies are defective.
    fn climb(&mut self) {
        let more = self.climb_once();
        if more.is_empty() {
            return;
        }
        self.links = std::mem::take(&mut self.links).without(&more);
        self.trimmed.extend(&more);
        self.trimmed.sort_unstable();
        self.curves = self.found(&self.inside()).curves;
    }

    /// Positions of what it shows to be defective.
    fn climb_once(&mut self) -> Vec<u32> {
        let inside = self.inside();
        let Found { curves, survey, .. } = self.found(&inside);
        let contradicted = self.is_contradicted(&inside, &survey);
        let fastest: Vec<f64> = survey.links.iter().map(|link| link.least).collect();
        let more = defective(&inside, &self.frame, &curves, &fastest, self.nanosecond);
        (self.curves, self.contradicted) = (curves, contradicted);
        more
    }

    /// The links within components.
    fn inside(&self) -> Links<'_> {
        let inside = |link: &Link| self.component[link.from] == self.component[link.to];
        self.links.among(inside)
    }

    fn found(&self, inside: &Links<'_>) -> Found {
        climb(inside, &self.frame, self.curves.clone(), self.setting())
    }

    fn is_contradicted(&self, links: &Links<'_>, survey: &Survey) -> bool {
        let fastest: Vec<f64> = survey.links.iter().map(|link| link.least).collect();
        let bound = trim::bound(links, &fastest, self.nanosecond);
        !self.trimmed.is_empty() || fastest.iter().any(|&least| least < -bound)
    }

    fn setting(&self) -> Setting {
        Setting {
            least: DELAY * self.shortest().unwrap_or(0.0).max(0.0),
            knee: (KNEE * self.nanosecond).max(GRAIN * self.frame.grain),
        }
    }

    /// The minimal delay of clocks as they are aligned now.
    fn shortest(&self) -> Option<f64> {
        let offset = |clock: ClockId, stamp: i64| {
            let clock = clock.as_usize();
            let time = self.frame.time(clock, stamp);
            self.frame.add(clock, stamp) + self.curves.at(clock, time)
        };
        latency::shortest(&self.links, offset)
    }

    /// From the ladder on.
    fn finish(self, reference: ClockId) -> Aligned {
        let shortest = self.shortest();
        let least = shortest.unwrap_or(0.0).max(0.0);
        let zero = reference.as_usize();
        let (frame, curves) = (&self.frame, &self.curves);
        let ties = tie(
            &self.links,
            &self.component,
            frame,
            curves,
            least,
            zero,
            true,
        );
        let frame = frame.clone().tilted(&ties.lines);
        let relation = |clock: usize| {
            if self.component.get(clock) == self.component.get(zero) {
                Relation::BothWays
            } else if ties.root[clock] == zero {
                Relation::OneWay
            } else {
                Relation::Unrelated
            }
        };
        let trimmed = self.trimmed.iter();
        let alignment = Alignment {
            estimate: estimate(&frame, curves, &ties.root, reference),
            relations: (0..self.edges.clocks()).map(relation).collect(),
            trimmed: trimmed.map(|&at| self.edges.all()[at as usize]).collect(),
            pieces: curves.pieces,
            steps: Vec::new(),
            shortest,
        };
        Aligned {
            alignment,
            contradicted: self.contradicted,
        }
    }
}

/// Shifts by one constant per clock, in whole ticks.
fn shifted(edges: &Edges, links: &Links<'_>, reference: ClockId) -> Frame {
    let least = |link: &Link| {
        let latencies = links.of(link).map(|(_, edge)| edge.latency());
        latencies.min().unwrap_or(0)
    };
    let least: Vec<i64> = links.list().par_iter().map(least).collect();
    let component = components(links.clocks(), links.list());
    let zero = reference.as_usize();
    let constants = constants(links.list(), &least, &component, zero);
    let frame = Frame::new(edges, constants, zero);
    let flat = Curves::flat(links.clocks(), 1, frame.span);
    let ties = tie(links, &component, &frame, &flat, 0.0, zero, false);
    let tied = frame.shifts.iter().zip(&ties.lines);
    let shifts = tied.map(|(shift, line)| shift.saturating_add(line.intercept as i64));
    Frame::new(edges, shifts.collect(), zero)
}
