//! The events of a file with all that they say, for whoever writes them in another format.
//!
//! ```text
//! packets   begin "a" (args) .. end (args)   counter +3   stage "kernel"
//! told      "a" with its length, all args    counter 17   "kernel" with its length
//! ```
//!
//! The file is read once to join ends with begins and arrows with their ends, and once more for
//! each time that its events are shown. What fits in no event is counted in words.

use std::path::{Path, PathBuf};

use retime_kineto::{Arguments, FileRead, TrackRead};
use retime_model::Monitor;
use retime_model::format::FormatError;
use retime_perfetto_wire::fields::{gpu_render_stage_event, legacy_event, track_event};
use retime_perfetto_wire::read::{Fields, Value};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

use crate::annotations::Annotations;
use crate::counters::Counters;
use crate::event::{Flow, Kind, TrackEvent};
use crate::reader;
use crate::seen::Seen;
use crate::stage::{Stage, StageArguments};
use crate::untold::Untold;

/// An end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowTold {
    event: u32,
    /// The number that its ends have in common.
    pub id: u64,
    /// `f` for one that says it is the last, `s` for the first in time of others, `t` for those on
    /// the way.
    pub letter: u8,
    /// True if it leads from a launch to what that launched.
    pub is_launch: bool,
}

/// An event.
#[derive(Debug)]
pub struct EventTold<'a> {
    /// Its kind by the letter of Chrome's format; a slice that never ends is a `B`.
    pub letter: u8,
    /// Its name,
    pub name: &'a [u8],
    /// and its categories, with commas between them.
    pub category: String,
    /// The number of its track.
    pub track: u32,
    /// When it is, in nanoseconds.
    pub at: i64,
    /// The nanoseconds that it lasts; nothing if it has no length.
    pub length: Option<u64>,
    /// The number that joins it with others, as events converted from Chrome's format have it.
    pub id: Option<u64>,
    /// The value of a counter.
    pub value: Option<f64>,
    /// Its arguments.
    pub arguments: Map<String, Json>,
    /// The ends of arrows that it is.
    pub flows: &'a [FlowTold],
}

/// A file whose events can be shown.
#[derive(Debug)]
pub struct FileTold {
    path: PathBuf,
    read: FileRead,
    /// Arguments that ends have, by the event that they end.
    at_ends: FxHashMap<u32, Map<String, Json>>,
    /// The ends of arrows, sorted by event.
    flows: Vec<FlowTold>,
    counters: Counters,
    untold: Untold,
}

