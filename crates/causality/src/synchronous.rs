//! Synchronous sends, and what they prove besides their message.
//!
//! A synchronous send completes only after its receive was posted. So there is a
//! dependency the other way, too:
//!
//! ```text
//! posting of the receive -> completion of the send
//! ```
//!
//! Messages in one direction bound the difference of two clocks on one side; this one
//! bounds it on the other. The cause is the entry of the call that posts, which is not
//! later than the posting; the effect is what shows that the send is complete.
//!
//! Unlike its message, which may be paired with an earlier send than its own, this
//! dependency needs the very pair. So it is taken only on channels whose messages are
//! all there, sent by one thread and received by one in a known order. One call may
//! post several receives; it is the cause of one of these.
//!
//! That a plain send of a large message returns late proves nothing: whether it waits
//! for its receive is up to the implementation.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions, EventNode, LogBuilder, Message};
//! use retime_model::{LocationIndex, Timestamp};
//! # let info = retime_testing::trace("0:\n1:")?.info;
//! let message = |peer| Message { communicator: 0, peer: LocationIndex(peer), tag: 1 };
//! let mut sender = LogBuilder::new(LocationIndex(0));
//! sender.send(1, Timestamp(10), message(1), None); // MPI_Ssend
//! let send = sender.last().ok_or("a send")?;
//! sender.send_accepted(2, Timestamp(40), send); // is left
//! let mut receiver = LogBuilder::new(LocationIndex(1));
//! let call = receiver.call_entered(0, Timestamp(35)); // MPI_Recv is entered
//! receiver.receive(1, Timestamp(38), message(0));
//! receiver.posted_in(call);
//! let logs = vec![
//!     sender.finish(3, Timestamp(9), Timestamp(40))?,
//!     receiver.finish(2, Timestamp(35), Timestamp(38))?,
//! ];
//! let causality = Causality::build(&info, logs, CausalityOptions::default())?;
//! assert_eq!(causality.message_source(EventNode(3)), Some(EventNode(0)));
//! // The completion at 40 depends on the call that was entered at 35.
//! assert_eq!(causality.message_source(EventNode(1)), Some(EventNode(2)));
//! assert_eq!((causality.messages(), causality.acknowledgements()), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: MPI 4.1, section 3.4: a synchronous send "will complete successfully only if
//! a matching receive is posted, and the receive operation has started to receive the
//! message".

use rustc_hash::FxHashMap;

use retime_model::{ChannelIndex, LogColumns, NO_CALL};

use crate::EventNode;
use crate::nodes::Nodes;
use crate::partner::Partner;

/// A completion, and the call in which the receive of its message was posted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledgement {
    posting: EventNode,
    completion: EventNode,
}

/// All that the messages in `partner` prove; `is_exact` says of a channel of a log that
/// its pairs are those of the run.
pub(super) fn find(
    logs: &[LogColumns],
    nodes: &Nodes,
    partner: &[Partner],
    is_exact: impl Fn(usize, ChannelIndex) -> bool,
) -> Vec<Acknowledgement> {
    if logs.iter().all(|log| log.accepted.is_empty()) {
        return Vec::new();
    }
    let posting_of = postings(logs, nodes);
    let mut found = Vec::new();
    for (position, log) in logs.iter().enumerate() {
        for accepted in &log.accepted {
            let place = log.sends.binary_search_by_key(&accepted.send, |it| it.node);
            let exact = place.is_ok_and(|place| is_exact(position, log.sends[place].channel));
            let send = nodes.of_log(position, accepted.send);
            let receive = partner[send.index()].node().filter(|_| exact);
            if let Some(&posting) = receive.and_then(|receive| posting_of.get(&receive)) {
                let completion = nodes.of_log(position, accepted.completion);
                found.push(Acknowledgement {
                    posting,
                    completion,
                });
            }
        }
    }
    found
}

/// The call in which each receive was posted.
fn postings(logs: &[LogColumns], nodes: &Nodes) -> FxHashMap<EventNode, EventNode> {
    let mut posting_of = FxHashMap::default();
    for (position, log) in logs.iter().enumerate() {
        for (receive, &call) in log.receives.iter().zip(&log.posted_in) {
            if call != NO_CALL {
                let node = |it| nodes.of_log(position, it);
                posting_of.insert(node(receive.node), node(call));
            }
        }
    }
    posting_of
}

/// Joins postings with completions, and returns the completions that have one, in the order of nodes.
pub(super) fn enter(found: &[Acknowledgement], partner: &mut [Partner]) -> Vec<EventNode> {
    let mut completions = Vec::new();
    for it in found {
        let free = |node: EventNode| partner[node.index()].node().is_none();
        if free(it.posting) && free(it.completion) {
            partner[it.posting.index()] = it.completion.into();
            partner[it.completion.index()] = it.posting.into();
            completions.push(it.completion);
        }
    }
    completions.sort_unstable();
    completions
}
