//! Transfer rates between all pairs, and what the assumed delay does to them: figure 6.3.
//!
//! The thesis shows a real trace: 16 processes, 5.34 s, 56,606 local intervals, clocks up to
//! 1.5 ms apart in a network where the fastest message of a pair takes 620 to 3158 us. As recorded,
//! what node 2 sends seems to arrive at up to 270 kB/s; corrected, rates are as those of other
//! nodes. It prints matrices of the mean rate by sender and receiver, before and after, and for
//! three assumed delays how much local intervals change.
//!
//! The trace is not available. Here a program stands for it that has what is printed: so many processes, so
//! long, about as many events; the clocks behind by what the thesis' protocol says (the last
//! row of corrections with `mu` = 1000 us); for each pair a least delay between the printed ones. All send to
//! all, more to neighbours. Only controller A is active, and amortisation is 0.1 % over at least
//! what 1000 us take, as there.
//!
//! Source: Rabenseifner 2000, section 6.3.1, figure 6.3.

use retime::causality::EventNode;
use retime::clock::{AmortizationRate, Control};
use retime::{Distortion, MinimalDelay, Ticks, Timestamp};
use retime_sim::{Clock, Duration, Experiment, Random};

use crate::script::Script;
use crate::simulated::{Failure, Simulated};
use crate::table::{Row, Table};

/// Processes.
const NODES: u32 = 16;
/// How far each clock is behind, in units of 0.1 us: "new timestamps - old timestamps at the last
/// event" with mu = 1000 us.
const BEHIND: [i64; 16] = [
    152, 14_885, 0, 6_455, 1_850, 15_002, 7_830, 7_470, 2_067, 16_069, 766, 7_774, 1_430, 15_825,
    9_634, 8_395,
];
/// The printed corrections at the last event with mu = 500 us, likewise.
const PRINTED_AHEAD: [i64; 16] = [
    0, 11_534, 1_186, 3_070, 1_886, 11_617, 4_447, 4_085, 2_006, 12_684, 0, 4_334, 0, 12_413,
    8_874, 4_823,
];
/// The least and the largest least delay of a pair, in nanoseconds.
const LEAST: (u64, u64) = (620_200, 3_157_700);
/// The time that messages take beyond it, in nanoseconds on average.
const BEYOND: f64 = 300_000.0;
/// Rounds, each of one message from everybody to everybody.
const ROUNDS: u64 = 110;
/// Bytes to neighbours, and to others.
const BYTES: (u64, u64) = (150, 10);
/// The largest difference of clocks that is expected.
const EXPECTED: Ticks = Ticks(1_000_000);
/// The assumed delays of the figure, in nanoseconds.
pub const ASSUMED: [i64; 3] = [250_000, 500_000, 1_000_000];

/// The least time that messages of each pair take, the same both ways.
fn least_delays(random: &mut Random) -> Vec<Vec<u64>> {
    let nodes = NODES as usize;
    let mut least = vec![vec![0; nodes]; nodes];
    let pairs = (0..nodes).flat_map(|one| (0..one).map(move |other| (one, other)));
    for (one, other) in pairs {
        let drawn = Duration::uniform(LEAST.0, LEAST.1).draw(random);
        least[one][other] = drawn;
        least[other][one] = drawn;
    }
    least
}

/// The program that stands for the one of the thesis.
fn program() -> Script {
    let mut random = Random::new(63, 0);
    let nodes = NODES as usize;
    let least = least_delays(&mut random);
    let mut script = Script::new(NODES);
    let mut now = vec![0_u64; nodes];
    let step = Duration::uniform(5_000, 40_000);
    for _ in 0..ROUNDS {
        let mut sent = vec![vec![0; nodes]; nodes];
        for from in 0..nodes {
            now[from] += Duration::uniform(30_000_000, 50_000_000).draw(&mut random);
            for to in others(from) {
                now[from] += step.draw(&mut random);
                sent[from][to] = now[from];
            }
        }
        for to in 0..nodes {
            for from in others(to) {
                let beyond = Duration::exponential(0, BEYOND).draw(&mut random);
                let arrives = sent[from][to] + least[from][to] + beyond;
                now[to] = arrives.max(now[to] + step.draw(&mut random));
                let (sent, received) = (sent[from][to], now[to]);
                let (from, to) = (from as u32, to as u32);
                script.message(from, sent, to, received, bytes(from, to));
            }
        }
    }
    script
}

