//! Two small programs on clocks of variable rates: figures 7.3 and 7.4.
//!
//! **Figure 7.3**, four clocks that swing by 1 ms around the truth, and four pairs
//! that exchange messages in turn, in a ring. Each pair meets just when its clocks
//! are 2 ms apart: 1 is behind 2, 2 behind 3, 3 behind 4, and yet 4 behind 1.
//! Over the whole run that contradicts itself by 8 ms. From the figure are the
//! swing of 1 ms, who meets in which order, the differences of 2 ms and the
//! delay of almost nothing (here 20 us). It does not say how long a turn
//! lasts (here 10 s), how often all is repeated (here 3 times), nor the shape of
//! the curves (here straight between extremes).
//!
//! **Figure 7.4**, two clocks of which the second is behind by 1 ms in the first and
//! last third of the run, and ahead by 2 ms in the second. All of it is in the text.
//! We chose when messages are sent: a hundred each way in each third, none
//! within a tenth of a third from its ends, so that each lies in one sub-interval,
//! and 3 s for the run.
//!
//! Source: Rabenseifner 2000, section 7.6.

use retime::estimate::{Estimate, NoEstimate};
use retime::{ClockId, Edge, Edges, Ticks};
use retime_methods::{Extended, PairBounds, SubIntervals, extended, hofmann_hilgers, min_max};

use crate::reversed::violated;
use crate::simulated::Failure;
use crate::table::{FOLLOWS, Row, Table};

/// Microseconds in a millisecond; times here are in microseconds.
const MS: i64 = 1_000;
/// A turn of figure 7.3.
const TURN: i64 = 10_000 * MS;
/// The delay of its messages, in microseconds.
const DELAY: i64 = 20;
/// How often all pairs of figure 7.3 meet.
const ROUNDS: i64 = 3;
/// The drift of its clocks: 2 ms in a turn.
const DRIFT: f64 = 2e-4;
/// A third of figure 7.4.
const THIRD: i64 = 1_000 * MS;

/// A clock of figure 7.3 at a true time. It is 1 ms ahead when it meets the clock
/// before it, a turn later 1 ms behind when it meets the one after it, and needs
/// three turns to come back.
fn swinging(clock: i64, time: i64) -> i64 {
    let since = (time - (clock - 1) * TURN).rem_euclid(4 * TURN);
    let error = if since < TURN {
        MS - 2 * MS * since / TURN
    } else {
        2 * MS * (since - TURN) / (3 * TURN) - MS
    };
    time + error
}

/// The messages of figure 7.3: in turn `n` clocks `n` and `n + 1` exchange two.
pub fn ring() -> Edges {
    let turns = 0..4 * ROUNDS;
    let edges = turns.flat_map(|turn| {
        let (one, other) = (turn % 4, (turn + 1) % 4);
        let exchange = [(one, other), (other, one)].into_iter().zip(0..);
        exchange.map(move |((from, to), place)| {
            let sent = turn * TURN + 2 * DELAY * place;
            let received = swinging(to, sent + DELAY);
            message(from, swinging(from, sent), to, received)
        })
    });
    edges_of(edges.collect(), 4)
}

/// The second clock of figure 7.4 at a true time.
fn stepping(time: i64) -> i64 {
    let behind = if time / THIRD == 1 { -2 * MS } else { MS };
    time - behind
}

/// The messages of figure 7.4, each with this delay in microseconds.
pub fn thirds(delay: i64) -> Edges {
    let sends = (0..3).flat_map(|third| (10..90).map(move |n| third * THIRD + n * THIRD / 100));
    let edges = sends.flat_map(|sent| {
        [
            message(0, sent, 1, stepping(sent + delay)),
            message(1, stepping(sent), 0, sent + delay),
        ]
    });
    edges_of(edges.collect(), 2)
}

fn message(from: i64, sent: i64, to: i64, received: i64) -> Edge {
    let clock = |number: i64| ClockId(number as u32);
    Edge::message(clock(from), sent, clock(to), received)
}

/// With the first and last stamp of each clock.
fn edges_of(edges: Vec<Edge>, clocks: u32) -> Edges {
    let extent = |clock: u32| {
        let stamps = edges.iter().flat_map(|edge| {
            let ends = [(edge.from, edge.sent), (edge.to, edge.received)];
            ends.into_iter().filter(move |end| end.0 == ClockId(clock))
        });
        let stamps = || stamps.clone().map(|end| end.1);
        stamps().min().zip(stamps().max())
    };
    let extents = (0..clocks).map(extent).collect();
    Edges::new(edges, extents)
}

/// How far one clock of figure 7.3 is ahead of another by min/max over the whole
/// run, in milliseconds.
pub fn ahead(one: u32, other: u32) -> Option<f64> {
    let edges = ring();
    let pieces = SubIntervals::divide(&edges, 1, &()).ok()?;
    let bounds = PairBounds::collect(&edges, &|_| 0, &pieces, &()).ok()?;
    let (one, other) = (ClockId(one), ClockId(other));
    let (lower, upper) = (bounds.lower(0, one, other)?, bounds.upper(0, one, other)?);
    Some((lower + upper) as f64 / 2.0 / MS as f64)
}

/// Hofmann & Hilgers on figure 7.3, over the whole run: the clocks that contradict
/// each other, and by how much, in milliseconds.
pub fn contradiction() -> Option<(Vec<ClockId>, f64)> {
    match hofmann_hilgers(&ring(), |_| 0, Some(1), ClockId(0), &()) {
        Err(NoEstimate::Infeasible(clocks, Ticks(by))) => Some((clocks, by as f64 / MS as f64)),
        _ => None,
    }
}

