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
            let field = field?;
            match field.value {
                Value::Varint(it) => packet.take_number(field, it),
                Value::Bytes(it) => packet.take_message(field, it),
                Value::Eight(_) | Value::Four(_) => {}
            }
        }
        packet.has_inner |= packet.timestamp.is_none() && packet.track_event.is_some();
        Ok(packet)
    }

    #[inline]
    fn take_number(&mut self, field: Field<'a>, value: u64) {
        match field.number {
            number::TIMESTAMP => self.timestamp = Some(field),
            number::TRUSTED_PACKET_SEQUENCE_ID => self.sequence = value as u32,
            number::SEQUENCE_FLAGS => self.flags |= value,
            number::TIMESTAMP_CLOCK_ID => self.clock = Some(value as u32),
            number::MACHINE_ID => self.machine = value as u32,
            // As the flag was written before there were flags.
            number::INCREMENTAL_STATE_CLEARED_OLD if value != 0 => {
                self.flags |= number::INCREMENTAL_STATE_CLEARED;
            }
            number::PREVIOUS_PACKET_DROPPED => self.has_lost = value != 0,
            _ => {}
        }
    }

    #[inline]
    fn take_message(&mut self, field: Field<'a>, message: &'a [u8]) {
        match field.number {
            number::TRACK_EVENT => self.track_event = Some(message),
            number::INTERNED_DATA => self.interned = Some(message),
            number::GPU_RENDER_STAGE_EVENT => {
                self.render_stage = Some(message);
                self.render_stage_field = Some(field);
            }
            number::TRACE_PACKET_DEFAULTS => self.defaults = Some(message),
            number::TRACK_DESCRIPTOR => {
                self.track = Some(message);
                self.has_inner = true;
            }
            number::CLOCK_SNAPSHOT => self.snapshot = Some(field),
            number::COMPRESSED_PACKETS => self.compressed = Some(field),
            number::ZSTD_COMPRESSED_PACKETS => self.is_zstd = true,
            number::REMOTE_CLOCK_SYNC => self.remote_sync = Some(message),
            number => self.has_inner |= inner::place(number).is_some(),
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
