//! The duties of a kind of file: one [`Encoder`] writes one location, as its events come.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::axis::Axis;
use crate::curves::Curve;
use crate::facts::Facts;
use crate::tracks::Tracks;

/// When something is, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// On the axis.
    pub(crate) at: u64,
    /// The recorded time, if that is another one: it may lie before the axis begins.
    pub(crate) recorded: Option<i64>,
}

/// The name of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// The name of the region with this id.
    Region(u32),
    /// The name by which the format calls such events.
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

/// A slice without length.
pub(crate) struct Point<'a> {
    pub(crate) moment: Moment,
    pub(crate) kind: &'static str,
    /// The arrows that begin or end there.
    pub(crate) ends: &'a [End],
    pub(crate) facts: &'a Facts,
}

/// The names of regions.
pub(crate) type Names<'a> = &'a dyn retime::format::Trace;

impl Name {
    /// The name as it is shown.
    pub(crate) fn text(self, names: Names<'_>) -> Cow<'_, str> {
        let text = match self {
            Self::Region(id) => names.region(id),
            Self::Kind(kind) => Some(kind.into()),
        };
        text.unwrap_or_else(|| "unnamed".into())
    }

    /// The category that it is shown in: the programming interface that it is of.
    pub(crate) fn category(self, names: Names<'_>) -> Option<&'static str> {
        match self {
            Self::Region(id) => names.region_paradigm(id),
            Self::Kind(kind) => names.kind_paradigm(kind),
        }
    }
}

/// Writes the events of one location, nested, in order of time.
pub(crate) trait Encoder: Send {
    /// A region is entered.
    fn begin(&mut self, out: &mut Vec<u8>, moment: Moment, name: Name, names: Names<'_>);

    /// An arrow ends at the beginning of the slice that was begun just now.
    fn arrive(&mut self, out: &mut Vec<u8>, moment: Moment, end: End);

    /// The slice that was begun last ends.
    fn end(&mut self, out: &mut Vec<u8>, moment: Moment, names: Names<'_>);

    /// A slice without length.
    fn point(&mut self, out: &mut Vec<u8>, point: &Point<'_>, names: Names<'_>);
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
        tracks: &Tracks<'_>,
        curves: &[Curve],
        axis: &Axis,
        is_first: &mut bool,
    );

    /// Begins the track of this number, in the process of another.
    fn encoder(number: u32, process: u32) -> Self::Encoder;

    /// How a file ends.
    fn close(out: &mut Vec<u8>);
}
