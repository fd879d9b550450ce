//! The steps of the alignment, one after the other.

use rayon::prelude::*;

use crate::clocks::ClockId;
use crate::edges::Edges;
use crate::time::TickRate;

use super::components::components;
use super::constants::constants;
use super::curves::Curves;
use super::frame::Frame;
use super::ladder::{Setting, climb};
use super::lines::add_lines;
use super::links::{Link, Links};
use super::offsets::estimate;
use super::ties::tie;
use super::trim::defective;
use super::{Alignment, Relation, shortest_latency};

/// The share of the minimal delay that counts as no slack.
const DELAY: f64 = 0.9;
/// Stamps are rounded down, so a latency may be a tick longer than it looks.
const ROUNDING: f64 = 1.0;
/// The least slack the barrier tells apart, in nanoseconds.
const KNEE: f64 = 10.0;

/// Constants and lines: what is known before the ladder.
pub(super) fn rough(edges: &Edges, reference: ClockId) -> Frame {
    let links = Links::new(edges, |_, _| true);
    let mut frame = Frame::new(edges, shifts(edges, &links, reference));
    add_lines(&links, &mut frame);
    frame
}

/// Aligns clocks by a list of dependencies.
pub fn align_edges(edges: &Edges, rate: TickRate, reference: ClockId) -> Alignment {
    let frame = rough(edges, reference);
    let flat = Curves::flat(edges.clocks(), 1, frame.span);
    let nanosecond = rate.get() as f64 / 1e9;
    let links = Links::new(edges, |_, _| true);
    let mut trimmed = defective(&links, &frame, &flat, nanosecond);
    let links = links.without(&trimmed);
    let component = components(links.clocks(), links.list());
    let inside = links.among(|link| component[link.from] == component[link.to]);
    let setting = |curves: &Curves, trimmed: &[u32]| Setting {
        least: DELAY
            * shortest(edges, &frame, curves, trimmed)
                .unwrap_or(0.0)
                .max(0.0)
            - ROUNDING,
        knee: KNEE * nanosecond,
    };
    let mut curves = climb(&inside, &frame, flat.clone(), setting(&flat, &trimmed));
    let more = defective(&inside, &frame, &curves, nanosecond);
    if !more.is_empty() {
        trimmed.extend(&more);
        trimmed.sort_unstable();
        let setting = setting(&curves, &trimmed);
        curves = climb(&inside.without(&more), &frame, curves, setting);
    }
    let shortest = shortest(edges, &frame, &curves, &trimmed);
    let least = shortest.unwrap_or(0.0).max(0.0);
    let zero = reference.as_usize();
    let ties = tie(&links, &component, &frame, &curves, least, zero, true);
    let frame = frame.tilted(&ties.lines);
    let relation = |clock: usize| {
        if component.get(clock) == component.get(zero) {
            Relation::BothWays
        } else if ties.root[clock] == zero {
            Relation::OneWay
        } else {
            Relation::Unrelated
        }
    };
    Alignment {
        estimate: estimate(&frame, &curves, &ties.root, reference),
        relations: (0..edges.clocks()).map(relation).collect(),
        trimmed: trimmed.iter().map(|&at| edges.all()[at as usize]).collect(),
        pieces: curves.pieces,
        shortest,
    }
}

/// One constant per clock, in whole ticks.
fn shifts(edges: &Edges, links: &Links<'_>, reference: ClockId) -> Vec<i64> {
    let least = |link: &Link| {
        let latencies = links.of(link).map(|(_, edge)| edge.latency());
        latencies.min().unwrap_or(0)
    };
    let least: Vec<i64> = links.list().par_iter().map(least).collect();
    let component = components(links.clocks(), links.list());
    let frame = Frame::new(edges, constants(links.list(), &least, &component));
    let flat = Curves::flat(links.clocks(), 1, frame.span);
    let zero = reference.as_usize();
    let ties = tie(links, &component, &frame, &flat, 0.0, zero, false);
    let tied = frame.shifts.iter().zip(&ties.lines);
    tied.map(|(shift, line)| shift.saturating_add(line.intercept as i64))
        .collect()
}

/// The minimal delay of aligned clocks.
fn shortest(edges: &Edges, frame: &Frame, curves: &Curves, trimmed: &[u32]) -> Option<f64> {
    let offset = |clock: ClockId, stamp: i64| {
        let clock = clock.as_usize();
        frame.add(clock, stamp) + curves.at(clock, frame.time(clock, stamp))
    };
    let keep = |at: usize| trimmed.binary_search(&(at as u32)).is_err();
    shortest_latency(edges, offset, keep)
}
