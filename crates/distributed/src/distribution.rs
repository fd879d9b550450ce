//! The distribution of a trace over processes.
//!
//! Each process owns some locations: it has all of their events. All processes call the
//! functions of this file in the same order, as MPI's collective operations are called:
//!
//! | here | MPI |
//! |---|---|
//! | [`all_reduce`](Distribution::all_reduce) | `MPI_Allreduce`, with what `Merge` says for an operation |
//! | `reduce` | `MPI_Reduce` to rank 0 |
//! | `all_gather` | `MPI_Allgather` |
//! | [`all_to_all`](Distribution::all_to_all) | `MPI_Alltoallv`, without empty messages |
//!
//! A process that has the whole trace shares it with nobody, and a reduction leaves what it
//! has found as it is:
//!
//! ```
//! use retime::merge::Sum;
//! use retime_distributed::Distribution;
//! let alone = Distribution::default();
//! assert!(alone.is_whole() && alone.owns(7));
//! assert_eq!(alone.all_reduce(Sum(3)), Sum(3));
//! assert!(alone.check().is_ok());
//! ```
//!
//! A reduction goes up a [binomial tree](tree) and back, so it takes a process `2 log2 P`
//! messages at most. Where it fails, because a process is gone or has been told to stop, each
//! gets back what it had itself, or more: every function comes to its end, and
//! [`Distribution::check`] tells that what it returns is worth nothing.

mod talks;
mod tree;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use retime::causality::{MergedValue, NeedsWhole, Partial};
use retime::merge::{All, Known, Listed, Merge};
use retime_model::packed::{self, Packed};
use retime_model::{Cancelled, LocationIndex};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::peers::{Broken, Peers};
use talks::Talks;
use tree::Tree;

/// Which process owns which locations of a trace.
#[derive(Clone, Default)]
pub struct Distribution(Option<Arc<Tree>>);

impl fmt::Debug for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => write!(f, "Distribution(whole)"),
            Some(it) => write!(
                f,
                "Distribution({} of {})",
                it.peers.rank(),
                it.peers.size()
            ),
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

impl Distribution {
    /// The distribution as this process sees it, given the owner of each location.
    pub fn new(peers: Arc<dyn Peers>, owners: Vec<u32>) -> Self {
        Self((peers.size() > 1).then(|| {
            Arc::new(Tree {
                peers,
                owners,
                broken: OnceLock::new(),
            })
        }))
    }

    /// True if this process has all of the trace.
    pub fn is_whole(&self) -> bool {
        self.0.is_none()
    }

    /// The rank of this process, and how many there are.
    pub fn place(&self) -> (usize, usize) {
        let tree = self.0.as_ref();
        tree.map_or((0, 1), |it| (it.peers.rank(), it.peers.size()))
    }

    /// The process that has all events of a location.
    pub fn owner(&self, location: usize) -> usize {
        let tree = self.0.as_ref();
        tree.and_then(|it| it.owners.get(location))
            .map_or(0, |&it| it as usize)
    }

    /// True if this process has all events of a location.
    pub fn owns(&self, location: usize) -> bool {
        self.0
            .as_ref()
            .is_none_or(|it| self.owner(location) == it.peers.rank())
    }

    pub(crate) fn owns_location(&self, location: LocationIndex) -> bool {
        self.owns(location.as_usize())
    }

    /// True for rank 0, and for a process that has the whole trace.
    pub(crate) fn is_root(&self) -> bool {
        self.place().0 == 0
    }

