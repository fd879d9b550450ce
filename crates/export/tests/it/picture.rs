//! What a file shows, as a viewer would understand it: read from packets by a reader of
//! protocol buffers of its own, and from JSON by `serde_json`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

/// The name of the track of contradictions.
const CONTRADICTIONS: &str = "contradictions as recorded";

/// A file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Picture {
    /// The name of each thread, with that of its process before it, by number.
    pub(crate) threads: BTreeMap<u64, String>,
    /// By thread, in order of time.
    pub(crate) steps: BTreeMap<u64, Vec<Step>>,
    /// By number.
    pub(crate) arrows: BTreeMap<u64, Arrow>,
    /// Points by process and name, in order.
    pub(crate) curves: BTreeMap<(String, String), Vec<(u64, f64)>>,
    /// The contradictions of the recording, by the name of their track.
    pub(crate) contradictions: BTreeMap<String, Vec<Step>>,
    /// What happens to threads, in the order of the file.
    marks: Vec<Mark>,
}

/// The arguments of an event but for its recorded time, as they would be printed.
pub(crate) type Facts = BTreeMap<String, String>;

/// An arrow as Perfetto draws it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrow {
    pub(crate) from: Slice,
    pub(crate) to: Slice,
}

/// Where and when a slice is, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) thread: u64,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// A beginning or an end, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Begin {
        at: u64,
        name: String,
        category: Option<String>,
        recorded: Option<i64>,
        facts: Facts,
    },
    End {
        at: u64,
    },
}

/// Something that a file says of a thread.
#[derive(Debug, PartialEq)]
struct Mark {
    at: u64,
    thread: u64,
    what: What,
}

#[derive(Debug, PartialEq)]
enum What {
    Begin(Step),
    End,
    /// An arrow meets the slice that is there.
    Arrow {
        number: u64,
        end: ArrowEnd,
    },
}

/// The way in which a file says that an arrow meets a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ArrowEnd {
    /// JSON says where it begins, and where it ends.
    Drawn { is_first: bool },
    /// It leaves here, by packets.
    Leaves,
    /// It ends here.
    Ends,
    /// It is drawn from the one to the other, whatever they are.
    Beside,
}

impl Step {
    /// How many arrows are said to be reversed.
    pub(crate) fn reversed(&self) -> u64 {
        match self {
            Self::Begin { facts, .. } => facts.get("reversed").map_or(0, |it| it.parse().unwrap()),
            Self::End { .. } => 0,
        }
    }

    pub(crate) fn at(&self) -> u64 {
        match self {
            Self::Begin { at, .. } | Self::End { at } => *at,
        }
    }
}

impl Picture {
    /// Slices as thread, name, begin and end; every end has a beginning, every beginning an
    /// end, and times never fall.
    pub(crate) fn slices(&self) -> Vec<(u64, String, u64, u64)> {
        let mut slices = Vec::new();
        for (&thread, steps) in &self.steps {
            assert!(steps.windows(2).all(|it| it[0].at() <= it[1].at()));
            let mut open = Vec::new();
            for step in steps {
                match step {
                    Step::Begin { at, name, .. } => open.push((name.clone(), *at)),
                    Step::End { at } => {
                        let (name, begin) = open.pop().expect("an end has a beginning");
                        slices.push((thread, name, begin, *at));
                    }
                }
            }
            assert!(open.is_empty(), "{open:?} has no end");
        }
        slices
    }

