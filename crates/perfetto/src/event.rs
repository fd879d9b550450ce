//! A track event: the fields that matter of what begins, ends or is a moment.

use retime_perfetto_wire::fields::{gpu_track_event, legacy_event, track_event as number};
use retime_perfetto_wire::read::{Damaged, Fields, Value, packed};

use crate::annotations::Glance;
use crate::interned::Sequence;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Begin,
    End,
    /// A slice that lasts so many nanoseconds, and has one stamp.
    Whole(u64),
    /// Something without length, by the letter of Chrome's format.
    Moment(u8),
}

/// An end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) id: u64,
    pub(crate) is_last: bool,
}

/// A track event.
pub(crate) struct TrackEvent<'a> {
    pub(crate) kind: Kind,
    pub(crate) track: Option<u64>,
    pub(crate) name: &'a [u8],
    pub(crate) category: &'a [u8],
    pub(crate) flows: Vec<Flow>,
    /// The stages of GPUs that it submits.
    pub(crate) submits: Vec<u64>,
    pub(crate) glance: Glance,
}

impl<'a> TrackEvent<'a> {
    pub(crate) fn of(message: &'a [u8], sequence: &'a Sequence) -> Result<Self, Damaged> {
        let mut event = Self {
            kind: Kind::Moment(b'i'),
            track: sequence.track,
            name: &[],
            category: &[],
            flows: Vec::new(),
            submits: Vec::new(),
            glance: Glance::default(),
        };
        let mut legacy = None;
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (number::TYPE, Value::Varint(it)) => event.kind = kind(it),
                (number::TRACK_UUID, Value::Varint(it)) => event.track = Some(it),
                (number::NAME_IID, Value::Varint(it)) => {
                    event.name = sequence.event_names.get(it);
                }
                (number::NAME, Value::Bytes(it)) => event.name = it,
                (number::CATEGORY_IIDS, Value::Varint(it)) if event.category.is_empty() => {
                    event.category = sequence.categories.get(it);
                }
                (number::CATEGORIES, Value::Bytes(it)) if event.category.is_empty() => {
                    event.category = it;
                }
                (number::FLOW_IDS | number::FLOW_IDS_OLD, it) => event.flows(it, false),
                (number::TERMINATING_FLOW_IDS | number::TERMINATING_FLOW_IDS_OLD, it) => {
                    event.flows(it, true);
                }
                (number::DEBUG_ANNOTATIONS, Value::Bytes(it)) => event.glance.take(it, sequence),
                (number::LEGACY_EVENT, Value::Bytes(it)) => legacy = Some(it),
                (gpu_track_event::GPU_CORRELATION, Value::Bytes(it)) => event.correlation(it)?,
                _ => {}
            }
        }
        if let Some(legacy) = legacy {
            event.legacy(legacy, sequence)?;
        }
        Ok(event)
    }

    /// Ids stand one by one, or packed: eight bytes each, or varints as they were once.
    fn flows(&mut self, value: Value<'_>, is_last: bool) {
        let mut add = |id| self.flows.push(Flow { id, is_last });
        match value {
            Value::Bytes(all) => {
                for id in all.chunks_exact(8).filter_map(|it| it.try_into().ok()) {
                    add(u64::from_le_bytes(id));
                }
            }
            other => other.number().into_iter().for_each(add),
        }
    }

    fn correlation(&mut self, message: &[u8]) -> Result<(), Damaged> {
        for field in Fields::of(message) {
            let field = field?;
            if field.number == gpu_track_event::RENDER_STAGE_SUBMISSION_EVENT_IDS {
                match field.value {
                    Value::Bytes(all) => self.submits.extend(packed(all).map_while(Result::ok)),
                    other => self.submits.extend(other.number()),
                }
            }
        }
        Ok(())
    }

    /// Events that were converted from Chrome's format say their kind by its letter.
    fn legacy(&mut self, message: &[u8], sequence: &'a Sequence) -> Result<(), Damaged> {
        let (mut phase, mut length) = (None, 0);
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (legacy_event::PHASE, Value::Varint(it)) => phase = u8::try_from(it).ok(),
                (legacy_event::DURATION_US, Value::Varint(it)) => {
                    length = it.saturating_mul(1000);
                }
                (legacy_event::NAME_IID, Value::Varint(it)) if self.name.is_empty() => {
                    self.name = sequence.event_names.get(it);
                }
                _ => {}
            }
        }
        match phase {
            Some(b'X') => self.kind = Kind::Whole(length),
            Some(b'B') => self.kind = Kind::Begin,
            Some(b'E') => self.kind = Kind::End,
            Some(letter) => self.kind = Kind::Moment(letter),
            None => {}
        }
        Ok(())
    }
}

fn kind(number: u64) -> Kind {
    match number {
        number::SLICE_BEGIN => Kind::Begin,
        number::SLICE_END => Kind::End,
        number::COUNTER => Kind::Moment(b'C'),
        _ => Kind::Moment(b'i'),
    }
}
