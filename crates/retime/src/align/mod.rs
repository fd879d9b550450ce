//! Alignment: clocks that agree as well as the trace can tell.

mod active;
mod barrier;
mod centre;
mod components;
mod constants;
mod curves;
mod frame;
mod ladder;
mod lines;
mod links;
mod newton;
mod solver;
mod ties;
mod trim;

use crate::causality::Causality;
use crate::clocks::{ClockId, Clocks};
use crate::edges::{Edge, Edges};
use crate::estimate::{Estimate, Offset, learn_minimal_delay};
use crate::time::TickRate;

use self::curves::Curves;
use self::frame::Frame;
use self::ladder::{Setting, climb};
use self::links::Links;

/// How a clock is tied to the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Dependencies go both ways, directly or over other clocks.
    BothWays,
    /// They go one way only: delay and offset cannot be told apart.
    OneWay,
    /// None at all.
    Unrelated,
}

/// Aligned clocks.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// What has to be added to each clock.
    pub estimate: Estimate,
    /// By clock, how it is tied to the reference.
    pub relations: Vec<Relation>,
    /// Dependencies left out as defective.
    pub trimmed: Vec<Edge>,
    /// How many pieces each offset has.
    pub pieces: usize,
    /// The minimal delay, in ticks.
    pub shortest: Option<f64>,
}

/// Aligns the clocks of a trace.
pub fn align(
    causality: &Causality,
    clocks: &Clocks,
    rate: TickRate,
    reference: ClockId,
) -> Alignment {
    let nodes = causality.nodes();
    let edges = Edges::collect(causality, clocks, |node| nodes.time(node).0);
    let shifts = {
        let links = Links::new(&edges, |_, _| true);
        shifts(&edges, &links, reference)
    };
    let time = |node: u32| {
        let clock = clocks.of(nodes.location(node));
        nodes.time(node).0.saturating_add(shifts[clock.as_usize()])
    };
    let edges = if causality.collectives().instances().is_empty() {
        edges
    } else {
        Edges::collect(causality, clocks, time)
    };
    let shortest = learn_minimal_delay(causality, clocks)
        .half_round_trip
        .map(|it| it.0 as f64);
    let links = Links::new(&edges, |_, _| true);
    let mut frame = Frame::new(&edges, shifts);
    lines::add_lines(&links, &mut frame);
    let nanosecond = rate.get() as f64 / 1e9;
    let flat = Curves::flat(clocks.len(), 1, frame.span);
    let mut trimmed = trim::defective(&links, &frame, &flat, nanosecond);
    let links = links.without(&trimmed);
    let component = components::components(links.clocks(), links.list());
    let inside = links.among(|link| component[link.from] == component[link.to]);
    let setting = Setting {
        least: 0.9 * shortest.unwrap_or(0.0).max(0.0) - 1.0,
        knee: 10.0 * nanosecond,
    };
    let mut curves = climb(&inside, &frame, flat, setting);
    let more = trim::defective(&inside, &frame, &curves, nanosecond);
    if !more.is_empty() {
        curves = climb(&inside.without(&more), &frame, curves, setting);
        trimmed.extend(more);
        trimmed.sort_unstable();
    }
    let g = shortest.unwrap_or(0.0).max(0.0);
    let ties = ties::tie(
        &links,
        &component,
        &frame,
        &curves,
        g,
        reference.as_usize(),
        true,
    );
    for (line, tie) in frame.lines.iter_mut().zip(&ties.lines) {
        line.intercept += tie.intercept;
        line.drift += tie.drift;
    }
    let relation = |clock: usize| {
        let zero = reference.as_usize();
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
        relations: (0..clocks.len()).map(relation).collect(),
        trimmed: trimmed.iter().map(|&at| edges.all()[at as usize]).collect(),
        pieces: curves.pieces,
        shortest,
    }
}

/// Adds to constants what ties components.
fn tie_shifts(
    edges: &Edges,
    links: &Links<'_>,
    component: &[usize],
    shifts: Vec<i64>,
    reference: ClockId,
) -> Vec<i64> {
    let frame = Frame::new(edges, shifts);
    let flat = Curves::flat(links.clocks(), 1, frame.span);
    let ties = ties::tie(
        links,
        component,
        &frame,
        &flat,
        0.0,
        reference.as_usize(),
        false,
    );
    let tied = frame.shifts.iter().zip(&ties.lines);
    tied.map(|(shift, line)| shift.saturating_add(line.intercept as i64))
        .collect()
}

fn shifts(edges: &Edges, links: &Links<'_>, reference: ClockId) -> Vec<i64> {
    use rayon::prelude::*;
    let least = |link: &links::Link| {
        let latencies = links.of(link).map(|(_, edge)| edge.latency());
        latencies.min().unwrap_or(0)
    };
    let least: Vec<i64> = links.list().par_iter().map(least).collect();
    let component = components::components(links.clocks(), links.list());
    let shifts = constants::constants(links.list(), &least, &component);
    tie_shifts(edges, links, &component, shifts, reference)
}

fn estimate(frame: &Frame, curves: &Curves, root: &[usize], reference: ClockId) -> Estimate {
    let of = |clock: usize| {
        let zero = root[clock];
        let knot = |knot: usize| {
            let time = curves.knot(knot);
            let stamp = frame.stamp(clock, time);
            let own =
                |clock: usize, time: f64| frame.lines[clock].at(time) + curves.at(clock, time);
            let common = time + own(clock, time);
            let mut shown = common;
            for _ in 0..4 {
                shown = common - own(zero, shown);
            }
            (
                stamp,
                (shown - time) + frame.shifts[clock].saturating_sub(frame.shifts[zero]) as f64,
            )
        };
        Offset::through((0..=curves.pieces).map(knot).collect())
    };
    let mut parts = vec![0_usize; root.len()];
    for &root in root {
        parts[root] += 1;
    }
    let known = |clock: usize| root[clock] == reference.as_usize() || parts[root[clock]] > 1;
    Estimate {
        offsets: (0..curves.clocks)
            .map(|clock| known(clock).then(|| of(clock)))
            .collect(),
        reference,
    }
}