impl FileTold {
    /// Reads a file.
    pub fn of(path: &Path, monitor: &dyn Monitor) -> Result<Self, FormatError> {
        let mut ends = Vec::new();
        let mut flows: Vec<FlowFound> = Vec::new();
        let mut counters = Counters::default();
        let mut untold = Untold::default();
        let mut watch = |number, seen: Seen<'_>| {
            untold.take(&seen);
            match seen {
                Seen::Packet(packet) => counters.describe(packet),
                Seen::Event(event, _) => {
                    let launch = event.glance.correlation;
                    let own = event.flows.iter();
                    flows.extend(own.map(|it| FlowFound {
                        flow: *it,
                        event: number,
                        is_launch: Some(it.id) == launch,
                    }));
                }
                Seen::End(_, arguments) => {
                    if let Json::Object(all) = arguments.all()
                        && !all.is_empty()
                    {
                        ends.push((number, all));
                    }
                }
                _ => {}
            }
            Ok(())
        };
        let read = reader::read(path, monitor, Some(&mut watch))?;
        let ended = |(stamp, all)| Some((read.ended_by(stamp)?, all));
        Ok(Self {
            path: path.to_owned(),
            at_ends: ends.into_iter().filter_map(ended).collect(),
            flows: directed(flows, &read),
            counters,
            untold,
            read,
        })
    }

    /// The tracks, in the order of their numbers.
    pub fn tracks(&self) -> impl Iterator<Item = TrackRead<'_>> {
        self.read.tracks()
    }

    /// The things that no event holds, in words that take a plural, and how many there are.
    pub fn untold(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.untold.counted()
    }

    /// Shows all events, in the order of the file; `visit` says what is wrong with one.
    pub fn each_event(
        &self,
        monitor: &dyn Monitor,
        visit: &mut dyn FnMut(EventTold<'_>) -> Result<(), String>,
    ) -> Result<(), FormatError> {
        let mut tracks: Vec<(u32, Option<u64>)> = Vec::new();
        tracks.extend(self.tracks().map(|it| (it.machine, it.uuid)));
        let mut counting = self.counters.clone();
        let mut watch = |number, seen: Seen<'_>| match seen {
            Seen::Event(event, arguments) => {
                let mut told = self.event(number, event, arguments);
                if told.letter == b'C' {
                    let track = tracks.get(told.track as usize).copied();
                    told.value = counting.value(track.unwrap_or_default(), arguments.event);
                }
                visit(told)
            }
            Seen::Stage(stage, arguments) => visit(self.stage(number, stage, arguments)),
            _ => Ok(()),
        };
        reader::read(&self.path, monitor, Some(&mut watch)).map(drop)
    }

    fn event<'a>(
        &'a self,
        number: u32,
        event: &TrackEvent<'a>,
        arguments: &Annotations<'_>,
    ) -> EventTold<'a> {
        let length = self.read.length(number);
        let letter = match (event.kind, length) {
            (Kind::Begin, Some(_)) => b'X',
            (Kind::Moment(b'I' | b'R'), _) => b'i',
            (kind, _) => kind.letter(),
        };
        let mut all = as_map(arguments.all());
        // A launch names the stage of a GPU that it submits, which has the same number.
        if let [stage] = event.submits[..] {
            let known = all.entry("correlation");
            known.or_insert_with(|| stage.into());
        }
        if let Some(more) = self.at_ends.get(&number) {
            all.extend(more.clone());
        }
        EventTold {
            letter,
            name: event.name,
            category: categories(event, arguments),
            id: id(arguments.event),
            arguments: all,
            ..self.placed(number)
        }
    }

    fn stage<'a>(
        &'a self,
        number: u32,
        stage: &Stage<'a>,
        arguments: &StageArguments<'_>,
    ) -> EventTold<'a> {
        let mut all = as_map(arguments.all());
        all.insert("correlation".to_owned(), stage.id.into());
        let is_kernel = Fields::of(arguments.message)
            .map_while(Result::ok)
            .any(|it| {
                matches!(
                    it.number,
                    gpu_render_stage_event::KERNEL_IID | gpu_render_stage_event::LAUNCH
                )
            });
        EventTold {
            letter: b'X',
            name: stage.name,
            category: if is_kernel { "kernel" } else { "" }.to_owned(),
            arguments: all,
            ..self.placed(number)
        }
    }

    /// An event of which nothing is known but what the first reading has told.
    fn placed(&self, number: u32) -> EventTold<'_> {
        let from = self.flows.partition_point(|it| it.event < number);
        let to = self.flows.partition_point(|it| it.event <= number);
        EventTold {
            letter: b'i',
            name: b"",
            category: String::new(),
            track: self.read.track(number),
            at: self.read.begin(number),
            length: self.read.length(number),
            id: None,
            value: None,
            arguments: Map::new(),
            flows: self.flows.get(from..to).unwrap_or_default(),
        }
    }
}

/// An end of an arrow as it stands in the file.
struct FlowFound {
    flow: Flow,
    event: u32,
    /// True if the arrow has the number by which its event knows a launch.
    is_launch: bool,
}

/// Ends of arrows by event, with the way that each leads: it begins at the first in time.
fn directed(ends: Vec<FlowFound>, read: &FileRead) -> Vec<FlowTold> {
    let mut ends = ends;
    ends.sort_by_key(|it| (it.flow.id, read.begin(it.event), it.event));
    let mut all = Vec::with_capacity(ends.len());
    for own in ends.chunk_by(|a, b| a.flow.id == b.flow.id) {
        let is_launch = own.iter().all(|it| it.is_launch);
        all.extend(own.iter().enumerate().map(|(place, it)| FlowTold {
            event: it.event,
            id: it.flow.id,
            letter: match place {
                _ if it.flow.is_last => b'f',
                0 => b's',
                _ => b't',
            },
            is_launch,
        }));
    }
    all.sort_unstable();
    all
}

fn as_map(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(all) => all,
        _ => Map::new(),
    }
}

/// All categories of an event; one of a kernel as Kineto calls it, where it says none.
fn categories(event: &TrackEvent<'_>, arguments: &Annotations<'_>) -> String {
    let mut all: Vec<&[u8]> = Vec::new();
    for field in Fields::of(arguments.event).map_while(Result::ok) {
        match (field.number, field.value) {
            (track_event::CATEGORY_IIDS, Value::Varint(it)) => {
                all.push(arguments.sequence.categories.get(it));
            }
            (track_event::CATEGORIES, Value::Bytes(it)) => all.push(it),
            _ => {}
        }
    }
    if all.is_empty() && event.glance.is_kernel {
        all.push(b"kernel");
    }
    String::from_utf8_lossy(&all.join(&b","[..])).into_owned()
}

/// The number that joins an event of Chrome's format with others.
fn id(event: &[u8]) -> Option<u64> {
    let mut all = Fields::of(event).map_while(Result::ok);
    let legacy = all.find(|it| it.number == track_event::LEGACY_EVENT)?;
    let own = Fields::of(legacy.value.bytes()?).map_while(Result::ok);
    let mut own = own.filter(|it| {
        matches!(
            it.number,
            legacy_event::UNSCOPED_ID | legacy_event::LOCAL_ID | legacy_event::GLOBAL_ID
        )
    });
    own.next()?.value.number()
}