/// The extended method on figure 7.3, a sub-interval for each exchange.
pub fn extended_ring() -> Result<Estimate, Failure> {
    let options = Extended {
        intervals: Some(4 * ROUNDS as u32),
        drift: DRIFT,
        ..Extended::default()
    };
    Ok(extended(&ring(), |_| 0, &options, ClockId(0), &())?)
}

/// Min/max on figure 7.4.
pub fn min_max_thirds(delay: i64, intervals: u32) -> Result<Estimate, NoEstimate> {
    min_max(&thirds(delay), |_| 0, Some(intervals), ClockId(0), &())
}

/// The extended method on figure 7.4.
pub fn extended_thirds(delay: i64) -> Result<Estimate, NoEstimate> {
    let options = Extended {
        intervals: Some(3),
        ..Extended::default()
    };
    extended(&thirds(delay), |_| 0, &options, ClockId(0), &())
}

/// The corrections of the second clock in the middle of each third, in
/// milliseconds.
pub fn corrections(estimate: &Estimate) -> Option<[f64; 3]> {
    let offset = estimate.offsets.get(1)?.as_ref()?;
    let middle = |third: i64| stepping(third * THIRD + THIRD / 2);
    Some([0, 1, 2].map(|third| offset.at(middle(third)) / MS as f64))
}

/// The figures beside those of the thesis.
pub fn table() -> Result<Table, Failure> {
    let mut rows = ring_rows()?;
    rows.extend(thirds_rows()?);
    Ok(Table {
        title: "two small programs on clocks that change their rates".into(),
        source: "Rabenseifner 2000, section 7.6, figures 7.3 and 7.4",
        rows,
        notes: vec![
            "Figure 7.3 says who meets when its clocks are how far apart. A turn of 10 s, three \
             rounds, a delay of 20 us and straight lines between the extremes are our choice. \
             Each of the four messages around the ring takes 20 us of the 8 ms."
                .into(),
            "The extended method takes one sub-interval per exchange on figure 7.3, and the \
             clocks' drift of 2e-4 for what it interpolates; on figure 7.4 three sub-intervals. \
             The thesis gives no figures for it. Its corrections may leave a message no time at \
             all. They change by 0.5 us per ms here, and its sub-intervals begin at the same \
             moment on all clocks to some ms only: with a delay of 10 us one message is reversed, \
             by 1 us."
                .into(),
        ],
    })
}

fn ring_rows() -> Result<Vec<Row>, Failure> {
    let pairs = [
        (0, 1, "-2 ms"),
        (1, 2, "-2 ms"),
        (2, 3, "-2 ms"),
        (0, 3, "+2 ms"),
    ];
    let pair = |(one, other, printed): (u32, u32, &str)| {
        let quantity = format!("7.3: C{} - C{} by min/max", one + 1, other + 1);
        let ours = ahead(one, other).map_or("none".into(), |it| format!("{it:+.3} ms"));
        Row::new(quantity, printed, ours, "")
    };
    let mut rows: Vec<Row> = pairs.map(pair).into();
    let names = |clocks: &[ClockId]| clocks.iter().map(|it| format!("C{}", it.0 + 1)).collect();
    let found = contradiction().map(|(clocks, by)| {
        let names: Vec<String> = names(&clocks);
        format!("{by:.3} ms along {}", names.join(" -> "))
    });
    rows.push(Row::new(
        "    Hofmann & Hilgers: contradiction",
        format!("{FOLLOWS}8 ms"),
        found.unwrap_or("none".into()),
        "four delays of 20 us less",
    ));
    let estimate = extended_ring()?;
    rows.push(Row::new(
        "    extended: reversed messages",
        "-",
        format!(
            "{} of {}",
            violated(&ring(), &estimate).count(),
            ring().all().len()
        ),
        "not in the thesis",
    ));
    Ok(rows)
}

fn thirds_rows() -> Result<Vec<Row>, Failure> {
    let show = |estimate: &Estimate| {
        let all = corrections(estimate).unwrap_or_default();
        // Adding 0 makes a rounded -0 a 0.
        let all = all.map(|it| format!("{:.1}", (it * 10.0).round() / 10.0 + 0.0));
        format!("{} ms", all.join(", "))
    };
    let whole = min_max_thirds(1_500, 1)?;
    let mut rows = vec![Row::new(
        "7.4: C2 corrected by min/max, whole run",
        "-0.5, -0.5, -0.5 ms",
        show(&whole),
        "",
    )];
    let smallest = (1..3_000).find(|&delay| min_max_thirds(delay, 1).is_ok());
    rows.push(Row::new(
        "    smallest delay with a solution",
        "1.5 ms",
        smallest.map_or("none".into(), |it| {
            format!("{:.3} ms", it as f64 / MS as f64)
        }),
        "",
    ));
    let thirds_of = min_max_thirds(1_500, 3)?;
    rows.push(Row::new(
        "    by min/max, thirds and regression",
        "0, 0, 0 ms",
        show(&thirds_of),
        "",
    ));
    for (delay, printed) in [
        (1_500, "those of the middle"),
        (1_999, "those of the middle"),
        (2_000, "0"),
    ] {
        let edges = thirds(delay);
        let left = violated(&edges, &min_max_thirds(delay, 3)?).count();
        rows.push(Row::new(
            format!(
                "    reversed messages at a delay of {:.3} ms",
                delay as f64 / MS as f64
            ),
            printed,
            format!("{left} of {}", edges.all().len()),
            "",
        ));
    }
    let extended = extended_thirds(1_500)?;
    rows.push(Row::new(
        "    extended, delay 1.5 ms: reversed messages",
        "-",
        format!("{}", violated(&thirds(1_500), &extended).count()),
        "not in the thesis",
    ));
    Ok(rows)
}
