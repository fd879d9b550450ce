//! One trace in several processes: who holds what, and how answers become one.
//!
//! Each process holds the events of some locations, and of others those that are causes
//! or effects of its own, or belong to operations that it looks at for all. All processes call the same functions in the same order. What
//! a function finds out by looking at events, it finds out of the locations of its
//! process; then it [merges](Share::merged) that with what the others have found, and
//! goes on with what all of them know. So every process decides the same, and a result
//! that does not depend on how a trace is cut is that of one process:
//!
//! ```text
//!  process 0: look at own events --+-- merged --> decide --> look ...
//!  process 1: look at own events --+-- merged --> decide --> look ...
//! ```
//!
//! A process that holds the whole trace shares it with nobody, and merging leaves what it
//! has found as it is:
//!
//! ```
//! use retime::Share;
//! let alone = Share::default();
//! assert!(alone.is_whole() && alone.owns(7));
//! assert_eq!(alone.merged(3, |a: i32, b| a + b), 3);
//! assert!(alone.check().is_ok());
//! ```
//!
//! Merging goes up a [binomial tree](tree) and back, so it takes a process `2 log2 P` messages at
//! most. Where it fails, because a process is gone or has been told to stop, each gets
//! back what it had itself, or more: every function comes to its end, and
//! [`Share::check`] tells that what it returns is worth nothing.

mod talks;
mod tree;

use std::fmt;
use std::sync::{Arc, OnceLock};

use retime_model::packed::{self, Packed};
use retime_model::{Cancelled, LocationIndex};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use talks::Talks;
use tree::Part;

/// The processes that hold parts of one trace, numbered from 0, as one of them sees them.
pub trait Peers: Send + Sync {
    /// Which one this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends a message of any length.
    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), Broken>;

    /// Waits for the next message of another; they come in the order in which it sent them.
    fn receive(&self, from: usize) -> Result<Vec<u8>, Broken>;

    /// Asks all others to take a step with this one, which is the first.
    fn announce(&self, step: &[u8]) -> Result<(), Broken>;
}

/// Why processes do not work together any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Broken {
    /// One of them was told to stop.
    #[error("another process was told to stop")]
    Cancelled,
    /// One of them has found what the others have not.
    #[error("another process has failed")]
    Failed,
    /// One of them is gone, or sends what nobody asked for.
    #[error("process {0} has ended or sent something else than it was asked for")]
    Lost(usize),
    /// What was asked for takes the whole trace in one process.
    #[error(transparent)]
    NeedsWhole(#[from] NeedsWhole),
}

/// Why a trace has to be in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NeedsWhole {
    /// Locations of several processes read one clock.
    #[error("several processes hold locations that read one clock")]
    ClockInSeveral,
    /// A method looks at all clocks at a time.
    #[error("the method looks at all clocks at a time")]
    Method,
    /// Dependencies contradict each other, and which of them is a matter of all.
    #[error("dependencies contradict each other")]
    Contradiction,
    /// What belongs together cannot be told from a part.
    #[error("events of several processes belong together by more than messages and operations")]
    Named,
    /// Times do not fit into 64 bits.
    #[error("corrected times do not fit")]
    TooFar,
}

/// Which part of a trace a process holds.
#[derive(Clone, Default)]
pub struct Share(Option<Arc<Part>>);

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => write!(f, "Share(whole)"),
            Some(it) => write!(f, "Share({} of {})", it.peers.rank(), it.peers.size()),
        }
    }
}

