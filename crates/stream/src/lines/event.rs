//! The meaning of a line to the filter, and the line as it is written again.

use std::io::{self, Write};
use std::ops::Range;

use retime_jsonl::Id;
use retime_jsonl::line::{Part, Partner, What};
use retime_model::LocationIndex;
use retime_model::Timestamp;
use retime_model::{Class, Message};

use crate::event::{Collective, EventKind, MessageId, Prefix};

/// The event of a line of location `own`; `None` for a line that is none.
pub(crate) fn event(what: &What<'_>, own: LocationIndex) -> Option<EventKind> {
    Some(match what {
        What::Heartbeat | What::End => return None,
        What::Send(sent) => EventKind::Send(message(&sent.partner, |peer| (own, peer))),
        What::Receive(got) => EventKind::Receive(message(&got.partner, |peer| (peer, own))),
        What::Enter(part) if part.counts => EventKind::Begin(collective(part)),
        What::Leave(part) if part.counts => EventKind::End(collective(part)),
        What::Internal | What::Enter(_) | What::Leave(_) => EventKind::Internal,
    })
}

/// `way` says from where to where a message goes.
fn message(
    partner: &Partner<'_>,
    way: impl FnOnce(LocationIndex) -> (LocationIndex, LocationIndex),
) -> MessageId {
    match *partner {
        Partner::Message(id) => message_id(id),
        Partner::Channel(Message {
            communicator,
            peer,
            tag,
        }) => {
            let (from, to) = way(peer);
            MessageId::channel(from, to, communicator, tag)
        }
    }
}

fn collective(part: &Part<'_>) -> Collective {
    Collective {
        id: message_id(part.operation),
        begins: part.begins,
        ends: part.ends,
        prefix: (part.class == Class::Prefix).then_some(Prefix {
            place: part.rank,
            before: part.rank,
        }),
    }
}

fn message_id(id: Id<'_>) -> MessageId {
    match id {
        Id::Number(number) => MessageId::number(number),
        Id::Text(text) => MessageId::name(id.string().unwrap_or(text)),
    }
}

/// Writes a line again, with another time and the one it had.
pub(crate) fn write(
    out: &mut impl Write,
    text: &str,
    place: Range<u32>,
    time: Timestamp,
    raw: Timestamp,
) -> io::Result<()> {
    let (start, end) = (place.start as usize, place.end as usize);
    let rest = text[end..].trim_end();
    let rest = rest.strip_suffix('}').unwrap_or(rest);
    out.write_all(&text.as_bytes()[..start])?;
    write!(out, "{time}{rest},\"raw_time\":{raw}}}")?;
    out.write_all(b"\n")
}
