//! The events of a file as they are kept: for each its time, its length, its track and where its
//! digits stand, some 25 bytes of the hundreds it is written with.
//!
//! What only names things, or says how clocks read, is kept like all others if it has a time,
//! since that is moved with the rest; it is on no track, but beside one.

/// Stands for no track; what has it is moved with the first.
pub(crate) const NO_TRACK: u32 = u32::MAX;

/// So many tracks can have something beside them, and as many there can be.
pub(crate) const MOST_TRACKS: u32 = u32::MAX / 2;

/// Stands for no track, but what has it is moved with this one.
pub(crate) fn beside(track: u32) -> u32 {
    NO_TRACK - track.min(MOST_TRACKS)
}

/// True if something on this track is an event, not something beside one.
#[inline]
pub(crate) fn is_event(track: u32) -> bool {
    track < MOST_TRACKS
}

/// The track that this one is, or that something is beside.
#[inline]
pub(crate) fn moved_with(track: u32) -> u32 {
    if is_event(track) {
        track
    } else {
        NO_TRACK - track
    }
}

/// The nanoseconds by which the times of a run are moved to count from 0, if some lie below it:
/// profilers may give times relative to a moment of their own. No trace may span more, so that none
/// with a time of 0 or later reaches further below.
pub(crate) const BELOW_ZERO: u64 = 1 << 61;

/// Stands for no length.
pub(crate) const MOMENT: u64 = u64::MAX;

/// The events of a file that have a time, in the order in which they stand there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// When each is, in nanoseconds, with the base of the file.
    pub(crate) begins: Vec<u64>,
    /// How many nanoseconds it lasts; [`MOMENT`] if it only has one time.
    pub(crate) lengths: Vec<u64>,
    /// Its track.
    pub(crate) tracks: Vec<u32>,
    /// How many bytes lie between the digits before and its own, and how many these are.
    pub(crate) digits: Vec<(u32, u8)>,
}

impl Columns {
    /// When an event begins.
    #[inline]
    pub(crate) fn begin(&self, event: u32) -> u64 {
        self.begins.get(event as usize).copied().unwrap_or_default()
    }

    /// How long it lasts; nothing if it is a moment.
    #[inline]
    pub(crate) fn length(&self, event: u32) -> Option<u64> {
        let length = self.lengths.get(event as usize).copied();
        length.filter(|it| *it != MOMENT)
    }

    /// When it ends.
    #[inline]
    pub(crate) fn end(&self, event: u32) -> u64 {
        self.begin(event)
            .saturating_add(self.length(event).unwrap_or_default())
    }

    /// Where in the content of the file the digits of an event stand.
    pub(crate) fn place(&self, event: usize) -> u64 {
        let before = self.digits.iter().take(event);
        let before: u64 = before.map(|it| u64::from(it.0) + u64::from(it.1)).sum();
        before + self.digits.get(event).map_or(0, |it| u64::from(it.0))
    }

    /// The track it is on.
    #[inline]
    pub(crate) fn track(&self, event: u32) -> u32 {
        self.tracks.get(event as usize).copied().unwrap_or(NO_TRACK)
    }
}

/// A time with the base of its file, if it can be counted from 0 or from [`BELOW_ZERO`].
pub(crate) fn absolute(base: i64, time: i64) -> Option<i64> {
    let sum = base.checked_add(time)?;
    BELOW_ZERO.checked_add_signed(sum).map(|_| sum)
}
