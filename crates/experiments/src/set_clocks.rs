//! Clocks that are set every second: the CRAY T3E of figure 7.1.
//!
//! The thesis measured clocks of eight processors by round trips of `shmem_put`. They are set
//! forward and back each second, at once, by up to about 1000 ns, differ by up to 2300 ns, and a
//! message takes about 1150 ns. So messages can be faster than clocks are wrong, and the controlled
//! clock has something to repair.
//!
//! Processor 4 exchanges two messages with another each turn, by which the differences are measured:
//! from round trips that take at most 150 ns more than the fastest, as in the figure.
//!
//! Source: Rabenseifner 2000, section 7.4, figure 7.1.

use retime::clock::AmortizationRate;
use retime::{ClockId, Edge, Edges, MinimalDelay, Ticks};
use retime_methods::convex_hull;
use retime_sim::{Clock, Duration, Experiment, Jump, Random};

use crate::reversed::violated;
use crate::ring::controllers;
use crate::script::Script;
use crate::simulated::{Failure, Simulated};
use crate::table::{Row, Table};

/// Processors, and the one that measures.
const PROCESSORS: u32 = 8;
const CLIENT: u32 = 4;
/// The most that a clock is off, in nanoseconds: two differ by twice that.
const OFF: i64 = 1_150;
/// The most that a clock is set by, in nanoseconds: a difference of two jumps by twice that.
const SET: i64 = 500;
/// Nanoseconds.
const SECOND: i64 = 1_000_000_000;
/// Seconds of the run, and exchanges in each.
const SECONDS: u64 = 10;
const EXCHANGES: u64 = 2_000;
/// The time that a message takes: at least 1100 ns, and 50 ns more on average.
const WAY: Duration = Duration::exponential(1_100, 50.0);
/// The part of it that is assumed, in nanoseconds.
const MU: i64 = 1_000;
/// Round trips are used up to so many nanoseconds above the fastest.
const SLACK: i64 = 150;

/// The clock of a processor: right in rate, and set each second.
fn clock(processor: u32) -> Clock {
    let mut random = Random::new(1998, u64::from(processor));
    let mut off = random.within(OFF as f64) as i64;
    let offset = off;
    let mut set = |second: u64| {
        let next = off + random.within(SET as f64) as i64;
        let by = next.clamp(-OFF, OFF) - off;
        off += by;
        Jump {
            at: second * 1_000_000_000,
            by,
        }
    };
    Clock {
        offset,
        jumps: (1..SECONDS).map(&mut set).collect(),
        ..Clock::TRUE
    }
}

/// The exchanges of the client with each other processor in turn.
fn program() -> Script {
    let mut script = Script::new(PROCESSORS);
    let mut random = Random::new(29, 4);
    let servers: Vec<u32> = (0..PROCESSORS).filter(|it| *it != CLIENT).collect();
    for (turn, &server) in (0..SECONDS * EXCHANGES).zip(servers.iter().cycle()) {
        let sent = turn * 1_000_000_000 / EXCHANGES + 10_000;
        let there = sent + WAY.draw(&mut random);
        let answered = there + 100;
        let back = answered + WAY.draw(&mut random);
        script.message(CLIENT, sent, server, there, 8);
        script.message(server, answered, CLIENT, back, 8);
    }
    script
}

/// The measured offsets, and the messages as recorded and corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetClocksFigures {
    /// Half the fastest round trip, in nanoseconds.
    pub way: i64,
    /// The largest difference between two clocks that was measured, in nanoseconds.
    pub difference: i64,
    /// The largest change of a difference from one second to the next, in nanoseconds.
    pub jump: i64,
    /// Messages.
    pub messages: u64,
    /// Messages that arrive before they are sent: by the clocks, by Duda's lines over them, and by
    /// the controlled clock. Lines may have no solution.
    pub reversed: [Option<u64>; 3],
}

/// Runs it.
pub fn run() -> Result<SetClocksFigures, Failure> {
    let script = program();
    let clocks = (0..PROCESSORS).map(clock).collect();
    let trace = Simulated::new(Experiment::new(&script).clocks(clocks).in_memory()?)?;
    let delay = MinimalDelay::Uniform(Ticks(MU));
    let times = trace.controlled(&delay, controllers(0.98))?;
    let rate = AmortizationRate::default();
    let controlled = trace.amortized(&delay, rate, Ticks(0), &times)?;
    let reversed = |stamps: &[_]| Ok::<u64, Failure>(trace.reversed(stamps)?.violated());
    let measured = measured(&trace)?;
    Ok(SetClocksFigures {
        way: measured.way,
        difference: measured.difference,
        jump: measured.jump,
        messages: trace.causality.messages(),
        reversed: [
            Some(reversed(&trace.recorded())?),
            lines(&trace)?,
            Some(reversed(&controlled)?),
        ],
    })
}

