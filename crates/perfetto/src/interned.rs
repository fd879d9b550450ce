//! Words that a sequence has said once, by the numbers that it refers to them with.
//!
//! What was said is forgotten when a packet says so, and when one was lost. What refers to it
//! then is not understood, until it is said again.

use rustc_hash::FxHashMap;

use retime_perfetto_wire::fields::{
    interned_data, interned_graphics_context, interned_name, trace_packet_defaults, track_event,
};
use retime_perfetto_wire::read::{Damaged, Fields, Value};

use crate::packet::Packet;
use crate::words::Words;

/// The incremental state of a sequence.
#[derive(Default)]
pub(crate) struct Sequence {
    pub(crate) is_valid: bool,
    pub(crate) clock: Option<u32>,
    pub(crate) track: Option<u64>,
    pub(crate) event_names: Words,
    pub(crate) categories: Words,
    pub(crate) annotation_names: Words,
    pub(crate) annotation_texts: Words,
    pub(crate) gpu_specifications: Words,
    pub(crate) kernels: Words,
    pub(crate) compute_arguments: Words,
    /// The processes of graphics contexts.
    pub(crate) contexts: FxHashMap<u64, u32>,
}

impl Sequence {
    /// Takes what a packet says of its sequence.
    pub(crate) fn take(&mut self, packet: &Packet<'_>) -> Result<(), Damaged> {
        if packet.was_cleared() {
            *self = Self {
                is_valid: true,
                ..Self::default()
            };
        } else if packet.has_lost {
            self.is_valid = false;
        }
        if let Some(defaults) = packet.defaults {
            self.take_defaults(defaults)?;
        }
        if let Some(interned) = packet.interned {
            self.intern(interned)?;
        }
        Ok(())
    }

    fn take_defaults(&mut self, defaults: &[u8]) -> Result<(), Damaged> {
        (self.clock, self.track) = (None, None);
        for field in Fields::of(defaults) {
            let field = field?;
            match (field.number, field.value) {
                (trace_packet_defaults::TIMESTAMP_CLOCK_ID, Value::Varint(it)) => {
                    self.clock = Some(it as u32);
                }
                (trace_packet_defaults::TRACK_EVENT_DEFAULTS, Value::Bytes(it)) => {
                    for field in Fields::of(it) {
                        let field = field?;
                        if field.number == track_event::TRACK_UUID {
                            self.track = field.value.number();
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn intern(&mut self, interned: &[u8]) -> Result<(), Damaged> {
        for field in Fields::of(interned) {
            let field = field?;
            let Value::Bytes(entry) = field.value else {
                continue;
            };
            let words = match field.number {
                interned_data::EVENT_CATEGORIES => &mut self.categories,
                interned_data::EVENT_NAMES => &mut self.event_names,
                interned_data::DEBUG_ANNOTATION_NAMES => &mut self.annotation_names,
                interned_data::DEBUG_ANNOTATION_STRING_VALUES => &mut self.annotation_texts,
                interned_data::GPU_SPECIFICATIONS => &mut self.gpu_specifications,
                interned_data::COMPUTE_KERNELS => &mut self.kernels,
                interned_data::COMPUTE_ARG_NAMES => &mut self.compute_arguments,
                interned_data::GRAPHICS_CONTEXTS => {
                    self.context(entry)?;
                    continue;
                }
                _ => continue,
            };
            let (mut number, mut word) = (0, &[][..]);
            for field in Fields::of(entry) {
                let field = field?;
                match (field.number, field.value) {
                    (interned_name::IID, Value::Varint(it)) => number = it,
                    (interned_name::NAME, Value::Bytes(it)) => word = it,
                    _ => {}
                }
            }
            words.insert(number, word.into());
        }
        Ok(())
    }

    fn context(&mut self, entry: &[u8]) -> Result<(), Damaged> {
        let (mut number, mut process) = (0, 0);
        for field in Fields::of(entry) {
            let field = field?;
            match (field.number, field.value) {
                (interned_name::IID, Value::Varint(it)) => number = it,
                (interned_graphics_context::PID, Value::Varint(it)) => process = it as u32,
                _ => {}
            }
        }
        self.contexts.insert(number, process);
        Ok(())
    }
}
