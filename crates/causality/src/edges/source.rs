//! The dependencies of a trace, walked as often as need be instead of listed.
//!
//! A list takes 32 bytes for each dependency, which is more than all else that is
//! known of an event. Most of what is asked of dependencies are minima of some
//! kind, which one walk answers, part by part and in parallel; so a [`Source`]
//! lends itself to being walked. A part is some stretches of locations' receives
//! or some collectives, small enough for any number of threads. Parts and the
//! order within them never change, and neither does what is put together in the
//! order of parts.
//!
//! There are two sources: a trace ([`Dependencies`]), and a list ([`Edges`]).
//!
//! ```
//! use retime_causality::edges::{Source, each_part};
//! use retime_causality::{Edge, Edges};
//! use retime_model::ClockId;
//! let message = |i: i64| Edge::message(ClockId(0), 10 * i, ClockId(1), 10 * i + 5 - i % 3);
//! let edges = Edges::new((0..100).map(message).collect(), vec![Some((0, 1_000)); 2]);
//! let least = each_part(&edges, |part| {
//!     let mut least = i64::MAX;
//!     edges.walk(part, &mut |edge| least = least.min(edge.latency()));
//!     least
//! });
//! assert_eq!(least.into_iter().min(), Some(3));
//! ```

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use super::{Edge, Edges};
use crate::collectives::{Ends, sweep};
use crate::{Causality, Class, EventNode, Ids, Instance, Participant, Place};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks};
use retime_numerics::lattice::{self, Lattice};
use retime_numerics::parallel;

/// Dependencies between different clocks that can be walked.
pub trait Source: Sync {
    /// How many clocks there are.
    fn clocks(&self) -> usize;

    /// First and last stamp of any event of a clock, in ticks since the base;
    /// `None` for a clock without events.
    fn extent(&self, clock: ClockId) -> Option<(i64, i64)>;

    /// Finds per clock the ticks from one stamp that it can show to the next, at least 1; unless it
    /// is to be given up.
    fn granularities(&self, monitor: &dyn Monitor) -> Result<Vec<i64>, Cancelled>;

    /// How many parts there are.
    fn parts(&self) -> usize;

    /// Where the events of a dependency are, if it is of a trace.
    fn places(&self, _: &Edge) -> Option<(Place, Place)> {
        None
    }

    /// Visits the dependencies of a part, always in the same order.
    fn walk(&self, part: usize, visit: &mut dyn FnMut(Edge));

    /// All of them as a list, in the order of parts, unless it is to be given up.
    fn list(&self, monitor: &dyn Monitor) -> Result<Cow<'_, Edges>, Cancelled>;
}

/// Asks something of each part, in parallel; the answers are in the order of parts.
pub fn each_part<T: Send>(source: &dyn Source, ask: impl Fn(usize) -> T + Sync) -> Vec<T> {
    parallel::numbers(source.parts(), ask)
}

/// Asks something of each part, unless it is to be given up.
pub fn each_part_watched<T: Send>(
    source: &dyn Source,
    monitor: &dyn Monitor,
    ask: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    parallel::try_numbers(source.parts(), |part| {
        monitor.check()?;
        Ok(ask(part))
    })
}

/// Nodes of a location that make a stretch, at most.
const NODES: u32 = 1 << 16;
/// Stretches of so many nodes together make a part: many enough that what is set up for a part
/// costs little where locations are short, few enough for any number of threads.
const PART: usize = 1 << 13;
/// Collectives that make a part.
const INSTANCES: u32 = 1 << 11;
/// Dependencies of a list that make a part.
const LISTED: usize = 1 << 16;

/// The dependencies of a trace: all messages between two clocks, and of collectives
/// for each end the latest begin on another clock, for each begin the earliest end, at given times;
/// where locations share clocks, none that another one of the operation implies.
pub struct Dependencies<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    /// When an event was, for what is the latest and the earliest.
    time: Box<dyn Fn(Stamped) -> i64 + Sync + 'a>,
    extents: Vec<Option<(i64, i64)>>,
    /// True if several locations read one clock.
    is_shared: bool,
    stretches: Vec<Stretch>,
    parts: Vec<WalkPart>,
}

