//! Chrome's JSON as a kind of file that holds profiles.

use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;
use retime_gzip::first_bytes;
use retime_model::format::{DocumentKind, FileError, FormatError};
use retime_model::{FileMap, Monitor, open_regular};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::columns::NO_TRACK;
use crate::digits::LengthPlace;
use crate::document::{Document, Renew, Renewed, Show};
use crate::gathering::Gathering;
use crate::labels;
use crate::number_forms::{Forms, LengthWas, Written};
use crate::outline::{Look, look};
use crate::pass::{Event, changing_length, read};
use crate::profile::{FileRead, NewLength};
use crate::recorded::{Arguments, Recorded};
use crate::window::syntax;
use crate::{copies, digits, recordings};
use retime_chrome_json::micros;

/// The bytes at the beginning of a file that are looked at.
const PROBE: u64 = 1 << 16;

/// Arrows that Kineto draws within one process, whose clock orders their ends anyway.
const OWN_FLOWS: [&[u8]; 4] = [b"fwdbwd", b"ac2g", b"async_cpu_to_gpu", b"async_gpu"];

/// The message on a time that is too far from all that a trace can hold.
const BEYOND: &str = "ts and baseTimeNanoseconds together lie more than 73 years before 0, or \
                      beyond what 64 bits of nanoseconds hold";

/// Keys of which one stands near the beginning of every object with events; headers can be
/// so long that the events begin later.
const KEYS: [&[u8]; 5] = [
    b"\"traceEvents\"",
    b"\"baseTimeNanoseconds\"",
    b"\"schemaVersion\"",
    b"\"deviceProperties\"",
    b"\"distributedInfo\"",
];

/// Files in Chrome's JSON format.
#[derive(Clone, Copy, Debug)]
pub struct Chrome;

