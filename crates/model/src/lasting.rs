//! How long parts of a [log](crate::log) lasted, and what went on meanwhile.

use serde::{Deserialize, Serialize};

use crate::log_node::LogNode;
use crate::packed_fields;
use crate::time::Ticks;

/// A receive, and for how long its location had done nothing else when it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedReceive {
    /// The receive.
    pub receive: LogNode,
    /// The ticks since it was asked for.
    pub lasted: Ticks,
}

packed_fields!(AwaitedReceive {
    receive: LogNode,
    lasted: Ticks,
});

/// A send, and for how long its location did nothing else from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldSend {
    /// The send.
    pub send: LogNode,
    /// The ticks until the location went on.
    pub lasted: Ticks,
}

packed_fields!(HeldSend {
    send: LogNode,
    lasted: Ticks,
});

/// A stretch of time in which the device of a location computed while something was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Overlap {
    /// The begin of a collective operation, a send, or a receive, which is complete there.
    pub node: LogNode,
    /// The ticks from where that began, or the receive was asked for, to where this begins.
    pub since: Ticks,
    /// Its length.
    pub lasted: Ticks,
}

packed_fields!(Overlap {
    node: LogNode,
    since: Ticks,
    lasted: Ticks,
});
