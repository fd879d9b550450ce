//! What comes out of the filter, held against the truth.

use std::collections::HashMap;

use serde::Deserialize;

use crate::{Failure, now};

/// Nanoseconds between two lines of the live summary.
const PERIOD: i64 = 500_000_000;

/// An event as it comes out.
#[derive(Deserialize)]
struct Line {
    time: i64,
    raw_time: i64,
    truth: i64,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

/// Counts so far.
#[derive(Default)]
pub(crate) struct Picture {
    events: u64,
    messages: u64,
    /// Received before they were sent: as recorded, as corrected.
    reversed: [u64; 2],
    /// Raw and corrected time of the sends under way.
    sent: HashMap<String, [i64; 2]>,
    last: i64,
    out_of_order: u64,
    /// How long ago the events really happened when they came out, in ns.
    ages: Vec<i64>,
    told: i64,
}

impl Picture {
    /// Takes a line of output.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), Failure> {
        if text.contains("retime-stream") {
            println!("   events  messages  reversed as recorded  corrected  age of events");
            return Ok(());
        }
        let line: Line = serde_json::from_str(text)?;
        self.events += 1;
        self.out_of_order += u64::from(line.time < self.last);
        self.last = line.time;
        let now = now();
        self.ages.push(now - line.truth);
        let times = [line.raw_time, line.time];
        match (line.kind.as_deref(), line.message) {
            (Some("send"), Some(message)) => {
                self.sent.insert(message, times);
            }
            (Some("receive"), Some(message)) => {
                if let Some(sent) = self.sent.remove(&message) {
                    self.messages += 1;
                    for which in 0..2 {
                        self.reversed[which] += u64::from(times[which] < sent[which]);
                    }
                }
            }
            _ => {}
        }
        if now - self.told > PERIOD {
            self.told = now;
            self.tell();
        }
        Ok(())
    }

    fn tell(&mut self) {
        let age = quantile(&mut self.ages, 0.5);
        println!(
            "{:>9} {:>9} {:>21} {:>10}  {age:.0} ms",
            self.events, self.messages, self.reversed[0], self.reversed[1]
        );
    }

    /// Says what came out of it.
    pub(crate) fn conclude(&mut self) {
        self.tell();
        let (p50, p99) = (
            quantile(&mut self.ages, 0.5),
            quantile(&mut self.ages, 0.99),
        );
        println!("from an event to its corrected line: p50 {p50:.0} ms, p99 {p99:.0} ms");
    }

    /// Whether there were messages, and none arrived before it was sent.
    pub(crate) fn is_sound(&self) -> bool {
        self.messages > 0 && self.reversed[1] == 0 && self.out_of_order == 0
    }
}

/// A quantile in ms.
fn quantile(ages: &mut [i64], share: f64) -> f64 {
    if ages.is_empty() {
        return 0.0;
    }
    let at = ((ages.len() - 1) as f64 * share) as usize;
    *ages.select_nth_unstable(at).1 as f64 / 1e6
}
