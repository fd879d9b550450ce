//! A chain of messages there and back, on clocks with a tick of forty delays.
//!
//! Twenty nodes pass a message on from node 0 to node 19 and back; it takes 250 us
//! from node to node, but clocks tick every 10 ms, such that it seems to take
//! -9.75 ms on its way there and -0.25 ms on its way back. Each clock ticks just
//! between receiving the message and sending it on: a logical clock that keeps
//! all local intervals gains 10 ms at each node and round, while
//! physical time advances by 10 ms. Without control it runs away.
//!
//! A round takes `38 mu + 38 delta` at least, 9.538 ms of 10 ms, so the clocks can
//! keep 462 us of 20 ticks: gamma has to fall to 0.0023. Only with `gamma_D` below
//! that the leads stay bounded; with the 0.17 that the thesis reports they would
//! grow by 33.5 ms per round.
//!
//! Source: Rabenseifner 2000, section 6.3.2.

use retime::clock::{
    CombinedConstants, Control, LogicalTimes, MultiPass, Passes, Regulation, Steps, multi_pass,
};
use retime::{MinimalDelay, Ticks, Timestamp};
use retime_sim::{Experiment, Length, RingChain};

use crate::simulated::{Failure, Simulated};
use crate::table::{Row, Table};

/// The delay of a message, and the same assumed, in nanoseconds.
pub const MU: i64 = 250_000;
/// The delay that is assumed in the lower part of figure 6.4.
pub const LESS: i64 = 150_000;
/// Least distance of events, in nanoseconds.
pub const DELTA: i64 = 1_000;
/// The figures that the thesis prints for the second round, in milliseconds.
pub const PRINTED: [f64; 4] = [39.368, 39.618, 49.036, 49.286];

/// The example.
#[derive(Debug)]
pub struct Ring {
    trace: Simulated,
    rounds: usize,
}

/// The times of one run, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct RingTimes {
    /// In the second round: node 0 sends, node 1 receives it, node 1 answers,
    /// node 0 receives that.
    pub second_round: [f64; 4],
    /// The largest lead over physical time in each round.
    pub advance: Vec<f64>,
    /// The time that a message takes on average: on its way from node 0, and back.
    pub taken: [f64; 2],
}

impl Ring {
    /// So many rounds of it.
    pub fn new(rounds: usize) -> Result<Self, Failure> {
        let chain = RingChain {
            length: Length::iterations(rounds as u64),
            ..RingChain::default()
        };
        let experiment = Experiment::new(&chain).clocks(chain.coarse_clocks());
        let memory = experiment.timer(RingChain::TIMER).in_memory()?;
        Ok(Self {
            trace: Simulated::new(memory)?,
            rounds,
        })
    }

    /// Under the given control, with an assumed delay of `mu` nanoseconds.
    pub fn run(&self, mu: i64, control: Control) -> Result<RingTimes, Failure> {
        let times = self.trace.regulated(&Regulation {
            delay: MinimalDelay::Uniform(Ticks(mu)),
            distance: Ticks(DELTA).into(),
            control,
            steps: Steps::default(),
        })?;
        let stamps = self.trace.stamps(&times);
        let [zero, one] = [0, 1].map(|clock| self.trace.nodes(clock).range().start);
        // Node 0 has two events in each round, node 1 has four.
        let second = [zero + 2, one + 4, one + 7, zero + 3];
        Ok(RingTimes {
            second_round: second.map(|node| stamps[node].0 as f64 / 1e6),
            advance: (0..self.rounds)
                .map(|round| self.advance(&times, round))
                .collect(),
            taken: [true, false].map(|there| self.taken(&stamps, there)),
        })
    }

    /// The mean time of messages to higher nodes, or to lower ones.
    fn taken(&self, stamps: &[Timestamp], there: bool) -> f64 {
        let nodes = self.trace.causality.nodes();
        let message = |receive| Some((self.trace.causality.message_source(receive)?, receive));
        let messages = nodes.all().filter_map(message);
        let on_its_way =
            |(send, receive): &_| (nodes.location(*send) < nodes.location(*receive)) == there;
        let of = messages.filter(on_its_way);
        let taken = of.map(|(send, receive)| {
            stamps[receive.index()].0 as f64 - stamps[send.index()].0 as f64
        });
        let (count, sum) = taken.fold((0_u32, 0.0), |(count, sum), it| (count + 1, sum + it));
        sum / f64::from(count.max(1)) / 1e6
    }

    fn advance(&self, times: &LogicalTimes, round: usize) -> f64 {
        let clocks = 0..self.trace.len();
        let of_clock = |clock: usize| {
            let nodes = self.trace.nodes(clock);
            let per_round = nodes.len() / self.rounds;
            let of_round = nodes.skip(round * per_round).take(per_round);
            self.trace.largest_lead(times, of_round)
        };
        clocks.map(of_clock).max().unwrap_or_default() as f64 / 1e6
    }

