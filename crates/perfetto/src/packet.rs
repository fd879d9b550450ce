//! A packet: where in its bytes the fields stand that matter.

use retime_perfetto_wire::fields::trace_packet as number;
use retime_perfetto_wire::read::{Damaged, Field, Fields, Value};

use crate::inner::{self, InnerPlace};

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
    pub(crate) has_lost: bool,
    pub(crate) interned: Option<&'a [u8]>,
    pub(crate) defaults: Option<&'a [u8]>,
    pub(crate) snapshot: Option<Field<'a>>,
    pub(crate) remote_sync: Option<&'a [u8]>,
    pub(crate) compressed: Option<Field<'a>>,
    pub(crate) is_zstd: bool,
    pub(crate) track_event: Option<&'a [u8]>,
    pub(crate) render_stage: Option<&'a [u8]>,
    /// The field of it.
    pub(crate) render_stage_field: Option<Field<'a>>,
    pub(crate) track: Option<&'a [u8]>,
    /// True if it may have times beside its timestamp.
    pub(crate) has_inner: bool,
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
        packet.has_inner |= packet.timestamp.is_none() && packet.track_event.is_some();
        Ok(packet)
    }

    #[inline]
    fn take(&mut self, field: Field<'a>) {
        match (field.number, field.value) {
            (number::TIMESTAMP, Value::Varint(_)) => self.timestamp = Some(field),
            (number::TRUSTED_PACKET_SEQUENCE_ID, Value::Varint(it)) => self.sequence = it as u32,
            (number::TRACK_EVENT, Value::Bytes(it)) => self.track_event = Some(it),
            (number::INTERNED_DATA, Value::Bytes(it)) => self.interned = Some(it),
            (number::SEQUENCE_FLAGS, Value::Varint(it)) => self.flags |= it,
            (number::TIMESTAMP_CLOCK_ID, Value::Varint(it)) => self.clock = Some(it as u32),
            (number::GPU_RENDER_STAGE_EVENT, Value::Bytes(it)) => {
                self.render_stage = Some(it);
                self.render_stage_field = Some(field);
            }
            (number::TRACE_PACKET_DEFAULTS, Value::Bytes(it)) => self.defaults = Some(it),
            (number::TRACK_DESCRIPTOR, Value::Bytes(it)) => {
                self.track = Some(it);
                self.has_inner = true;
            }
            (number::CLOCK_SNAPSHOT, Value::Bytes(_)) => self.snapshot = Some(field),
            (number::COMPRESSED_PACKETS, Value::Bytes(_)) => self.compressed = Some(field),
            (number::ZSTD_COMPRESSED_PACKETS, Value::Bytes(_)) => self.is_zstd = true,
            (number::MACHINE_ID, Value::Varint(it)) => self.machine = it as u32,
            (number::REMOTE_CLOCK_SYNC, Value::Bytes(it)) => self.remote_sync = Some(it),
            // As the flag was written before there were flags.
            (number::INCREMENTAL_STATE_CLEARED_OLD, Value::Varint(1..)) => {
                self.flags |= number::INCREMENTAL_STATE_CLEARED;
            }
            (number::PREVIOUS_PACKET_DROPPED, Value::Varint(it)) => self.has_lost = it != 0,
            (number, Value::Bytes(_)) => self.has_inner |= inner::place(number).is_some(),
            _ => {}
        }
    }

    /// The fields that have times in them, each with where these stand.
    pub(crate) fn inner(&self) -> impl Iterator<Item = (Field<'a>, InnerPlace)> + use<'a> {
        let message = if self.has_inner { self.bytes } else { &[] };
        // An event that has a timestamp does not count from another.
        let has_timestamp = self.timestamp.is_some();
        let counts = move |it: &Field<'_>| !has_timestamp || it.number != number::TRACK_EVENT;
        let whole = Fields::of(message).map_while(Result::ok).filter(counts);
        whole.filter_map(|it| Some((it, inner::place(it.number)?)))
    }

    /// True if its sequence begins anew: what was said before counts no longer.
    pub(crate) fn was_cleared(&self) -> bool {
        self.flags & number::INCREMENTAL_STATE_CLEARED != 0
    }

    /// True if it means something only together with what its sequence said before.
    pub(crate) fn needs_state(&self) -> bool {
        self.flags & number::NEEDS_INCREMENTAL_STATE != 0
    }
}