    /// Walks through what was found in the order of time, and of the file among what is at
    /// one time, and joins what bears the number of one arrow: the slice that begins later
    /// to the other, as Perfetto's `FlowTracker` does.
    fn walk(mut self) -> Self {
        let mut marks = std::mem::take(&mut self.marks);
        marks.sort_by_key(|it| it.at);
        let mut slices: Vec<Slice> = Vec::new();
        // By thread: what is open, and what an arrow meets.
        let mut open: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut met: HashMap<u64, usize> = HashMap::new();
        let mut seen: HashMap<(u64, bool), usize> = HashMap::new();
        let (mut causes, mut effects) = (BTreeMap::new(), BTreeMap::new());
        let (mut joined, mut undrawn) = (Vec::new(), Vec::new());
        for Mark { at, thread, what } in marks {
            let open = open.entry(thread).or_default();
            match what {
                What::Begin(step) => {
                    met.insert(thread, slices.len());
                    open.push(slices.len());
                    slices.push(Slice {
                        thread,
                        begin: at,
                        end: at,
                    });
                    self.steps.get_mut(&thread).unwrap().push(step);
                }
                What::End => {
                    let closed = open.pop().expect("an end has a beginning");
                    slices[closed].end = at;
                    self.steps.get_mut(&thread).unwrap().push(Step::End { at });
                }
                What::Arrow { number, end } => {
                    let here = met[&thread];
                    let is_open = open.contains(&here);
                    assert!(is_open || slices[here].end == at, "it meets nothing");
                    let key = (number, end == ArrowEnd::Beside);
                    match end {
                        ArrowEnd::Drawn { is_first } => {
                            let before = seen.insert(key, here);
                            let is_new = before.is_none();
                            assert_eq!(is_first, is_new, "a reader drops arrow {number}");
                            joined.extend(before.map(|it| (number, it, here)));
                        }
                        // As the trace processor: what ends before it began is not drawn.
                        ArrowEnd::Ends if !seen.contains_key(&key) => undrawn.push(number),
                        _ => joined.extend(seen.insert(key, here).map(|it| (number, it, here))),
                    }
                    match end {
                        ArrowEnd::Leaves => assert!(causes.insert(number, here).is_none()),
                        ArrowEnd::Ends => assert!(effects.insert(number, here).is_none()),
                        _ => {}
                    }
                }
            }
        }
        for (number, one, other) in joined {
            let is_later = slices[one].begin > slices[other].begin;
            let (from, to) = if is_later { (other, one) } else { (one, other) };
            if let (Some(&cause), Some(&effect)) = (causes.get(&number), effects.get(&number)) {
                let is_reversed = undrawn.contains(&number);
                assert_eq!((from, to) == (effect, cause), is_reversed, "arrow {number}");
            }
            let arrow = Arrow {
                from: slices[from],
                to: slices[to],
            };
            assert_eq!(
                self.arrows.insert(number, arrow),
                None,
                "more than two ends"
            );
        }
        let numbers: BTreeSet<u64> = seen.keys().map(|it| it.0).collect();
        assert_eq!(numbers.len(), self.arrows.len(), "arrows with one end");
        assert!(causes.keys().eq(effects.keys()));
        self.set_apart();
        self
    }

    /// Takes the tracks of contradictions out of those of locations.
    fn set_apart(&mut self) {
        let own: Vec<u64> = self
            .threads
            .iter()
            .filter(|it| it.1.ends_with(CONTRADICTIONS))
            .map(|it| *it.0)
            .collect();
        for thread in own {
            let name = self.threads.remove(&thread).unwrap();
            self.contradictions
                .insert(name, self.steps.remove(&thread).unwrap());
        }
    }

    /// Of packets.
    pub(crate) fn of_packets(file: &[u8]) -> Self {
        let mut picture = Self::default();
        let mut sequences: HashMap<u64, Sequence> = HashMap::new();
        let mut tracks = Tree::default();
        for (field, packet) in fields(file) {
            assert_eq!(field, 1);
            let packet = Message::of(packet.bytes());
            let sequence = packet.number(10).unwrap();
            if let Some(track) = packet.message(60) {
                tracks.add(&track);
                continue;
            }
            let sequence = sequences.entry(sequence).or_default();
            let event = packet.message(11).unwrap();
            if let Some(defaults) = packet.message(59) {
                assert_eq!(packet.number(13), Some(3));
                sequence.track = defaults.message(11).unwrap().number(11);
            }
            if let Some(names) = packet.message(12) {
                let tables = [
                    (1, &mut sequence.categories),
                    (2, &mut sequence.names),
                    (3, &mut sequence.annotations),
                    (29, &mut sequence.texts),
                ];
                for (field, table) in tables {
                    for name in names.messages(field) {
                        let (iid, text) = (name.number(1).unwrap(), name.text(2).unwrap());
                        assert_eq!(table.insert(iid, text), None);
                    }
                }
            }
            let track = event.number(11).or(sequence.track).unwrap();
            let at = packet.number(8).unwrap();
            picture.add_event(at, &event, track, &tracks, sequence);
        }
        for (&uuid, track) in tracks.0.iter().filter(|it| it.1.is_lane()) {
            picture.threads.insert(uuid / 4 - 1, tracks.name(track));
            picture.steps.entry(uuid / 4 - 1).or_default();
        }
        picture.walk()
    }

    /// The tracks of packets as a viewer lists them, by the places that they say they have.
    pub(crate) fn tree(file: &[u8]) -> Vec<String> {
        let mut tracks = Tree::default();
        for (_, packet) in fields(file) {
            let packet = Message::of(packet.bytes());
            packet.message(60).iter().for_each(|it| tracks.add(it));
        }
        let mut lines = Vec::new();
        tracks.list(0, 0, &mut lines);
        lines
    }

