//! The whole of a trace, seen from the part of it that is here.
//!
//! A trace can be cut by locations, as a grid is cut into subdomains. A part has all events
//! of its own locations, and of others those that its own depend on or that depend on them:
//! *ghosts*. Algorithms look at own events only, and return values that can be
//! [merged](crate::merge::Merge); [`Whole::all_reduce`] makes of these the value of the whole
//! trace, which all parts get alike. Where everything is here, it is what was found here:
//!
//! ```
//! use retime_causality::merge::Sum;
//! use retime_causality::Whole;
//! let whole = Whole::default();
//! assert!(whole.is_here() && whole.has(7));
//! assert_eq!(whole.all_reduce(Sum(3)), Sum(3));
//! assert!(whole.check().is_ok());
//! ```
//!
//! Where the other parts are, and how they are reached, is up to an implementation of
//! [`Rest`]; nothing here depends on it. Where parts cannot be reached any more, or one of them
//! was told to stop, each gets back what it had found itself, or more: every function comes
//! to its end, and [`Whole::check`] tells that what it returns is worth nothing.

use std::fmt;
use std::sync::Arc;

use retime_model::{Cancelled, Place, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ids::{EventNode, Slot};
use crate::merge::{All, Known, Listed, Merge};

/// The parts of a trace that are elsewhere. All parts make the same calls in the same order.
pub trait Rest: Send + Sync {
    /// The number of the part that has all events of a location.
    fn domain(&self, location: usize) -> usize;

    /// True if that is the part which is here.
    fn is_here(&self, location: usize) -> bool;

    /// Makes what was found here what all parts have found together.
    fn all_reduce(&self, mine: &mut dyn Partial);

    /// Makes that in the first part alone; the others get some of it.
    fn reduce(&self, mine: &mut dyn Partial);

    /// True for the first part.
    fn is_first(&self) -> bool;

    /// The bytes of all other parts that have any, in the first one.
    fn gather(&self, mine: Vec<u8>) -> Vec<Vec<u8>>;

    /// The result of `work`, which is done in the first part for all. Whatever it
    /// [asks](Self::ask) meanwhile, the other parts `answer`.
    fn at_root(
        &self,
        answer: &mut dyn FnMut(&[u8]) -> Result<(), Cancelled>,
        work: &mut dyn FnMut() -> Result<Vec<u8>, Cancelled>,
    ) -> Result<Vec<u8>, Cancelled>;

    /// Sends a question to all others, within the work of [`Self::at_root`].
    fn ask(&self, question: Vec<u8>);

    /// Gives ghosts the times that their own parts have for them, in a column by node.
    fn update_ghosts(&self, times: &mut [Timestamp]);

    /// Drives a computation, and those of all other parts with it, until all are done: each part
    /// gets the values that others have computed of its ghosts. Before that it may be guessed so
    /// many times at most what these are, if that soon comes to what others compute.
    fn replay(&self, replay: &mut dyn Replay, guesses: u32) -> Result<(), Cancelled>;

    /// Numbers by slot from the parts that join operations, for own participants of those
    /// that are joined elsewhere. Not called if [all](Self::joins_apart) have their own.
    fn of_joined_elsewhere(&self, by_slot: &[i64]) -> Vec<(Slot, i64)>;

    /// False if each operation is joined wherever one of its participants is.
    fn joins_apart(&self) -> bool;

    /// The answers of the parts that have joined operations about own participants; nothing of those
    /// that are joined here.
    fn ask_joined(
        &self,
        of: &[Slot],
        answer: &dyn Fn(Slot) -> Option<Reached>,
    ) -> Vec<(Slot, Option<Reached>)>;

    /// These parts, if events and participants get other numbers.
    fn renumbered(
        &self,
        node: &dyn Fn(EventNode) -> EventNode,
        slot: &dyn Fn(Slot) -> Slot,
    ) -> Arc<dyn Rest>;

    /// Says to all parts that they cannot go on. All come to it alike, by what was reduced.
    fn give_up(&self, why: NeedsWhole);

    /// Fails if parts do not work together any more, for any reason.
    fn check(&self) -> Result<(), Cancelled>;

    /// In the first part: asks the others to take a step that it takes itself next.
    fn announce(&self, step: &[u8]);

    /// Ends a step that failed here, so that it ends in all parts.
    fn stop(&self, is_cancelled: bool);
}

/// An event that depends on another one, and how far that could move until it would come too
/// early.
pub type Reached = (Place, i64);

/// A value on its way from part to part.
pub trait Partial {
    /// Packs it as bytes; `None` if it has none.
    fn pack(&self) -> Option<Vec<u8>>;

    /// Merges what another part has found; false if that cannot be read.
    fn merge(&mut self, other: &[u8]) -> bool;

    /// Takes over what all have found; false if that cannot be read.
    fn replace(&mut self, all: &[u8]) -> bool;
}

/// A computation over a part of a trace, which goes on as far as others have told.
pub trait Replay {
    /// Takes up what other parts have computed, and computes some of what that allows.
    fn advance(&mut self, arrived: &Ghosts) -> Result<Progress<'_>, Cancelled>;

    /// Begins anew, as if nothing had been computed.
    fn restart(&mut self);

    /// Fails if the computation is to be given up. Asked where there is nothing to compute.
    fn check(&self) -> Result<(), Cancelled>;
}

/// Values that other parts have computed; each comes once.
#[derive(Clone, Debug, Default)]
pub struct Ghosts {
    /// The leads of ghosts.
    pub leads: Vec<(EventNode, i64)>,
    /// How long after their recorded times own ends of operations that are joined elsewhere come
    /// at the earliest, for the sake of begins in other parts; `None` if these say nothing.
    pub bounds: Vec<(Slot, Option<i64>)>,
}

/// An event of this part whose time was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputedEvent {
    /// The event.
    pub node: EventNode,
    /// How long after its recorded time it lies, in ticks.
    pub lead: i64,
    /// True if others may wait for it.
    pub is_cause: bool,
}

