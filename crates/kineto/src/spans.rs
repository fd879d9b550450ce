//! From when to when a file has events.

use serde::{Deserialize, Serialize};

use crate::columns::{Columns, NO_TRACK, is_event};

/// A stretch of time, from the first begin to the last end of some events.
pub(crate) type Stretch = (u64, u64);

/// The stretches of time of a file, for whoever has only some of its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spans {
    /// The first time of all.
    pub(crate) first: Option<u64>,
    /// From when to when events are on each track,
    pub(crate) tracks: Vec<Option<Stretch>>,
    /// and on any, with what is beside them.
    pub(crate) all: Option<Stretch>,
}

impl Spans {
    /// The stretches of a file with so many tracks.
    pub(crate) fn of(columns: &Columns, tracks: usize) -> Self {
        let mut spans = Self {
            first: columns.begins.iter().min().copied(),
            tracks: vec![None; tracks],
            all: span(columns, beside_tracks(columns)),
        };
        for (event, &track) in (0..).zip(&columns.tracks).filter(|it| is_event(*it.1)) {
            if let Some(own) = spans.tracks.get_mut(track as usize) {
                let it = (columns.begin(event), columns.end(event));
                *own = Some(own.map_or(it, |own| both(own, it)));
            }
        }
        spans
    }

    /// The stretch of time of the tracks that are `wanted`.
    pub(crate) fn of_tracks(&self, wanted: impl Fn(usize) -> bool) -> Option<Stretch> {
        let tracks = self.tracks.iter().enumerate();
        let spans = tracks.filter(|it| wanted(it.0)).filter_map(|it| *it.1);
        spans.reduce(both)
    }
}

/// The stretch of time of some events.
pub(crate) fn span(columns: &Columns, events: impl Iterator<Item = u32>) -> Option<Stretch> {
    let spans = events.map(|it| (columns.begin(it), columns.end(it)));
    spans.reduce(both)
}

/// All events on tracks, and what is beside them.
pub(crate) fn beside_tracks(columns: &Columns) -> impl Iterator<Item = u32> + '_ {
    let all = (0..).zip(&columns.tracks);
    all.filter(|it| *it.1 != NO_TRACK).map(|it| it.0)
}

fn both(a: Stretch, b: Stretch) -> Stretch {
    (a.0.min(b.0), a.1.max(b.1))
}
