//! Files of packets as a kind of file that holds profiles.

use std::io;
use std::path::Path;

use retime_gzip::first_bytes;
use retime_kineto::{Document, FileRead, Look, NewLength, Renew, Renewed, Show};
use retime_model::format::{DocumentKind, FileError, FormatError};
use retime_model::{Monitor, open_regular};
use retime_perfetto_wire::fields::trace;
use retime_perfetto_wire::read::{Head, Wrong};
use serde_json::value::RawValue;

use crate::forms::Forms;
use crate::packet::Packet;
use crate::pass::PACKET_KEY;
use crate::seen::Seen;
use crate::writer::New;
use crate::xspace::is_xspace;
use crate::{reader, writer};

/// The bytes at the beginning of a file that are looked at.
const PROBE: u64 = 1 << 16;

/// Packets have fields up to this number, but for one that tests of Perfetto use.
const LARGEST_FIELD: u32 = 900;

/// Files of packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packets;

impl Packets {
    /// True for a profile of JAX or TensorFlow in its own form.
    pub(crate) fn is_xspace(path: &Path) -> io::Result<bool> {
        Ok(is_xspace(&first_bytes(open_regular(path)?, PROBE)?))
    }
}

impl Document for Packets {
    fn format(&self) -> &'static str {
        "Perfetto"
    }

    fn kind(&self) -> DocumentKind {
        DocumentKind::Packets
    }

    fn ends(&self) -> &'static [&'static str] {
        &[
            ".pftrace",
            ".perfetto-trace",
            ".perfetto_trace",
            ".pb",
            ".pftrace.gz",
            ".perfetto-trace.gz",
            ".perfetto_trace.gz",
            ".pb.gz",
        ]
    }

    fn in_words(&self) -> &'static str {
        "trace of Perfetto (*.pftrace, *.perfetto-trace, *.pb, plain or gzip)"
    }

    fn alone_in_words(&self) -> &'static str {
        "trace of Perfetto"
    }

    fn begins_like_one(&self, path: &Path) -> io::Result<bool> {
        Ok(matches!(self.look(path)?, Look::Trace))
    }

    fn look(&self, path: &Path) -> io::Result<Look> {
        let bytes = first_bytes(open_regular(path)?, PROBE)?;
        Ok(match begin(&bytes) {
            None => Look::Trace,
            Some(what) if bytes.is_empty() => Look::Damaged {
                byte: 0,
                what: what.to_owned(),
            },
            Some(what) => Look::Other(what.to_owned()),
        })
    }

    fn read(&self, path: &Path, monitor: &dyn Monitor) -> Result<FileRead, FormatError> {
        reader::read(path, monitor, None)
    }

    fn names(&self, path: &Path, show: &mut Show<'_>) -> Result<(), FormatError> {
        let mut named = |_, seen: Seen<'_>| match seen.named() {
            Some((name, kind)) => show(name, kind),
            None => Ok(()),
        };
        reader::read(path, &(), Some(&mut named)).map(drop)
    }

    fn rewrite(
        &self,
        path: &Path,
        _: &FileRead,
        renew: &mut Renew<'_>,
        lengths: &[NewLength],
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Renewed, FormatError> {
        writer::renewed(path, renew, New::Lengths(lengths), to, monitor)
    }

    fn restore(
        &self,
        path: &Path,
        _: &FileRead,
        renew: &mut Renew<'_>,
        forms: &RawValue,
        to: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Renewed, FormatError> {
        let forms: Forms = serde_json::from_str(forms.get()).map_err(|error| {
            let why = format!("the undo data do not fit this file: {error}");
            FileError::not_restorable(path, why)
        })?;
        writer::renewed(path, renew, New::AsNoted(&forms), to, monitor)
    }
}

/// Why these are not the first bytes of a file of packets; nothing if they are.
fn begin(bytes: &[u8]) -> Option<&'static str> {
    const NONE: &str = "it begins with no packet of Perfetto";
    if bytes.is_empty() {
        return Some("there is nothing in it");
    }
    if bytes.first() != Some(&PACKET_KEY) {
        return Some(NONE);
    }
    if is_xspace(bytes) {
        return Some("it is a profile of JAX or TensorFlow in its own form");
    }
    let head = match Head::of(bytes) {
        Ok(head) if head.number == trace::PACKET => head,
        Err(Wrong::Cut) => return None,
        _ => return Some(NONE),
    };
    let length = head.length.and_then(|it| usize::try_from(it).ok());
    let inner = bytes.get(head.size..).unwrap_or_default();
    let whole = length.and_then(|it| inner.get(..it));
    let Some(first) = whole else {
        // The first packet is longer than what was looked at, or cut off.
        let starts = Head::of(inner);
        let fits = starts.is_ok_and(|it| it.number <= LARGEST_FIELD);
        return (!fits).then_some(NONE);
    };
    let behind = inner.get(first.len()..).unwrap_or_default();
    let goes_on = behind.first().is_none_or(|it| *it == PACKET_KEY);
    (!goes_on || Packet::of(first).is_err()).then_some(NONE)
}
