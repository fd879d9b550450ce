//! Who held up whom, as data of a report.

use serde::Serialize;

use super::place::PlacePart;

/// The processes that held up others; see [`retime::Stragglers`].
#[derive(Debug, Default, Serialize)]
pub(crate) struct StragglersPart {
    /// Operations of several processes in which all wait for all.
    pub(crate) operations: u64,
    /// Collective operations in which it is certain who came last: beyond what the bounds leave open.
    pub(crate) certain: u64,
    /// Operations of other kinds, or within a process: they are not judged.
    pub(crate) others: u64,
    /// Operations in which some wait for some, as all for a root, of which it is recorded since when
    /// each waited.
    pub(crate) partial: u64,
    /// Messages of which it is recorded since when they were awaited.
    pub(crate) messages: u64,
    /// True if effects come before their causes by recorded times, or within a clock by
    /// corrected ones, so that they do not say who came last: then nothing is certain, and nobody
    /// is named.
    pub(crate) contradictory: bool,
    /// True if there are several clocks and no dependency relates any two of them.
    pub(crate) unrelated: bool,
    /// Processes that took part.
    pub(crate) taking_part: usize,
    /// The time that all of them waited in sum, and the time for which they were recorded.
    pub(crate) waited_ticks: u64,
    pub(crate) recorded_ticks: u64,
    /// The time that all of them lasted, each as long as its longest location.
    pub(crate) lasted_ticks: u64,
    /// The processes that certainly held up others longest, 100 at most.
    pub(crate) processes: Vec<StragglerPart>,
    /// The hosts whose processes can be compared with others, those first that held up others
    /// longest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<TogetherPart>,
    /// Several processes that are slow by more than chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) several: Option<TogetherPart>,
    /// The operations of each set of participants, those most waited in first, the first 100.
    pub(crate) groups: Vec<GroupPart>,
    /// The 10 operations in which most was waited for the last alone.
    pub(crate) worst: Vec<LateBeginPart>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct StragglerPart {
    /// Its number in the trace, from 0.
    pub(crate) process: usize,
    pub(crate) name: String,
    /// The time that others waited because it worked, wherever that began to be waited for, summed
    /// over those that waited; the part of this where it came last itself, and the part where all
    /// that led to it is certain.
    pub(crate) held_up_ticks: u64,
    pub(crate) held_up_directly_ticks: u64,
    pub(crate) certainly_held_up_ticks: u64,
    /// In how many operations and messages it came last and was to blame itself, and in how many
    /// of them certainly.
    pub(crate) held_up_operations: u64,
    pub(crate) certainly_held_up_operations: u64,
    /// How much it likely held up others, as ends of operations tell; absent where these tell nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) likely: Option<LikelyPart>,
    /// Its work compared with that of others; absent where too little is known of waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) work: Option<WorkPart>,
    /// True if it was behind others time after time, by more than chance.
    pub(crate) significant: bool,
    /// The number of others that it held up; stated for the first five.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reach: Option<ReachPart>,
    /// Its waits and those for it that were hidden behind work; absent where it is not known when
    /// devices computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hidden: Option<HiddenPart>,
    /// The messages that it sent or got and of which is known since when they were awaited.
    pub(crate) messages: u64,
    /// How often it took part, came last, and certainly came last.
    pub(crate) operations: u64,
    pub(crate) last: u64,
    pub(crate) certainly_last: u64,
    /// Its records of communication that were not used: in these it may have waited, too;
    pub(crate) unused_records: u64,
    /// and whether these are so few that little can have been.
    pub(crate) waits_are_seen: bool,
    /// The time that others waited until it came, summed over them; the part of this where it
    /// certainly came last, and the part when all other processes had come; and the longest that
    /// one of them waited in one operation.
    pub(crate) waited_for_ticks: u64,
    pub(crate) certainly_waited_for_ticks: u64,
    pub(crate) waited_for_alone_ticks: u64,
    pub(crate) waited_for_longest_ticks: u64,
    /// The time that it waited itself, and which share that is of its recorded time.
    pub(crate) waited_ticks: u64,
    pub(crate) waited_share: f64,
    pub(crate) recorded_ticks: u64,
    /// How long the one of its locations was recorded that was so longest.
    pub(crate) lasted_ticks: u64,
}

/// Processes by what they did together: those of a host, see [`retime::HostWork`], or several that are
/// slow, see [`retime::SlowTogether`].
#[derive(Debug, Default, Serialize)]
pub(crate) struct TogetherPart {
    /// The host, or the processes.
    pub(crate) name: String,
    /// The numbers of its processes that are compared.
    pub(crate) processes: Vec<usize>,
    /// The sums over them of what each held up others, those among them too.
    pub(crate) held_up_ticks: u64,
    pub(crate) certainly_held_up_ticks: u64,
    /// How much it likely held up others, as ends of operations tell; absent where these tell nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) likely: Option<LikelyPart>,
    /// The work of nearly all of a host, or of each of several, compared with that of all others, and
    /// whether it is longer by more than chance.
    pub(crate) work: WorkPart,
    pub(crate) is_slow: bool,
    /// Their operations and messages, and records of communication that were not used.
    pub(crate) operations: u64,
    pub(crate) unused_records: u64,
    /// How long they lasted, together.
    pub(crate) lasted_ticks: u64,
}

/// The waits that are likely due to a process or to several, as ends of operations tell times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LikelyPart {
    /// The part of what others were held up in which it is likely who came last, all the way.
    pub(crate) held_up_ticks: u64,
    /// The number of operations and messages to which it likely came last and was to blame itself.
    pub(crate) held_up_operations: u64,
}

