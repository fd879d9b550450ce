//! Liu's experiment: eight hosts, and the shifts that messages tell.
//!
//! Each host generates 1000 events, half of them messages to a random other host; clocks are off
//! by table 1, messages take at least what table 2 says, and up to 0.5 s more. Host 1 is the base.
//! The paper prints how many messages arrive before they are sent as recorded (table 3), the
//! pseudo-shifts by the fastest messages from the base (table 4), what is still reversed by these
//! (table 5), the adjustments (table 6) and the adjusted shifts (table 7), and draws new against
//! original times (figure 2).
//!
//! # Tables 3 and 5 do not belong together
//!
//! How many messages of a pair are reversed follows from tables 1 and 2 alone: of `n` messages
//!
//! ```text
//! n P(D_ij + U < S_i - S_j)                  as recorded, U uniform in 0 to 0.5 s
//! n P(D_ij + U < S_i - S_j - (S'_i - S'_j))  by the pseudo-shifts
//! ```
//!
//! Each host sends 1000 / 2 / 7 = 71 messages to each other. Wherever `S_i - S_j` is above
//! `D_ij` + 0.5 s all of them are reversed as recorded; table 3 has 21 to 39 there. From host 2 to
//! host 4 it has 34, so 34 messages; of these 13 +- 3 can be reversed by the pseudo-shifts, where
//! table 5 has 27. Of 71, 28 would be.
//!
//! Section 4 says how events come to whoever looks at them: hosts send [segments](crate::segments), and
//! each puts what has come on its own clock. That is run too, by segments of 5 s and each host as the base.
//!
//! ```
//! use retime_experiments::pseudo_sync::{recorded_share, shifted_share};
//! // Hosts are counted from 1.
//! assert_eq!(recorded_share(2, 4), 1.0);
//! let share = shifted_share(2, 4);
//! assert!((share - 0.386).abs() < 0.001);
//! assert!((34.0 * share - 13.1).abs() < 0.1 && (1_000.0 / 14.0 * share - 27.6).abs() < 0.1);
//! ```
//!
//! Source: Liu, A Method of Fast Synchronizing Asynchronous Clocks in Distributed Applications,
//! section 5.

use retime::estimate::Estimate;
use retime::{ClockId, Edge, Edges};
use retime_methods::pseudo_synchronisation;
use retime_sim::Random;

use crate::reversed::violated;
use crate::segments::{SegmentFigures, by_segments};
use crate::simulated::Failure;
use crate::table::{Row, Table};

