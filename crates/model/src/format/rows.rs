//! Events as lists show them, with the facts that files state about operations.

use super::error::FormatError;
use crate::time::Timestamp;

/// An event as it stands in a list. A format fills in what its files say, and leaves the rest
/// as it is by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventRow {
    /// Its time as recorded.
    pub time: Timestamp,
    /// The name that the format gives it.
    pub kind: &'static str,
    /// The region that is entered or left, or that it happens in;
    /// [`Trace::region`](super::Trace::region) names it.
    pub region: Option<u32>,
    /// The way into or out of where the location is, if it is one.
    pub passage: Option<Passage>,
    /// The id of the location it speaks to or hears from.
    pub peer: Option<u64>,
    /// The bytes that it sends or receives; of a collective operation, whichever is more.
    pub bytes: Option<u64>,
    /// The tag of the message.
    pub tag: Option<u32>,
    /// The number of the communicator: of one that the trace describes, its position in
    /// [`TraceInfo::communicators`](crate::TraceInfo::communicators).
    pub communicator: Option<u32>,
}

/// How an event changes in which regions its location is: these are a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The region of the event is entered.
    Enter,
    /// It is left, and with it all that was entered since.
    Leave,
}

/// The events of a location, one after the other; those of several locations can be read
/// in parallel.
pub trait EventRows: Send {
    /// The next event, `None` at the end.
    fn next_row(&mut self) -> Result<Option<EventRow>, FormatError>;
}

/// Facts about a collective operation, as one participant recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationFacts {
    /// Its kind, as the recorder calls it: `all_reduce`.
    pub kind: Option<String>,
    /// Its group.
    pub group: Option<String>,
    /// Its number in the group.
    pub sequence: Option<u64>,
    /// The bytes that the participant gives or gets, whichever is more.
    pub bytes: Option<u64>,
}
