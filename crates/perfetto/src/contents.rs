//! All of a file but its times and lengths.
//!
//! Length and check sum of it tell whether a copy changed anything else, the order of its packets
//! included. Lengths of packets are left out as well, since times of another size change them.

use crc32fast::Hasher;
use retime_perfetto_wire::fields::{clock, clock_snapshot};
use retime_perfetto_wire::read::{Fields, Value};

use crate::packet::Packet;
use crate::pass::Piece;

/// Bytes that are gathered before they are summed up, since sums of long stretches are many
/// times as fast as those of short ones.
const BLOCK: usize = 1 << 16;

/// Sums up bytes.
pub(crate) struct Contents {
    gathered: Vec<u8>,
    crc: Hasher,
    bytes: u64,
}

impl Contents {
    pub(crate) fn new() -> Self {
        Self {
            gathered: Vec::with_capacity(2 * BLOCK),
            crc: Hasher::new(),
            bytes: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= BLOCK {
            self.sum_up();
        }
    }

    fn sum_up(&mut self) {
        self.crc.update(&self.gathered);
        self.bytes += self.gathered.len() as u64;
        self.gathered.clear();
    }

    /// Takes a packet but for its times.
    #[inline]
    pub(crate) fn packet(&mut self, piece: &Piece<'_>, packet: &Packet<'_>) {
        self.add(piece.key());
        let mut left_out = [packet.timestamp, packet.snapshot];
        left_out.sort_by_key(|it| it.map(|it| it.start));
        let mut from = 0;
        for field in left_out.into_iter().flatten() {
            self.add(packet.bytes.get(from..field.start).unwrap_or_default());
            from = field.end;
            if let (true, Value::Bytes(snapshot)) = (Some(field) == packet.snapshot, field.value) {
                self.snapshot(snapshot);
            }
        }
        self.add(packet.bytes.get(from..).unwrap_or_default());
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

    /// Length and check sum.
    pub(crate) fn finish(mut self) -> [u64; 2] {
        self.sum_up();
        [self.bytes, self.crc.finalize().into()]
    }
}
