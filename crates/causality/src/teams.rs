//! Forks, joins and barriers of a team of threads.
//!
//! One thread, the root, forks the team each time; which of the others take part differs
//! from use to use and is not recorded, and neither is which of its uses a thread is in. What a
//! thread tells is how often it took part, and in what order. So let the root have forked
//! `U` times and another thread have taken part `u <= U` times. Its `i`-th use, from 0, is
//! the root's `j`-th with
//!
//! ```text
//! i <= j <= i + (U - u)
//! ```
//!
//! and these dependencies are certain whichever it is:
//!
//! - the root's `i`-th fork precedes the thread's `i`-th begin in the team,
//! - the thread's `i`-th end precedes the root's join number `i + (U - u)`.
//!
//! Barriers are counted alike: the root takes part in each, `B` of them, and a thread
//! that has only `b` enters its `i`-th before the root leaves its number `i + (B - b)`, and
//! leaves it after the root entered number `i`. Of two threads that both lack some, one enters
//! its `i`-th before the other leaves its `k`-th if `i + (B - b) <= k`: the first was at
//! that barrier or an earlier one, the second at that one or a later one, and the root at
//! both. Where nobody lacks any, all of these are what took place.
//!
//! ```
//! use retime_causality::{Call, Causality, CausalityOptions, Collective, EventNode, LogBuilder, Operation, Role, Root};
//! use retime_model::{LocationIndex, Timestamp};
//! # use retime_model::Members;
//! # let mut info = retime_testing::trace("0:\n1 of 0:")?.info;
//! # info.communicators[0].members = Members::Threads([LocationIndex(0), LocationIndex(1)].into());
//! let what = |operation, root| Collective { communicator: 0, operation, root, sent: true, received: true };
//! // The root forks twice, the other thread is in one of the teams.
//! let mut root = LogBuilder::new(LocationIndex(0));
//! for use_of_team in 0..2 {
//!     let begin = root.takes_part(2 * use_of_team, Timestamp(100 * use_of_team), Role::CollectiveBegin);
//!     let end = root.takes_part(2 * use_of_team + 1, Timestamp(100 * use_of_team + 5), Role::CollectiveEnd);
//!     root.called(Call { what: what(Operation::Fork, Root::Own), begin: Some(begin), end: Some(end) });
//! }
//! let mut other = LogBuilder::new(LocationIndex(1));
//! let end = other.takes_part(0, Timestamp(107), Role::CollectiveEnd);
//! other.called(Call { what: what(Operation::Fork, Root::None), begin: None, end: Some(end) });
//! let logs = vec![
//!     root.finish(4, Timestamp(0), Timestamp(105))?,
//!     other.finish(1, Timestamp(107), Timestamp(107))?,
//! ];
//!
//! let causality = Causality::build(&info, logs, CausalityOptions::default())?;
//! // All that is certain is that the first fork (node 0) precedes its begin (node 4).
//! let instance = causality.collectives().instances().next().unwrap();
//! let participants = causality.collectives().participants(instance);
//! assert_eq!((participants[0].cause(), participants[1].effect()), (Some(EventNode(0)), Some(EventNode(4))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sources: `OpenMP` 5.2, sections 10.1 (parallel) and 15.3 (barriers).

use retime_model::{Class, Defect, Operation, Root};

use crate::EventNode;
use crate::calls::{Call, Member};
use crate::collectives::Participant;

/// The calls of the members of a team, in order.
pub(super) struct Uses<'a> {
    threads: Vec<Thread<'a>>,
    /// The thread that forks the team, by its place.
    root: Result<usize, NoRoot>,
}

/// One thread of a team.
#[derive(Default)]
struct Thread<'a> {
    forks: Vec<&'a Call>,
    joins: Vec<&'a Call>,
    barriers: Vec<&'a Call>,
}

/// Why it is not known who forks a team.
#[derive(Clone, Copy)]
enum NoRoot {
    /// No fork is recorded.
    None,
    /// Several threads did, or one took part in a team of somebody else besides.
    Several(EventNode),
    /// Another thread has taken part more often.
    Lacks(EventNode),
}

