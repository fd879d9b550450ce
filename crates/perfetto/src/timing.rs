//! Which stamps a packet has that move with its clock, and when these are by the clock of the
//! trace. Reading and writing a file ask the same, so that both find the same stamps.

use rustc_hash::FxHashMap;

use retime_perfetto_wire::read::{Damaged, Value};

use crate::clocks::{ClockKey, Clocks, Snapshot};
use crate::interned::Sequence;
use crate::packet::Packet;

/// The stamps of a packet.
pub(crate) struct Stamps {
    /// The snapshot of clocks in it, and its moment, if that is known.
    pub(crate) snapshot: Option<(Snapshot, Option<i64>)>,
    /// The time of its timestamp, if it has one and its clock is known,
    pub(crate) time: Option<i64>,
    /// and that clock, if it is not the trace's.
    pub(crate) clock: Option<ClockKey>,
    /// True if what it says of events is understood.
    pub(crate) is_understood: bool,
}

/// The state of all sequences and clocks so far.
#[derive(Default)]
pub(crate) struct Timing {
    clocks: FxHashMap<u32, Clocks>,
    sequences: FxHashMap<(u32, u32), Sequence>,
}

impl Timing {
    /// Takes a packet, and says which stamps it has.
    pub(crate) fn take(&mut self, packet: &Packet<'_>) -> Result<Stamps, Damaged> {
        let sequence = self
            .sequences
            .entry((packet.machine, packet.sequence))
            .or_default();
        sequence.take(packet)?;
        let is_understood = sequence.is_valid || !packet.needs_state();
        let number = packet.clock.or(sequence.clock);
        let clock = number.map(|it| ClockKey::of(it, packet.sequence));
        let clocks = self.clocks.entry(packet.machine).or_default();
        let snapshot = match packet.snapshot.map(|it| it.value) {
            Some(Value::Bytes(message)) => {
                let snapshot = Snapshot::of(message, packet.sequence)?;
                let moment = clocks.take(&snapshot);
                Some((snapshot, moment))
            }
            _ => None,
        };
        // A step of an incremental clock counts only where the packet is looked at.
        let is_looked_at = is_understood && snapshot.is_none();
        let stamp = packet.timestamp.and_then(|it| it.value.number());
        let stamp = stamp.filter(|_| is_looked_at || !clocks.is_incremental(clock));
        Ok(Stamps {
            time: stamp.and_then(|it| clocks.time(clock, it)),
            snapshot,
            clock,
            is_understood,
        })
    }

    /// The state of the sequence of a packet.
    pub(crate) fn sequence(&self, packet: &Packet<'_>) -> Option<&Sequence> {
        self.sequences.get(&(packet.machine, packet.sequence))
    }
}
