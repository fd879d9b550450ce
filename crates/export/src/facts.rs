//! The facts that a file says of an event that communicates, as arguments that SQL can ask for.
//!
//! Both kinds of files give them the same names, and times in whole nanoseconds:
//!
//! ```text
//! peer                  id of the location that it speaks to or hears from
//! bytes, tag, comm      of the message or the operation
//! latency_ns            from the cause to this effect, at the times that are shown
//! recorded_latency_ns   likewise as recorded, where other times are shown
//! reversed              how many arrows here lead against time
//! from, to              locations of a contradiction
//! ```

use std::sync::Arc;

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact<'a> {
    Whole(u64),
    Signed(i64),
    Text(&'a str),
}

/// The facts about an event; what is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) peer: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) tag: Option<u32>,
    pub(crate) communicator: Option<Arc<str>>,
    pub(crate) latency: Option<i64>,
    pub(crate) recorded_latency: Option<i64>,
    pub(crate) reversed: u64,
    /// The ids of the locations of a cause and of its effect.
    pub(crate) from: Option<u64>,
    pub(crate) to: Option<u64>,
}

impl Facts {
    /// The arguments with their names, in order.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&'static str, Fact<'_>)> {
        let whole = |it: Option<u64>| it.map(Fact::Whole);
        let signed = |it: Option<i64>| it.map(Fact::Signed);
        let all = [
            ("from", whole(self.from)),
            ("to", whole(self.to)),
            ("peer", whole(self.peer)),
            ("bytes", whole(self.bytes)),
            ("tag", whole(self.tag.map(u64::from))),
            ("comm", self.communicator.as_deref().map(Fact::Text)),
            ("latency_ns", signed(self.latency)),
            ("recorded_latency_ns", signed(self.recorded_latency)),
            (
                "reversed",
                whole((self.reversed > 0).then_some(self.reversed)),
            ),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }
}