/// All nodes but one, beginning with the one after it.
fn others(node: usize) -> impl Iterator<Item = usize> {
    (1..NODES as usize).map(move |by| (node + by) % NODES as usize)
}

/// The messages that a node sends to another.
fn bytes(from: u32, to: u32) -> u64 {
    if from.abs_diff(to) == 1 {
        BYTES.0
    } else {
        BYTES.1
    }
}

/// The trace, before any correction.
pub fn recorded() -> Result<Simulated, Failure> {
    let clock = |behind: i64| Clock {
        offset: -100 * behind,
        ..Clock::TRUE
    };
    let clocks = BEHIND.map(clock).to_vec();
    let script = program();
    Simulated::new(Experiment::new(&script).clocks(clocks).in_memory()?)
}

/// The trace as a correction leaves it.
#[derive(Clone, Debug)]
pub struct TransferFigures {
    /// The stamps of all events.
    pub stamps: Vec<Timestamp>,
    /// The change of local intervals.
    pub change: Distortion,
    /// How far the last event of each node was moved, in nanoseconds.
    pub moved: Vec<i64>,
}

/// Corrects it with an assumed delay, in nanoseconds.
pub fn corrected(trace: &Simulated, mu: i64) -> Result<TransferFigures, Failure> {
    let delay = MinimalDelay::Uniform(Ticks(mu));
    let times = trace.controlled(&delay, Control::Constant(1.0 - 2e-5))?;
    let rate: AmortizationRate = "0.1%".parse()?;
    let stamps = trace.amortized(&delay, rate, EXPECTED, &times)?;
    let change = Distortion::measure(&trace.causality, &stamps, &())?;
    let raw = trace.recorded();
    let last = |clock: usize| trace.nodes(clock).next_back();
    let moved = (0..trace.len()).filter_map(last);
    let moved = moved.map(|node| stamps[node.index()].0 as i64 - raw[node.index()].0 as i64);
    Ok(TransferFigures {
        moved: moved.collect(),
        stamps,
        change,
    })
}

/// The mean transfer rate of each pair, in kB/s: bytes by the time that messages seem to take.
#[derive(Clone, Debug)]
pub struct Rates(Vec<Vec<Mean>>);

/// The messages of a pair.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    bytes: u64,
    /// Nanoseconds.
    took: i64,
}

impl Rates {
    /// The rates by the given stamps of all events.
    pub fn of(trace: &Simulated, stamps: &[Timestamp]) -> Self {
        let nodes = trace.causality.nodes();
        let mut all = vec![vec![Mean::default(); trace.len()]; trace.len()];
        let message =
            |receive: EventNode| Some((trace.causality.message_source(receive)?, receive));
        for (send, receive) in nodes.all().filter_map(message) {
            let [from, to] = [send, receive].map(|node| nodes.location(node));
            let pair = &mut all[from.as_usize()][to.as_usize()];
            pair.bytes += bytes(from.0, to.0);
            pair.took += stamps[receive.index()].0 as i64 - stamps[send.index()].0 as i64;
        }
        Self(all)
    }

    /// The rate from one node to another; nothing if messages seem to take no time, or less.
    pub fn get(&self, from: usize, to: usize) -> Option<f64> {
        let Mean { bytes, took } = *self.0.get(from)?.get(to)?;
        (took > 0).then(|| bytes as f64 / took as f64 * 1e6)
    }

    /// The largest factor by which the rate of a pair is another than the true one; infinite where
    /// it is none.
    pub fn largest_factor(&self, truth: &Self) -> f64 {
        let nodes = 0..NODES as usize;
        let pairs = nodes.flat_map(|from| others(from).map(move |to| (from, to)));
        let factor = |(from, to)| match (self.get(from, to), truth.get(from, to)) {
            (Some(own), Some(true_rate)) => (own / true_rate).max(true_rate / own),
            _ => f64::INFINITY,
        };
        pairs.map(factor).fold(1.0, f64::max)
    }

