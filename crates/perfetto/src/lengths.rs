//! Lengths of stages of GPUs that become others, and what they were.

use retime_kineto::NewLength;
use retime_perfetto_wire::fields::gpu_render_stage_event::DURATION;
use retime_perfetto_wire::read::{Field, Fields};
use retime_perfetto_wire::write;

use crate::forms::{LengthWas, put};

/// Lengths of some stages, by event.
#[derive(Clone, Copy)]
pub(crate) enum Lengths<'a> {
    /// New ones.
    New(&'a [NewLength]),
    /// The lengths that were written once.
    Old(&'a [LengthWas]),
}

impl Lengths<'_> {
    /// The length that an event gets, if that is another.
    pub(crate) fn of(&self, event: u32) -> Option<LengthWas> {
        match self {
            Self::New(all) => {
                let at = all.binary_search_by_key(&event, |it| it.event).ok()?;
                let length = Some(all.get(at)?.length);
                let width = 0;
                Some(LengthWas {
                    event,
                    length,
                    width,
                })
            }
            Self::Old(all) => {
                let at = all.binary_search_by_key(&event, |it| it.event).ok()?;
                all.get(at).copied()
            }
        }
    }
}

/// The message of a stage with another length, and the one that it had.
pub(crate) fn with_length(message: &[u8], length: LengthWas) -> (Vec<u8>, LengthWas) {
    let is_length = |it: &Field<'_>| it.number == DURATION;
    let fields = Fields::of(message).map_while(Result::ok);
    // Of several the last counts.
    let last = fields.filter(is_length).last();
    let Some((field, was)) = last.and_then(|it| Some((it, it.value.number()?))) else {
        let mut out = message.to_vec();
        if let Some(length) = length.length {
            write::uint(&mut out, DURATION, length);
        }
        let was = LengthWas {
            length: None,
            width: 0,
            ..length
        };
        return (out, was);
    };
    let before = if length.length.is_some() {
        field.value_start
    } else {
        field.start
    };
    let mut out = message.get(..before).unwrap_or_default().to_vec();
    if let Some(length_is) = length.length {
        put(&mut out, length_is, length.width);
    }
    out.extend_from_slice(message.get(field.end..).unwrap_or_default());
    let was = LengthWas {
        length: Some(was),
        width: field.end - field.value_start,
        ..length
    };
    (out, was)
}

#[cfg(test)]
mod tests {
    use retime_perfetto_wire::read::Value;

    use super::*;

    #[test]
    fn a_length_comes_back_as_it_was_written() {
        let new = |length| LengthWas {
            event: 3,
            length: Some(length),
            width: 0,
        };
        // None, one, one in more bytes than it needs, and two.
        for written in [&[][..], &[16, 9], &[16, 0x89, 0x80, 0], &[16, 1, 16, 9]] {
            let message = [&[8, 7][..], written, &[24, 5]].concat();
            let (changed, was) = with_length(&message, new(300));
            let lengths = Fields::of(&changed).map_while(Result::ok);
            let lengths = lengths.filter(|it| it.number == DURATION);
            let last = lengths.last().map(|it| it.value);
            assert_eq!(last, Some(Value::Varint(300)));
            let (back, is) = with_length(&changed, was);
            assert_eq!((back, is.length), (message, Some(300)));
        }
    }
}
