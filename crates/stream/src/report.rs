//! Counts of the events that a filter took, corrected and gave out.

use crate::spread::Spread;
use retime_model::Ticks;

/// Counts of a filter so far.
#[derive(Clone, Debug, Default)]
pub struct FilterReport {
    /// Events taken.
    pub events: u64,
    /// Events given out.
    pub released: u64,
    /// Messages of which both ends came.
    pub messages: u64,
    /// Messages whose receive was stamped before their send.
    pub violated: u64,
    /// Events that were forced ahead of their own clock.
    pub jumps: u64,
    /// How far at most.
    pub largest_jump: Ticks,
    /// Events that were given out before their time was certain: the bound on
    /// the delay left no choice. Where this is 0, as all that follow, times are
    /// those of the correction of the whole trace.
    pub forced: u64,
    /// Jumps larger than the start value of the clock difference: ramps before
    /// them are steeper.
    pub steep: u64,
    /// Events that came later than the bounds allow, moved up to the last time
    /// given out.
    pub late: u64,
    /// Receives that went on without their send.
    pub unmatched_receives: u64,
    /// Sends whose receive did not come in time.
    pub unmatched_sends: u64,
    /// Sends that came after their receive had gone on.
    pub late_sends: u64,
    /// Ends of collectives that went on without all begins.
    pub incomplete_collectives: u64,
    /// Operations of which some events did not come in time, or not at all.
    pub unfinished_collectives: u64,
    /// Sends, receives and operations that were forgotten before their time, since too
    /// many waited for the rest of their message or operation.
    pub forgotten: u64,
    /// Events that went on though their cause was not computed: they wait for
    /// each other.
    pub contradictions: u64,
    /// Events stamped before the previous one of their location.
    pub out_of_order: u64,
    /// Time in the filter, in ticks of the newest event: from the arrival of an
    /// event to its release.
    pub delay: Spread,
    /// Most events in the filter at a time.
    pub most_held: u64,
}
