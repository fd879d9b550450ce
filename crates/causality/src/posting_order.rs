//! In which order receives stand in line, as far as that is certain.
//!
//! MPI matches in the order of posting, and a trace says only between what a
//! receive was posted: in one thread the calls of receives follow each other, but
//! those of several threads may overlap, and a receive of a probed message that was
//! recorded as a plain one has its place since the probe. So of two receives `x` and
//! `y` it is certain that `x` stands before `y` if
//!
//! - the same and only thread that receives on the channel posted `x` before `y`, or
//! - the latest moment at which `x` can have been posted lies before the earliest
//!   of `y`.
//!
//! # The rule
//!
//! Receives are taken by the latest moment at which they can have been posted. Each
//! joins the block before it, and goes on to the one before that, as long as its
//! order with that block is not certain *and* something there completes after it.
//! Within a block receives are ordered by completion.
//!
//! Then the receive at place `j` completes after send `j`, whichever order was the
//! true one, if all receives and sends are recorded. (Threads of a rank read one
//! clock, so that their completions have an order.)
//!
//! *Proof.* Let `P` be the receives of the blocks before that of `j`, and `W` those
//! of its own block up to `j`: together `j + 1` receives. They have different
//! messages, so that one of them, `m`, has message `j` or a later one, and is the
//! last of them in the true line. It is enough that `m` completes no later than `j`.
//! If `m` is in `W`, it does by the order within the block. If `m` is in `P`, it is
//! not certain to stand before `w`, for any `w` of `W`, since in truth it stands
//! after it; so when `w` was taken it did not join the block of `m` because everything
//! up to there completes before `w`, and so before `j`. Sends of one rank leave in
//! the order of their stamps, or another thread's overtook one between its stamp and
//! its departure; then, too, what departs as number `j` does so after `j` others were
//! stamped. ∎
//!
//! With a place for each receive of its own, blocks of one, this is MPI's rule. Where
//! nothing at all is known of the order, it says that the j-th completion comes after
//! the j-th send, and no more than that can be said: any times for which this holds
//! can be those of a legal run.
//!
//! If receives are missing, those that are there have later messages than these, and
//! every claim still holds. Counted from the end the same is true of all receives
//! behind which none is missing.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions, EventNode, LogBuilder, Message};
//! use retime_model::{LocationIndex, Timestamp};
//! # let info = retime_testing::trace("0:\n1:\n2 of 1:")?.info;
//! let message = |peer| Message { communicator: 0, peer: LocationIndex(peer), tag: 1 };
//! let mut sender = LogBuilder::new(LocationIndex(0));
//! sender.send(0, Timestamp(100), message(1), None);
//! sender.send(1, Timestamp(140), message(1), None);
//! // MPI_Recv is entered at 10; MPI_Irecv of the other thread lasts from 50 to 51.
//! let mut one = LogBuilder::new(LocationIndex(1));
//! one.receive(0, Timestamp(110), message(0));
//! one.posted_since(Some(Timestamp(10)));
//! let mut other = LogBuilder::new(LocationIndex(2));
//! other.receive_posted(0, Timestamp(51), 7);
//! other.posted_since(Some(Timestamp(50)));
//! other.receive_completed(1, Timestamp(150), message(0), 7);
//! let logs = vec![
//!     sender.finish(2, Timestamp(100), Timestamp(140))?,
//!     one.finish(1, Timestamp(110), Timestamp(110))?,
//!     other.finish(2, Timestamp(51), Timestamp(150))?,
//! ];
//! let causality = Causality::build(&info, logs, CausalityOptions::default())?;
//! // By the record of its completion MPI_Recv would be the second, before its send.
//! assert_eq!(causality.message_source(EventNode(2)), Some(EventNode(0)));
//! assert_eq!(causality.message_source(EventNode(3)), Some(EventNode(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: MPI standard, "Semantics of Point-to-Point Communication", for the order of
//! postings, and for that between threads: "the operations are logically concurrent,
//! even if one physically precedes the other".

use retime_model::{Length, Timestamp};

use crate::EventNode;

/// A receive, and what is known of its place in line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub(super) node: EventNode,
    pub(super) length: Length,
    /// Between these it was posted.
    pub(super) earliest: Timestamp,
    pub(super) latest: Timestamp,
    pub(super) completed: Timestamp,
    /// It was posted after all that stand before it in the list.
    pub(super) in_sequence: bool,
}

/// Receives whose order is not known.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: usize,
    /// When the last of all up to here can have been posted, and was complete.
    latest: Timestamp,
    completed: Timestamp,
}

/// The order of receives as far as it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// Where blocks start.
    pub(super) blocks: Vec<usize>,
    /// All stand in line as they are listed.
    pub(super) is_certain: bool,
}

/// Orders `receives`, which are listed by `latest`.
pub(super) fn arrange(receives: &mut [Posted]) -> Order {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_certain = true;
    for (at, it) in receives.iter().enumerate() {
        let is_open = |last: &Block| !it.in_sequence && last.latest >= it.earliest;
        is_certain &= !blocks.last().is_some_and(is_open);
        let (mut start, mut completed) = (at, it.completed);
        while let Some(last) = blocks.last()
            && is_open(last)
            && last.completed > it.completed
        {
            start = last.start;
            completed = completed.max(last.completed);
            blocks.pop();
        }
        if let Some(last) = blocks.last() {
            completed = completed.max(last.completed);
        }
        blocks.push(Block {
            start,
            latest: it.latest,
            completed,
        });
    }
    let blocks: Vec<usize> = blocks.iter().map(|block| block.start).collect();
    let ends = blocks.iter().skip(1).copied().chain([receives.len()]);
    for (&start, end) in blocks.iter().zip(ends) {
        receives[start..end].sort_unstable_by_key(|it| (it.completed, it.node));
    }
    Order { blocks, is_certain }
}