    fn add_event(
        &mut self,
        at: u64,
        event: &Message,
        uuid: u64,
        tracks: &Tree,
        sequence: &Sequence,
    ) {
        let track = &tracks.0[&uuid];
        if track.is_curve {
            let value = f64::from_bits(event.number(44).unwrap());
            let beside = tracks.name(&tracks.0[&track.parent]);
            let process = beside.rsplit_once(", ").unwrap().0.to_owned();
            let curve = self.curves.entry((process, track.name.clone()));
            curve.or_default().push((at, value));
            return;
        }
        assert!(track.is_lane(), "nothing happens to a group or a process");
        let mut mark = |what| {
            let thread = uuid / 4 - 1;
            self.marks.push(Mark { at, thread, what });
        };
        let kind = event.number(9).unwrap();
        let arrows = || event.0.iter().filter(|it| it.0 == 47 || it.0 == 48);
        self.steps.entry(uuid / 4 - 1).or_default();
        if kind == 2 {
            assert_eq!(arrows().count(), 0, "an arrow at an end is drawn elsewhere");
            return mark(What::End);
        }
        let mut facts = Facts::new();
        let mut recorded = None;
        for annotation in event.messages(4) {
            let name = &sequence.annotations[&annotation.number(1).unwrap()];
            if name == "recorded_ns" {
                recorded = annotation.number(4).map(u64::cast_signed);
                continue;
            }
            let whole = annotation.number(3).map(|it| it.to_string());
            let signed = annotation.number(4).map(|it| it.cast_signed().to_string());
            let text = annotation.number(17).map(|it| sequence.texts[&it].clone());
            let value = whole.or(signed).or(text).unwrap();
            assert_eq!(facts.insert(name.clone(), value), None);
        }
        mark(What::Begin(Step::Begin {
            at,
            name: sequence.names[&event.number(10).unwrap()].clone(),
            category: event.number(3).map(|it| sequence.categories[&it].clone()),
            recorded,
            facts,
        }));
        for (field, number) in arrows() {
            let number = number.number();
            let (end, number) = match field {
                48 => (ArrowEnd::Ends, number),
                _ if number >> 63 == 1 => (ArrowEnd::Beside, number & !(1 << 63)),
                _ => (ArrowEnd::Leaves, number),
            };
            mark(What::Arrow { number, end });
        }
        if kind == 3 {
            mark(What::End);
        }
    }

    /// Of JSON.
    pub(crate) fn of_json(file: &[u8]) -> Self {
        let mut picture = Self::default();
        let file: Value = serde_json::from_slice(file).unwrap();
        let mut processes: HashMap<u64, String> = HashMap::new();
        for event in file["traceEvents"].as_array().unwrap() {
            let text = |it: &Value| it.as_str().unwrap().to_owned();
            let (pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64());
            let name = || text(&event["args"]["name"]);
            let nanoseconds = |it: &Value| (it.as_f64().unwrap() * 1000.0).round() as u64;
            let at = || nanoseconds(&event["ts"]);
            let begin = || {
                let mut arguments = event["args"].as_object().cloned().unwrap_or_default();
                let recorded = arguments.remove("recorded_us");
                let recorded = recorded.map(|it| (it.as_f64().unwrap() * 1000.0).round() as i64);
                let printed = |it: Value| match it {
                    Value::String(it) => it,
                    number => number.to_string(),
                };
                What::Begin(Step::Begin {
                    at: at(),
                    name: text(&event["name"]),
                    category: event.get("cat").map(text),
                    recorded,
                    facts: arguments
                        .into_iter()
                        .map(|(key, it)| (key, printed(it)))
                        .collect(),
                })
            };
            let mut mark = |what| {
                let (at, thread) = (at(), tid.unwrap());
                picture.marks.push(Mark { at, thread, what });
            };
            match event["ph"].as_str().unwrap() {
                "M" if event["name"] == "process_name" => {
                    processes.insert(pid, name());
                }
                "M" if event["name"] == "thread_name" => {
                    let own = match name() {
                        name if name == CONTRADICTIONS => processes[&pid].clone(),
                        name => format!("{}, {name}", processes[&pid]),
                    };
                    picture.threads.insert(tid.unwrap(), own);
                    picture.steps.insert(tid.unwrap(), Vec::new());
                }
                "M" => {}
                "B" => mark(begin()),
                "E" => mark(What::End),
                "X" => {
                    assert_eq!(event["dur"], 0);
                    mark(begin());
                    mark(What::End);
                }
                "C" => {
                    let process = processes[&pid].clone();
                    let curve = picture.curves.entry((process, text(&event["name"])));
                    let value = event["args"]["ns"].as_f64().unwrap();
                    curve.or_default().push((at(), value));
                }
                phase @ ("s" | "f") => {
                    assert_eq!(event.get("bp").is_some(), phase == "f");
                    let is_first = phase == "s";
                    mark(What::Arrow {
                        number: event["id"].as_u64().unwrap(),
                        end: ArrowEnd::Drawn { is_first },
                    });
                }
                other => panic!("what is {other}?"),
            }
        }
        picture.walk()
    }
}

