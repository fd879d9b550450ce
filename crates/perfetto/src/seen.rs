//! The things that a reader meets in a file, shown to an observer.

use crate::annotations::Annotations;
use crate::event::{Kind, TrackEvent};
use crate::packet::Packet;
use crate::stage::{Stage, StageArguments};

/// Something in a file.
pub(crate) enum Seen<'a> {
    /// A packet, before what is in it; it has no number.
    Packet(&'a Packet<'a>),
    /// An event, by its number.
    Event(&'a TrackEvent<'a>, &'a Annotations<'a>),
    /// A stage of a GPU, by its number as an event.
    Stage(&'a Stage<'a>, &'a StageArguments<'a>),
    /// The end of an event, by the number of its stamp.
    End(&'a TrackEvent<'a>, &'a Annotations<'a>),
    /// An end of no event, by the number that it has as one.
    LoneEnd,
    /// Something that has a time and is no event, by the number that it has as one.
    Beside,
}

/// Is shown a number, and what has it.
pub(crate) type Watch<'a> = dyn FnMut(u32, Seen<'_>) -> Result<(), String> + 'a;

impl<'a> Seen<'a> {
    /// The name of what has a number as an event, and the letter of its kind.
    pub(crate) fn named(&self) -> Option<(&'a [u8], u8)> {
        match self {
            Self::Event(event, _) => Some((event.name, event.kind.letter())),
            Self::Stage(stage, _) => Some((stage.name, b'X')),
            Self::LoneEnd => Some((b"", b'E')),
            Self::Beside => Some((b"", b'M')),
            Self::Packet(_) | Self::End(..) => None,
        }
    }
}

impl Kind {
    /// The letter of Chrome's format.
    pub(crate) fn letter(self) -> u8 {
        match self {
            Self::Begin => b'B',
            Self::End => b'E',
            Self::Whole(_) => b'X',
            Self::Moment(letter) => letter,
        }
    }
}