/// A node with what its clock showed.
#[derive(Clone, Copy)]
struct Stamped {
    node: EventNode,
    clock: ClockId,
    stamp: i64,
}

/// A node with what its clock showed, and when it was.
#[derive(Clone, Copy)]
struct Timed {
    at: Stamped,
    time: i64,
}

impl Stamped {
    /// The dependency of another event on this one.
    #[inline]
    fn before(self, effect: Self) -> Edge {
        Edge {
            sent: self.stamp,
            received: effect.stamp,
            cause: self.node.into(),
            effect: effect.node.into(),
            from: self.clock,
            to: effect.clock,
        }
    }
}

/// Successive nodes of one clock.
#[derive(Clone, Debug)]
struct Stretch {
    clock: ClockId,
    nodes: Ids<EventNode>,
}

#[derive(Clone, Debug)]
enum WalkPart {
    /// The receives of these stretches.
    Receives(Range<usize>),
    Instances(Ids<Instance>),
}

/// Cuts stretches into parts, in order.
fn parted(stretches: &[Stretch]) -> Vec<WalkPart> {
    let mut parts = Vec::new();
    let (mut first, mut nodes) = (0, 0);
    for (place, stretch) in stretches.iter().enumerate() {
        nodes += stretch.nodes.len();
        if nodes >= PART || place + 1 == stretches.len() {
            parts.push(WalkPart::Receives(first..place + 1));
            (first, nodes) = (place + 1, 0);
        }
    }
    parts
}

impl<'a> Dependencies<'a> {
    /// The dependencies of a trace; `time` tells when a node was.
    pub fn new(
        causality: &'a Causality,
        clocks: &'a Clocks,
        time: impl Fn(EventNode) -> i64 + Sync + 'a,
    ) -> Self {
        Self::timed(causality, clocks, Box::new(move |it| time(it.node)))
    }

    /// The dependencies of a trace; `time` tells when a clock showed a stamp.
    pub(super) fn by_clocks(
        causality: &'a Causality,
        clocks: &'a Clocks,
        time: impl Fn(ClockId, i64) -> i64 + Sync + 'a,
    ) -> Self {
        let time = move |it: Stamped| time(it.clock, it.stamp);
        Self::timed(causality, clocks, Box::new(time))
    }

    fn timed(
        causality: &'a Causality,
        clocks: &'a Clocks,
        time: Box<dyn Fn(Stamped) -> i64 + Sync + 'a>,
    ) -> Self {
        let nodes = causality.nodes();
        let mut stretches = Vec::new();
        for location in 0..nodes.locations() {
            let clock = clocks.of(retime_model::LocationIndex(location as u32));
            let chunks = nodes.of(location).chunks(NODES);
            stretches.extend(chunks.map(|nodes| Stretch { clock, nodes }));
        }
        let mut parts = parted(&stretches);
        let instances = causality.collectives().instances();
        parts.extend(instances.chunks(INSTANCES).map(WalkPart::Instances));
        Self {
            extents: Edges::extents(causality, clocks),
            is_shared: clocks.len() < clocks.by_location().len(),
            causality,
            clocks,
            time,
            stretches,
            parts,
        }
    }

    /// True if the times decide which dependencies there are, as they do of collectives.
    pub fn depend_on_times(&self) -> bool {
        !self.causality.collectives().instances().is_empty()
    }

    #[inline]
    fn message(&self, to: ClockId, receive: EventNode) -> Option<Edge> {
        let send = self.stamped(self.causality.message_source(receive)?);
        let stamp = self.causality.nodes().time(receive).0;
        let receive = Stamped {
            node: receive,
            clock: to,
            stamp,
        };
        (send.clock != to).then(|| send.before(receive))
    }