/// Hosts.
const HOSTS: usize = 8;
/// Table 1: how far each clock is ahead of that of host 1, in units of 0.1 ms.
pub const SHIFTS: [i64; HOSTS] = [0, 19_800, 2_950, 10_617, 9_566, 3_391, 967, 17_971];
/// Table 2: what messages take at least, by sender and receiver, likewise.
#[rustfmt::skip]
const LEAST: [[i64; HOSTS]; HOSTS] = [
    [0, 631, 608, 3_495, 2_291, 2_849, 4_302, 2_466],
    [153, 0, 1_269, 872, 669, 4_545, 2_586, 261],
    [1_563, 2_048, 0, 4_451, 1_286, 1_837, 911, 1_217],
    [4_145, 4_455, 4_380, 0, 3_777, 2_321, 1_713, 4_325],
    [1_073, 2_895, 2_293, 4_774, 0, 240, 2_511, 3_437],
    [4_231, 3_467, 2_469, 2_918, 3_950, 0, 2_245, 3_702],
    [529, 4_947, 2_412, 4_404, 1_057, 265, 0, 4_819],
    [1_694, 4_137, 2_678, 2_088, 4_051, 3_332, 3_010, 0],
];
/// The time that queueing adds, at most.
const QUEUEING: i64 = 5_000;
/// Table 3: messages reversed as recorded.
#[rustfmt::skip]
const TABLE_3: [[usize; HOSTS]; HOSTS] = [
    [0, 0, 0, 0, 0, 0, 0, 0],
    [39, 0, 29, 34, 21, 28, 39, 17],
    [17, 0, 0, 0, 0, 0, 13, 0],
    [34, 0, 24, 0, 0, 30, 33, 0],
    [21, 0, 36, 0, 0, 35, 30, 0],
    [0, 0, 0, 0, 0, 0, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 0],
    [33, 0, 36, 36, 26, 38, 30, 0],
];
/// Table 4: the pseudo-shifts of hosts 2 to 8.
const TABLE_4: [i64; 7] = [20_581, 3_679, 14_202, 11_904, 6_293, 5_389, 20_465];
/// Table 5: messages reversed by these.
#[rustfmt::skip]
const TABLE_5: [[usize; HOSTS]; HOSTS] = [
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 27, 5, 0, 18, 17],
    [0, 0, 0, 0, 6, 3, 25, 8],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 7, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0],
];
/// Table 6: by how much each host is adjusted for each other, from host 4 on.
#[rustfmt::skip]
const TABLE_6: [[i64; 7]; 5] = [
    [-1_799, 0, 0, 0, 0, 0, 0],
    [-870, -286, 0, 0, 0, 0, 0],
    [0, -246, 0, -308, 0, 0, 0],
    [-988, -2_658, 0, 0, 0, 0, 0],
    [-1_421, -426, 0, 0, 0, 0, 0],
];
/// Table 7: the adjusted shifts.
const TABLE_7: [i64; 7] = [20_581, 3_679, 12_403, 11_034, 5_985, 2_731, 19_044];
/// Host 1.
const BASE: ClockId = ClockId(0);

/// The messages of a run, by local stamps. Each host generates events at a mean distance of
/// `between`, in units of 0.1 ms.
pub fn experiment(seed: u64, between: f64) -> Edges {
    let mut all = Vec::new();
    let mut extents = Vec::new();
    for from in 0..HOSTS {
        // Which events, and how long messages take, does not depend on when they are.
        let mut chance = Random::new(seed, from as u64);
        let mut gaps = Random::new(!seed, from as u64);
        let mut time = 20_000;
        let first = time;
        for _ in 0..1_000 {
            time += gaps.exponential(between) as i64;
            if chance.uniform() < 0.5 {
                let to = (from + 1 + (chance.uniform() * 7.0) as usize) % HOSTS;
                let delay = LEAST[from][to] + (chance.uniform() * QUEUEING as f64) as i64;
                let received = time + delay + SHIFTS[to];
                let ends = [ClockId(from as u32), ClockId(to as u32)];
                all.push(Edge::message(
                    ends[0],
                    time + SHIFTS[from],
                    ends[1],
                    received,
                ));
            }
        }
        extents.push(Some((first + SHIFTS[from], time + SHIFTS[from])));
    }
    Edges::new(all, extents)
}

/// Messages by sender and receiver.
pub type Counts = [[usize; HOSTS]; HOSTS];

/// Counts some messages by their ends.
fn counted<'a>(edges: impl Iterator<Item = &'a Edge>) -> Counts {
    let mut counts = [[0; HOSTS]; HOSTS];
    for edge in edges {
        counts[edge.from.as_usize()][edge.to.as_usize()] += 1;
    }
    counts
}

/// All of them.
pub fn total(counts: &Counts) -> usize {
    counts.iter().flatten().sum()
}

/// The offsets added to each clock by shifts of hosts 2 to 8.
fn shifted(shifts: [i64; 7]) -> Estimate {
    let all = std::iter::once(0).chain(shifts);
    let offset = |shift: i64| Some(retime::estimate::Offset::constant(-shift as f64));
    Estimate {
        offsets: all.map(offset).collect(),
        reference: BASE,
    }
}

/// The shift of each host other than the base.
fn shifts(estimate: &Estimate) -> [i64; 7] {
    std::array::from_fn(|host| -estimate.at(ClockId(host as u32 + 1), 0).round() as i64)
}