/// The work of a process compared with that of others, see [`retime::ComparedWork`].
#[derive(Debug, Default, Serialize)]
pub(crate) struct WorkPart {
    /// The ticks by which it waited less than half of the others did, in as much time,
    pub(crate) longer_ticks: u64,
    /// and by how much the others differ.
    pub(crate) others_differ_ticks: u64,
    /// The part of `longer_ticks` by which its transfers took longer than those of any other.
    pub(crate) transfers_ticks: u64,
    /// Its time outside of calls compared with that of others; absent of devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outside_calls: Option<OutsideCallsPart>,
}

/// The time that a process spent outside of calls compared with others, see [`retime::OutsideCalls`].
#[derive(Debug, Default, Serialize)]
pub(crate) struct OutsideCallsPart {
    /// The ticks by which it was outside of calls longer than half of the others were.
    pub(crate) longer_ticks: u64,
    /// The ticks by which the times of the others differ.
    pub(crate) others_differ_ticks: u64,
}

impl WorkPart {
    /// The ticks by which it certainly worked longer: those that it did not wait, nor spend in calls that take long.
    pub(crate) fn surely_longer(&self) -> u64 {
        let outside = self.outside_calls.as_ref().map(|it| it.longer_ticks);
        outside.map_or(self.longer_ticks, |it| it.min(self.longer_ticks))
    }

    /// True if that is as much as others differ among each other.
    pub(crate) fn stands_out(&self) -> bool {
        let is_outside = |it: &OutsideCallsPart| it.longer_ticks >= it.others_differ_ticks;
        self.longer_ticks >= self.others_differ_ticks
            && self.outside_calls.as_ref().is_none_or(is_outside)
    }
}

/// Waits beside work, see [`retime::HiddenWaits`].
#[derive(Debug, Serialize)]
pub(crate) struct HiddenPart {
    /// How long its device stood still in waits, each moment once.
    pub(crate) stood_still_ticks: u64,
    /// How long others waited for it, as the last, while their devices computed: it did not hold them
    /// up.
    pub(crate) of_others_ticks: u64,
}

/// The number of others that a process held up, see [`retime::Reach`].
#[derive(Debug, Serialize)]
pub(crate) struct ReachPart {
    /// Processes that mostly waited for itself.
    pub(crate) directly: usize,
    /// Processes that mostly waited for others that it held up.
    pub(crate) through_others: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct GroupPart {
    /// The name of the communicator with these members, if there is one.
    pub(crate) name: Option<String>,
    pub(crate) members: usize,
    /// The ids of the first 16 of them.
    pub(crate) locations: Vec<u64>,
    pub(crate) class: retime::causality::Class,
    pub(crate) operations: u64,
    pub(crate) certain: u64,
    /// The time that was waited in them while nothing was computed, as far as that is known, and the time
    /// that was waited beside computing.
    pub(crate) waited_ticks: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) hidden_ticks: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct LateBeginPart {
    pub(crate) last: PlacePart,
    /// The last of another process.
    pub(crate) next: PlacePart,
    pub(crate) later_ticks: u64,
    /// The least time by which it is later than any other; absent where it may be earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) beyond_ticks: Option<u64>,
    /// The time that all others waited until it came while they computed nothing, as far as that is known,
    /// and the part of this when all others had come.
    pub(crate) waited_ticks: u64,
    pub(crate) waited_alone_ticks: u64,
    /// The time that others waited until it came while they computed.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) hidden_ticks: u64,
}

/// True of no time, which is not stated where no device computed.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands on a reference"
)]
const fn is_none(ticks: &u64) -> bool {
    *ticks == 0
}