impl<'a> Uses<'a> {
    /// The uses that `members` made together; `None` if they did something else together.
    pub(super) fn of(members: &'a [Member]) -> Option<Self> {
        let mut threads: Vec<Thread<'a>> = Vec::new();
        let mut forks_or_joins = false;
        for member in members {
            let mut thread = Thread::default();
            for call in &member.calls {
                forks_or_joins |= call.what.operation != Operation::Barrier;
                match call.what.operation {
                    Operation::Fork => thread.forks.push(call),
                    Operation::Join => thread.joins.push(call),
                    Operation::Barrier => thread.barriers.push(call),
                    _ => return None,
                }
            }
            threads.push(thread);
        }
        let root = root(&threads);
        forks_or_joins.then_some(Self { threads, root })
    }

    /// Fails with what is wrong with them, and where.
    pub(super) fn check(&self) -> Result<(), (Defect, EventNode)> {
        match self.root {
            Err(NoRoot::Several(place)) => Err((Defect::CollectiveMismatch, place)),
            Err(NoRoot::Lacks(place)) => Err((Defect::CollectiveIncomplete, place)),
            Ok(_) | Err(NoRoot::None) => Ok(()),
        }
    }

    /// All operations that prove something.
    pub(super) fn operations(&self) -> Vec<(Class, Vec<Participant>)> {
        let Ok(root) = self.root else {
            return Vec::new();
        };
        let uses = self.threads[root].forks.len();
        let forks = (0..uses).map(|turn| (Class::OneToAll, self.fork(root, turn)));
        let joins = (0..uses).map(|turn| (Class::AllToOne, self.join(root, turn, uses)));
        let barriers = self.threads[root].barriers.len();
        let met = self.threads.iter().all(|it| it.barriers.len() <= barriers);
        let turns = if met { barriers } else { 0 };
        let barriers = (0..turns).map(|turn| (Class::AllToAll, self.barrier(turn, barriers)));
        forks.chain(joins).chain(barriers).collect()
    }

    fn fork(&self, root: usize, turn: usize) -> Vec<Participant> {
        let part = |place: usize, thread: &Thread<'_>| match thread.forks.get(turn) {
            Some(call) if place == root => participant(call.begin, None),
            Some(call) => participant(None, call.end),
            None => participant(None, None),
        };
        self.participants(part)
    }

    fn join(&self, root: usize, turn: usize, uses: usize) -> Vec<Participant> {
        let part = |place: usize, thread: &Thread<'_>| {
            if place == root {
                return participant(None, thread.joins.get(turn).and_then(|it| it.end));
            }
            let call = nth_last(&thread.joins, turn, uses);
            participant(call.and_then(|it| it.begin), None)
        };
        self.participants(part)
    }

    fn barrier(&self, turn: usize, barriers: usize) -> Vec<Participant> {
        let part = |_: usize, thread: &Thread<'_>| {
            let entered = nth_last(&thread.barriers, turn, barriers);
            let left = thread.barriers.get(turn);
            participant(entered.and_then(|it| it.begin), left.and_then(|it| it.end))
        };
        self.participants(part)
    }

    fn participants(&self, part: impl Fn(usize, &Thread<'_>) -> Participant) -> Vec<Participant> {
        let threads = self.threads.iter().enumerate();
        threads.map(|(place, thread)| part(place, thread)).collect()
    }
}

/// The last call of a thread of those that may be number `turn` of `all`.
fn nth_last<'a>(calls: &[&'a Call], turn: usize, all: usize) -> Option<&'a Call> {
    let lacking = all.checked_sub(calls.len())?;
    calls.get(turn.checked_sub(lacking)?).copied()
}

fn participant(begin: Option<EventNode>, end: Option<EventNode>) -> Participant {
    Participant {
        begin: begin.into(),
        end: end.into(),
        side: 0,
    }
}

/// The place of the thread that forks the team.
fn root(threads: &[Thread<'_>]) -> Result<usize, NoRoot> {
    let is_own = |call: &&&Call| call.what.root == Root::Own;
    let mut forks = threads.iter().enumerate().filter_map(|(place, it)| {
        let own = it.forks.iter().find(is_own);
        own.map(|fork| (place, fork.place))
    });
    let (root, _) = forks.next().ok_or(NoRoot::None)?;
    if let Some((_, place)) = forks.next() {
        return Err(NoRoot::Several(place));
    }
    if let Some(other) = threads[root].forks.iter().find(|it| !is_own(it)) {
        return Err(NoRoot::Several(other.place));
    }
    let uses = threads[root].forks.len();
    let longer = threads
        .iter()
        .find(|it| it.forks.len().max(it.joins.len()) > uses);
    match longer.and_then(|it| it.forks.last()) {
        Some(last) => Err(NoRoot::Lacks(last.place)),
        None => Ok(root),
    }
}
