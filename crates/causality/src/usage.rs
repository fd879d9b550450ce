//! How much of the communication that was recorded leads to dependencies.
//!
//! That nothing contradicts is worth as much as what was looked at. Counted are
//! records: each end of a message, and of a collective operation each call that a
//! member made, as long as it has another member. An end of a message is used if
//! its other end is known, a call if it belongs to an operation that proves
//! something. That a communicator or a window is made or freed is no communication, and counts
//! only where it is taken to prove something.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions, LogBuilder, MessageId, Used};
//! use retime_model::{LocationIndex, Timestamp};
//! # let info = retime_testing::trace("0:\n1:")?.info;
//! let mut client = LogBuilder::new(LocationIndex(0));
//! client.named_send(0, Timestamp(10), MessageId::number(70));
//! client.named_send(1, Timestamp(20), MessageId::number(80)); // who has received it is not recorded
//! client.unresolved(2); // whom this one was for is not known
//! let mut server = LogBuilder::new(LocationIndex(1));
//! server.named_receive(0, Timestamp(35), MessageId::number(70));
//! let logs = vec![
//!     client.finish(3, Timestamp(10), Timestamp(30))?,
//!     server.finish(1, Timestamp(35), Timestamp(35))?,
//! ];
//! let causality = Causality::build(&info, logs, CausalityOptions::default())?;
//! assert_eq!(causality.usage().message_ends, Used { recorded: 4, used: 2 });
//! assert_eq!(causality.usage().calls, Used::default());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::merge::Merge;
use retime_model::{Call, Class, Defect, LogColumns, Members, OperationId, TraceInfo};
use serde::{Deserialize, Serialize};

use crate::collectives::{Collectives, Participant};
use crate::nodes::Nodes;
use crate::options::CausalityOptions;
use crate::partner::Partner;

/// Records of one kind of communication, and those of them that dependencies rest
/// on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// How many there are.
    pub recorded: u64,
    /// How many of them are the cause or effect of another event, or could be.
    pub used: u64,
}

impl Used {
    /// The records that no dependency rests on.
    pub const fn unused(self) -> u64 {
        self.recorded.saturating_sub(self.used)
    }
}

/// How much of what was recorded of communication leads to dependencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Sends and receives.
    pub message_ends: Used,
    /// Calls of collective operations that more than one takes part in.
    pub calls: Used,
    /// Unused calls of Alltoallv and Alltoallw, in which some may send nothing
    /// to others; see [`CausalityOptions::dense_alltoallv`](crate::CausalityOptions).
    pub maybe_dense: u64,
}

impl Usage {
    /// Ends of messages that are recorded, also those that name nobody known, and calls as the
    /// options take them.
    pub(super) fn recorded(
        info: &TraceInfo,
        logs: &[LogColumns],
        nodes: &Nodes,
        options: CausalityOptions,
    ) -> Self {
        let maybe_dense = |call: &&Call| {
            let class = |dense| call.what.operation.class(dense);
            let is_dense = options.dense_alltoallv;
            !is_dense && class(true) != class(false) && !is_alone(info, call.what.communicator)
        };
        let communicates = |call: &&Call| {
            let operation = call.what.operation;
            let proves = options.class(operation) != Class::None;
            (proves || !operation.is_of_handles()) && !is_alone(info, call.what.communicator)
        };
        let mut usage = Self::default();
        let own = |it: &&LogColumns| nodes.whole().has(it.location.as_usize());
        for log in logs.iter().filter(own) {
            // Of an operation with a name whoever only waits, or is only waited for, has one of both.
            let mut named: Vec<OperationId> = log.named_operations.iter().map(|it| it.id).collect();
            named.sort_unstable();
            named.dedup();
            let shared = log.calls.iter().filter(communicates);
            // An event may have several names, given one after the other.
            let messages = log.named_messages.chunk_by(|a, b| a.node == b.node);
            let messages = log.sends.len() + log.receives.len() + messages.count();
            usage.message_ends.recorded += messages as u64 + log.defects.count(Defect::UnknownPeer);
            usage.calls.recorded += (named.len() + shared.count()) as u64;
            usage.maybe_dense += log.calls.iter().filter(maybe_dense).count() as u64;
        }
        usage
    }

    /// Adds what of it dependencies rest on; of nodes only the ends of messages have
    /// a partner yet.
    pub(super) fn count(
        mut self,
        nodes: &Nodes,
        partner: &[Partner],
        collectives: &Collectives,
    ) -> Self {
        let own = nodes.own().map(|node| partner[node.index()]);
        let matched = own.filter(|it| it.node().is_some());
        self.message_ends.used = matched.count() as u64;
        let involved = |instance| {
            let participants = collectives.participants(instance);
            let some = |is_so: &dyn Fn(&Participant) -> bool| participants.iter().any(is_so);
            // Without causes there is nothing to wait for, and without effects nobody waits.
            let is_joined = some(&|it| it.cause().is_some()) && some(&|it| it.effect().is_some());
            let involved = participants.iter();
            let involved = involved.filter(|it| it.cause().is_some() || it.effect().is_some());
            // Nobody depends on himself.
            Some(involved.count() as u64).filter(|&count| is_joined && count > 1)
        };
        let involved: u64 = collectives.instances().filter_map(involved).sum();
        self.calls.used = involved;
        self
    }

    /// Where members lack calls, a call can be an effect in one operation and a cause in
    /// another; it counts once.
    pub(super) fn each_once(mut self) -> Self {
        self.calls.used = self.calls.used.min(self.calls.recorded);
        self
    }
}

impl Merge for Used {
    fn merge(&mut self, other: Self) {
        self.recorded += other.recorded;
        self.used += other.used;
    }
}

impl Merge for Usage {
    fn merge(&mut self, other: Self) {
        self.message_ends.merge(other.message_ends);
        self.calls.merge(other.calls);
        self.maybe_dense += other.maybe_dense;
    }
}

/// True if nobody else can take part.
fn is_alone(info: &TraceInfo, communicator: u32) -> bool {
    let known = info.communicators.get(communicator as usize);
    known.is_some_and(|it| match &it.members {
        Members::Own => true,
        Members::Ranks(ranks) | Members::Threads(ranks) => ranks.len() < 2,
        Members::Inter { a, b } => a.is_empty() || b.is_empty(),
    })
}
