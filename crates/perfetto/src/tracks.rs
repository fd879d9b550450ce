//! The tracks that events are on, and what is said of them.
//!
//! ```text
//! descriptors   uuid 1 process 7    uuid 2 parent 1 thread 7 9    uuid 3 parent 2 "phases"
//! tracks        of events with 2: process 7, thread 9;  with 3: process 7, "phases"
//! ```
//!
//! A descriptor may come behind the events of its track, so that all are looked up at the end.

use retime_kineto::Gathering;
use retime_perfetto_wire::fields::{process_descriptor, thread_descriptor, track_descriptor};
use retime_perfetto_wire::read::{Damaged, Fields, Value};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use crate::stage::Queue;
use crate::words::text;

/// The place that all events of one track have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// The track of this number,
    Track(u64),
    /// or that of a sequence, which says no other.
    Sequence(u32),
    /// The queue of a GPU, for a process.
    Queue(u32, Queue, u32),
    /// None: what only is moved with its machine.
    Beside,
}

/// The description of a track.
#[derive(Clone, Debug, Default)]
struct Described {
    parent: u64,
    name: Option<String>,
    process: Option<(u32, Option<String>)>,
    thread: Option<(u32, u64, Option<String>)>,
    labels: Vec<String>,
    /// The header of the profile of a process, where a merged file has it in words on the track.
    said: Option<Json>,
    /// True if it says in which order the tracks below it stand.
    orders_children: bool,
}

/// Parents of parents that are looked at.
const DEEPEST: usize = 64;

/// All tracks of a file.
#[derive(Default)]
pub(crate) struct Tracks {
    numbers: FxHashMap<(u32, Place), u32>,
    all: Vec<(u32, Place)>,
    described: FxHashMap<(u32, u64), Described>,
    /// The names of queues of GPUs.
    queues: FxHashMap<(u32, Place), String>,
    last: Option<((u32, Place), u32)>,
}

impl Tracks {
    /// Takes a descriptor.
    pub(crate) fn describe(&mut self, machine: u32, message: &[u8]) -> Result<(), Damaged> {
        let mut uuid = 0;
        let mut described = Described::default();
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (track_descriptor::UUID, Value::Varint(it)) => uuid = it,
                (track_descriptor::PARENT_UUID, Value::Varint(it)) => described.parent = it,
                (track_descriptor::NAME | track_descriptor::STATIC_NAME, Value::Bytes(it)) => {
                    described.name = Some(text(it));
                }
                (track_descriptor::CHILD_ORDERING, Value::Varint(it)) => {
                    described.orders_children = it == track_descriptor::CHILDREN_EXPLICIT;
                }
                (track_descriptor::DESCRIPTION, Value::Bytes(it)) => {
                    described.said = serde_json::from_slice(it).ok();
                }
                (track_descriptor::PROCESS, Value::Bytes(it)) => described.process(it)?,
                (track_descriptor::THREAD, Value::Bytes(it)) => described.thread(it)?,
                _ => {}
            }
        }
        self.described.insert((machine, uuid), described);
        Ok(())
    }

    /// Names the queue of a GPU.
    pub(crate) fn name_queue(&mut self, machine: u32, place: Place, name: String) {
        self.queues.insert((machine, place), name);
    }

    /// True if a track is known by name.
    pub(crate) fn is_named(&self, machine: u32, place: Place) -> bool {
        self.queues.contains_key(&(machine, place))
    }

    /// The number of the track of a place on a machine.
    #[inline]
    pub(crate) fn number(
        &mut self,
        machine: u32,
        place: Place,
        gathering: &mut Gathering,
    ) -> Result<u32, String> {
        let key = (machine, place);
        if let Some((_, number)) = self.last.filter(|it| it.0 == key) {
            return Ok(number);
        }
        let number = if let Some(number) = self.numbers.get(&key) {
            *number
        } else {
            let machine = Some(machine).filter(|it| *it != 0);
            let number = gathering.track(String::new(), String::new(), machine, true)?;
            self.numbers.insert(key, number);
            self.all.push(key);
            number
        };
        self.last = Some((key, number));
        Ok(number)
    }

    /// The first track of a machine; nothing as long as there is none.
    pub(crate) fn of_machine(&self, machine: u32) -> Option<u32> {
        let place = self.all.iter().position(|it| it.0 == machine)?;
        Some(place as u32)
    }

    /// Says of all tracks which processes and threads they are.
    pub(crate) fn name_all(&self, gathering: &mut Gathering) {
        self.name_processes(gathering);
        for (number, &(machine, place)) in (0..).zip(&self.all) {
            let (pid, tid) = match place {
                Place::Track(uuid) => {
                    gathering.number_track(number, uuid);
                    let thread = self.thread_above(machine, uuid);
                    if let Some(thread) = thread {
                        gathering.lane_of(number, thread);
                    }
                    self.of_track(machine, uuid, gathering)
                }
                Place::Sequence(it) => (format!("sequence {it}"), String::new()),
                Place::Queue(gpu, queue, process) => {
                    let name = self.queues.get(&(machine, place)).cloned();
                    let rank = name.as_deref().and_then(rank);
                    let pid = match rank {
                        _ if process != 0 => process.to_string(),
                        Some(rank) => format!("{rank}: GPU {gpu}"),
                        None => format!("GPU {gpu}"),
                    };
                    if process == 0 && rank.is_some() {
                        gathering.name_process(pid.clone(), pid.clone());
                    }
                    let tid = format!("gpu {gpu} {queue:?}");
                    let name = name.map_or_else(
                        || format!("GPU {gpu} queue"),
                        |it| format!("GPU {gpu} {it}"),
                    );
                    gathering.name_thread(pid.clone(), tid.clone(), name);
                    (pid, tid)
                }
                Place::Beside => ("what is not on tracks".to_owned(), String::new()),
            };
            gathering.describe(number, pid, tid);
        }
    }

    /// Names all processes that are described, also those whose threads say no track above them.
    fn name_processes(&self, gathering: &mut Gathering) {
        let mut named: Vec<(u32, u64, &str)> = Vec::new();
        for (&(_, uuid), described) in &self.described {
            let process = described.process.as_ref();
            if let Some(((pid, _), said)) = process.zip(described.said.as_ref()) {
                gathering.tell_process((*pid as i32).to_string(), said);
            }
            if let Some((pid, Some(name))) = &described.process {
                named.push((*pid, uuid, name));
            }
        }
        // Of several names of one process the same counts whatever the order.
        named.sort_unstable();
        for (pid, _, name) in named {
            gathering.name_process((pid as i32).to_string(), name.to_owned());
        }
    }

    /// The track of the thread that a track is below of.
    fn thread_above(&self, machine: u32, uuid: u64) -> Option<u32> {
        let mut next = uuid;
        for _ in 0..DEEPEST {
            let described = self.described.get(&(machine, next))?;
            if described.thread.is_some() {
                let thread = self.numbers.get(&(machine, Place::Track(next))).copied();
                return thread.filter(|_| next != uuid);
            }
            next = described.parent;
        }
        None
    }

    /// Process and thread of a track, which are named.
    fn of_track(&self, machine: u32, uuid: u64, gathering: &mut Gathering) -> (String, String) {
        let (mut name, mut thread, mut root) = (None, None, uuid);
        // The track below the root on the way to it.
        let mut below = uuid;
        let mut pid = None;
        let mut next = uuid;
        for _ in 0..DEEPEST {
            let Some(described) = self.described.get(&(machine, next)) else {
                break;
            };
            below = std::mem::replace(&mut root, next);
            if next == uuid {
                name.clone_from(&described.name);
            }
            if let Some((of, tid, named)) = &described.thread
                && thread.is_none()
            {
                thread = Some(*tid);
                pid = pid.or(Some(*of));
                if next == uuid {
                    name = name.or_else(|| named.clone());
                }
            }
            if let Some((of, named)) = &described.process {
                pid = Some(*of);
                if let Some(named) = named.clone().or_else(|| described.name.clone()) {
                    gathering.name_process((*of as i32).to_string(), named);
                }
                for label in &described.labels {
                    gathering.label_process((*of as i32).to_string(), label);
                }
                break;
            }
            if described.parent == 0 || described.parent == next {
                break;
            }
            next = described.parent;
        }
        let is_thread = { self.described.get(&(machine, uuid)) };
        let is_thread = is_thread.is_some_and(|it| it.thread.is_some());
        let tid = match thread.filter(|_| is_thread) {
            Some(tid) => (tid as i64).to_string(),
            None => format!("track {uuid}"),
        };
        let pid = match pid {
            Some(pid) => (pid as i32).to_string(),
            None => self.of_custom(machine, root, below, gathering),
        };
        if let Some(name) = name {
            gathering.name_thread(pid.clone(), tid.clone(), name);
        }
        (pid, tid)
    }
}

