//! The clock that the times of a file are by, as whoever relates files has to name it.
//!
//! Where the file has snapshots of clocks, that is the clock of the trace, which they name or which
//! is `BOOTTIME`. Without any, a file has one clock, and its packets or their sequences say which.
//! A file that was recorded on several machines has one for each; that of machine 0, which took the
//! recording, is the file's.
//!
//! Source: `docs/concepts/clock-sync.md` and `protos/perfetto/common/builtin_clock.proto` of
//! <https://github.com/google/perfetto>.

use std::collections::BTreeSet;
use std::path::Path;

use retime_model::Monitor;
use retime_model::format::FormatError;

use crate::clocks::{BOOTTIME, Snapshot};
use crate::each::{InnerTimes, MachinesAhead, PieceRead, each_piece};
use crate::packet::Packet;

/// The names of the clocks of POSIX, by their numbers from 1 on.
const NAMES: [&str; 6] = [
    "REALTIME",
    "REALTIME_COARSE",
    "MONOTONIC",
    "MONOTONIC_COARSE",
    "MONOTONIC_RAW",
    "BOOTTIME",
];

/// The clock of a file, and the machines that it was recorded on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileClock {
    /// The number of the clock.
    pub number: u32,
    /// The machines whose packets it has, 0 among them where packets say none.
    pub machines: BTreeSet<u32>,
}

impl FileClock {
    /// The name of the clock; `None` for one that a program made for itself.
    ///
    /// ```
    /// use retime_perfetto::FileClock;
    ///
    /// let clock = |number| FileClock { number, machines: [0].into() };
    /// assert_eq!(clock(6).name(), Some("BOOTTIME"));
    /// assert_eq!(clock(64).name(), None);
    /// ```
    pub fn name(&self) -> Option<&'static str> {
        let at = (self.number as usize).checked_sub(1)?;
        NAMES.get(at).copied()
    }
}

/// The clock of a file.
pub fn file_clock(path: &Path, monitor: &dyn Monitor) -> Result<FileClock, FormatError> {
    let mut machines = BTreeSet::new();
    let mut of_trace = None;
    let mut of_stamps = None;
    let none_ahead = MachinesAhead::default();
    each_piece(path, &none_ahead, InnerTimes::Kept, monitor, &mut |piece| {
        let PieceRead::Packet(read) = piece else {
            return Ok(());
        };
        machines.insert(read.machine);
        // It was read a moment ago.
        let Ok(packet) = Packet::of(read.bytes) else {
            return Ok(());
        };
        let message = packet.snapshot.and_then(|it| it.value.bytes());
        if let (Some(message), 0) = (message, read.machine) {
            let snapshot = Snapshot::of(message, packet.sequence);
            let said = snapshot.ok().and_then(|it| it.trace_clock());
            of_trace = said.or(of_trace).or(Some(BOOTTIME));
        }
        if packet.timestamp.is_some() && of_stamps.is_none() {
            of_stamps = read.clock.filter(|it| *it != 0).or(Some(BOOTTIME));
        }
        Ok(())
    })?;
    Ok(FileClock {
        number: of_trace.or(of_stamps).unwrap_or(BOOTTIME),
        machines,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use retime_perfetto_wire::fields::{clock, clock_snapshot, trace, trace_packet};
    use retime_perfetto_wire::write;

    use super::*;

    fn number(field: u32, value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        write::uint(&mut out, field, value);
        out
    }

    fn bytes(field: u32, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write::bytes(&mut out, field, content);
        out
    }

    fn found(packets: &[Vec<u8>]) -> FileClock {
        let file: Vec<u8> = packets
            .iter()
            .flat_map(|it| bytes(trace::PACKET, it))
            .collect();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pftrace");
        std::fs::write(&path, file).unwrap();
        file_clock(&path, &()).unwrap()
    }

    #[test]
    fn snapshots_count_before_stamps() {
        let stamped = |clock: u64| {
            [
                number(trace_packet::TIMESTAMP, 5),
                number(trace_packet::TIMESTAMP_CLOCK_ID, clock),
            ]
            .concat()
        };
        let plain = number(trace_packet::TIMESTAMP, 5);
        let reading = [number(clock::CLOCK_ID, 3), number(clock::TIMESTAMP, 9)].concat();
        let readings = bytes(clock_snapshot::CLOCKS, &reading);
        let primary = number(clock_snapshot::PRIMARY_TRACE_CLOCK, 3);
        let snapshot = |it: &[u8]| bytes(trace_packet::CLOCK_SNAPSHOT, it);
        let of = |packets: &[Vec<u8>]| found(packets).name();
        assert_eq!(of(std::slice::from_ref(&plain)), Some("BOOTTIME"));
        assert_eq!(of(&[stamped(1), plain]), Some("REALTIME"));
        assert_eq!(of(&[stamped(64)]), None);
        assert_eq!(of(&[stamped(1), snapshot(&readings)]), Some("BOOTTIME"));
        let said = snapshot(&[readings, primary].concat());
        assert_eq!(of(&[stamped(1), said.clone()]), Some("MONOTONIC"));
        let elsewhere = [said, number(trace_packet::MACHINE_ID, 7)].concat();
        let both = found(&[stamped(1), elsewhere]);
        assert_eq!(both.name(), Some("REALTIME"));
        assert_eq!(both.machines, [0, 7].into());
    }
}