/// Values that a part has computed, and how it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Own events that were computed since.
    pub events: &'a [ComputedEvent],
    /// Ends elsewhere, of operations that are joined here, of which the bound is known since.
    pub bounds: &'a [(Slot, Option<i64>)],
    /// How the part goes on.
    pub stage: Stage,
}

/// How a part of a computation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// There is more that it can compute.
    Runs,
    /// It has to wait for others.
    Waits,
    /// It has computed all that is its own, and does not have all values of ghosts.
    Listens,
    /// It needs nothing any more.
    Done,
}

/// Why a trace has to be in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NeedsWhole {
    /// Locations of several parts read one clock.
    ClockInSeveral,
    /// A method looks at all clocks at a time.
    Method,
    /// A controller depends on which of several locations of a clock goes first.
    Order,
    /// Dependencies contradict each other, and which of them is a matter of all.
    Contradiction,
    /// Ends that belong together by name cannot be told from a part.
    Named,
    /// Times do not fit into 64 bits.
    TooFar,
}

/// The whole trace, of which a part is here, or all.
#[derive(Clone, Default)]
pub struct Whole(Option<Arc<dyn Rest>>);

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_here() {
            "Whole"
        } else {
            "Whole(part)"
        })
    }
}

impl Whole {
    /// A trace of which other parts are elsewhere.
    pub fn with(rest: Arc<dyn Rest>) -> Self {
        Self(Some(rest))
    }

    /// The parts that are elsewhere, if any are.
    pub fn rest(&self) -> Option<&dyn Rest> {
        self.0.as_deref()
    }

    /// True if nothing is elsewhere.
    pub fn is_here(&self) -> bool {
        self.0.is_none()
    }

    /// True if all events of a location are here.
    pub fn has(&self, location: usize) -> bool {
        self.0.as_ref().is_none_or(|it| it.is_here(location))
    }

    /// The number of the part that has all events of a location.
    pub fn domain(&self, location: usize) -> usize {
        self.0.as_ref().map_or(0, |it| it.domain(location))
    }

