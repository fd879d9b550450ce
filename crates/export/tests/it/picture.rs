//! What a file shows, as a viewer would understand it: read from packets by a reader of
//! protocol buffers of its own, and from JSON by `serde_json`.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

/// A file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Picture {
    /// Names by number.
    pub(crate) processes: BTreeMap<u64, String>,
    /// Process and name by number.
    pub(crate) threads: BTreeMap<u64, (u64, String)>,
    /// By thread, in order of time.
    pub(crate) steps: BTreeMap<u64, Vec<Step>>,
    /// By number.
    pub(crate) arrows: BTreeMap<u64, Arrow>,
    /// Points by name, in order.
    pub(crate) curves: BTreeMap<(u64, String), Vec<(u64, f64)>>,
    /// What happens to threads, in the order of the file.
    marks: Vec<Mark>,
}

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
        recorded: Option<u64>,
        /// How many arrows are said to be reversed.
        reversed: u64,
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
        /// Whether it begins or ends there, where the file says so.
        is_first: Option<bool>,
    },
}

impl Step {
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
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut joined = Vec::new();
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
                What::Arrow { number, is_first } => {
                    let here = met[&thread];
                    let is_open = open.contains(&here);
                    assert!(is_open || slices[here].end == at, "it meets nothing");
                    let before = seen.insert(number, here);
                    if let Some(is_first) = is_first {
                        assert_eq!(is_first, before.is_none(), "a reader drops arrow {number}");
                    }
                    joined.extend(before.map(|it| (number, it, here)));
                }
            }
        }
        for (number, one, other) in joined {
            let is_later = slices[one].begin > slices[other].begin;
            let (from, to) = if is_later { (other, one) } else { (one, other) };
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
        assert_eq!(seen.len(), self.arrows.len(), "arrows with one end");
        self
    }

    /// Of packets.
    pub(crate) fn of_packets(file: &[u8]) -> Self {
        let mut picture = Self::default();
        let mut sequences: HashMap<u64, Sequence> = HashMap::new();
        let mut tracks: HashMap<u64, Track> = HashMap::new();
        for (field, packet) in fields(file) {
            assert_eq!(field, 1);
            let packet = Message::of(packet.bytes());
            let sequence = packet.number(10).unwrap();
            if let Some(track) = packet.message(60) {
                picture.add_track(&track, &mut tracks);
                continue;
            }
            let sequence = sequences.entry(sequence).or_default();
            let event = packet.message(11).unwrap();
            if let Some(defaults) = packet.message(59) {
                assert_eq!(packet.number(13), Some(3));
                sequence.track = defaults.message(11).unwrap().number(11);
            }
            if let Some(names) = packet.message(12) {
                for name in names.messages(2) {
                    let (iid, text) = (name.number(1).unwrap(), name.text(2).unwrap());
                    assert_eq!(sequence.names.insert(iid, text), None);
                }
                for name in names.messages(3) {
                    let (iid, text) = (name.number(1).unwrap(), name.text(2).unwrap());
                    assert_eq!(sequence.annotations.insert(iid, text), None);
                }
            }
            let track = event.number(11).or(sequence.track).unwrap();
            let at = packet.number(8).unwrap();
            picture.add_event(at, &event, &tracks[&track], sequence);
        }
        picture.walk()
    }

    fn add_track(&mut self, track: &Message, tracks: &mut HashMap<u64, Track>) {
        let found = if let Some(process) = track.message(3) {
            let (pid, name) = (process.number(1).unwrap(), process.text(6).unwrap());
            self.processes.insert(pid, name);
            Track::Process(pid)
        } else if let Some(thread) = track.message(4) {
            let (tid, name) = (thread.number(2).unwrap(), thread.text(5).unwrap());
            self.threads.insert(tid, (thread.number(1).unwrap(), name));
            self.steps.entry(tid).or_default();
            Track::Thread(tid)
        } else {
            let Track::Process(pid) = tracks[&track.number(5).unwrap()] else {
                panic!("a curve stands beside a process");
            };
            Track::Curve(pid, track.text(2).unwrap())
        };
        let uuid = track.number(1).unwrap();
        assert!(tracks.insert(uuid, found).is_none());
    }

    fn add_event(&mut self, at: u64, event: &Message, track: &Track, sequence: &Sequence) {
        let thread = match track {
            Track::Thread(thread) => thread,
            Track::Curve(pid, name) => {
                let value = f64::from_bits(event.number(44).unwrap());
                let curve = self.curves.entry((*pid, name.clone())).or_default();
                curve.push((at, value));
                return;
            }
            Track::Process(_) => panic!("nothing happens to a process"),
        };
        let mut mark = |what| {
            let thread = *thread;
            self.marks.push(Mark { at, thread, what });
        };
        let kind = event.number(9).unwrap();
        let mut arrows = event.fields(47).peekable();
        if kind == 2 {
            assert!(
                arrows.peek().is_none(),
                "an arrow at an end is drawn elsewhere"
            );
            return mark(What::End);
        }
        let name = sequence.names[&event.number(10).unwrap()].clone();
        let annotation = |name: &str| {
            let mut all = event.messages(4);
            let found = all.find(|it| sequence.annotations[&it.number(1).unwrap()] == name);
            found.and_then(|it| it.number(3))
        };
        mark(What::Begin(Step::Begin {
            at,
            name,
            recorded: annotation("recorded_ns"),
            reversed: annotation("reversed_arrows").unwrap_or_default(),
        }));
        for arrow in arrows {
            let (number, is_first) = (arrow.number(), None);
            mark(What::Arrow { number, is_first });
        }
        if kind == 3 {
            mark(What::End);
        }
    }

    /// Of JSON.
    pub(crate) fn of_json(file: &[u8]) -> Self {
        let mut picture = Self::default();
        let file: Value = serde_json::from_slice(file).unwrap();
        for event in file["traceEvents"].as_array().unwrap() {
            let text = |it: &Value| it.as_str().unwrap().to_owned();
            let (pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64());
            let name = || text(&event["args"]["name"]);
            let nanoseconds = |it: &Value| (it.as_f64().unwrap() * 1000.0).round() as u64;
            let at = || nanoseconds(&event["ts"]);
            let begin = || {
                let (at, arguments) = (at(), &event["args"]);
                What::Begin(Step::Begin {
                    at,
                    name: text(&event["name"]),
                    recorded: arguments.get("recorded_us").map(nanoseconds),
                    reversed: arguments["reversed_arrows"].as_u64().unwrap_or_default(),
                })
            };
            let mut mark = |what| {
                let (at, thread) = (at(), tid.unwrap());
                picture.marks.push(Mark { at, thread, what });
            };
            match event["ph"].as_str().unwrap() {
                "M" if event["name"] == "process_name" => {
                    picture.processes.insert(pid, name());
                }
                "M" if event["name"] == "thread_name" => {
                    picture.threads.insert(tid.unwrap(), (pid, name()));
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
                    let curve = picture.curves.entry((pid, text(&event["name"])));
                    let value = event["args"]["us"].as_f64().unwrap();
                    curve.or_default().push((at(), value));
                }
                phase @ ("s" | "f") => {
                    assert_eq!(event.get("bp").is_some(), phase == "f");
                    mark(What::Arrow {
                        number: event["id"].as_u64().unwrap(),
                        is_first: Some(phase == "s"),
                    });
                }
                other => panic!("what is {other}?"),
            }
        }
        picture.walk()
    }
}

#[derive(Debug)]
enum Track {
    Process(u64),
    Thread(u64),
    Curve(u64, String),
}

#[derive(Default)]
struct Sequence {
    track: Option<u64>,
    names: HashMap<u64, String>,
    annotations: HashMap<u64, String>,
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