    #[inline]
    fn stamped(&self, node: EventNode) -> Stamped {
        let nodes = self.causality.nodes();
        Stamped {
            node,
            clock: self.clocks.of(nodes.location(node)),
            stamp: nodes.time(node).0,
        }
    }

    /// The dependencies of an operation, but for those that others between its clocks imply: from a
    /// later cause to an earlier effect.
    ///
    /// Where all wait for all, one is left from a clock to another. Were all told, an operation would count
    /// for as many as a clock has locations. What is implied may be violated by a minimal delay that
    /// differs between locations of the same clocks: bounds are then wider than they could be, and no
    /// less true.
    fn collective(
        &self,
        instance: Instance,
        ends: &mut Vec<Ends<Option<ClockId>, Timed>>,
        visit: &mut dyn FnMut(Edge),
    ) {
        if !self.is_shared {
            return self.each_of_collective(instance, ends, visit);
        }
        if self.between_all_clocks(instance, visit) {
            return;
        }
        let mut edges = Vec::new();
        self.each_of_collective(instance, ends, &mut |edge| edges.push(edge));
        edges.sort_unstable_by_key(|it| (it.from, it.to, Reverse(it.sent), it.received));
        // Of those from one clock to another, latest cause first, each that ends before all before it.
        edges.dedup_by(|it, tighter| {
            (it.from, it.to) == (tighter.from, tighter.to) && it.received >= tighter.received
        });
        edges.into_iter().for_each(visit);
    }

    /// The dependencies between each two clocks of an operation in which all wait for all: from the latest
    /// begin of one to the earliest end of the other, which do not depend on how clocks differ. False
    /// where that would be more than a begin and an end have each.
    fn between_all_clocks(&self, instance: Instance, visit: &mut dyn FnMut(Edge)) -> bool {
        let (nodes, collectives) = (self.causality.nodes(), self.causality.collectives());
        let operation = collectives.operation(instance);
        if operation.class != Class::AllToAll || operation.across_sides {
            return false;
        }
        let participants = collectives.participants(instance);
        let clock = |node: &EventNode| self.clocks.of(nodes.location(*node));
        let time = |node: &EventNode| nodes.time(*node);
        let mut begins: Vec<EventNode> =
            participants.iter().filter_map(Participant::cause).collect();
        let mut ends: Vec<EventNode> = participants
            .iter()
            .filter_map(Participant::effect)
            .collect();
        begins.sort_unstable_by_key(|it| (clock(it), Reverse(time(it)), *it));
        begins.dedup_by_key(|it| clock(it));
        ends.sort_unstable_by_key(|it| (clock(it), time(it), *it));
        ends.dedup_by_key(|it| clock(it));
        if begins.len() * ends.len().saturating_sub(1) > 2 * participants.len() {
            return false;
        }
        let pairs = { begins.iter() }.flat_map(|&cause| ends.iter().map(move |&it| (cause, it)));
        for (cause, effect) in pairs {
            let edge = self.stamped(cause).before(self.stamped(effect));
            if edge.from != edge.to {
                visit(edge);
            }
        }
        true
    }

    /// The dependencies of an operation; `ends` is room for what is known of its participants, which
    /// is asked for several times.
    fn each_of_collective(
        &self,
        instance: Instance,
        ends: &mut Vec<Ends<Option<ClockId>, Timed>>,
        visit: &mut dyn FnMut(Edge),
    ) {
        let collectives = self.causality.collectives();
        let timed = |node: EventNode| {
            let at = self.stamped(node);
            Timed {
                at,
                time: (self.time)(at),
            }
        };
        ends.clear();
        ends.extend(collectives.participants(instance).iter().map(|it| {
            let (from, to) = (it.cause().map(timed), it.effect().map(timed));
            Ends {
                from,
                to,
                side: it.side,
                domain: from.or(to).map(|it| it.at.clock),
            }
        }));
        let mut add = |cause: Timed, effect: Timed| {
            let edge = cause.at.before(effect.at);
            if edge.from != edge.to {
                visit(edge);
            }
        };
        let operation = *collectives.operation(instance);
        sweep(operation, ends.iter().copied(), |it| it.time, &mut add);
        let mirrored = ends.iter().rev().map(|it| Ends {
            from: it.to,
            to: it.from,
            ..*it
        });
        sweep(
            operation,
            mirrored,
            |it| -it.time,
            |effect, cause| add(cause, effect),
        );
    }
}