    /// With one gamma for all, found in several passes, and without delta.
    pub fn multi_pass(&self, limits: MultiPass) -> Result<Passes, Failure> {
        let delay = MinimalDelay::Uniform(Ticks(MU));
        let Simulated {
            causality, clocks, ..
        } = &self.trace;
        Ok(multi_pass(causality, clocks, &delay, limits, &())?)
    }
}

/// All four controllers of 2000, the last at the given gamma.
pub fn controllers(gamma_d: f64) -> Control {
    Control::Combined(CombinedConstants {
        d: Some(gamma_d),
        ..CombinedConstants::default()
    })
}

/// The events of the second round that the thesis gives times of.
const EVENTS: [&str; 4] = [
    "node 0 sends",
    "node 1 receives",
    "node 1 answers",
    "node 0 receives",
];

/// The figures beside those of the thesis.
pub fn table() -> Result<Table, Failure> {
    let ring = Ring::new(200)?;
    let held = ring.run(MU, controllers(0.0))?;
    let figures = held.second_round.iter().zip(PRINTED).zip(EVENTS);
    let mut rows: Vec<Row> = figures
        .map(|((&ours, printed), event)| {
            Row::new(
                format!("second round: {event}"),
                format!("{printed:.3} ms"),
                format!("{ours:.3} ms"),
                format!("{:+.3} ms, transient", ours - printed),
            )
        })
        .collect();
    let advance = |times: &RingTimes, round: usize| format!("{:.1} ms", times.advance[round - 1]);
    for (what, printed, control) in [
        ("gamma_D = 0", "bounded", controllers(0.0)),
        ("gamma_D = 0.17", "-", controllers(0.17)),
        ("gamma_D = 0.98, the default", "-", controllers(0.98)),
        ("no control", "unbounded", Control::Constant(1.0 - 2e-5)),
    ] {
        let times = ring.run(MU, control)?;
        for round in [10, 200] {
            let quantity = format!("largest lead in round {round}, {what}");
            rows.push(Row::new(quantity, printed, advance(&times, round), ""));
        }
    }
    let passes = ring.multi_pass(MultiPass::default())?;
    rows.push(Row::new(
        "multi-pass control: gamma after so many passes",
        "-",
        format!("{:.5} after {}", passes.gamma.factor(), passes.count),
        "not in the thesis",
    ));
    rows.extend(lower_rows(&ring, &held)?);
    Ok(Table {
        title: "20 nodes, clock tick 10 ms, message delay 250 us; mu = 250 us, delta = 1 us".into(),
        source: "Rabenseifner 2000, section 6.3.2",
        rows,
        notes: vec![
            "The thesis prints that messages on the way back seem to take -250 ms. Clocks that give \
             its -9.750 ms on the way there, a tick less 250 us, give -250 us where none ticks: \
             that is run here."
                .into(),
            "The thesis does not say what the clocks show before the first message, nor its \
             gamma_D. From send to receive node 0 waits for 38 messages and 37 deltas, 9.537 ms, \
             plus what gamma leaves of 19 clock ticks. The thesis' 9.918 ms mean a gamma of \
             0.0020 there, our 10.098 ms one of 0.0030; in the steady state it has \
             to be 0.0023. In the second round gamma is still settling."
                .into(),
            "The text says that the controllers lower gamma to about 0.17. That can only be \
             transient: a gamma of 0.17 throughout gains 33.5 ms in every round of 10 ms, as the \
             row with gamma_D = 0.17 shows."
                .into(),
            "The lower part of figure 6.4 assumes 150 us. The thesis calls it less correct and \
             still sensible, and gives no figures."
                .into(),
        ],
    })
}

/// The lower part of figure 6.4 beside the middle one: a delay that is assumed too small.
fn lower_rows(ring: &Ring, held: &RingTimes) -> Result<Vec<Row>, Failure> {
    let less = ring.run(LESS, controllers(0.0))?;
    let times = less.second_round.map(|it| format!("{it:.3}"));
    let taken = |times: &RingTimes| {
        let us = times.taken.map(|it| format!("{:.0}", 1e3 * it));
        format!("{} us there, {} us back", us[0], us[1])
    };
    let lead = |round: usize| format!("{:.1} ms", less.advance[round - 1]);
    Ok(vec![
        Row::new("messages take, mu = 250 us", "250 us", taken(held), ""),
        Row::new(
            "messages take, mu = 150 us",
            "drawn",
            taken(&less),
            "truly 250 us",
        ),
        Row::new(
            "second round, mu = 150 us",
            "drawn",
            format!("{} ms", times.join(", ")),
            "",
        ),
        Row::new(
            "largest lead in round 10, mu = 150 us",
            "bounded",
            lead(10),
            "",
        ),
        Row::new(
            "largest lead in round 200, mu = 150 us",
            "bounded",
            lead(200),
            "",
        ),
    ])
}
