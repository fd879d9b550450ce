//! Arrows between processes, as messages.
//!
//! Tools that write Chrome's format draw an arrow from where something is sent (`s`) to
//! where it arrives (`f`); both carry the same category, name and id. An arrow within one
//! process says nothing about clocks. Where an id is used again, its arrows are told apart by
//! time, as long as all of them go from one track to another; otherwise nothing tells which
//! end belongs to which.
//!
//! Several arrows that leave one event are one operation, which lets several go on: a part of an
//! event is one, and so each arrow is kept.
//!
//! An arrow that ends nowhere, but has points on the way (`t`), does not say which of them is the
//! cause: packets of Perfetto have such, and merged as JSON begin at the first in time. Those
//! between processes are counted, unless another arrow leads from one of their two ends to the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use retime_model::{Class, MessageId, OperationId};
use rustc_hash::FxHashSet;

use crate::columns::Columns;
use crate::joined_moments::{JoinedMoments, Moment};
use crate::matching::{Joined, Part};
use crate::order::Side;
use crate::places::Places;
use crate::profile::{FileRead, FlowEnd, FlowKind};

/// Arrows whose ends cannot be told apart, in words that take a plural.
const AMBIGUOUS: &str = "ambiguous arrow end";

/// Arrows that do not say where they lead.
const UNDIRECTED: &str = "undirected arrow end";

/// Arrows of which one end alone was recorded.
const LONE: &str = "lone arrow end";

/// The space of ids in which arrows are numbered: none that groups have.
const SPACE: u64 = u64::MAX;

/// An end of an arrow.
type End<'a> = (usize, &'a FlowEnd);

/// The arrows between processes.
#[derive(Debug)]
pub(crate) struct Arrows {
    /// Arrows that say more than is known, by the file in which they begin or end.
    pub(crate) joined: Vec<Vec<Joined>>,
    /// The events at which others begin and end, by file where both are in it.
    pub(crate) said_again: Vec<Vec<(u32, u32)>>,
    /// Ends that are left out: the file of each, and why in words that take a plural.
    pub(crate) left_out: Vec<(usize, &'static str)>,
}

/// The arrows between processes of files.
pub(crate) fn arrows(files: &[FileRead], places: &Places, known: &JoinedMoments) -> Arrows {
    let mut by_key: BTreeMap<&[u8], Vec<End<'_>>> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        for end in &file.flows {
            by_key.entry(&end.key).or_default().push((number, end));
        }
    }
    let mut left_out = Vec::new();
    let mut undirected = Vec::new();
    let mut led: FxHashSet<[Place; 2]> = FxHashSet::default();
    let mut said_again = vec![Vec::new(); files.len()];
    let mut by_start: BTreeMap<(usize, u32), Vec<End<'_>>> = BTreeMap::new();
    for ends in by_key.into_values() {
        let of_kind = |kind| ends.iter().filter(move |it| it.1.kind == kind).copied();
        let starts: Vec<End<'_>> = of_kind(FlowKind::Start).collect();
        let stops: Vec<End<'_>> = of_kind(FlowKind::End).collect();
        let processes = |ends: &[End<'_>]| process_of(files, places, ends);
        if starts.is_empty() || stops.is_empty() {
            let has_steps = starts.len() + stops.len() < ends.len();
            if !has_steps || !stops.is_empty() {
                let alone = starts.iter().chain(&stops);
                left_out.extend(alone.map(|it| (it.0, LONE)));
            } else if processes(&ends).is_none() {
                undirected.push(ends);
            }
            continue;
        }
        let Some(pairs) = paired(files, &starts, &stops) else {
            if processes(&starts) != processes(&stops) {
                let both = starts.iter().chain(&stops);
                left_out.extend(both.map(|it| (it.0, AMBIGUOUS)));
            }
            continue;
        };
        led.extend(pairs.iter().map(|it| both_places(files, it.0, it.1)));
        let between = |it: &&(End<'_>, End<'_>)| processes(&[it.0]) != processes(&[it.1]);
        let is_new = |start: &End<'_>, stop: &End<'_>| {
            let moment = |file: usize, event, side| Moment::of(files, places, file, event, side);
            let cause = moment(start.0, start.1.event, Side::Begin);
            let effect = moment(stop.0, stop.1.event, Side::End);
            !known.leads(cause, effect)
        };
        for (start, stop) in pairs.iter().filter(between) {
            if is_new(start, stop) {
                let own = by_start.entry((start.0, start.1.event)).or_default();
                own.push(*stop);
            } else if start.0 == stop.0
                && let Some(own) = said_again.get_mut(start.0)
            {
                own.push((start.1.event, stop.1.event));
            }
        }
    }
    undirected.retain(|ends| match ends[..] {
        [one, other] => !led.contains(&both_places(files, one, other)),
        _ => true,
    });
    left_out.extend(undirected.iter().flatten().map(|it| (it.0, UNDIRECTED)));
    let mut joined = vec![Vec::new(); files.len()];
    for (number, (start, stops)) in (0..).zip(by_start) {
        for (file, it) in parts(number, start.0, start.1, &stops) {
            if let Some(joined) = joined.get_mut(file) {
                joined.push(it);
            }
        }
    }
    Arrows {
        joined,
        said_again,
        left_out,
    }
}

