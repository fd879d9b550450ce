//! The duties of a kind of file: one [`Encoder`] writes one location, as its events come.

use std::cmp::Ordering;

use crate::axis::Axis;
use crate::curves::Curve;
use crate::tracks::{Thread, Tracks};

/// When something is, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// On the axis.
    pub(crate) at: u64,
    /// As recorded, if that is another time.
    pub(crate) recorded: Option<u64>,
}

/// The name of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// That of the region with this id.
    Region(u32),
    /// That by which the format calls such events.
    Kind(&'static str),
}

/// One end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The number of the arrow: both ends have it, and no other arrow.
    pub(crate) arrow: u64,
    /// True if this is the cause.
    pub(crate) is_cause: bool,
    /// When the effect is, as compared with the cause, by the nanoseconds of the axis.
    pub(crate) effect_is: Ordering,
}

impl End {
    /// True if the effect stands before its cause.
    pub(crate) fn is_reversed(&self) -> bool {
        self.effect_is == Ordering::Less
    }

    /// True if readers come to this end first: what is reversed begins at its effect.
    pub(crate) fn is_first(&self) -> bool {
        self.is_cause != self.is_reversed()
    }
}

/// How many arrows are reversed.
pub(crate) fn reversed(ends: &[End]) -> u64 {
    ends.iter().filter(|it| it.is_reversed()).count() as u64
}

/// The names of regions.
pub(crate) type Names<'a> = &'a dyn retime::format::Trace;

/// Writes the events of one location, nested, in order of time.
pub(crate) trait Encoder: Send {
    /// A region is entered.
    fn begin(&mut self, out: &mut Vec<u8>, moment: Moment, name: Name, names: Names<'_>);

    /// An arrow ends at the beginning of the slice that was begun just now.
    fn arrive(&mut self, out: &mut Vec<u8>, moment: Moment, end: End);

    /// The slice that was begun last ends.
    fn end(&mut self, out: &mut Vec<u8>, moment: Moment, names: Names<'_>);

    /// A slice without length, with the arrows that begin or end there.
    fn point(
        &mut self,
        out: &mut Vec<u8>,
        moment: Moment,
        kind: &'static str,
        ends: &[End],
        names: Names<'_>,
    );
}

/// A kind of file.
pub(crate) trait Scribe {
    /// Writes a location.
    type Encoder: Encoder;

    /// How a file begins.
    fn open(out: &mut Vec<u8>);

    /// Writes what tracks there are, and their curves. `is_first` as long as no record was
    /// written.
    fn describe(
        out: &mut Vec<u8>,
        tracks: &Tracks,
        curves: &[Curve],
        axis: &Axis,
        is_first: &mut bool,
    );

    /// Begins a location.
    fn encoder(thread: &Thread) -> Self::Encoder;

    /// How a file ends.
    fn close(out: &mut Vec<u8>);
}