    /// Asks the others to take a step that the root, which comes here, takes itself next.
    pub(crate) fn announce(&self, step: &[u8]) {
        if let Some(tree) = self.working().filter(|it| it.peers.rank() == 0)
            && let Err(broken) = tree.peers.announce(step)
        {
            tree.fail(broken);
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
    /// themselves, as they find it by what is reduced.
    pub fn needs_whole(&self, why: NeedsWhole) {
        if let Some(tree) = &self.0 {
            tree.fail(why.into());
        }
    }

    /// Tells the others, who are about to reduce something, that this process cannot.
    pub(crate) fn stop(&self, why: Broken) {
        if let Some(tree) = self.working() {
            tree.fail(why);
            tree.all_reduce(&mut MergedValue(()), Some(why));
        }
    }

    /// Merges what all processes have found.
    pub fn all_reduce<T>(&self, mine: T) -> T
    where
        T: Merge + Serialize + DeserializeOwned,
    {
        let mut held = MergedValue(mine);
        self.all_reduce_partial(&mut held);
        held.0
    }

    pub(crate) fn all_reduce_partial(&self, mine: &mut dyn Partial) {
        if let Some(tree) = self.working() {
            tree.all_reduce(mine, None);
        }
    }

    /// Merges what all processes have found in the root alone. The others get what has passed
    /// through them on its way there.
    pub(crate) fn reduce_partial(&self, mine: &mut dyn Partial) {
        if let Some(tree) = self.working() {
            tree.reduce(mine);
        }
    }

    /// True if it holds in all processes.
    pub(crate) fn all(&self, mine: bool) -> bool {
        self.all_reduce(All(mine)).0
    }

    /// The value of the one process that has one.
    pub(crate) fn known<T>(&self, mine: Option<T>) -> Option<T>
    where
        T: Serialize + DeserializeOwned,
    {
        self.all_reduce(Known(mine)).0
    }

    /// Gathers what each process has found, by rank.
    pub(crate) fn all_gather<T>(&self, mine: T) -> Vec<T>
    where
        T: Serialize + DeserializeOwned,
    {
        let (rank, _) = self.place();
        let mut all = self.all_reduce(Listed(vec![(rank as u32, mine)])).0;
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|it| it.1).collect()
    }

    /// Sends something to each process, which may be nothing, and gets what each has for
    /// this one. Messages are only sent where there is something in them.
    pub fn all_to_all<T>(&self, mut to: Vec<Vec<T>>) -> Vec<Vec<T>>
    where
        T: Serialize + DeserializeOwned,
    {
        let (rank, size) = self.place();
        to.resize_with(size, Vec::new);
        let own = std::mem::take(&mut to[rank]);
        let mut received: Vec<Vec<T>> = (0..size).map(|_| Vec::new()).collect();
        if let Some(tree) = self.working() {
            let peers = to.iter().enumerate().filter(|(_, it)| !it.is_empty());
            let mine = Talks::of(rank, peers.map(|it| it.0), size);
            // This also meets everybody.
            if let Some(talks) = tree.scatter(mine) {
                let senders = talks.senders(rank, size);
                if let Err(broken) = tree.swap(to, &mut received, &senders) {
                    tree.fail(broken);
                }
            }
        }
        received[rank] = own;
        received
    }

    /// Sends columns of numbers.
    pub(crate) fn columns_to_all<T>(&self, to: Vec<Vec<T>>) -> Vec<Vec<T>>
    where
        T: Packed + Serialize + DeserializeOwned,
    {
        let column = |it: Vec<T>| Some(Column(it)).filter(|it| !it.0.is_empty());
        let to = to.into_iter().map(|it| Vec::from_iter(column(it)));
        let received = self.all_to_all(to.collect()).into_iter();
        let taken = |columns: Vec<Column<T>>| columns.into_iter().next();
        let received = received.map(|it| taken(it).map_or_else(Vec::new, |it| it.0));
        received.collect()
    }

    /// Posts a value to another process, which [takes](Self::posted) it when it looks.
    pub(crate) fn post(&self, to: usize, value: &impl Serialize) -> Result<(), Broken> {
        match self.working() {
            Some(tree) => tree.post(to, value),
            None => Ok(()),
        }
    }

    /// The next value that any other process has posted, if one comes in time.
    pub(crate) fn posted<T: DeserializeOwned>(
        &self,
        patience: Duration,
    ) -> Result<Option<(usize, T)>, Broken> {
        match self.working() {
            Some(tree) => tree.posted(patience),
            None => Err(self.broken().unwrap_or(Broken::Failed)),
        }
    }

    /// The tree, if processes still work together.
    fn working(&self) -> Option<&Tree> {
        self.0.as_deref().filter(|it| it.broken.get().is_none())
    }
}
