//! A stage of a GPU: a kernel, a copy, or a pass of a picture.
//!
//! ```text
//! specifications, interned     1 "Compute queue"  2 "Kernel"
//! event_id 7 duration 50 hw_queue_iid 1 stage_iid 2 name_iid 3 context 1
//! ```

use retime_kineto::Arguments;
use retime_perfetto_wire::fields::{
    compute_kernel_launch, extra_compute_arg, extra_data, gpu_render_stage_event as number,
    specifications,
};
use retime_perfetto_wire::read::{Damaged, Fields, Value};
use serde_json::{Map, Value as Json};

use crate::interned::Sequence;
use crate::words::text;

/// A queue of a GPU, on which stages follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Queue {
    /// A queue of an interned specification.
    Interned(u64),
    /// A queue by its place in a list.
    Listed(u64),
}

/// A stage.
pub(crate) struct Stage<'a> {
    /// The number of the event; without one it is none, but says how others are called.
    pub(crate) id: Option<u64>,
    pub(crate) length: u64,
    pub(crate) gpu: u32,
    pub(crate) queue: Queue,
    pub(crate) context: u64,
    pub(crate) name: &'a [u8],
    /// A list of queues, if it has one.
    pub(crate) specifications: Option<&'a [u8]>,
}

impl<'a> Stage<'a> {
    pub(crate) fn of(message: &'a [u8], sequence: &'a Sequence) -> Result<Self, Damaged> {
        let mut stage = Self {
            id: None,
            length: 0,
            gpu: 0,
            queue: Queue::Listed(0),
            context: 0,
            name: &[],
            specifications: None,
        };
        let (mut kernel, mut kind): (&[u8], &[u8]) = (&[], &[]);
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (number::EVENT_ID, Value::Varint(it)) => stage.id = Some(it),
                (number::DURATION, Value::Varint(it)) => stage.length = it,
                (number::GPU_ID, Value::Varint(it)) => stage.gpu = it as u32,
                (number::HW_QUEUE_IID, Value::Varint(it)) => stage.queue = Queue::Interned(it),
                (number::HW_QUEUE_ID, Value::Varint(it)) => stage.queue = Queue::Listed(it),
                (number::CONTEXT, Value::Varint(it)) => stage.context = it,
                (number::NAME, Value::Bytes(it)) => stage.name = it,
                (number::NAME_IID, Value::Varint(it)) => {
                    stage.name = sequence.event_names.get(it);
                }
                (number::KERNEL_IID, Value::Varint(it)) => kernel = sequence.kernels.get(it),
                (number::STAGE_IID, Value::Varint(it)) => {
                    kind = sequence.gpu_specifications.get(it);
                }
                (number::SPECIFICATIONS, Value::Bytes(it)) => stage.specifications = Some(it),
                _ => {}
            }
        }
        let names = [stage.name, kernel, kind];
        stage.name = names.into_iter().find(|it| !it.is_empty()).unwrap_or(&[]);
        Ok(stage)
    }
}

/// The names of queues in a list.
pub(crate) fn listed(message: &[u8]) -> Result<Vec<String>, Damaged> {
    let mut queues = Vec::new();
    for field in Fields::of(message) {
        let field = field?;
        let (specifications::HW_QUEUE, Value::Bytes(description)) = (field.number, field.value)
        else {
            continue;
        };
        for inner in Fields::of(description) {
            let inner = inner?;
            if let (specifications::DESCRIPTION_NAME, Value::Bytes(name)) =
                (inner.number, inner.value)
            {
                queues.push(text(name));
            }
        }
    }
    Ok(queues)
}

/// The arguments of a stage.
pub(crate) struct StageArguments<'a> {
    pub(crate) message: &'a [u8],
    pub(crate) sequence: &'a Sequence,
    /// The number by which its launch is known.
    pub(crate) launch: u64,
}

impl Arguments for StageArguments<'_> {
    fn all(&self) -> Json {
        let mut all = Map::new();
        all.insert("correlation".to_owned(), self.launch.into());
        for field in Fields::of(self.message).map_while(Result::ok) {
            match (field.number, field.value) {
                (number::EXTRA_DATA, Value::Bytes(it)) => {
                    let (name, value) = pair(it, extra_data::NAME, extra_data::VALUE);
                    all.insert(name, value.into());
                }
                (number::LAUNCH, Value::Bytes(it)) => self.launch(it, &mut all),
                _ => {}
            }
        }
        Json::Object(all)
    }

    fn correlation(&self) -> Option<u64> {
        None
    }
}

/// Two texts.
fn pair(message: &[u8], first: u32, second: u32) -> (String, String) {
    let of = |number: u32| {
        let fields = Fields::of(message).map_while(Result::ok);
        let found = fields.filter(|it| it.number == number).last();
        text(found.and_then(|it| it.value.bytes()).unwrap_or_default())
    };
    (of(first), of(second))
}

impl StageArguments<'_> {
    fn launch(&self, message: &[u8], all: &mut Map<String, Json>) {
        for field in Fields::of(message).map_while(Result::ok) {
            let Value::Bytes(it) = field.value else {
                continue;
            };
            match field.number {
                compute_kernel_launch::GRID_SIZE => _ = all.insert("grid".to_owned(), sizes(it)),
                compute_kernel_launch::WORKGROUP_SIZE => {
                    all.insert("block".to_owned(), sizes(it));
                }
                compute_kernel_launch::ARGS => {
                    let (name, value) = self.argument(it);
                    all.insert(name, value);
                }
                _ => {}
            }
        }
    }

    fn argument(&self, message: &[u8]) -> (String, Json) {
        let (mut name, mut value) = (String::new(), Json::Null);
        for field in Fields::of(message).map_while(Result::ok) {
            match (field.number, field.value) {
                (extra_compute_arg::NAME, Value::Bytes(it)) => name = text(it),
                (extra_compute_arg::NAME_IID, Value::Varint(it)) => {
                    name = text(self.sequence.compute_arguments.get(it));
                }
                (extra_compute_arg::INT_VALUE, Value::Varint(it)) => value = (it as i64).into(),
                (extra_compute_arg::UINT_VALUE, Value::Varint(it)) => value = it.into(),
                (extra_compute_arg::DOUBLE_VALUE, Value::Eight(it)) => {
                    value = f64::from_bits(it).into();
                }
                (extra_compute_arg::STRING_VALUE, Value::Bytes(it)) => value = text(it).into(),
                (extra_compute_arg::STRING_VALUE_IID, Value::Varint(it)) => {
                    value = text(self.sequence.annotation_texts.get(it)).into();
                }
                _ => {}
            }
        }
        (name, value)
    }
}

/// The sizes in three dimensions.
fn sizes(message: &[u8]) -> Json {
    let mut sizes = [1_u64; 3];
    for field in Fields::of(message).map_while(Result::ok) {
        let place = sizes.get_mut((field.number as usize).wrapping_sub(1));
        if let Some((place, it)) = place.zip(field.value.number()) {
            *place = it;
        }
    }
    sizes.to_vec().into()
}