/// A file, a track in it, and a time there: each end is an event of its own.
type Place = (usize, u32, u64);

/// The places of two ends, whichever is the first.
fn both_places(files: &[FileRead], one: End<'_>, other: End<'_>) -> [Place; 2] {
    let mut places = [one, other].map(|(number, end)| {
        let columns = files.get(number).map(|it| &it.columns);
        let at = |it: &Arc<Columns>| (number, it.track(end.event), it.begin(end.event));
        columns.map_or((number, 0, 0), at)
    });
    places.sort_unstable();
    places
}

/// The parts of the event, of a file, at which arrows begin, and of those at which they end.
fn parts(number: u64, file: usize, event: u32, stops: &[End<'_>]) -> Vec<(usize, Joined)> {
    let at = |file, event, part| (file, Joined { event, part });
    if let [(to, stop)] = stops {
        let id = MessageId {
            space: SPACE,
            number,
        };
        return vec![
            at(file, event, Part::Send(id)),
            at(*to, stop.event, Part::Receive(id)),
        ];
    }
    let part = |rank, cause, effect| Part::Collective {
        id: OperationId {
            space: SPACE,
            number,
        },
        class: Class::OneToAll,
        rank,
        cause,
        effect,
    };
    let mut all = vec![at(file, event, part(0, Some(1), None))];
    for (rank, (to, stop)) in (1..).zip(stops) {
        let own = part(rank, None, Some(stops.len() as u32));
        all.push(at(*to, stop.event, own));
    }
    all
}

/// Starts with their stops; nothing if they cannot be told apart.
fn paired<'a>(
    files: &[FileRead],
    starts: &[End<'a>],
    stops: &[End<'a>],
) -> Option<Vec<(End<'a>, End<'a>)>> {
    let in_order = |ends: &[End<'a>]| {
        let of = |end: &End<'a>| {
            let columns = files.get(end.0).map(|it| &it.columns)?;
            let event = end.1.event;
            Some((end.0, columns.track(event), columns.begin(event)))
        };
        let mut ends = ends.to_vec();
        ends.sort_by_key(of);
        let track = |end: &End<'a>| of(end).map(|it| (it.0, it.1));
        let is_one_track = ends.windows(2).all(|it| track(&it[0]) == track(&it[1]));
        is_one_track.then_some(ends)
    };
    if starts.len() != stops.len() {
        return None;
    }
    Some(
        in_order(starts)?
            .into_iter()
            .zip(in_order(stops)?)
            .collect(),
    )
}

/// The process of some ends, if it is one.
fn process_of(files: &[FileRead], places: &Places, ends: &[End<'_>]) -> Option<usize> {
    let mut processes = ends.iter().map(|(file, end)| {
        let track = files.get(*file)?.columns.track(end.event);
        let location = places.location(*file, track);
        Some(places.info.locations.get(location.as_usize())?.process)
    });
    let first = processes.next()??;
    processes.all(|it| it == Some(first)).then_some(first)
}