impl Document for Chrome {
    fn format(&self) -> &'static str {
        "Kineto"
    }

    fn kind(&self) -> DocumentKind {
        DocumentKind::Chrome
    }

    fn ends(&self) -> &'static [&'static str] {
        &[".json", ".json.gz"]
    }

    fn in_words(&self) -> &'static str {
        "trace of PyTorch's profiler or in Chrome's format (*.json, *.json.gz)"
    }

    fn alone_in_words(&self) -> &'static str {
        "profile, nor another trace in Chrome's format"
    }

    fn begins_like_one(&self, path: &Path) -> io::Result<bool> {
        let bytes = first_bytes(open_regular(path)?, PROBE)?;
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        let text = text.trim_ascii_start();
        let holds = |what: &[u8]| memmem::find(text, what).is_some();
        Ok(match text.first() {
            Some(b'{') => KEYS.into_iter().any(holds),
            Some(b'[') => holds(b"\"ph\"") && holds(b"\"ts\""),
            _ => false,
        })
    }

    fn look(&self, path: &Path) -> io::Result<Look> {
        look(path)
    }

    fn take_other_recordings(
        &self,
        files: &mut Vec<PathBuf>,
        rank: &dyn Fn(&Path) -> Option<u32>,
    ) -> io::Result<Vec<(PathBuf, String)>> {
        let mut others = recordings::take_others(files, rank)?;
        others.extend(copies::take_copies(files));
        Ok(others)
    }

    fn read(&self, path: &Path, monitor: &dyn Monitor) -> Result<FileRead, FormatError> {
        let mut reader = Reader {
            last: (Vec::new(), NO_TRACK),
            ..Reader::default()
        };
        let passed = read(path, monitor, &mut |event| reader.take(&event))?;
        reader.gathering.finish(passed, |gathered, event| {
            syntax(path, gathered.columns.place(event as usize), BEYOND)
        })
    }

    fn names(&self, path: &Path, show: &mut Show<'_>) -> Result<(), FormatError> {
        read(path, &(), &mut |event| {
            if event.time.is_none() {
                return Ok(());
            }
            let name = event.text(event.fields.name);
            let kind = event.ph().first().copied().unwrap_or(b'?');
            match plain(name) {
                Some(plain) => show(plain.as_bytes(), kind),
                None => show(name, kind),
            }
        })?;
        Ok(())
    }

    fn rewrite(
        &self,
        path: &Path,
        file: &FileRead,
        renew: &mut Renew<'_>,
        lengths: &[NewLength],
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Renewed, FormatError> {
        let mut forms = Forms::default();
        let places = length_places(path, lengths.iter().map(|it| it.event))?;
        let all = digits::all(&file.columns, &places);
        let new = |event: u32| {
            let found = lengths.binary_search_by_key(&event, |it| it.event);
            let found = found.ok().and_then(|at| lengths.get(at));
            found.and_then(|it| i64::try_from(it.length).ok())
        };
        let mut renewed = |out: &mut Vec<u8>, digits: &[u8], length_of: Option<u32>| {
            let was = micros::parse(digits).ok_or("ts is no number of microseconds")?;
            if let Some(event) = length_of {
                let length = new(event).ok_or("its corrected length does not fit into 64 bits")?;
                let text = String::from_utf8_lossy(digits).into_owned();
                forms.lengths.push(LengthWas { event, text });
                micros::write(out, length, was.form_at(length), digits);
                return Ok(());
            }
            let renewal = renew().ok_or("an event too many")?;
            let by = renewal.becomes.wrapping_sub(renewal.is) as i64;
            let moved = was.nanoseconds.checked_add(by);
            let moved = moved.ok_or("its corrected time does not fit into 64 bits")?;
            let form = was.form_at(moved);
            forms.note(form, digits);
            if by == 0 {
                out.extend_from_slice(digits);
            } else {
                micros::write(out, moved, form, digits);
            }
            Ok(())
        };
        let (read, written) = digits::replaced(path, all, to, monitor, &mut renewed)?;
        Ok(Renewed {
            read,
            written,
            forms: to_raw_value(&forms).map_err(FormatError::failed)?,
        })
    }

    fn restore(
        &self,
        path: &Path,
        file: &FileRead,
        renew: &mut Renew<'_>,
        forms: &RawValue,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Renewed, FormatError> {
        let wrong = "the undo data do not fit this file";
        let refused = |why: String| FileError::not_restorable(path, why);
        let saved: Forms = serde_json::from_str(forms.get())
            .map_err(|error| refused(format!("{wrong}: {error}")))?;
        let mut forms = saved.iter();
        let places = length_places(path, saved.lengths.iter().map(|it| it.event))?;
        let mut lengths = saved.lengths.iter();
        let all = digits::all(&file.columns, &places);
        let mut restored = |out: &mut Vec<u8>, digits: &[u8], length_of: Option<u32>| {
            if length_of.is_some() {
                let was = lengths.next().filter(|it| Some(it.event) == length_of);
                out.extend_from_slice(was.ok_or(wrong)?.text.as_bytes());
                return Ok(());
            }
            let (renewal, form) = renew().zip(forms.next()).ok_or(wrong)?;
            match form {
                Written::As(text) => out.extend_from_slice(text.as_bytes()),
                Written::Like(form) => {
                    let is = micros::parse(digits).ok_or(wrong)?;
                    let by = renewal.becomes.wrapping_sub(renewal.is) as i64;
                    let was = is.nanoseconds.checked_add(by).ok_or(wrong)?;
                    micros::write(out, was, form, digits);
                }
            }
            Ok(())
        };
        let (read, written) = digits::replaced(path, all, to, monitor, &mut restored)?;
        Ok(Renewed {
            read,
            written,
            forms: Box::default(),
        })
    }
}

/// Where the lengths of events stand, whose numbers rise.
fn length_places(
    path: &Path,
    events: impl Iterator<Item = u32>,
) -> Result<Vec<LengthPlace>, FormatError> {
    let mut wanted = events.peekable();
    let mut places = Vec::new();
    if wanted.peek().is_none() {
        return Ok(places);
    }
    let mut number = 0;
    read(path, &(), &mut |event| {
        let Some((_, time)) = &event.time else {
            return Ok(());
        };
        if wanted.next_if_eq(&number).is_some()
            && let Some(digits) = changing_length(event.bytes, event.fields)
        {
            let count = u8::try_from(digits.end - digits.start);
            let ts = event.fields.ts.number(event.bytes);
            places.push(LengthPlace {
                event: number,
                start: time.start - u64::from(ts.start) + u64::from(digits.start),
                count: count.map_err(|_| "dur has more than 255 digits")?,
            });
        }
        number += 1;
        Ok(())
    })?;
    Ok(places)
}

/// A name without the escapes of JSON, if it has any and is JSON.
fn plain(name: &[u8]) -> Option<String> {
    if !name.contains(&b'\\') {
        return None;
    }
    serde_json::from_slice(&[b"\"", name, b"\""].concat()).ok()
}

/// The text of the arguments of an event.
pub(crate) struct ArgumentsText<'a>(pub(crate) &'a [u8]);

impl Arguments for ArgumentsText<'_> {
    fn all(&self) -> Value {
        serde_json::from_slice(self.0).unwrap_or_default()
    }

    /// The correlation id, looked for in the text, since launches and kernels are many.
    #[inline]
    fn correlation(&self) -> Option<u64> {
        let key = b"\"correlation\":";
        let at = memmem::find(self.0, key)? + key.len();
        let digits = self.0.get(at..)?.trim_ascii_start();
        let length = digits.iter().take_while(|it| it.is_ascii_digit()).count();
        std::str::from_utf8(digits.get(..length)?)
            .ok()?
            .parse()
            .ok()
    }
}

/// Takes the events of a file.
#[derive(Default)]
struct Reader {
    gathering: Gathering,
    index: FileMap<Box<[u8]>, u32>,
    /// The key of the last event's track, and its number.
    last: (Vec<u8>, u32),
    key: Vec<u8>,
    digits_end: u64,
}

