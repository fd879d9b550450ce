//! The stamps of a file, where what lasts has one for either end.
//!
//! ```text
//! begin "a"   begin "b"   end "b"   end "a"      stamps, as they stand in the file
//! 0           1           1 end     0 end        events that they are of
//! ```

/// A stamp: of which event, and of which of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(u32);

/// Set for the end of an event.
const END: u32 = 1 << 31;

impl Stamp {
    /// The number of events that stamps can be of.
    pub(crate) const MOST: usize = END as usize;

    /// The stamp of the begin of an event, or of a moment.
    pub fn begin(event: u32) -> Self {
        Self(event)
    }

    /// The stamp of the end of an event.
    pub fn end(event: u32) -> Self {
        Self(event | END)
    }

    /// The event.
    pub(crate) fn event(self) -> u32 {
        self.0 & !END
    }

    /// True if it is of the end.
    pub(crate) fn is_end(self) -> bool {
        self.0 & END != 0
    }
}
