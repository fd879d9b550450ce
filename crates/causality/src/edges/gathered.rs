//! All dependencies of a trace where they are all needed.
//!
//! An alignment goes over the dependencies a few dozen times, each time for something
//! else, and a search for bounds follows them from clock to clock. So of a trace in
//! [parts](Whole) the first part gets the dependencies of all and works alone; the
//! others tell it theirs as often as it asks, and get to know its result:
//!
//! ```text
//!  first part   at_root: work ... dependencies(times) <- all ... -> result
//!  other parts  at_root: own dependencies at these times -> first ... <- result
//! ```
//!
//! It asks more than once since of collective operations only the tightest dependencies are
//! told, and which these are depends on how clocks differ. Events of other parts have no
//! [nodes](crate::Nodes) here: they get numbers that rise with their
//! [places](Gathered::places), as those of nodes do.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Dependencies, Edge, Edges, Source, each_part_watched, whole};
use crate::merge::Most;
use crate::{Causality, EventNode, PackedOption, Place, Whole};
use retime_model::{Cancelled, ClockId, Clocks, Monitor, packed, packed_fields};

/// How clocks differ, as far as that is known.
pub trait Times: Clone + Serialize + DeserializeOwned + Sync {
    /// Ticks to add to a clock that shows `stamp`.
    fn add(&self, clock: ClockId, stamp: i64) -> f64;
}

/// The dependencies of a trace, of which only a part may be here.
#[derive(Clone, Copy)]
pub struct TraceEdges<'a> {
    /// The happened-before relation that they are taken from.
    pub causality: &'a Causality,
    /// The clocks that they are between: dependencies within one clock are left out.
    pub clocks: &'a Clocks,
    /// The monitor that is asked whether to go on.
    pub monitor: &'a dyn Monitor,
}

impl<'a> TraceEdges<'a> {
    /// The result of `work`, which the first part does for all; it may ask for
    /// [dependencies](Self::dependencies) at times of type `T`.
    pub fn at_root<T: Times, R>(
        self,
        work: impl FnOnce() -> Result<R, Cancelled>,
    ) -> Result<R, Cancelled>
    where
        R: Clone + Serialize + DeserializeOwned,
    {
        let Some(rest) = self.causality.whole().rest() else {
            return work();
        };
        let mut answer = |question: &[u8]| {
            let times: T = postcard::from_bytes(question).map_err(|_| Cancelled)?;
            self.gathered(&times).map(|_| ())
        };
        let mut work = Some(work);
        let mut work = || {
            let done = work.take().ok_or(Cancelled)?()?;
            postcard::to_allocvec(&done).map_err(|_| Cancelled)
        };
        let done = rest.at_root(&mut answer, &mut work)?;
        postcard::from_bytes(&done).map_err(|_| Cancelled)
    }