impl Tracks {
    /// The process of tracks that are of none by what they say. It is the topmost of them; where
    /// that one says how the tracks below it stand and has no events, it is a heading, and these
    /// are processes.
    fn of_custom(&self, machine: u32, root: u64, below: u64, gathering: &mut Gathering) -> String {
        let orders = |it: &Described| it.orders_children;
        let has_events = self.numbers.contains_key(&(machine, Place::Track(root)));
        let is_heading = !has_events && self.described.get(&(machine, root)).is_some_and(orders);
        let own = if is_heading { below } else { root };
        let pid = format!("track {own}");
        let described = self.described.get(&(machine, own));
        if let Some(name) = described.and_then(|it| it.name.clone()) {
            gathering.name_process(pid.clone(), name);
        }
        pid
    }
}

/// The rank that the name of a queue begins with, as `retime merge` names it.
fn rank(name: &str) -> Option<&str> {
    let (rank, _) = name.split_once(": ")?;
    let number = rank.strip_prefix("rank ")?;
    number.parse::<u32>().is_ok().then_some(rank)
}

impl Described {
    fn process(&mut self, message: &[u8]) -> Result<(), Damaged> {
        let (mut pid, mut name) = (0, None);
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (process_descriptor::PID, Value::Varint(it)) => pid = it as u32,
                (process_descriptor::PROCESS_NAME, Value::Bytes(it)) => name = Some(text(it)),
                (process_descriptor::PROCESS_LABELS, Value::Bytes(it)) => {
                    self.labels.push(text(it));
                }
                _ => {}
            }
        }
        self.process = Some((pid, name));
        Ok(())
    }

    fn thread(&mut self, message: &[u8]) -> Result<(), Damaged> {
        let (mut pid, mut tid, mut name) = (0, 0, None);
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (thread_descriptor::PID, Value::Varint(it)) => pid = it as u32,
                (thread_descriptor::TID, Value::Varint(it)) => tid = it,
                (thread_descriptor::THREAD_NAME, Value::Bytes(it)) => name = Some(text(it)),
                _ => {}
            }
        }
        self.thread = Some((pid, tid, name));
        Ok(())
    }
}
