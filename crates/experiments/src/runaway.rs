//! Clocks that run away, and which controller holds them.
//!
//! Two clocks run fast and slow in turn, one fast while the other is slow. Each
//! time they change over, the one that is ahead sends a message: it pulls the
//! other up, which is the one that is going to be fast. With a constant gamma
//! whose loss is smaller than what the rates differ by, each message adds to the
//! lead of the logical clocks:
//!
//! ```text
//! clock 0   /\      /\            each turn one logical clock is put on the
//!          /  \    /  \           other, and then runs fast:
//!              \  /    \  /       LC' - C grows by the difference every time
//! clock 1   \  /\  /\  /
//!            \/  \/  \/
//! ```
//!
//! Controller B sees that all clocks lead, and stops it. If there are other
//! clocks that do not lead, because they never hear of these two, B is blind:
//! the thesis' second case for controller C, which compares each clock with what
//! a simple logical clock needs.
//!
//! Source: Rabenseifner 2000, figure 4.5 (right) and sections 4.4.4 and 4.4.5.

use retime::clock::{CombinedConstants, Control};
use retime::{MinimalDelay, Ticks};
use retime_sim::{Clock, Experiment, Wander};

use crate::script::Script;
use crate::simulated::{Failure, Simulated};
use crate::table::{Row, Table};

/// Nanoseconds from one exchange to the next; half a period of the clocks.
const TURN: u64 = 1_000_000_000;
/// How far the two clocks get apart, in nanoseconds.
pub const APART: f64 = 2_000_000.0;
/// The true delay of a message in nanoseconds, and below it the one that is assumed.
const DELAY: u64 = 300_000;
const MU: i64 = 250_000;

/// Two clocks in turn ahead, and two more on true time if `groups`.
fn clocks(groups: bool) -> Vec<Clock> {
    let turning = |phase: f64| Clock {
        wander: Some(Wander {
            amplitude: APART / 2.0,
            period: 2.0 * TURN as f64,
            phase,
        }),
        ..Clock::TRUE
    };
    // A quarter of a period on, so that exchanges are where they change over.
    let mut clocks = vec![turning(0.25), turning(0.75)];
    if groups {
        clocks.extend([Clock::TRUE, Clock::TRUE]);
    }
    clocks
}

/// The messages of these clocks. Those of the two on true time go to each other only.
fn turns(exchanges: u64, groups: bool) -> Script {
    let groups = if groups { 2 } else { 1 };
    let mut script = Script::new(2 * groups);
    for exchange in 0..exchanges {
        let time = exchange * TURN;
        for group in 0..groups {
            // 0 to 1, 1 to 0, and so on.
            let sender = 2 * group + (exchange % 2) as u32;
            let receiver = 4 * group + 1 - sender;
            script.message(sender, time, receiver, time + DELAY, 8);
        }
    }
    script
}

/// The lead of the clock that has just got a message, in nanoseconds, by exchange.
pub fn leads(exchanges: u64, groups: bool, control: Control) -> Result<Vec<i64>, Failure> {
    let turns = turns(exchanges, groups);
    let memory = Experiment::new(&turns).clocks(clocks(groups)).in_memory()?;
    let trace = Simulated::new(memory)?;
    let times = trace.controlled(&MinimalDelay::Uniform(Ticks(MU)), control)?;
    // Clocks 0 and 1 have one event in each exchange.
    let receiver = |exchange: usize| trace.nodes(1 - exchange % 2).get(exchange);
    Ok((0..exchanges as usize)
        .filter_map(receiver)
        .map(|node| trace.lead(&times, node))
        .collect())
}

/// Controller A with B or C or both, without D.
pub fn control(b: bool, c: bool) -> Control {
    Control::Combined(CombinedConstants {
        b,
        c,
        d: None,
        ..CombinedConstants::default()
    })
}

/// How far a logical clock gets ahead of the physical clock that is furthest ahead, as a share of the
/// largest difference of these. It is as large when a message arrives, and the receiver is behind by it.
pub fn ahead_of_all(control: Control) -> Result<f64, Failure> {
    let leads = leads(EXCHANGES[1] + 1, false, control)?;
    // At the last exchange clocks have ended.
    let largest = leads.iter().rev().skip(1).max();
    let largest = largest.copied().unwrap_or_default();
    Ok((largest as f64 - APART) / APART)
}

/// Exchanges after which the table looks.
const EXCHANGES: [u64; 2] = [10, 200];

/// The figures beside what the thesis says.
pub fn table() -> Result<Table, Failure> {
    let cases = [
        (false, control(false, false), "A", "unbounded"),
        (false, control(true, false), "A and B", "bounded"),
        (false, control(false, true), "A and C", "bounded"),
        (
            true,
            control(true, false),
            "A and B, another group",
            "unbounded",
        ),
        (
            true,
            control(false, true),
            "A and C, another group",
            "bounded",
        ),
        (
            true,
            control(true, true),
            "A, B and C, another group",
            "bounded",
        ),
    ];
    let mut rows = Vec::new();
    for (groups, control, name, printed) in cases {
        for exchanges in EXCHANGES {
            let leads = leads(exchanges + 1, groups, control)?;
            let largest = leads[..exchanges as usize].iter().max();
            let largest = largest.copied().unwrap_or_default() as f64 / 1e6;
            rows.push(Row::new(
                format!("{name}: largest lead in {exchanges} exchanges"),
                printed,
                format!("{largest:.1} ms"),
                "",
            ));
        }
    }
    rows.push(Row::new(
        "A and C: ahead of both clocks, by their largest difference",
        "control begins at 1.2",
        format!("{:.2}", ahead_of_all(control(false, true))?),
        "",
    ));
    Ok(Table {
        title: "two clocks in turn 2 ms ahead, with and without others that never hear of them"
            .into(),
        source: "Rabenseifner 2000, figure 4.5 (right), sections 4.4.4 and 4.4.5",
        rows,
        notes: vec![
            "The thesis draws this and gives no figures: ours are clocks that swing by 1 ms in 2 \
             s, a message at each extreme, 300 us with mu = 250 us, gamma_max = 1 - 2e-5 and no \
             controller D."
                .into(),
        ],
    })
}
