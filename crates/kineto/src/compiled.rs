//! Who takes part in the operations of [compiled programs](crate::xla): a matter of all files.
//!
//! What a loop does again in a run meets what the others do again: members of an instruction find
//! each other by run and instruction alone, so that each is over before the next one begins, and the third
//! time of one is the third time of all. The times of a run that is recorded whole are
//! numbered, with how many there are: processes that recorded other numbers have nothing to join. The first
//! and the last run of a recording may be cut, and their times are not.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::call::Label;
use crate::columns::Columns;
use crate::profile::{FileRead, Unused};
use crate::xla::{self, Instruction};

/// Members of a group of which nothing is said, if there are so many devices in all.
const WITHOUT_GROUPS: usize = 2;

/// The number of members that an operation has of which it is known that all files take part; none
/// has if that is not known of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct All(Option<usize>);

impl All {
    /// The number of members in these files.
    pub(crate) fn of(files: &[FileRead]) -> Self {
        let with_some = files.iter().filter(|it| !it.instructions.is_empty());
        let one_device = |file: &FileRead| {
            let devices: BTreeSet<&str> = file.instructions.iter().map(|it| &*it.device).collect();
            devices.len() <= 1
        };
        let have_one_device = files.iter().all(one_device);
        Self(have_one_device.then(|| with_some.count()))
    }

    /// Takes those instructions of a file for calls of which it is known that all files take part.
    pub(crate) fn take_certain(self, file: &mut FileRead) {
        number_times(&file.columns, &mut file.instructions);
        let mut unused = 0;
        for it in std::mem::take(&mut file.instructions) {
            let members = it.members.unwrap_or(WITHOUT_GROUPS);
            if Some(members) == self.0 {
                file.calls.push(it.call);
            } else {
                unused += 1;
            }
        }
        if unused > 0 {
            file.unused.push(Unused {
                kind: xla::UNUSED,
                track: 0,
                events: unused,
            });
        }
        file.calls.sort_by_key(|it| it.event);
    }
}

/// Numbers the times of what is done again in a run.
fn number_times(columns: &Columns, instructions: &mut [Instruction]) {
    let begin = |it: &Instruction| columns.begin(it.call.event);
    let run = |it: Option<&Instruction>| it.and_then(|it| it.call.sequence);
    let first = run(instructions.iter().min_by_key(|it| begin(it)));
    let last = run(instructions.iter().max_by_key(|it| begin(it)));
    let mut all: BTreeMap<(Option<Label>, Option<u64>), Vec<&mut Instruction>> = BTreeMap::new();
    for it in instructions {
        let run = it.call.sequence;
        if run != first && run != last {
            all.entry((it.call.group.clone(), run))
                .or_default()
                .push(it);
        }
    }
    for mut times in all.into_values().filter(|it| it.len() > 1) {
        times.sort_by_key(|it| begin(it));
        let are_apart = |it: &[&mut Instruction]| match it {
            [one, next] => columns.end(one.call.event) <= begin(next),
            _ => true,
        };
        let many = times.len();
        if times.windows(2).all(are_apart) {
            for (number, it) in (1..).zip(times) {
                let label = it.call.group.iter_mut();
                label.for_each(|it| it.name = format!("{}, {number} of {many}", it.name));
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;
    use crate::chrome::Chrome;
    use crate::document::Document;

    /// The words behind the name in the label of each instruction, of stays on threads, each in a run.
    fn numbers(stays: &[(u32, u32, u32)]) -> Vec<String> {
        let event = |&(run, tid, at): &(u32, u32, u32)| {
            format!(
                r#"{{"ph":"X","pid":7,"tid":{tid},"ts":{at},"dur":60,"name":"all-reduce","args":{{
                "hlo_op":"all-reduce","hlo_module":"jit_f","run_id":"{run}"}}}}"#
            )
        };
        let events: Vec<String> = stays.iter().map(event).collect();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("host.trace.json");
        let text = format!(r#"{{"traceEvents":[{}]}}"#, events.join(","));
        std::fs::write(&path, text).unwrap();
        let mut file = Chrome.read(&path, &()).unwrap();
        number_times(&file.columns, &mut file.instructions);
        let name = |it: &Instruction| it.call.group.as_ref().unwrap().name.clone();
        let rest = |it: String| it.trim_start_matches("XLA jit_f all-reduce").to_owned();
        file.instructions.iter().map(|it| rest(name(it))).collect()
    }

    #[test]
    fn times_in_a_whole_run_are_numbered_in_their_order() {
        let twice = |run, at| [(run, 1, at), (run, 2, at + 100)];
        let all = [twice(4, 0), twice(6, 900), twice(5, 600)].concat();
        assert_eq!(numbers(&all), ["", "", "", "", ", 1 of 2", ", 2 of 2"]);
        let turned: Vec<_> = all.iter().rev().copied().collect();
        assert_eq!(numbers(&turned), [", 2 of 2", ", 1 of 2", "", "", "", ""]);
        // What begins before another time of it is over is no loop.
        let meanwhile = [(4, 1, 0), (5, 1, 600), (5, 2, 630), (6, 1, 900)];
        assert_eq!(numbers(&meanwhile), ["", "", "", ""]);
    }
}
