//! Which stamps a packet has that move with its clock, and when these are by the clock of the
//! trace. Reading and writing a file ask the same, so that both find the same stamps, in the order
//! snapshot, times within, timestamp.

use retime_perfetto_wire::read::{Damaged, Value};

use crate::clocks::{ClockKey, Clocks, Snapshot};
use crate::inner::times;
use crate::interned::Sequence;
use crate::packet::Packet;
use crate::recent::Recent;

/// The stamps of a packet.
#[derive(Default)]
pub(crate) struct Stamps {
    /// The snapshot of clocks in it, and its moment, if that is known.
    pub(crate) snapshot: Option<(Snapshot, Option<i64>)>,
    /// The times within it, where they are known by the clock of the trace.
    pub(crate) inner: Vec<InnerStamp>,
    /// The times within it that are not written anew, in words.
    pub(crate) unwritten: Option<&'static str>,
    /// The time of its timestamp, if it has one and its clock is known,
    pub(crate) time: Option<i64>,
    /// and that clock, if it is not the trace's.
    pub(crate) clock: Option<ClockKey>,
    /// True if what it says of events is understood.
    pub(crate) is_understood: bool,
}

/// A time within a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InnerStamp {
    pub(crate) shown: u64,
    pub(crate) clock: ClockKey,
    /// The time by the clock of the trace; nothing if no snapshot leads there.
    pub(crate) time: Option<i64>,
}

/// The state of all sequences and clocks so far.
#[derive(Default)]
pub(crate) struct Timing {
    /// The clocks of each machine.
    clocks: Recent<u32, Clocks>,
    /// Sequences by machine and number.
    sequences: Recent<(u32, u32), Sequence>,
}

impl Timing {
    /// Takes a packet, and says which stamps it has.
    pub(crate) fn take(&mut self, packet: &Packet<'_>) -> Result<Stamps, Damaged> {
        let sequence = self.sequences.entry((packet.machine, packet.sequence));
        let clocks = self.clocks.entry(packet.machine);
        let Some((sequence, clocks)) = sequence.zip(clocks) else {
            return Ok(Stamps::default());
        };
        sequence.take(packet)?;
        let is_understood = sequence.is_valid || !packet.needs_state();
        let number = packet.clock.or(sequence.clock);
        let clock = number.map(|it| ClockKey::of(it, packet.sequence));
        let snapshot = match packet.snapshot.map(|it| it.value) {
            Some(Value::Bytes(message)) => {
                let snapshot = Snapshot::of(message, packet.sequence)?;
                let moment = clocks.take(&snapshot);
                Some((snapshot, moment))
            }
            _ => None,
        };
        let (inner, unwritten) = if packet.has_inner {
            inner_stamps(packet, clocks)?
        } else {
            (Vec::new(), None)
        };
        // A step of an incremental clock counts only where the packet is looked at.
        let is_looked_at = is_understood && snapshot.is_none();
        let stamp = packet.timestamp.and_then(|it| it.value.number());
        let stamp = stamp.filter(|_| is_looked_at || !clocks.is_incremental(clock));
        Ok(Stamps {
            time: stamp.and_then(|it| clocks.time(clock, it)),
            inner,
            unwritten,
            snapshot,
            clock,
            is_understood,
        })
    }

    /// The state of the sequence of the packet that was taken last.
    pub(crate) fn sequence(&self) -> Option<&Sequence> {
        self.sequences.last()
    }
}

/// The times within a packet, or the kind of those that are not written anew.
fn inner_stamps(
    packet: &Packet<'_>,
    clocks: &mut Clocks,
) -> Result<(Vec<InnerStamp>, Option<&'static str>), Damaged> {
    let mut found = Vec::new();
    let mut unwritten = None;
    for (field, place) in packet.inner() {
        unwritten = times(&field, place, &mut found)?.or(unwritten);
    }
    if unwritten.is_some() {
        return Ok((Vec::new(), unwritten));
    }
    let inner = found.into_iter().map(|it| {
        let clock = ClockKey::of(it.clock, 0);
        InnerStamp {
            shown: it.shown,
            clock,
            time: clocks.time(Some(clock), it.shown),
        }
    });
    Ok((inner.collect(), None))
}