/// Messages that are reversed by one line for each clock; nothing if no lines satisfy all.
fn lines(trace: &Simulated) -> Result<Option<u64>, Failure> {
    let edges = trace.edges()?;
    let least = |_: &Edge| 0;
    let lines = convex_hull(&edges, least, ClockId(CLIENT), &()).ok();
    Ok(lines.map(|it| violated(&edges, &it).count() as u64))
}

/// The offsets of clocks that round trips show, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredOffsets {
    way: i64,
    difference: i64,
    jump: i64,
}

/// A message to a processor and its answer.
#[derive(Clone, Copy)]
struct RoundTrip {
    sent: i64,
    took: i64,
    /// How far the processor is ahead of the client.
    ahead: i64,
}

/// Measures as the thesis did, by the round trips from and to the client.
fn measured(trace: &Simulated) -> Result<MeasuredOffsets, Failure> {
    let edges = trace.edges()?;
    let servers = (0..PROCESSORS).filter(|it| *it != CLIENT);
    let trips: Vec<Vec<RoundTrip>> = servers.map(|it| round_trips(&edges, ClockId(it))).collect();
    let took = trips.iter().flatten().map(|it| it.took);
    let fastest = took.min().unwrap_or_default();
    let mut all = MeasuredOffsets {
        way: fastest / 2,
        ..MeasuredOffsets::default()
    };
    for mut of_server in trips {
        of_server.retain(|it| it.took <= fastest + SLACK);
        for trip in &of_server {
            all.difference = all.difference.max(trip.ahead.abs());
        }
        for pair in of_server.windows(2) {
            // Between two settings only delays differ.
            if pair[0].sent / SECOND != pair[1].sent / SECOND {
                all.jump = all.jump.max((pair[1].ahead - pair[0].ahead).abs());
            }
        }
    }
    Ok(all)
}

/// The exchanges with one processor, in order.
fn round_trips(edges: &Edges, server: ClockId) -> Vec<RoundTrip> {
    let client = ClockId(CLIENT);
    let between = |from: ClockId, to: ClockId| {
        let of = |edge: &&Edge| edge.from == from && edge.to == to;
        let mut found: Vec<Edge> = edges.all().iter().filter(of).copied().collect();
        found.sort_by_key(|edge| edge.sent);
        found
    };
    let there = between(client, server).into_iter();
    let both = there.zip(between(server, client));
    let trip = |(there, back): (Edge, Edge)| RoundTrip {
        sent: there.sent,
        took: there.latency() + back.latency(),
        ahead: (there.latency() - back.latency()) / 2,
    };
    both.map(trip).collect()
}

/// The figures beside those of the thesis.
pub fn table() -> Result<Table, Failure> {
    let it = run()?;
    let ns = |value: i64| format!("{value} ns");
    let reversed = |count: Option<u64>| {
        count.map_or("no lines satisfy all".into(), |count| {
            format!("{count} of {}", it.messages)
        })
    };
    let [recorded, lines, controlled] = it.reversed.map(reversed);
    Ok(Table {
        title: "8 processors whose clocks are set each second, 10 s".into(),
        source: "Rabenseifner 2000, section 7.4, figure 7.1",
        rows: vec![
            Row::new("half the fastest round trip", "around 1150 ns", ns(it.way), ""),
            Row::new("largest difference of clocks", "2300 ns", ns(it.difference), CHOSEN),
            Row::new("largest jump of a difference", "around 1000 ns", ns(it.jump), CHOSEN),
            Row::new("messages reversed, recorded", "possible", recorded, ""),
            Row::new("    by one line per clock, Duda", "-", lines, ""),
            Row::new("    by the controlled clock", "none", controlled, ""),
        ],
        notes: vec![
            "The figure is a measurement of 1998. Ours simulates what its text says: each clock is set \
             every second, by up to 500 ns and to within 1150 ns, so that differences jump by up to \
             1000 ns and reach 2300 ns; messages take 1100 ns and more. Differences are between \
             processor 4 and each other, measured as in the figure, to 75 ns."
                .into(),
        ],
    })
}

/// Why two figures need not agree.
const CHOSEN: &str = "clocks are set at random";