    /// The dependencies of all processes, of collectives the tightest at the given times.
    pub fn dependencies<T: Times>(self, times: &'a T) -> Result<AllEdges<'a>, Cancelled> {
        let Some(rest) = self.causality.whole().rest() else {
            return Ok(AllEdges::Held(self.own(times)));
        };
        rest.ask(postcard::to_allocvec(times).map_err(|_| Cancelled)?);
        self.gathered(times).map(AllEdges::Gathered)
    }

    /// The dependencies that end at own events.
    fn own<T: Times>(self, times: &'a T) -> Dependencies<'a> {
        Dependencies::by_clocks(self.causality, self.clocks, move |clock, stamp| {
            stamp.saturating_add(whole(times.add(clock, stamp)))
        })
    }

    /// Tells the first part what this one has; the first gets what all have, the others
    /// nothing.
    fn gathered<T: Times>(self, times: &T) -> Result<Gathered, Cancelled> {
        let whole = self.causality.whole();
        let own = self.own(times);
        // Whoever has no stamps of a clock takes it for one that shows every tick.
        let granularities = own.granularities(self.monitor)?;
        let granularities =
            whole.reduce(granularities.into_iter().map(Most).collect::<Vec<_>>())?;
        let granularities = granularities.into_iter().map(|it| it.0).collect();
        let parts = each_part_watched(&own, self.monitor, |part| part_to_send(&own, part))?;
        let extents = Edges::extents(self.causality, self.clocks);
        let all = gathered_columns(whole, parts.concat())?;
        Ok(Gathered::new(all, extents, granularities))
    }
}

/// A column, as it is sent.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Column(#[serde(with = "packed")] Vec<RemoteEdge>);

/// The edges of all parts in the first one, its own before the others; nothing in the others.
fn gathered_columns(whole: &Whole, own: Vec<RemoteEdge>) -> Result<Vec<RemoteEdge>, Cancelled> {
    let Some(rest) = whole.rest() else {
        return Ok(own);
    };
    let mut own = Column(own);
    let sent = match (rest.is_first(), own.0.is_empty()) {
        (true, _) | (_, true) => Vec::new(),
        (false, false) => {
            let sent = postcard::to_allocvec(&own).map_err(|_| Cancelled)?;
            own.0 = Vec::new();
            sent
        }
    };
    for sent in rest.gather(sent) {
        let sent: Column = postcard::from_bytes(&sent).map_err(|_| Cancelled)?;
        own.0.extend(sent.0);
    }
    whole.check()?;
    Ok(own.0)
}

/// The dependencies of a part as they are sent. Those of a trace have events.
fn part_to_send(source: &dyn Source, part: usize) -> Vec<RemoteEdge> {
    let mut all = Vec::new();
    source.walk(part, &mut |edge| {
        if let Some((cause, effect)) = source.places(&edge) {
            all.push(RemoteEdge {
                from: edge.from,
                to: edge.to,
                sent: edge.sent,
                received: edge.received,
                cause,
                effect,
            });
        }
    });
    all
}

/// A dependency as it is sent to another part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct RemoteEdge {
    from: ClockId,
    to: ClockId,
    sent: i64,
    received: i64,
    cause: Place,
    effect: Place,
}

packed_fields!(RemoteEdge {
    from: ClockId,
    to: ClockId,
    sent: i64,
    received: i64,
    cause: Place,
    effect: Place,
});

/// The dependencies of several parts.
#[derive(Clone, Debug)]
pub struct Gathered {
    edges: Edges,
    /// One entry per number of an event.
    events: Vec<Place>,
    granularities: Vec<i64>,
}

impl Gathered {
    fn new(
        mut sent: Vec<RemoteEdge>,
        extents: Vec<Option<(i64, i64)>>,
        granularities: Vec<i64>,
    ) -> Self {
        sent.par_sort_unstable();
        let mut events: Vec<Place> = sent.iter().flat_map(|it| [it.cause, it.effect]).collect();
        events.par_sort_unstable();
        events.dedup();
        let number = |place: &Place| EventNode(events.partition_point(|it| it < place) as u32);
        let edge = |it: &RemoteEdge| Edge {
            sent: it.sent,
            received: it.received,
            cause: number(&it.cause).into(),
            effect: number(&it.effect).into(),
            from: it.from,
            to: it.to,
        };
        let edges = sent.par_iter().map(edge).collect();
        Self {
            edges: Edges::new(edges, extents),
            events,
            granularities,
        }
    }

    fn place(&self, event: PackedOption<EventNode>) -> Option<Place> {
        self.events.get(event.get()?.index()).copied()
    }
}

impl Source for Gathered {
    fn clocks(&self) -> usize {
        self.edges.clocks()
    }

    fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        self.edges.extent(clock)
    }

    fn granularities(&self, _: &dyn Monitor) -> Result<Vec<i64>, Cancelled> {
        Ok(self.granularities.clone())
    }

    fn parts(&self) -> usize {
        self.edges.parts()
    }

    fn places(&self, edge: &Edge) -> Option<(Place, Place)> {
        Some((self.place(edge.cause)?, self.place(edge.effect)?))
    }

    #[inline]
    fn walk(&self, part: usize, visit: &mut dyn FnMut(Edge)) {
        self.edges.walk(part, visit);
    }

    fn list(&self, _: &dyn Monitor) -> Result<Cow<'_, Edges>, Cancelled> {
        Ok(Cow::Borrowed(&self.edges))
    }
}

/// The dependencies of a trace: where they are, or gathered from several parts.
pub enum AllEdges<'a> {
    /// This part is the whole trace, and its dependencies are all.
    Held(Dependencies<'a>),
    /// The dependencies of all parts, sent to the first.
    Gathered(Gathered),
}

impl AllEdges<'_> {
    /// True unless it is known that there are the same dependencies at any times.
    pub fn may_depend_on_times(&self) -> bool {
        match self {
            Self::Held(it) => it.depend_on_times(),
            Self::Gathered(_) => true,
        }
    }

    fn source(&self) -> &dyn Source {
        match self {
            Self::Held(it) => it,
            Self::Gathered(it) => it,
        }
    }
}

impl Source for AllEdges<'_> {
    fn clocks(&self) -> usize {
        self.source().clocks()
    }

    fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        self.source().extent(clock)
    }

    fn granularities(&self, monitor: &dyn Monitor) -> Result<Vec<i64>, Cancelled> {
        self.source().granularities(monitor)
    }

    fn parts(&self) -> usize {
        self.source().parts()
    }

    fn places(&self, edge: &Edge) -> Option<(Place, Place)> {
        self.source().places(edge)
    }

    fn walk(&self, part: usize, visit: &mut dyn FnMut(Edge)) {
        self.source().walk(part, visit);
    }

    fn list(&self, monitor: &dyn Monitor) -> Result<Cow<'_, Edges>, Cancelled> {
        self.source().list(monitor)
    }
}
