//! Which stream or event a call named, where the recorder says so.
//!
//! Score-P attaches them to calls of CUDA's driver (option `references`, which is on by
//! default): to the leave of `cuStreamSynchronize` the location of the stream, to that of
//! `cuEventRecord` both the location and the address of the event, and to that of
//! `cuEventSynchronize` the address. Calls of the runtime and of HIP have none. Attributes
//! are not looked at otherwise, so threads of a trace that defines these are read once more.
//!
//! Source: Score-P 9.0, `src/adapters/cuda/scorep_cupti_callbacks.c`
//! (`create_references_list`).

use std::collections::HashMap;

use retime_model::{LocationIndex, Monitor};
use retime_otf2::{AttributeRef, AttributeValue, Definitions, Error, Trace};

use crate::error::TraceError;

/// How many events go by between two looks at whether to go on.
const STRIDE: u64 = 1 << 16;

/// The stream or the event that a call named.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reference {
    pub(super) stream: Option<LocationIndex>,
    /// Address of an event.
    pub(super) event: Option<u64>,
}

/// The streams and events that the calls of a thread named, by the number of the leave.
pub(super) type Named = HashMap<u64, Reference>;

/// The attributes that a trace defines for it.
pub(super) struct References {
    stream: AttributeRef,
    event: Option<AttributeRef>,
}

impl References {
    pub(super) fn find(definitions: &Definitions) -> Option<Self> {
        let named = |name: &str| {
            let mut attributes = definitions.attributes.iter();
            let found = attributes.find(|it| definitions.text(it.name) == name);
            found.map(|it| it.id)
        };
        Some(Self {
            stream: named("CUDA_STREAM_REF")?,
            event: named("CUDA_EVENT_REF"),
        })
    }

    /// Reads the streams and events that a thread named; `streams` has the streams by the ids of
    /// their locations.
    pub(super) fn read(
        &self,
        trace: &Trace,
        location: LocationIndex,
        streams: &HashMap<u64, LocationIndex>,
        monitor: &dyn Monitor,
    ) -> Result<Named, TraceError> {
        let mut named = Named::new();
        let mut events = trace.events(location)?;
        while let Some(event) = events.next()? {
            if event.number % STRIDE == 0 && monitor.cancelled() {
                return Err(Error::Cancelled.into());
            }
            let mut reference = Reference::default();
            for it in event.attributes() {
                let it = it.map_err(|error| event.error(error))?;
                match it.value {
                    AttributeValue::Location(id) if it.attribute == self.stream => {
                        reference.stream = streams.get(&id).copied();
                    }
                    AttributeValue::U64(address) if Some(it.attribute) == self.event => {
                        reference.event = Some(address);
                    }
                    _ => {}
                }
            }
            if reference.stream.is_some() || reference.event.is_some() {
                named.insert(event.number, reference);
            }
        }
        Ok(named)
    }
}
