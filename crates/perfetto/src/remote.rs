//! How far the clocks of other machines are ahead of that of the host, as the recording says.
//!
//! Client and host note their clocks by turns, in the order client, host, client, host. From two
//! such notes, each of which has a reading of both, follow two differences,
//!
//! ```text
//! (c1 + c2) / 2 - h1      and      c2 - (h1 + h2) / 2
//! ```
//!
//! and the mean of all, as far as notes are less than 30 s apart, is what Perfetto corrects by.
//! With `c` 1100, 1120 and `h` 10, 30 that is `(1100 + 1100) / 2 = 1100`.
//!
//! Source: `src/trace_processor/importers/proto/proto_trace_reader.cc` of
//! <https://github.com/google/perfetto>, `CalculateClockOffsets`.

use std::collections::BTreeMap;

use retime_perfetto_wire::fields::{clock, clock_snapshot, remote_clock_sync, synced_clocks};
use retime_perfetto_wire::read::{Damaged, Fields, Value};

use crate::clocks::BOOTTIME;

/// Notes that lie further apart are of different rounds.
const ROUND: u64 = 30_000_000_000;

/// The readings of the clocks of a machine and of the host, in one note.
#[derive(Clone, Copy, Debug, Default)]
struct Note {
    client: u64,
    host: u64,
}

/// The clocks of all machines against that of the host.
#[derive(Default)]
pub(crate) struct Remote {
    ahead: BTreeMap<u32, i64>,
}

impl Remote {
    /// Takes what a packet of a machine notes.
    pub(crate) fn take(&mut self, machine: u32, message: &[u8]) -> Result<(), Damaged> {
        let mut notes = Vec::new();
        for field in Fields::of(message) {
            let field = field?;
            if let (remote_clock_sync::SYNCED_CLOCKS, Value::Bytes(it)) =
                (field.number, field.value)
            {
                notes.push(note(it)?);
            }
        }
        if let Some(ahead) = ahead(&notes) {
            self.ahead.insert(machine, ahead);
        }
        Ok(())
    }

    /// The nanoseconds by which the clock of each machine is ahead.
    pub(crate) fn ahead(&self) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.ahead.iter().map(|it| (*it.0, *it.1))
    }
}

fn note(message: &[u8]) -> Result<Note, Damaged> {
    let mut note = Note::default();
    for field in Fields::of(message) {
        let field = field?;
        match (field.number, field.value) {
            (synced_clocks::CLIENT_CLOCKS, Value::Bytes(it)) => note.client = shown(it)?,
            (synced_clocks::HOST_CLOCKS, Value::Bytes(it)) => note.host = shown(it)?,
            _ => {}
        }
    }
    Ok(note)
}

/// The reading in a snapshot of the clock that is compared; 0 if it is not there.
fn shown(snapshot: &[u8]) -> Result<u64, Damaged> {
    let mut shown = 0;
    for field in Fields::of(snapshot) {
        let field = field?;
        let (clock_snapshot::CLOCKS, Value::Bytes(reading)) = (field.number, field.value) else {
            continue;
        };
        let (mut number, mut value) = (0, 0);
        for field in Fields::of(reading) {
            let field = field?;
            match (field.number, field.value.number()) {
                (clock::CLOCK_ID, Some(it)) => number = it as u32,
                (clock::TIMESTAMP, Some(it)) => value = it,
                _ => {}
            }
        }
        if number == BOOTTIME {
            shown = value;
        }
    }
    Ok(shown)
}

/// The mean of all differences; nothing if there is none.
fn ahead(notes: &[Note]) -> Option<i64> {
    let mut differences: Vec<i128> = Vec::new();
    for pair in notes.windows(2) {
        let [first, second] = [pair[0], pair[1]];
        let is_whole = [first.client, first.host, second.client, second.host];
        if second.client.wrapping_sub(first.client) >= ROUND || is_whole.contains(&0) {
            continue;
        }
        let [c1, h1] = [first.client, first.host].map(i128::from);
        let [c2, h2] = [second.client, second.host].map(i128::from);
        differences.push(i128::midpoint(c1, c2) - h1);
        differences.push(c2 - i128::midpoint(h1, h2));
    }
    let count = i128::try_from(differences.len())
        .ok()
        .filter(|it| *it > 0)?;
    i64::try_from(differences.iter().sum::<i128>() / count).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_round_trips() {
        let note = |client, host| Note { client, host };
        assert_eq!(ahead(&[note(1100, 10), note(1120, 30)]), Some(1100));
        assert_eq!(ahead(&[note(1100, 10)]), None);
        assert_eq!(ahead(&[note(1100, 10), note(1120 + ROUND, 30)]), None);
        assert_eq!(ahead(&[note(1100, 0), note(1120, 30)]), None);
    }
}
