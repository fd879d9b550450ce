//! The constants of the alignment: every number that its results depend on.
//!
//! Numbers that only say when a computation is exact enough stand where it is done.
//! What results make of each if it is halved or doubled, docs/SENSITIVITY.md tells.

/// Thresholds, weights and sizes of the alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AlignOptions {
    /// Windows of the run in which the tightest dependencies of a pair of clocks are
    /// looked for, at least, by [`lines`](super::lines), [`ties`](super::ties) and the
    /// [active set](super::active_set). Over so many, drift that is not removed yet
    /// mixes the beginning and the end of a window by 1/64 of what it makes of the run.
    pub(super) windows: usize,
    /// Dependencies of each pair that a window or piece has to hold on average, and windows that
    /// a [floor](super::floor) goes by: the tightest of three is not tight.
    pub(super) fewest: usize,

    /// Windows over which dependencies are reduced while nothing is known of clocks.
    /// Clocks that begin at different times do not share windows yet, so there are
    /// more than lines need.
    pub(super) rough_windows: usize,
    /// How often lines are fitted then: with drifting clocks the least latency of a
    /// window mixes its beginning and its end, until the drift is known.
    pub(super) rough_lines: usize,

    /// Windows in which [outliers](super::outliers) are counted,
    pub(super) outlier_windows: usize,
    /// and the share of them that outliers may touch, one part in so many. Where
    /// more are touched, clocks are not aligned yet, or were set.
    pub(super) outliers_among: usize,
    /// How far an outlier is reversed at least, in nanoseconds.
    pub(super) outlier: f64,

    /// Straight pieces that an offset may have.
    pub(super) pieces: [usize; 6],
    /// How far off a straight piece a clock may be in its middle, in seconds, if it
    /// wanders as it is taken to.
    pub(super) straight: f64,
    /// The amount by which rates [may wander](super::selection) in a second, as a fraction. The
    /// first is that of a quartz in a room: its temperature changes by some hundredths of a degree
    /// in a second, and its rate by up to a ppm with each degree.
    pub(super) wander: [f64; 6],
    /// Clocks are too stiff if effects come too early after their causes in more than one
    /// window of so many: in fewer it may be outliers.
    pub(super) proof_among: usize,
    /// The share that may be left of that, in sum, under clocks that wander more.
    pub(super) gain: f64,
    /// Once clocks are known to wander, they are taken to wander more if the least
    /// latency of all grows by this.
    pub(super) firmer: f64,

    /// The amount by which rates differ, as a fraction: quartzes are sold as good to 20 or 50 ppm,
    /// and most are better.
    pub(super) rho: f64,
    /// Rates that differ by more, as a fraction, have to be proven: clocks that are
    /// wrong by 50 ppm each, of which one is slewed by 500 ppm, the most that systems do.
    pub(super) proven: f64,
    /// How far beyond that a rate comes without proof, as a fraction.
    pub(super) beyond: f64,
    /// The pull of most clocks to where they are so far, in terms of the scale of slacks. It only
    /// makes the function strictly convex.
    pub(super) pull: f64,
    /// And of those that are held fast.
    pub(super) hold: f64,

    /// How many of the tightest dependencies of a pair and window pull at once.
    pub(super) tightest: usize,
    /// How often new ones are taken in,
    pub(super) rounds: usize,
    /// and what share of new ones is not worth another round.
    pub(super) new: f64,

    /// Where the [barrier](super::barrier) becomes a parabola to begin with, in scales,
    pub(super) knee: f64,
    /// and what share of that it is a round later, while nothing contradicts it.
    pub(super) sharper: f64,
    /// It is never less than this share of what the most reversed dependency is off by.
    pub(super) blunt: f64,
    /// It is as good as known if it is this share of what it was.
    pub(super) same_knee: f64,
    /// How far below that it becomes a line, in scales.
    pub(super) foot: f64,
    /// Its scale is at least this share of what slacks are off by, of either sign.
    pub(super) off: f64,
    /// The least slack that it tells apart, in nanoseconds.
    pub(super) knee_ns: f64,
    /// The least slack that it tells apart, in grains of the clocks.
    pub(super) knee_grains: f64,
    /// The weight of a link is as good as known if it changes by no more than this share.
    pub(super) same_weight: f64,
    /// The fastest of so many windows tell how [densely](super::asymmetry) they lie, and whether
    /// there is a [floor](super::floor) at all: sixteen tell it to a quarter.
    pub(super) spread: usize,
    /// The nanoseconds that a message of MPI takes, or more: a few hundred within a node, a
    /// microsecond between two. Whether its fastest [waited](super::asymmetry) is not asked of a pair of
    /// clocks of which both directions together take less than twice that.
    pub(super) soonest_ns: f64,
    /// The factor by which two directions have to differ in the spread of their fastest before one of
    /// them is taken to be nearer to its floor, where these are in fewer windows.
    pub(super) looser: f64,
    /// So many windows count as one, as what delays messages lasts longer than one of them.
    pub(super) lasting: usize,
    /// How much further than the least correction that dependencies demand, as a share of it,
    /// a [few](super::recorded) of them lead: by a tenth an error grows by half a per cent at most.
    pub(super) further: f64,
    /// The share of the least latency of all that counts as no slack: with all of it
    /// the tightest dependency would have none.
    pub(super) delay: f64,
    /// The share by which that may differ from a round before where it is known.
    pub(super) same_delay: f64,

    /// The amount by which rates of clocks that are [tied](super::ties) one way are off without being
    /// noteworthy, as a fraction: that of bad quartzes.
    pub(super) rates: f64,

    /// How often [steps](super::steps) of clocks are looked for: those that are known
    /// make the others easier to see.
    pub(super) step_rounds: usize,
    /// The amount by which rates may wander in a second where a step is looked for that few
    /// messages contradict: enough to follow some microseconds within a tenth of a second.
    pub(super) follow: f64,
    /// How many times less rates have to wander for each step that is taken for that.
    pub(super) stiffer: f64,
    /// How often the instants of steps are looked for, by the offsets on both sides that the ones
    /// before gave.
    pub(super) instants: usize,
    /// The smallest step, in seconds.
    pub(super) smallest_step: f64,
    /// So many more steps of each clock than known may come up where rates are taken
    /// to change less than usual.
    pub(super) more_steps: usize,
    /// The amount by which rates change, as fractions: as much as is usual, or less, which shows
    /// smaller steps.
    pub(super) steady: [Option<f64>; 3],
    /// The amount by which rates differ, as a fraction, where nothing is known of them.
    pub(super) level: f64,
    /// How many clocks are tried whose steps would explain the most, each of which
    /// takes alignments.
    pub(super) suspects: usize,
    /// Steps of a clock; what steps more often is another kind of bad.
    pub(super) most_steps: usize,

    /// Processes share a clock if one window of this many disagrees at most.
    pub(super) disagree_one_in: usize,
}

