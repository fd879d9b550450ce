//! The values of counters: what a packet says, times the unit of its track, and where the track
//! counts up, more than before.

use retime_perfetto_wire::fields::{counter_descriptor, track_descriptor, track_event};
use retime_perfetto_wire::read::{Fields, Value};
use rustc_hash::FxHashMap;

use crate::packet::Packet;

/// A counter: the description of its values, and the sum that it shows.
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    unit: Option<f64>,
    is_incremental: bool,
    shows: f64,
}

/// The counters of a file, by machine and number of the track.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters(FxHashMap<(u32, u64), Counter>);

impl Counters {
    /// Takes the description of a track.
    pub(crate) fn describe(&mut self, packet: &Packet<'_>) {
        let Some(message) = packet.track else {
            return;
        };
        let (mut uuid, mut described) = (0, None);
        for field in Fields::of(message).map_while(Result::ok) {
            match (field.number, field.value) {
                (track_descriptor::UUID, Value::Varint(it)) => uuid = it,
                (track_descriptor::COUNTER, Value::Bytes(it)) => described = Some(it),
                _ => {}
            }
        }
        let Some(message) = described else {
            return;
        };
        let mut counter = Counter::default();
        for field in Fields::of(message).map_while(Result::ok) {
            match (field.number, field.value) {
                (counter_descriptor::UNIT_MULTIPLIER, Value::Varint(it)) => {
                    counter.unit = Some(it as i64 as f64).filter(|it| *it != 0.0);
                }
                (counter_descriptor::IS_INCREMENTAL, Value::Varint(it)) => {
                    counter.is_incremental = it != 0;
                }
                _ => {}
            }
        }
        self.0.insert((packet.machine, uuid), counter);
    }

    /// The value that an event gives to its track, the next one of the file.
    pub(crate) fn value(&mut self, track: (u32, Option<u64>), event: &[u8]) -> Option<f64> {
        let said = Fields::of(event).map_while(Result::ok);
        let said = said.filter_map(|it| match (it.number, it.value) {
            (track_event::COUNTER_VALUE, Value::Varint(it)) => Some(it as i64 as f64),
            (track_event::DOUBLE_COUNTER_VALUE, Value::Eight(it)) => Some(f64::from_bits(it)),
            _ => None,
        });
        let said = said.last()?;
        let known = track.1.and_then(|it| self.0.get_mut(&(track.0, it)));
        let Some(counter) = known else {
            return Some(said);
        };
        let value = said * counter.unit.unwrap_or(1.0);
        if !counter.is_incremental {
            return Some(value);
        }
        counter.shows += value;
        Some(counter.shows)
    }
}