/// The nearest whole number; unlike `f64::round`, without a call on processors of
/// twenty years ago.
#[inline]
pub fn whole(ticks: f64) -> i64 {
    (ticks + 0.5_f64.copysign(ticks)) as i64
}

impl Source for Dependencies<'_> {
    fn clocks(&self) -> usize {
        self.extents.len()
    }

    fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        self.extents.get(clock.as_usize()).copied().flatten()
    }

    fn granularities(&self, monitor: &dyn Monitor) -> Result<Vec<i64>, Cancelled> {
        let nodes = self.causality.nodes();
        let of = |clock: ClockId| {
            let (mut pace, mut asked) = (Pace::of(monitor), Ok(()));
            let locations = self.clocks.locations(clock).iter();
            let own = locations.flat_map(|location| nodes.of(location.as_usize()));
            let found = lattice::step(own.map_while(|node| {
                asked = pace.event();
                asked.is_ok().then(|| nodes.time(node).0)
            }));
            asked.map(|()| found)
        };
        let clocks: Vec<ClockId> = self.clocks.iter().collect();
        parallel::try_map(&clocks, |it| of(*it))
    }

    fn places(&self, edge: &Edge) -> Option<(Place, Place)> {
        edge.places(self.causality.nodes())
    }

    fn parts(&self) -> usize {
        self.parts.len()
    }

    #[inline]
    fn walk(&self, part: usize, visit: &mut dyn FnMut(Edge)) {
        match &self.parts[part] {
            WalkPart::Receives(stretches) => {
                for Stretch { clock, nodes } in &self.stretches[stretches.clone()] {
                    let messages = nodes.clone().filter_map(|node| self.message(*clock, node));
                    messages.for_each(&mut *visit);
                }
            }
            WalkPart::Instances(instances) => {
                let mut ends = Vec::new();
                for instance in instances.clone() {
                    self.collective(instance, &mut ends, visit);
                }
            }
        }
    }

    fn list(&self, monitor: &dyn Monitor) -> Result<Cow<'_, Edges>, Cancelled> {
        Ok(Cow::Owned(Edges::listed(self, monitor)?))
    }
}

impl Source for Edges {
    fn clocks(&self) -> usize {
        Self::clocks(self)
    }

    fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        Self::extent(self, clock)
    }

    fn granularities(&self, monitor: &dyn Monitor) -> Result<Vec<i64>, Cancelled> {
        let mut clocks = vec![Lattice::default(); Self::clocks(self)];
        let mut show = |clock: ClockId, stamp: i64| {
            if let Some(lattice) = clocks.get_mut(clock.as_usize()) {
                lattice.add(stamp);
            }
        };
        let mut pace = Pace::of(monitor);
        for edge in self.all() {
            pace.event()?;
            show(edge.from, edge.sent);
            show(edge.to, edge.received);
        }
        Ok(clocks.iter().map(Lattice::step).collect())
    }

    fn parts(&self) -> usize {
        self.all().len().div_ceil(LISTED)
    }

    #[inline]
    fn walk(&self, part: usize, visit: &mut dyn FnMut(Edge)) {
        let start = part * LISTED;
        let end = self.all().len().min(start + LISTED);
        let known = |edge: &&Edge| {
            let clocks = Self::clocks(self);
            edge.from.as_usize() < clocks && edge.to.as_usize() < clocks && edge.from != edge.to
        };
        let own = self.all()[start..end].iter().filter(known);
        own.copied().for_each(visit);
    }

    fn list(&self, _: &dyn Monitor) -> Result<Cow<'_, Edges>, Cancelled> {
        Ok(Cow::Borrowed(self))
    }
}
