//! All of a file but its times and lengths.
//!
//! Length and checksum of it tell whether a copy changed anything else, the order of its packets
//! included. Lengths of packets are left out as well, since times of another size change them.

use retime_model::format::Checksum;
use retime_perfetto_wire::fields::{clock, clock_snapshot, gpu_render_stage_event};
use retime_perfetto_wire::read::{Field, Fields, Value};

use crate::inner::rest;
use crate::packet::Packet;
use crate::pass::Piece;

/// Sums up packets.
#[derive(Default)]
pub(crate) struct Contents(Checksum);

impl Contents {
    /// Takes bytes as they are.
    #[inline]
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.add(bytes);
    }

    /// Takes a packet but for its times.
    #[inline]
    pub(crate) fn packet(&mut self, piece: &Piece<'_>, packet: &Packet<'_>) {
        self.add(piece.key());
        if packet.has_inner {
            return self.field_by_field(packet);
        }
        let mut left_out = [packet.timestamp, packet.snapshot, packet.render_stage_field];
        // Most packets have a timestamp alone.
        if packet.snapshot.is_some() || packet.render_stage_field.is_some() {
            left_out.sort_by_key(|it| it.map(|it| it.start));
        }
        let mut from = 0;
        for field in left_out.into_iter().flatten() {
            self.add(packet.bytes.get(from..field.start).unwrap_or_default());
            from = field.end;
            self.but_times(packet, &field);
        }
        self.add(packet.bytes.get(from..).unwrap_or_default());
    }

    /// Takes a packet that may have times in other places.
    fn field_by_field(&mut self, packet: &Packet<'_>) {
        let inner: Vec<_> = packet.inner().collect();
        for field in Fields::of(packet.bytes).map_while(Result::ok) {
            let known = inner.iter().find(|it| it.0 == field);
            if let Some((_, place)) = known {
                rest(packet.bytes, &field, *place, &mut |it| self.add(it));
            } else {
                self.but_times(packet, &field);
            }
        }
    }

    /// Takes a field but for what is a time or a length in it.
    fn but_times(&mut self, packet: &Packet<'_>, field: &Field<'_>) {
        match field.value {
            _ if Some(*field) == packet.timestamp => {}
            Value::Bytes(snapshot) if Some(*field) == packet.snapshot => self.snapshot(snapshot),
            Value::Bytes(stage) if Some(*field) == packet.render_stage_field => {
                for inner in Fields::of(stage).map_while(Result::ok) {
                    if inner.number != gpu_render_stage_event::DURATION {
                        self.add(stage.get(inner.start..inner.end).unwrap_or_default());
                    }
                }
            }
            _ => self.add(packet.bytes.get(field.start..field.end).unwrap_or_default()),
        }
    }

    /// Takes all of a snapshot but what clocks show.
    fn snapshot(&mut self, message: &[u8]) {
        for field in Fields::of(message).map_while(Result::ok) {
            match (field.number, field.value) {
                (clock_snapshot::CLOCKS, Value::Bytes(reading)) => {
                    for inner in Fields::of(reading).map_while(Result::ok) {
                        if inner.number != clock::TIMESTAMP {
                            self.add(reading.get(inner.start..inner.end).unwrap_or_default());
                        }
                    }
                }
                _ => self.add(message.get(field.start..field.end).unwrap_or_default()),
            }
        }
    }

    /// Length and checksum.
    pub(crate) fn finish(self) -> [u64; 2] {
        self.0.finish()
    }
}
