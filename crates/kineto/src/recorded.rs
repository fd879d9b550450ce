//! An event as far as it may tell of communication, whatever kind of file it stands in.

use serde_json::Value;

/// An event that lasts, with the words by which it is known.
#[derive(Clone, Copy)]
#[allow(
    missing_debug_implementations,
    reason = "what reads arguments has none"
)]
pub struct Recorded<'a> {
    /// The name of the event.
    pub name: &'a [u8],
    /// The category; empty if it says none.
    pub category: &'a [u8],
    /// The arguments of the event.
    pub arguments: &'a dyn Arguments,
}

/// The arguments of an event. They are read only where name and category promise something,
/// since most events say nothing of communication.
pub trait Arguments {
    /// All of them, as an object.
    fn all(&self) -> Value;

    /// The number that a kernel has in common with the call that launched it.
    fn correlation(&self) -> Option<u64>;
}
