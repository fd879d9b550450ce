//! The part of a trace that a process has read, kept for an analysis that all make together.

use std::collections::HashSet;

use retime_model::format::{FormatError, PartLocation, join};
use retime_model::{LocationLog, MessageId};

use crate::command::Kept;

/// The logs of a part, with the messages by name of which both ends are in it, and what is
/// known besides. Of other ends by name it is left open whether another process has
/// the message, too.
pub(crate) fn keep(read: Vec<PartLocation>) -> Result<(Vec<LocationLog>, Kept), FormatError> {
    let ids = |ends: fn(&PartLocation) -> &Vec<_>| -> HashSet<MessageId> {
        let ends = read.iter().flat_map(ends);
        ends.map(|it: &retime_model::NamedMessage| it.id).collect()
    };
    let (sent, received) = (ids(|it| &it.causes), ids(|it| &it.effects));
    let only = |a: &HashSet<MessageId>, b: &HashSet<MessageId>| -> Vec<MessageId> {
        let mut only: Vec<MessageId> = a.difference(b).copied().collect();
        only.sort_unstable();
        only
    };
    let (only_sent, only_received) = (only(&sent, &received), only(&received, &sent));
    let mut kept = Kept {
        sent: only_sent,
        received: only_received,
        ..Kept::default()
    };
    let mut logs = Vec::new();
    for it in join(read)? {
        let location = it.log.location();
        kept.locations.push((location, it.contents, it.concluded));
        logs.push(it.log);
    }
    Ok((logs, kept))
}

/// True if a message by name was sent in one process and has arrived in another.
pub(crate) fn meet(all: &[Kept]) -> bool {
    let sent: HashSet<&MessageId> = all.iter().flat_map(|it| &it.sent).collect();
    let mut received = all.iter().flat_map(|it| &it.received);
    received.any(|it| sent.contains(it))
}
