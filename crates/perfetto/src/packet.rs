//! A packet: where in its bytes the fields stand that matter.

use retime_perfetto_wire::fields::trace_packet as number;
use retime_perfetto_wire::read::{Damaged, Field, Fields, Value};

/// The fields of a packet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Packet<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) timestamp: Option<Field<'a>>,
    /// The clock of the timestamp, if it says it.
    pub(crate) clock: Option<u32>,
    pub(crate) sequence: u32,
    pub(crate) machine: u32,
    flags: u64,
    pub(crate) was_cleared: bool,
    pub(crate) has_lost: bool,
    pub(crate) interned: Option<&'a [u8]>,
    pub(crate) defaults: Option<&'a [u8]>,
    pub(crate) snapshot: Option<Field<'a>>,
    pub(crate) remote_sync: Option<&'a [u8]>,
    pub(crate) compressed: Option<Field<'a>>,
    pub(crate) is_zstd: bool,
    pub(crate) track_event: Option<&'a [u8]>,
    pub(crate) render_stage: Option<&'a [u8]>,
    pub(crate) track: Option<&'a [u8]>,
    /// Times that stand deeper in it, in words.
    pub(crate) inner_times: Option<&'static str>,
}

impl<'a> Packet<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let mut packet = Self {
            bytes,
            ..Self::default()
        };
        for field in Fields::of(bytes) {
            packet.take(field?);
        }
        packet.was_cleared |= packet.flags & number::INCREMENTAL_STATE_CLEARED != 0;
        Ok(packet)
    }

    #[inline]
    fn take(&mut self, field: Field<'a>) {
        match (field.number, field.value) {
            (number::TIMESTAMP, Value::Varint(_)) => self.timestamp = Some(field),
            (number::TRUSTED_PACKET_SEQUENCE_ID, Value::Varint(it)) => self.sequence = it as u32,
            (number::TRACK_EVENT, Value::Bytes(it)) => self.track_event = Some(it),
            (number::INTERNED_DATA, Value::Bytes(it)) => self.interned = Some(it),
            (number::SEQUENCE_FLAGS, Value::Varint(it)) => self.flags = it,
            (number::TIMESTAMP_CLOCK_ID, Value::Varint(it)) => self.clock = Some(it as u32),
            (number::GPU_RENDER_STAGE_EVENT, Value::Bytes(it)) => self.render_stage = Some(it),
            (number::TRACE_PACKET_DEFAULTS, Value::Bytes(it)) => self.defaults = Some(it),
            (number::TRACK_DESCRIPTOR, Value::Bytes(it)) => self.track = Some(it),
            (number::CLOCK_SNAPSHOT, Value::Bytes(_)) => self.snapshot = Some(field),
            (number::COMPRESSED_PACKETS, Value::Bytes(_)) => self.compressed = Some(field),
            (number::ZSTD_COMPRESSED_PACKETS, Value::Bytes(_)) => self.is_zstd = true,
            (number::MACHINE_ID, Value::Varint(it)) => self.machine = it as u32,
            (number::REMOTE_CLOCK_SYNC, Value::Bytes(it)) => self.remote_sync = Some(it),
            (number::INCREMENTAL_STATE_CLEARED_OLD, Value::Varint(it)) => {
                self.was_cleared |= it != 0;
            }
            (number::PREVIOUS_PACKET_DROPPED, Value::Varint(it)) => self.has_lost = it != 0,
            (other, Value::Bytes(_)) => {
                self.inner_times = self.inner_times.or_else(|| inner_times(other));
            }
            _ => {}
        }
    }

    /// True if it means something only together with what its sequence said before.
    pub(crate) fn needs_state(&self) -> bool {
        self.flags & number::NEEDS_INCREMENTAL_STATE != 0
    }
}

/// The times that stand within a field, beside the timestamp of its packet.
fn inner_times(field: u32) -> Option<&'static str> {
    Some(match field {
        number::FTRACE_EVENTS => "events of the kernel (ftrace)",
        number::CHROME_EVENTS => "events of Chrome before track events",
        number::PROFILE_PACKET => "samples of memory",
        number::STREAMING_ALLOCATION | number::STREAMING_FREE => "allocations of memory",
        number::TRACK_EVENT_RANGE_OF_INTEREST => "a range of interest",
        number::ETW_EVENTS => "events of Windows (ETW)",
        _ => return None,
    })
}