/// A run, by the tables of the paper.
#[derive(Clone, Debug)]
pub struct LiuFigures {
    /// Messages.
    pub messages: Counts,
    /// Table 3: those reversed as recorded.
    pub recorded: Counts,
    /// Table 4: the pseudo-shifts of hosts 2 to 8, in units of 0.1 ms.
    pub pseudo: [i64; 7],
    /// Table 5: what they leave reversed.
    pub left: Counts,
    /// Table 6: by how much hosts 4 to 8 are adjusted for hosts 2 to 8.
    pub adjustments: [[i64; 7]; 5],
    /// Table 7: the adjusted shifts.
    pub adjusted: [i64; 7],
    /// Messages that those leave reversed.
    pub left_adjusted: Counts,
    /// Messages that the closure leaves reversed.
    pub left_closed: Counts,
    /// Figure 2: the mean and the largest error of new times, in units of 0.1 ms.
    pub errors: [f64; 2],
}

/// Runs the experiment.
pub fn run(seed: u64, between: f64) -> Result<LiuFigures, Failure> {
    let edges = experiment(seed, between);
    let nothing = |_: &Edge| 0;
    let from_base = edges.all().iter().filter(|edge| edge.from == BASE);
    let extents = vec![None; HOSTS];
    let from_base = Edges::new(from_base.copied().collect(), extents);
    let first = pseudo_synchronisation(&from_base, nothing, false, BASE, &())?;
    let adjusted = pseudo_synchronisation(&edges, nothing, false, BASE, &())?;
    let closed = pseudo_synchronisation(&edges, nothing, true, BASE, &())?;
    let left = |estimate: &Estimate| counted(violated(&edges, estimate));
    Ok(LiuFigures {
        messages: counted(edges.all().iter()),
        recorded: left(&shifted([0; 7])),
        pseudo: shifts(&first),
        left: left(&first),
        adjustments: adjustments(&edges, &first),
        adjusted: shifts(&adjusted),
        left_adjusted: left(&adjusted),
        left_closed: left(&closed),
        errors: errors(&edges, &adjusted),
    })
}

/// How early the earliest message of each pair arrives by the pseudo-shifts; of both ways the earlier
/// counts.
fn adjustments(edges: &Edges, first: &Estimate) -> [[i64; 7]; 5] {
    let mut earliest = [[0_i64; HOSTS]; HOSTS];
    for edge in edges.all() {
        let shift = |clock: ClockId| first.at(clock, 0).round() as i64;
        let took = edge.latency() + shift(edge.to) - shift(edge.from);
        let of_pair = &mut earliest[edge.to.as_usize()][edge.from.as_usize()];
        *of_pair = took.min(*of_pair);
    }
    let of = |to: usize, from: usize| {
        let (own, back) = (earliest[to][from], earliest[from][to]);
        if own < back { own } else { 0 }
    };
    std::array::from_fn(|row| std::array::from_fn(|column| of(row + 3, column + 1)))
}

/// How far new times of sends and receives are from the true ones.
fn errors(edges: &Edges, estimate: &Estimate) -> [f64; 2] {
    let ends = |edge: &Edge| [edge.from, edge.to];
    let error = |clock: ClockId| (SHIFTS[clock.as_usize()] as f64 + estimate.at(clock, 0)).abs();
    let all = || edges.all().iter().flat_map(ends).map(error);
    let count = 2 * edges.all().len().max(1);
    [all().sum::<f64>() / count as f64, all().fold(0.0, f64::max)]
}

/// The share of the messages between two hosts, counted from 1, that is reversed as recorded.
pub fn recorded_share(from: usize, to: usize) -> f64 {
    share(from - 1, to - 1, SHIFTS[from - 1] - SHIFTS[to - 1])
}