impl AlignOptions {
    /// The amount by which rates of clocks wander in a second that do what clocks do.
    pub(super) const fn usual_wander(&self) -> f64 {
        let [usual, ..] = self.wander;
        usual
    }
}

/// The numbers that are used.
pub(super) const OPTIONS: AlignOptions = AlignOptions {
    windows: 64,
    fewest: 8,
    rough_windows: 256,
    rough_lines: 2,
    outlier_windows: 512,
    outliers_among: 10,
    outlier: 200.0,
    pieces: [1, 4, 16, 64, 256, 1024],
    straight: 1e-9,
    wander: [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3],
    proof_among: 10,
    gain: 0.5,
    firmer: 1.1,
    rho: 1e-5,
    proven: 6e-4,
    beyond: 1e-6,
    pull: 1e-3,
    hold: 1e4,
    tightest: 3,
    rounds: 16,
    new: 1e-3,
    knee: 0.1,
    sharper: 0.25,
    blunt: 0.01,
    same_knee: 0.5,
    foot: 0.3,
    off: 0.25,
    knee_ns: 10.0,
    knee_grains: 0.05,
    same_weight: 0.05,
    spread: 16,
    soonest_ns: 1_000.0,
    looser: 10.0,
    lasting: 4,
    further: 0.1,
    delay: 0.9,
    same_delay: 0.02,
    rates: 1e-4,
    step_rounds: 16,
    follow: 1e-4,
    stiffer: 10.0,
    instants: 2,
    smallest_step: 200e-9,
    more_steps: 2,
    steady: [None, Some(1e-5), Some(1e-6)],
    level: 2e-4,
    suspects: 3,
    most_steps: 16,
    disagree_one_in: 10,
};