    /// The messages that a node sends, to each in turn.
    fn row(&self, from: usize) -> String {
        let cell = |to: usize| match self.get(from, to) {
            _ if from == to => "--".into(),
            None => "rev".into(),
            Some(rate) => format!("{rate:.0}"),
        };
        let cells = (0..NODES as usize).map(|to| format!("{:>3}", cell(to)));
        cells.collect::<Vec<_>>().join(" ")
    }
}

/// The largest and the mean change of local intervals that the thesis prints, by assumed delay.
const PRINTED: [(i64, &str); 3] = [
    (250_000, "0.003 %, 0.001 %"),
    (500_000, "1.137 %, 0.004 %"),
    (1_000_000, "8.522 %, 0.032 %"),
];

/// The figures beside those of the thesis.
pub fn table() -> Result<Table, Failure> {
    let trace = recorded()?;
    let truth = Rates::of(&trace, trace.truth());
    let before = Rates::of(&trace, &trace.recorded());
    let mut rows = vec![factor_row("recorded", &before, &truth)];
    let mut after = before.clone();
    for (mu, printed) in PRINTED {
        let outcome = corrected(&trace, mu)?;
        let rates = Rates::of(&trace, &outcome.stamps);
        let us = mu / 1_000;
        rows.push(factor_row(&format!("mu = {us} us"), &rates, &truth));
        let change = &outcome.change;
        let ours = format!(
            "{:.3} %, {:.3} %",
            100.0 * change.largest,
            100.0 * change.mean
        );
        rows.push(Row::new(
            format!(
                "    largest and mean change of {} intervals",
                change.intervals
            ),
            printed,
            ours,
            "",
        ));
        if mu == 500_000 {
            rows.extend(moved_rows(&outcome.moved));
            after = rates;
        }
    }
    rows.extend(matrix_rows("recorded", &before));
    rows.extend(matrix_rows("mu = 500 us", &after));
    Ok(Table {
        title: "16 nodes, 5 s, clocks up to 1.6 ms apart: transfer rates by sender and receiver"
            .into(),
        source: "Rabenseifner 2000, section 6.3.1, figure 6.3",
        rows,
        notes: vec![
            "The trace of the thesis is not available. Ours has what is printed of it: the nodes, \
             the length, about as many events, the clocks behind by what its protocol corrects \
             with mu = 1000 us, and for each pair a least delay of 620 to 3158 us. Everybody sends \
             to everybody. So its corrections with mu = 500 us can be compared, single rates, \
             and the largest change of an interval, cannot: as recorded, those printed from node 2 to 1, 5 and 9 are 120, 270 and 240 \
             kB/s, and 1 to 40 elsewhere."
                .into(),
            "Rates are in kB/s, bytes by the time that messages seem to take on average; rev where \
             that is none or less. Rows are senders, columns receivers, both from 0 to 15; to \
             neighbours go 150 bytes, to others 10."
                .into(),
        ],
    })
}

fn factor_row(name: &str, rates: &Rates, truth: &Rates) -> Row {
    let factor = rates.largest_factor(truth);
    let ours = if factor.is_finite() {
        format!("{factor:.2}")
    } else {
        "some reversed".into()
    };
    Row::new(
        format!("{name}: rates wrong by up to a factor of"),
        "-",
        ours,
        "",
    )
}

/// The last event of each node, printed and ours.
fn moved_rows(moved: &[i64]) -> Vec<Row> {
    let ms = |of: &[i64], unit: f64| {
        let all: Vec<String> = of
            .iter()
            .map(|it| format!("{:.2}", *it as f64 / unit))
            .collect();
        all.join(" ")
    };
    let quarters = PRINTED_AHEAD.chunks(4).zip(moved.chunks(4));
    let quarters = quarters.zip(["0 to 3", "4 to 7", "8 to 11", "12 to 15"]);
    let row = |((printed, ours), name)| {
        let name = format!("    moved at the end, {name}, ms");
        Row::new(name, ms(printed, 1e4), ms(ours, 1e6), "")
    };
    quarters.map(row).collect()
}

fn matrix_rows(name: &str, rates: &Rates) -> Vec<Row> {
    let row = |from: usize| Row::new(format!("{name}: from {from}"), "-", rates.row(from), "");
    (0..NODES as usize).map(row).collect()
}
