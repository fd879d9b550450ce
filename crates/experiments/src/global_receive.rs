//! A receive from anybody, in physical and in discrete logical time.
//!
//! Process 2 sends first, process 1 later, and process 3 receives from anybody, twice. Before it
//! sends, process 2 has two events that have nothing to do with others. Lamport's clock counts
//! them, so that its message seems to be sent after that of process 1, though it is received
//! first:
//!
//! ```text
//!      physical time                    Lamport's clock
//!
//! 1    --------------s-----             --s-----------------
//! 2    -o-o--s-------------             --o--o--s-----------
//! 3    --r?.....r--r?...r--             --r?.........r--r?-r
//! ```
//!
//! Whoever reads order alone concludes that the first receive took the wrong message. The
//! controlled clock repairs what arrives before it is sent, and otherwise keeps to the clocks: it
//! has the order of sends as far as these know it.
//!
//! Sources: Rabenseifner 2000, figure 3.1; Rabenseifner 1997, figure 1.

use retime::causality::EventNode;
use retime::clock::lamport;
use retime::{MinimalDelay, Ticks, Timestamp};
use retime_sim::{Clock, Experiment};

use crate::ring::controllers;
use crate::script::Script;
use crate::simulated::{Failure, Simulated};
use crate::table::{Row, Table};

/// The delay of a message in nanoseconds, true and assumed.
const MU: u64 = 100_000;
/// Process 1 is behind by so many nanoseconds, and process 2 ahead, so that its message arrives
/// before it is sent.
const WRONG: i64 = 150_000;

/// The times of the events that matter, by one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The send that is received first.
    pub first_send: i64,
    /// The send that is received second.
    pub second_send: i64,
    /// Both receives.
    pub receives: [i64; 2],
}

/// The example by several clocks. Times are in microseconds, Lamport's are counters.
#[derive(Clone, Copy, Debug)]
pub struct GlobalReceive {
    /// Physical time.
    pub physical: Shown,
    /// Lamport's clock.
    pub counted: Shown,
    /// Clocks that are off by 150 us.
    pub recorded: Shown,
    /// The controlled clock over these.
    pub controlled: Shown,
}

/// The program of the figure.
fn program() -> Script {
    let mut script = Script::new(3);
    let us = |time: u64| 1_000 * time;
    // Two events of process 2 that have nothing to do with others.
    script.local(1, us(100));
    script.local(1, us(200));
    // Process 3 begins to wait before each receive.
    script.local(2, us(150));
    script.message(1, us(400), 2, us(400) + MU, 8);
    script.local(2, us(600));
    script.message(0, us(800), 2, us(800) + MU, 8);
    script
}

/// Runs it.
pub fn run() -> Result<GlobalReceive, Failure> {
    let clock = |offset: i64| Clock {
        offset,
        ..Clock::TRUE
    };
    let clocks = vec![clock(-WRONG), clock(WRONG), clock(0)];
    let script = program();
    let trace = Simulated::new(Experiment::new(&script).clocks(clocks).in_memory()?)?;
    let counters = lamport(&trace.causality, &())?;
    let times = trace.controlled(&MinimalDelay::Uniform(Ticks(MU as i64)), controllers(0.98))?;
    let controlled = trace.stamps(&times);
    let nodes = trace.causality.nodes();
    let us = |stamp: Timestamp| (stamp.0 as i64 - START) / 1_000;
    Ok(GlobalReceive {
        physical: shown(&trace, |node| us(trace.truth()[node.index()])),
        counted: shown(&trace, |node| counters[node.index()] as i64),
        recorded: shown(&trace, |node| us(nodes.timestamp(node))),
        controlled: shown(&trace, |node| us(controlled[node.index()])),
    })
}

/// The stamp of a true clock at the start.
const START: i64 = 1_000_000_000;

/// Reads the events that matter off a clock.
fn shown(trace: &Simulated, time: impl Fn(EventNode) -> i64) -> Shown {
    let at = |process: usize, number: usize| {
        let node = trace.nodes(process).nth(number);
        node.map_or(0, &time)
    };
    Shown {
        first_send: at(1, 0),
        second_send: at(0, 0),
        receives: [at(2, 0), at(2, 1)],
    }
}

/// The figures beside what the papers draw.
pub fn table() -> Result<Table, Failure> {
    let it = run()?;
    let row = |name: &str, printed: &str, shown: Shown, unit: &str| {
        let [first, second] = shown.receives;
        let ours = format!(
            "{}, {}; {first}, {second}{unit}",
            shown.first_send, shown.second_send
        );
        let order = if shown.first_send < shown.second_send {
            "as it was"
        } else {
            "sends seem to be swapped"
        };
        Row::new(name, printed, ours, order)
    };
    Ok(Table {
        title: "process 2 sends before process 1, and is received first".into(),
        source: "Rabenseifner 2000, figure 3.1; Rabenseifner 1997, figure 1",
        rows: vec![
            row("physical time", "as it was", it.physical, " us"),
            row("Lamport's clock", "sends at 3, 1", it.counted, ""),
            row("clocks off by 150 us", "-", it.recorded, " us"),
            row("controlled clock over these", "-", it.controlled, " us"),
        ],
        notes: vec![
            "Ours are, in this order: the send that is received first, that which is received \
             second; the two receives. Lamport's clock orders effects after causes, and says \
             nothing of which of two sends came first. The paper of 1997 counts from 1."
                .into(),
        ],
    })
}
