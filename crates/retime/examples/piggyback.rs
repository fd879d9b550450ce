//! Processes that keep a common time by what their messages carry.
//!
//! ```text
//! cargo run -p retime --example piggyback
//! ```
//!
//! Four threads stand for four processes. Each reads a clock that is off by its
//! own offset and rate, passes a token around a ring, and stamps every message
//! with its clock. Printed is, per process, how often a message seemed to arrive
//! before it was sent: by the physical clocks, and by the controlled ones.
#![allow(clippy::print_stdout, clippy::expect_used)]

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use retime::TickRate;
use retime::clock::{PiggybackClock, PiggybackStamp};

const PROCESSES: usize = 4;
const ROUNDS: usize = 200;

/// A message: the physical time of its sending, and what it carries.
type Message = (i64, PiggybackStamp);

/// A clock in nanoseconds that starts elsewhere and runs at its own rate.
struct SkewedClock {
    start: Instant,
    offset: i64,
    ppm: i64,
}

impl SkewedClock {
    fn now(&self) -> i64 {
        let elapsed = self.start.elapsed().as_nanos() as i64;
        elapsed + elapsed * self.ppm / 1_000_000 + self.offset
    }
}

fn main() {
    let start = Instant::now();
    let (senders, receivers): (Vec<Sender<Message>>, Vec<Receiver<Message>>) =
        (0..PROCESSES).map(|_| channel()).unzip();
    let processes = receivers.into_iter().enumerate().map(|(rank, inbox)| {
        let next = senders[(rank + 1) % PROCESSES].clone();
        let number = rank as i64;
        let clock = SkewedClock {
            start,
            offset: 2_000_000 - 700_000 * number,
            ppm: 30 * number,
        };
        thread::spawn(move || process(rank, &clock, &inbox, &next))
    });
    let processes: Vec<_> = processes.collect();
    println!("process  messages  reversed (physical)  reversed (controlled)");
    for (rank, process) in processes.into_iter().enumerate() {
        let (physical, controlled) = process.join().expect("a process failed");
        println!("{rank:>7}  {ROUNDS:>8}  {physical:>19}  {controlled:>21}");
        assert_eq!(controlled, 0, "a controlled clock contradicts a message");
    }
}

/// Passes the token on; counts messages that arrive before they were sent.
fn process(
    rank: usize,
    clock: &SkewedClock,
    inbox: &Receiver<Message>,
    next: &Sender<Message>,
) -> (usize, usize) {
    let nanoseconds = TickRate::per_second(1_000_000_000).expect("a positive rate");
    let mut logical = PiggybackClock::new(nanoseconds, 0);
    let (mut physical, mut controlled) = (0, 0);
    let send = |logical: &mut PiggybackClock| {
        let now = clock.now();
        // The last receiver may be gone already.
        let _ = next.send((now, logical.send(now)));
    };
    if rank == 0 {
        send(&mut logical);
    }
    for _ in 0..ROUNDS {
        let Ok((sent, stamp)) = inbox.recv_timeout(Duration::from_secs(10)) else {
            break;
        };
        let now = clock.now();
        physical += usize::from(now < sent);
        controlled += usize::from(logical.receive(now, stamp) < stamp.controlled);
        send(&mut logical);
    }
    (physical, controlled)
}
