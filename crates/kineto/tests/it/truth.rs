//! What is true of a simulated run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Which operation each call belongs to, by rank and when it begins and ends by the clock of
/// its host.
pub(crate) struct Truth {
    begins: BTreeMap<(u64, u64), BTreeSet<usize>>,
    ends: BTreeMap<(u64, u64), BTreeSet<usize>>,
    pub(crate) instances: Vec<Instance>,
}

pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) members: usize,
}

/// Nanoseconds of a number of microseconds with three decimals.
fn nanoseconds(text: &str) -> u64 {
    let (whole, decimals) = text.split_once('.').unwrap();
    assert_eq!(decimals.len(), 3);
    format!("{whole}{decimals}").parse().unwrap()
}

impl Truth {
    pub(crate) fn of(run: &Path) -> Self {
        let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
        let truth: Value = serde_json::from_str(&read("truth.json")).unwrap();
        let mut bases = BTreeMap::new();
        let mut lengths: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
        for rank in truth["ranks"].as_array().unwrap() {
            let number = rank["rank"].as_u64().unwrap();
            bases.insert(number, rank["base"].as_u64().unwrap_or(0));
            let file = run.join(rank["file"].as_str().unwrap());
            if let Ok(text) = fs::read_to_string(file) {
                let json: Value = serde_json::from_str(&text).unwrap();
                let length = |event: &Value| {
                    let dur = event["dur"].as_f64()?;
                    Some((dur * 1000.0).round() as u64)
                };
                let events = json["traceEvents"].as_array().unwrap();
                lengths.insert(number, events.iter().map(length).collect());
            }
        }
        let mut found = Self {
            begins: BTreeMap::new(),
            ends: BTreeMap::new(),
            instances: Vec::new(),
        };
        for (number, instance) in truth["instances"].as_array().unwrap().iter().enumerate() {
            let mut there = 0;
            for member in instance["members"].as_array().unwrap() {
                let rank = member["rank"].as_u64().unwrap();
                let event = member["event"].as_u64().unwrap() as usize;
                let Some(lengths) = lengths.get(&rank) else {
                    continue;
                };
                there += 1;
                let begin = bases[&rank] + nanoseconds(member["ts"].as_str().unwrap());
                let end = begin + lengths[event].unwrap();
                found.begins.entry((rank, begin)).or_default().insert(number);
                found.ends.entry((rank, end)).or_default().insert(number);
            }
            found.instances.push(Instance {
                name: format!(
                    "{number} {} of group {}",
                    instance["name"].as_str().unwrap(),
                    instance["group"].as_str().unwrap()
                ),
                members: there,
            });
        }
        found
    }

    /// The operations of calls that begin or end then; two threads can do so at once.
    pub(crate) fn instances(&self, rank: u64, time: u64, is_begin: bool) -> &BTreeSet<usize> {
        let by = if is_begin { &self.begins } else { &self.ends };
        by.get(&(rank, time))
            .unwrap_or_else(|| panic!("no call at {time} of rank {rank}"))
    }
}