    /// Merges what all parts have found.
    pub fn all_reduce<T>(&self, mine: T) -> T
    where
        T: Merge + Serialize + DeserializeOwned,
    {
        self.reduced(mine, |rest, it| rest.all_reduce(it))
    }

    /// The first part learns what all parts have found. Fails if parts do not work together any
    /// more: some of an answer is none to go on with.
    pub fn reduce<T>(&self, mine: T) -> Result<T, Cancelled>
    where
        T: Merge + Serialize + DeserializeOwned,
    {
        let all = self.reduced(mine, |rest, it| rest.reduce(it));
        self.check().map(|()| all)
    }

    fn reduced<T>(&self, mine: T, reduce: impl Fn(&dyn Rest, &mut dyn Partial)) -> T
    where
        T: Merge + Serialize + DeserializeOwned,
    {
        let Some(rest) = self.rest() else {
            return mine;
        };
        let mut held = MergedValue(mine);
        reduce(rest, &mut held);
        held.0
    }

    /// By number, what the part says in which it `is_own`.
    pub(crate) fn by_number<T>(&self, mut mine: Vec<T>, is_own: impl Fn(usize) -> bool) -> Vec<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        if self.is_here() {
            return mine;
        }
        let own = (0..).zip(&mine).filter(|(it, _)| is_own(*it as usize));
        let own: Vec<(u32, T)> = own.map(|(number, it)| (number, it.clone())).collect();
        for (number, it) in self.all_reduce(Listed(own)).0 {
            if let Some(known) = mine.get_mut(number as usize) {
                *known = it;
            }
        }
        mine
    }

    /// By location, what the part says that has its events.
    pub fn by_location<T>(&self, mine: Vec<T>) -> Vec<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        self.by_number(mine, |location| self.has(location))
    }

    /// The value of this part, if all have one; else the trace has to be in one piece.
    pub(crate) fn if_all_can<T>(&self, mine: Option<T>, why: NeedsWhole) -> Option<T> {
        if !self.is_here() && !self.all_reduce(All(mine.is_some())).0 {
            self.give_up(why);
            return None;
        }
        mine
    }

    /// The value of the part that knows it.
    pub fn known<T>(&self, mine: Option<T>) -> Option<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        self.all_reduce(Known(mine)).0
    }

    /// Says that the trace has to be in one piece.
    pub fn give_up(&self, why: NeedsWhole) {
        if let Some(rest) = self.rest() {
            rest.give_up(why);
        }
    }

    /// Fails if parts do not work together any more.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.rest().map_or(Ok(()), Rest::check)
    }

    /// In the first part: asks the others to take a step that it takes itself next.
    pub fn announce(&self, step: &impl Serialize) {
        if let Some(rest) = self.rest() {
            // What cannot be packed nobody understands, and all stop.
            rest.announce(&postcard::to_allocvec(step).unwrap_or_default());
        }
    }

    /// Ends what parts do together: fails in all of them if it has in one. Whoever
    /// fails has to come here at once, and not to reduce anything before.
    pub fn agreed<T, E>(
        &self,
        mine: Result<T, E>,
        is_cancelled: impl Fn(&E) -> bool,
    ) -> Result<T, E>
    where
        E: From<Cancelled>,
    {
        match &mine {
            Ok(_) => {
                self.all_reduce(());
                self.check()?;
            }
            Err(error) => {
                if let Some(rest) = self.rest() {
                    rest.stop(is_cancelled(error));
                }
            }
        }
        mine
    }
}

/// A value that is merged as its type says.
#[derive(Clone, Copy, Debug)]
pub struct MergedValue<T>(pub T);

impl<T: Merge + Serialize + DeserializeOwned> Partial for MergedValue<T> {
    fn pack(&self) -> Option<Vec<u8>> {
        postcard::to_allocvec(&self.0).ok()
    }

    fn merge(&mut self, other: &[u8]) -> bool {
        let other = postcard::from_bytes(other);
        other.map(|other| self.0.merge(other)).is_ok()
    }

    fn replace(&mut self, all: &[u8]) -> bool {
        let all = postcard::from_bytes(all);
        all.map(|all| self.0 = all).is_ok()
    }
}