/// A track of packets.
struct Track {
    name: String,
    parent: u64,
    is_curve: bool,
    place: u64,
    uuid: u64,
}

impl Track {
    /// True for those of locations and of contradictions.
    fn is_lane(&self) -> bool {
        self.uuid.is_multiple_of(4)
    }
}

/// The tracks by their numbers.
#[derive(Default)]
struct Tree(BTreeMap<u64, Track>);

impl Tree {
    fn add(&mut self, track: &Message) {
        let uuid = track.number(1).unwrap();
        assert!(track.message(3).is_none() && track.message(4).is_none());
        let parent = track.number(5).unwrap_or_default();
        assert!(parent == 0 || self.0.contains_key(&parent));
        assert_eq!(track.number(11), Some(3), "children stand where they say");
        let found = Track {
            name: track.text(2).unwrap(),
            parent,
            is_curve: track.message(8).is_some(),
            place: track.number(12).unwrap(),
            uuid,
        };
        assert!(self.0.insert(uuid, found).is_none());
    }

    /// The names of a process and of its thread; that of the group where there are two.
    fn name(&self, track: &Track) -> String {
        let mut name = track.name.clone();
        let mut above = &self.0[&track.parent];
        if above.parent != 0 {
            name = format!("{}, {name}", above.name);
            above = &self.0[&above.parent];
        }
        let groups = self.0.values().filter(|it| it.parent == 0).count();
        if groups > 1 {
            name = format!("{}: {name}", above.name);
        }
        name
    }

    fn list(&self, parent: u64, depth: usize, lines: &mut Vec<String>) {
        let mut own: Vec<&Track> = self.0.values().filter(|it| it.parent == parent).collect();
        own.sort_by_key(|it| it.place);
        assert!(own.windows(2).all(|it| it[0].place < it[1].place));
        for track in own {
            lines.push(format!("{}{}", "  ".repeat(depth), track.name));
            self.list(track.uuid, depth + 1, lines);
        }
    }
}

#[derive(Default)]
struct Sequence {
    track: Option<u64>,
    categories: HashMap<u64, String>,
    names: HashMap<u64, String>,
    annotations: HashMap<u64, String>,
    texts: HashMap<u64, String>,
}

/// The value of a field.
#[derive(Clone, Copy)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn number(self) -> u64 {
        let Self::Number(number) = self else {
            panic!("no number");
        };
        number
    }

    fn bytes(self) -> &'a [u8] {
        let Self::Bytes(bytes) = self else {
            panic!("no bytes");
        };
        bytes
    }
}

/// A message, field by field.
struct Message<'a>(Vec<(u64, Field<'a>)>);

impl<'a> Message<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self(fields(bytes))
    }

    fn fields(&self, field: u64) -> impl Iterator<Item = Field<'a>> + '_ {
        let own = self.0.iter().filter(move |it| it.0 == field);
        own.map(|it| it.1)
    }

    fn number(&self, field: u64) -> Option<u64> {
        self.fields(field).next().map(Field::number)
    }

    fn text(&self, field: u64) -> Option<String> {
        let bytes = self.fields(field).next()?.bytes();
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }

    fn messages(&self, field: u64) -> impl Iterator<Item = Message<'a>> + '_ {
        self.fields(field).map(|it| Message::of(it.bytes()))
    }

    fn message(&self, field: u64) -> Option<Message<'a>> {
        self.messages(field).next()
    }
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let value = bytes.split_off(..8).unwrap();
                Field::Number(u64::from_le_bytes(value.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                Field::Bytes(bytes.split_off(..length).unwrap())
            }
            kind => panic!("kind {kind}"),
        };
        found.push((key >> 3, value));
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = *bytes.split_off_first().unwrap();
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}