/// The share that is by the printed pseudo-shifts.
pub fn shifted_share(from: usize, to: usize) -> f64 {
    let pseudo = |host: usize| if host == 1 { 0 } else { TABLE_4[host - 2] };
    let left = |host: usize| SHIFTS[host - 1] - pseudo(host);
    share(from - 1, to - 1, left(from) - left(to))
}

/// P(D + U < ahead).
fn share(from: usize, to: usize, ahead: i64) -> f64 {
    ((ahead - LEAST[from][to]) as f64 / QUEUEING as f64).clamp(0.0, 1.0)
}

/// The distance of events in the table: the paper's is not printed.
const BETWEEN: f64 = 1_000.0;
/// Runs that totals are taken of.
pub const RUNS: u64 = 20;

/// The figures beside those of the paper.
pub fn table() -> Result<Table, Failure> {
    let one = run(1, BETWEEN)?;
    let mut rows = Vec::new();
    rows.extend(count_rows("table 3, recorded", &TABLE_3, &one.recorded));
    rows.push(shift_row(
        "table 4, shifts of hosts 2 to 8, ms",
        TABLE_4,
        one.pseudo,
    ));
    rows.extend(count_rows("table 5, by these", &TABLE_5, &one.left));
    for (host, (printed, ours)) in (4..).zip(TABLE_6.into_iter().zip(one.adjustments)) {
        let name = format!("table 6, host {host} by hosts 2 to 8, ms");
        rows.push(shift_row(&name, printed, ours));
    }
    rows.push(shift_row("table 7, adjusted, ms", TABLE_7, one.adjusted));
    rows.extend(total_rows(&one)?);
    rows.extend(segment_rows()?);
    Ok(Table {
        title: "pseudo-synchronisation of 8 hosts, 1000 events each".into(),
        source: "Liu, sections 4 and 5, tables 1 to 7 and figure 2",
        rows,
        notes: vec![
            "Tables 1 and 2, the clocks and the least delays, are what is run. Events are a Poisson \
             process; its mean distance, which the paper refers to table 1 for, is not printed. Ours is \
             100 ms for all. It has no influence on any count: clocks only differ by constants."
                .into(),
            "Table 3 has fewer messages than there can be: all 71 of a pair are reversed as recorded \
             where clocks differ by more than a message takes, as from host 2 to 1, 3, 4, 5 and 6. \
             Table 5 has little less than 71 messages a pair give. Of the 34 messages from host 2 to 4 that \
             table 3 counts, the pseudo-shifts could leave 13 reversed; table 5 counts 27."
                .into(),
            "The paper says that the adjusted shifts leave nothing reversed. By its own tables the \
             fastest message from host 5 to 6 is; here some are in most runs."
                .into(),
            "Section 4 has no figures. Four runs, each with every host as the base. That segments are sent each 5 s, that shifts are kept from one to the \
             next, and that events leave once nothing earlier can come is ours. The closure then leaves \
             nothing reversed, also between segments, and comes to the shifts of the whole run. The printed \
             form needs a message from the base to each host before anything can be put in order."
                .into(),
        ],
    })
}

/// The length of a segment, in units of 0.1 ms.
const SEGMENT: i64 = 50_000;
/// Runs by segments, each with every host as the base.
const SEGMENT_RUNS: u64 = 4;

/// Section 4: segments that hosts send, by each host as the base.
fn segment_rows() -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (name, closure) in [("printed", false), ("closure", true)] {
        let all = segments_of_all_hosts(closure)?;
        let range = |of: fn(&SegmentFigures) -> i64| {
            let of_all = || all.iter().map(|(figures, _)| of(figures));
            [of_all().min().unwrap_or(0), of_all().max().unwrap_or(0)]
        };
        let left = range(|it| it.left_reversed as i64);
        let first = range(|it| it.first_left).map(|it| format!("{:.0}", it as f64 / 1e4));
        let held = range(|it| it.most_held as i64);
        let as_whole = all.iter().filter(|(it, whole)| it.shifts == *whole).count();
        let in_order = all.iter().filter(|(it, _)| it.in_order).count();
        let count = all.len();
        let row = |what: &str, printed: &str, ours: String| {
            Row::new(format!("section 4, {name}: {what}"), printed, ours, "")
        };
        rows.extend([
            row(
                "left reversed",
                "none",
                format!("{} to {}", left[0], left[1]),
            ),
            row(
                "events left in order in",
                "-",
                format!("{in_order} of {count}"),
            ),
            row(
                "first event leaves after",
                "-",
                format!("{} to {} s", first[0], first[1]),
            ),
            row(
                "events held at most",
                "-",
                format!("{} to {}", held[0], held[1]),
            ),
            row(
                "shifts of the whole run in",
                "-",
                format!("{as_whole} of {count}"),
            ),
        ]);
    }
    Ok(rows)
}