impl Reader {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        let ph = event.ph();
        let is_name = ph == b"M";
        if is_name {
            self.name(event);
        }
        let Some((time, place)) = &event.time else {
            return Ok(());
        };
        let gap = place.start.saturating_sub(self.digits_end);
        let gap = u32::try_from(gap).map_err(|_| "4 GiB without an event precede it")?;
        let count = u8::try_from(place.end - place.start);
        let count = count.map_err(|_| "ts has more than 255 digits")?;
        self.digits_end = place.end;
        let length = (ph == b"X").then(|| length(event));
        let number = if is_name {
            self.gathering.push(time.nanoseconds, length, NO_TRACK)?
        } else {
            let track = self.track(event)?;
            let kind = ph.first().copied().unwrap_or(b'?');
            self.gathering
                .event(time.nanoseconds, length, track, kind)?
        };
        self.gathering.columns.digits.push((gap, count));
        match ph {
            b"X" => {
                let recorded = Recorded {
                    name: event.text(event.fields.name),
                    category: event.text(event.fields.cat),
                    arguments: &ArgumentsText(event.fields.args.of(event.bytes)),
                };
                self.gathering.communicates(&recorded, number);
            }
            b"s" | b"t" | b"f" => self.flow(event, ph, number),
            _ => {}
        }
        Ok(())
    }

    /// The number of an event's track.
    fn track(&mut self, event: &Event<'_>) -> Result<u32, String> {
        let (pid, tid) = (
            event.fields.pid.of(event.bytes),
            event.fields.tid.of(event.bytes),
        );
        self.key.clear();
        self.key.extend_from_slice(pid);
        // No value of JSON holds one that is not escaped.
        self.key.push(b'\n');
        self.key.extend_from_slice(tid);
        if self.last.1 == NO_TRACK || self.last.0 != self.key {
            let next = self.gathering.tracks.len() as u32;
            let found = self.index.get(&*self.key).copied().unwrap_or(next);
            if found == next {
                self.index.insert(self.key.as_slice().into(), next);
                let text = |span| String::from_utf8_lossy(event.text(span)).into_owned();
                let pid = text(event.fields.pid);
                let args = event.fields.args.of(event.bytes);
                let label = labels::of_event(&pid, args);
                self.gathering
                    .track(pid, text(event.fields.tid), None, false)?;
                if let Some(track) = self.gathering.tracks.last_mut() {
                    track.label = label;
                }
                if let Some(rank) = labels::said(args) {
                    self.gathering.said_ranks.begin(next, rank);
                }
            }
            self.last.0.clone_from(&self.key);
            self.last.1 = found;
        }
        Ok(self.last.1)
    }

    fn name(&mut self, event: &Event<'_>) {
        let kind = event.text(event.fields.name);
        let key = match kind {
            b"thread_name" | b"process_name" => "name",
            b"process_labels" => "labels",
            b"profile_header" => "",
            _ => return,
        };
        let args: Value =
            serde_json::from_slice(event.fields.args.of(event.bytes)).unwrap_or_default();
        if key.is_empty() {
            let pid = String::from_utf8_lossy(event.text(event.fields.pid));
            return self.gathering.tell_process(pid.into_owned(), &args);
        }
        let Some(name) = args.get(key).and_then(Value::as_str) else {
            return;
        };
        let text = |span| String::from_utf8_lossy(event.text(span)).into_owned();
        let (pid, tid) = (text(event.fields.pid), text(event.fields.tid));
        match kind {
            b"thread_name" => self.gathering.name_thread(pid, tid, name.to_owned()),
            b"process_name" => self.gathering.name_process(pid, name.to_owned()),
            _ => self.gathering.label_process(pid, name),
        }
    }

    fn flow(&mut self, event: &Event<'_>, ph: &[u8], number: u32) {
        let cat = event.text(event.fields.cat);
        if OWN_FLOWS.contains(&cat) {
            return;
        }
        let (name, id) = (event.text(event.fields.name), event.text(event.fields.id));
        // Viewers draw nothing that ends before it begins, so that in what retime writes for them
        // an arrow whose effect comes first begins there.
        let is_turned = cat == b"reversed" && matches!(name, b"reversed" | b"dependency");
        let is_end = (ph == b"f") != is_turned;
        let key = [cat, b"\n", name, b"\n", id].concat().into();
        if ph == b"t" {
            return self.gathering.flow_step(number, key);
        }
        self.gathering.flow(number, key, is_end);
    }
}

/// The length of a stay; one that does not say so, or nonsense, is over at once.
fn length(event: &Event<'_>) -> u64 {
    let dur = event.fields.dur;
    let length = micros::parse(dur.number(event.bytes).of(event.bytes));
    let length = length.map(|it| it.nanoseconds);
    length.and_then(|it| u64::try_from(it).ok()).unwrap_or(0)
}
