//! How far times can be from the truth, and what clocks did that bounds rest on, as data.

use serde::Serialize;

use crate::report::place::PlacePart;

/// A clock ran at another rate from a moment on, and that was undone.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct RateChangePart {
    pub(crate) clock: u32,
    /// It showed no less than this then, as recorded,
    pub(crate) after: u64,
    /// no more than this,
    pub(crate) until: u64,
    /// and most probably this.
    pub(crate) at: u64,
    /// The amount by which it ran faster from then on than before, negative where slower, in ppm of the
    /// common time.
    pub(crate) by_ppm: f64,
    /// How well dependencies tell that; absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) known_to_ppm: Option<f64>,
}

/// A clock was set, and that undone.
#[derive(Debug, Serialize)]
pub(crate) struct StepPart {
    pub(crate) clock: u32,
    /// Between these recorded stamps.
    pub(crate) after: u64,
    pub(crate) until: u64,
    /// How much it gained.
    pub(crate) by_ticks: i64,
    /// How it may have [gained](retime::pipeline::ClockSet::how) that.
    #[serde(skip)]
    pub(crate) how: &'static str,
    /// How far that can be from what it gained; absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) known_to_ticks: Option<u64>,
    /// Other clocks of which one may have been set instead; absent where the trace tells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) alternatives: Vec<u32>,
    /// Other clocks that were set with it, at one time and by as much; absent where there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) together: Vec<u32>,
}

/// How far times can be from the truth, as time of the reference: by the
/// dependencies and the drift bound, the true time of an event lies in an
/// interval around its time; see [`retime::optimal`].
#[derive(Debug, Serialize)]
pub(crate) struct BoundsPart {
    /// The rate by which clocks may wander, a share.
    pub(crate) drift_bound: f64,
    /// The usual drift bound where several places contradict it: bounds are by a larger one that none
    /// contradicts, or else by this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refuted_drift_bound: Option<f64>,
    pub(crate) reference_clock: u32,
    /// Bounds over all events with edges: the larger side of the interval, and half of the
    /// interval, which is the least that any method could guarantee.
    #[serde(flatten)]
    pub(crate) all: retime::optimal::BoundSummary,
    /// The larger side of the interval at any moment of any clock, before its first and after
    /// its last message too; absent where that is not bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) largest_over_run: Option<f64>,
    /// True if bounds are as narrow as they can be; if not, the steps of `--bounds-budget` were
    /// used up, or too many facts contradict each other.
    pub(crate) complete: bool,
    /// Clocks with events that are not bounded on both sides since the steps were used up.
    pub(crate) given_up_clocks: usize,
    /// Dependencies and stretches of clocks that contradict the drift bound, and
    /// do not count.
    pub(crate) left_out: usize,
    /// Clocks that contradict the drift bound, each with the place and by how much at least, either
    /// way, though none was found to be set there: bounds rest on it that it was. Absent where there
    /// are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) contradicted: Vec<StepPart>,
    /// Clocks that the alignment found to have been set, each with the place and by how much: bounds
    /// hold if they were, and nowhere else. Absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) if_set: Vec<StepPart>,
    /// Clocks that the alignment found to have changed their rates: bounds hold if they did, and the drift
    /// bound is for rates without these changes. Absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) if_rates_change: Vec<RateChangePart>,
    /// Clocks that the trace shows to have been set back where no alignment found by how much: bounds
    /// allow for any amount there. Absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) set_back: Vec<UnfoundStepPart>,
    /// Clocks that several processes are taken to read since they ran on one node: bounds hold if
    /// they do. Absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) if_shared: Vec<SharedPart>,
    /// Devices that are taken to read the clock of their host, though others have clocks of their own: bounds
    /// hold if they do. Absent where there are none.
    #[serde(skip_serializing_if = "is_none_of_all")]
    pub(crate) if_with_host: usize,
    /// With `--truth`: events with edges of all clocks but the reference, how many
    /// of them have their true time inside, and the furthest outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truth: Option<CoveragePart>,
    /// The bounds of each clock, by its number.
    pub(crate) clocks: Vec<ClockBoundPart>,
    /// Events with edges of clocks that are bounded on one side only.
    #[serde(skip)]
    pub(crate) one_sided: u64,
}

/// A clock was set back, by how much nobody knows.
#[derive(Debug, Serialize)]
pub(crate) struct UnfoundStepPart {
    pub(crate) clock: u32,
    /// It showed this before, as recorded,
    pub(crate) after: u64,
    /// and this afterwards.
    pub(crate) until: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_none_of_all(count: &usize) -> bool {
    *count == 0
}

#[derive(Debug, Serialize)]
pub(crate) struct SharedPart {
    pub(crate) clock: u32,
    /// The name of the node.
    pub(crate) node: String,
    pub(crate) processes: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct ClockBoundPart {
    #[serde(flatten)]
    pub(crate) all: retime::optimal::BoundSummary,
    /// Outside of these stamps bounds hold only if the clock is not set there.
    #[serde(flatten)]
    pub(crate) steps: retime::pipeline::StepsShow,
}

#[derive(Debug, Serialize)]
pub(crate) struct CoveragePart {
    pub(crate) events: u64,
    pub(crate) inside: u64,
    pub(crate) share: f64,
    pub(crate) worst_ticks: f64,
}

/// No correction of this trace can keep all local intervals closer than this.
#[derive(Debug, Serialize)]
pub(crate) struct GentlestPart {
    /// The largest relative change that cannot be avoided; absent where
    /// dependencies contradict each other whatever the intervals.
    pub(crate) distortion: Option<f64>,
    /// True if it was found; if not, time was up, and it may be larger.
    pub(crate) complete: bool,
    /// The time that the dependencies below miss in sum, and the local time that it can be spread
    /// over.
    pub(crate) needed_ticks: i64,
    pub(crate) width_ticks: i64,
    /// The cycle of dependencies that forces it.
    pub(crate) forced_by: Vec<ForcingPart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ForcingPart {
    pub(crate) cause: PlacePart,
    pub(crate) effect: PlacePart,
    /// How far the effect has to move against the cause; negative where it may.
    pub(crate) needed_ticks: i64,
}