/// A column, as it is sent.
#[derive(Serialize, Deserialize)]
#[serde(bound(
    serialize = "T: Packed + Serialize",
    deserialize = "T: Packed + Deserialize<'de>"
))]
struct Column<T>(#[serde(with = "packed")] Vec<T>);

impl Share {
    /// The part of this process, given the process of each location.
    pub fn new(peers: Arc<dyn Peers>, owners: Vec<u32>) -> Self {
        Self((peers.size() > 1).then(|| {
            Arc::new(Part {
                peers,
                owners,
                broken: OnceLock::new(),
            })
        }))
    }

    /// Whether this process has all of the trace.
    pub fn is_whole(&self) -> bool {
        self.0.is_none()
    }

    /// The number of this process, and how many there are.
    pub fn place(&self) -> (usize, usize) {
        let part = self.0.as_ref();
        part.map_or((0, 1), |it| (it.peers.rank(), it.peers.size()))
    }

    /// The process that holds all events of a location.
    pub fn owner(&self, location: usize) -> usize {
        let part = self.0.as_ref();
        part.and_then(|it| it.owners.get(location))
            .map_or(0, |&it| it as usize)
    }

    /// Whether this process holds all events of a location.
    pub fn owns(&self, location: usize) -> bool {
        self.0
            .as_ref()
            .is_none_or(|it| self.owner(location) == it.peers.rank())
    }

    /// The same of a location by its index.
    pub(crate) fn owns_location(&self, location: LocationIndex) -> bool {
        self.owns(location.as_usize())
    }

    /// Of the first process: asks the others to take a step that it takes itself next.
    pub(crate) fn announce(&self, step: &impl Serialize) {
        let first = self.working().filter(|it| it.peers.rank() == 0);
        let Some(part) = first else { return };
        let packed = postcard::to_allocvec(step).map_err(|_| Broken::Lost(0));
        if let Err(broken) = packed.and_then(|it| part.peers.announce(&it)) {
            part.fail(broken);
        }
    }

    /// Fails if processes do not work together any more, for any reason.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.broken().map_or(Ok(()), |_| Err(Cancelled))
    }

    /// Why they do not.
    pub fn broken(&self) -> Option<Broken> {
        self.0.as_ref()?.broken.get().copied()
    }

    /// Says that the trace has to be in one process. All processes come to know that by
    /// themselves, as they find it by what is merged.
    pub fn needs_whole(&self, why: NeedsWhole) {
        if let Some(part) = &self.0 {
            // The first reason is the one that counts.
            let _ = part.broken.set(why.into());
        }
    }

    /// Ends what processes do together: fails in all of them if it has in one. Whoever
    /// fails has to come here at once, and not to merge anything before.
    pub(crate) fn agreed<T, E>(
        &self,
        mine: Result<T, E>,
        is_cancelled: impl Fn(&E) -> bool,
    ) -> Result<T, E>
    where
        E: From<Cancelled>,
    {
        match mine {
            Ok(done) => {
                self.merged((), |(), ()| ());
                self.check()?;
                Ok(done)
            }
            Err(error) => {
                self.stop(if is_cancelled(&error) {
                    Broken::Cancelled
                } else {
                    Broken::Failed
                });
                Err(error)
            }
        }
    }

    /// Tells the others, who are about to merge something, that this process cannot.
    fn stop(&self, why: Broken) {
        if let Some(part) = self.working() {
            part.fail(why);
            part.merged(&|(), ()| (), (), Some(why));
        }
    }

    /// What all processes have found.
    ///
    /// `join` has to be associative, and its results must not depend on who has found
    /// what.
    pub fn merged<T>(&self, mine: T, join: impl Fn(T, T) -> T) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        match self.working() {
            Some(part) => part.merged(&join, mine, None),
            None => mine,
        }
    }

    /// The same for the first process alone. The others get what has passed through them on
    /// its way there. Fails if processes do not work together any more: part of an answer is
    /// none to go on with.
    pub(crate) fn collected<T>(&self, mine: T, join: impl Fn(T, T) -> T) -> Result<T, Cancelled>
    where
        T: Serialize + DeserializeOwned,
    {
        let all = match self.working() {
            Some(part) => part.collected(&join, mine),
            None => mine,
        };
        self.check().map(|()| all)
    }

    /// Of the first process: says to all others, who wait for what they are
    /// [asked](Self::asked), what to do next.
    pub(crate) fn ask<T: Serialize + DeserializeOwned>(&self, request: T) {
        if !self.is_whole() && self.is_first() {
            self.merged(Some(request), Option::or);
        }
    }

    /// Of the others: what the first has said.
    pub(crate) fn asked<T: Serialize + DeserializeOwned>(&self) -> Result<T, Cancelled> {
        self.merged(None, Option::or).ok_or(Cancelled)
    }

    /// What each process has found, in their order.
    pub fn gathered<T>(&self, mine: T) -> Vec<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        let join = |mut all: Vec<(u32, T)>, more: Vec<(u32, T)>| {
            all.extend(more);
            all
        };
        let (rank, _) = self.place();
        let mut all = self.merged(vec![(rank as u32, mine)], join);
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|it| it.1).collect()
    }

    /// What this process could do, if all could; else the trace has to be in one.
    pub(crate) fn one_cannot<T>(&self, mine: Option<T>, why: NeedsWhole) -> Option<T> {
        if self.is_whole() {
            return mine;
        }
        if !self.all(mine.is_some()) {
            self.needs_whole(why);
            return None;
        }
        mine
    }

    /// Whether it holds in all processes.
    pub fn all(&self, mine: bool) -> bool {
        self.merged(mine, |a, b| a && b)
    }

    /// What the first process works out from what all know, and tells the others, who wait
    /// meanwhile: a core that several of them run on does it once.
    pub(crate) fn once<T>(
        &self,
        work: impl FnOnce() -> Result<T, Cancelled>,
    ) -> Result<T, Cancelled>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        let (rank, _) = self.place();
        let mine = (rank == 0).then(work).transpose()?;
        self.merged(mine, Option::or).ok_or(Cancelled)
    }

    /// Whether this is the process that leads, or a whole trace in one.
    pub(crate) fn is_first(&self) -> bool {
        self.place().0 == 0
    }

    /// The sum of what processes have counted.
    pub(crate) fn sum(&self, mine: u64) -> u64 {
        self.merged(mine, |a, b| a + b)
    }

    /// By location, what the process that holds it says.
    pub(crate) fn by_location<T>(&self, mut mine: Vec<T>) -> Vec<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        if self.is_whole() {
            return mine;
        }
        let own = mine.iter().enumerate();
        let own: Vec<(u32, T)> = own
            .filter(|(location, _)| self.owns(*location))
            .map(|(location, it)| (location as u32, it.clone()))
            .collect();
        for (location, it) in self.gathered(own).into_iter().flatten() {
            if let Some(known) = mine.get_mut(location as usize) {
                *known = it;
            }
        }
        mine
    }

    /// Sends something to each process, which may be nothing, and gets what each has for
    /// this one. Messages are only sent where there is something in them.
    pub fn exchanged<T>(&self, to: Vec<Vec<T>>) -> Vec<Vec<T>>
    where
        T: Serialize + DeserializeOwned,
    {
        self.exchanged_if_any(to).0
    }

    /// The same, and whether there was anything for anybody.
    fn exchanged_if_any<T>(&self, mut to: Vec<Vec<T>>) -> (Vec<Vec<T>>, bool)
    where
        T: Serialize + DeserializeOwned,
    {
        let (rank, size) = self.place();
        to.resize_with(size, Vec::new);
        let own = std::mem::take(&mut to[rank]);
        let mut received: Vec<Vec<T>> = (0..size).map(|_| Vec::new()).collect();
        let mut is_any = false;
        if let Some(part) = self.working() {
            let peers = to.iter().enumerate().filter(|(_, it)| !it.is_empty());
            let mine = Talks::of(rank, peers.map(|it| it.0), size);
            // This also meets everybody.
            if let Some(talks) = part.scattered(&Talks::with, mine, Talks::to) {
                is_any = talks.are_any;
                let senders = talks.senders(rank, size);
                if let Err(broken) = part.swap(to, &mut received, &senders) {
                    part.fail(broken);
                }
            }
        }
        received[rank] = own;
        (received, is_any)
    }

    /// The same of columns of numbers.
    pub(crate) fn exchanged_columns<T>(&self, to: Vec<Vec<T>>) -> Vec<Vec<T>>
    where
        T: Packed + Serialize + DeserializeOwned,
    {
        self.columns_if_any(to).0
    }

    /// The same of what is new; nothing if nobody has any news.
    pub(crate) fn news<T>(&self, to: Vec<Vec<T>>) -> Option<Vec<Vec<T>>>
    where
        T: Packed + Serialize + DeserializeOwned,
    {
        let (received, is_any) = self.columns_if_any(to);
        is_any.then_some(received)
    }

    fn columns_if_any<T>(&self, to: Vec<Vec<T>>) -> (Vec<Vec<T>>, bool)
    where
        T: Packed + Serialize + DeserializeOwned,
    {
        let column = |it: Vec<T>| Some(Column(it)).filter(|it| !it.0.is_empty());
        let to = to.into_iter().map(|it| Vec::from_iter(column(it)));
        let (received, is_any) = self.exchanged_if_any(to.collect());
        let taken = |columns: Vec<Column<T>>| columns.into_iter().next();
        let received = received.into_iter();
        let received = received.map(|it| taken(it).map_or_else(Vec::new, |it| it.0));
        (received.collect(), is_any)
    }

    /// The part, if processes still work together.
    fn working(&self) -> Option<&Part> {
        self.0.as_deref().filter(|it| it.broken.get().is_none())
    }
}