/// All runs by segments with each host as the base, and the shifts of the whole run.
fn segments_of_all_hosts(closure: bool) -> Result<Vec<(SegmentFigures, Vec<i128>)>, Failure> {
    let mut all = Vec::new();
    for seed in 0..SEGMENT_RUNS {
        let edges = experiment(seed, BETWEEN);
        for base in (0..HOSTS as u32).map(ClockId) {
            let whole = pseudo_synchronisation(&edges, |_| 0, closure, base, &())?;
            let shift = |host: u32| -whole.at(ClockId(host), 0).round() as i128;
            let figures = by_segments(&edges, &SHIFTS, base, closure, SEGMENT)?;
            all.push((figures, (0..HOSTS as u32).map(shift).collect()));
        }
    }
    Ok(all)
}

/// The rows of a matrix that are not all 0, in either.
fn count_rows(name: &str, printed: &Counts, ours: &Counts) -> Vec<Row> {
    let cells = |row: &[usize; HOSTS]| {
        let all: Vec<String> = row.iter().map(|it| format!("{it:>2}")).collect();
        all.join(" ")
    };
    let hosts = (1..).zip(printed.iter().zip(ours));
    let some = hosts.filter(|(_, (printed, ours))| printed.iter().chain(*ours).any(|it| *it > 0));
    some.map(|(host, (printed, ours))| {
        let name = format!("{name}: from {host} to 1 to 8");
        Row::new(name, cells(printed), cells(ours), "")
    })
    .collect()
}

fn shift_row(name: &str, printed: [i64; 7], ours: [i64; 7]) -> Row {
    let ms = |of: [i64; 7]| of.map(|it| format!("{:.0}", it as f64 / 10.0)).join(" ");
    Row::new(name, ms(printed), ms(ours), "")
}

fn total_rows(one: &LiuFigures) -> Result<Vec<Row>, Failure> {
    let runs: Result<Vec<LiuFigures>, Failure> = (0..RUNS).map(|seed| run(seed, BETWEEN)).collect();
    let runs = runs?;
    let range = |of: fn(&LiuFigures) -> usize| {
        let all = || runs.iter().map(of);
        let ends = [all().min().unwrap_or(0), all().max().unwrap_or(0)];
        format!("{} to {}", ends[0], ends[1])
    };
    let row = |name: &str, printed: String, of: fn(&LiuFigures) -> usize| {
        Row::new(format!("{RUNS} runs: {name}"), printed, range(of), "")
    };
    let [mean, largest] = one.errors.map(|it| format!("{:.0} ms", it / 10.0));
    Ok(vec![
        row("reversed as recorded", total(&TABLE_3).to_string(), |it| {
            total(&it.recorded)
        }),
        row(
            "left by the pseudo-shifts",
            total(&TABLE_5).to_string(),
            |it| total(&it.left),
        ),
        row("left by the adjusted shifts", "0".into(), |it| {
            total(&it.left_adjusted)
        }),
        row("left by the closure", "-".into(), |it| {
            total(&it.left_closed)
        }),
        Row::new(
            "figure 2: mean and largest error of new times",
            "very close",
            format!("{mean}, {largest}"),
            "",
        ),
    ])
}
