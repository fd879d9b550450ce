//! A file again, with other times.
//!
//! A packet is copied but for its timestamp, and for what its clocks show if it is a snapshot of
//! them. Where another time takes another number of bytes, the lengths around it follow.
//! Snapshots are moved with the clock of the trace, all clocks in one by as much, so that what
//! they say of one another stays:
//!
//! ```text
//! recorded    snapshot: boot 1000, wall 5000     packet of the wall clock  5020 --> 1020
//! moved by 7  snapshot: boot 1007, wall 5007     packet                    5027 --> 1027
//! ```

use std::fs::File;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use retime_gzip::Output;
use retime_kineto::{Chunks, NewLength, Renew, Renewed};
use retime_model::Monitor;
use retime_model::format::{Checksum, FileError, FormatError};
use retime_perfetto_wire::fields::{clock, clock_snapshot};
use retime_perfetto_wire::read::{Damaged, Field, Fields, Value};
use retime_perfetto_wire::write;
use serde_json::value::to_raw_value;

use crate::clocks::{ClockKey, Clocks, Snapshot, Uncounted};
use crate::error::PerfettoError;
use crate::forms::{Forms, LengthWas, needs, put};
use crate::inner::{framed, written_anew};
use crate::lengths::{Lengths, with_length};
use crate::packet::Packet;
use crate::pass::{Piece, compressed, effort, pieces};
use crate::patches::Patches;
use crate::recent::Recent;
use crate::timing::{Stamps, Timing};

/// The manner in which stamps and lengths are written.
enum Manner<'a> {
    /// Written as new times take it, with a note of how they were.
    Anew(Forms),
    /// Written as was noted.
    AsNoted {
        beyond: &'a mut dyn Iterator<Item = i64>,
        widths: &'a mut dyn Iterator<Item = i64>,
    },
}

impl Manner<'_> {
    /// Writes a number in the place of another that took `width` bytes.
    fn put(&mut self, out: &mut Vec<u8>, value: u64, was: u64, width: usize) -> Option<()> {
        let is_wide = width > needs(was);
        let width = match self {
            Self::Anew(forms) => {
                let noted = if is_wide { width } else { 0 };
                forms.widths.note(noted as i64);
                noted
            }
            Self::AsNoted { widths, .. } => usize::try_from(widths.next()?).ok()?,
        };
        put(out, value, width);
        Some(())
    }
}

/// A file that is written.
struct Writer<'a, 'm> {
    path: &'a Path,
    renew: &'a mut Renew<'m>,
    manner: Manner<'a>,
    /// The state of the file that is read,
    is: Timing,
    /// and what the one that is written says of clocks, by machine.
    becomes: Recent<u32, Clocks>,
    has_moved: bool,
    /// The place of a packet with times within it that are not written anew, and their kind.
    unwritten: Option<(u64, &'static str)>,
    read: Checksum,
    written: Checksum,
    /// The event whose stamp was written last.
    event: u32,
    lengths: Lengths<'a>,
    /// Room for what changes in a packet.
    patches: Patches,
}

/// The way in which a file is new.
#[derive(Clone, Copy)]
pub(crate) enum New<'a> {
    /// It has other lengths of these stages.
    Lengths(&'a [NewLength]),
    /// It is as was noted.
    AsNoted(&'a Forms),
}

/// Writes the file at `path` to the new file `to` with the times that `renew` gives.
pub(crate) fn renewed(
    path: &Path,
    renew: &mut Renew<'_>,
    new: New<'_>,
    to: &Path,
    monitor: &dyn Monitor,
) -> Result<Renewed, FormatError> {
    let failed = |source| PerfettoError::io(to, source);
    let effort = effort(path)?;
    let mut file = File::create_new(to).map_err(failed)?;
    let mut output = Output::new(&mut file, effort).map_err(failed)?;
    let mut chunks = Chunks::new(effort.is_some());
    let none = Forms::default();
    let (noted, lengths) = match new {
        New::Lengths(lengths) => (&none, Lengths::New(lengths)),
        New::AsNoted(noted) => (noted, Lengths::Old(&noted.lengths)),
    };
    let (mut beyond, mut widths) = (noted.beyond.iter(), noted.widths.iter());
    let manner = match new {
        New::Lengths(_) => Manner::Anew(Forms::default()),
        New::AsNoted(_) => Manner::AsNoted {
            beyond: &mut beyond,
            widths: &mut widths,
        },
    };
    let mut writer = Writer {
        path,
        renew,
        manner,
        is: Timing::default(),
        becomes: Recent::default(),
        has_moved: false,
        unwritten: None,
        read: Checksum::default(),
        written: Checksum::default(),
        event: 0,
        lengths,
        patches: Patches::default(),
    };
    pieces(path, monitor, &mut |piece| {
        writer.piece(piece, &mut chunks.current)?;
        Ok(chunks.put_if_full(&mut output).map_err(failed)?)
    })?;
    chunks.put(&mut output).map_err(failed)?;
    output.finish().map_err(failed)?;
    file.flush().map_err(failed)?;
    let forms = match writer.manner {
        Manner::Anew(forms) => to_raw_value(&forms).map_err(FormatError::failed)?,
        Manner::AsNoted { .. } => Box::default(),
    };
    Ok(Renewed {
        read: writer.read.crc(),
        written: writer.written.crc(),
        forms,
    })
}

impl Writer<'_, '_> {
    fn changed(&self) -> FormatError {
        FileError::Changed {
            path: self.path.to_owned(),
        }
        .into()
    }

    fn unwritable(&self, byte: u64, what: String) -> FormatError {
        PerfettoError::Unwritable {
            path: self.path.to_owned(),
            byte,
            what,
        }
        .into()
    }

    fn piece(&mut self, piece: Piece<'_>, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let start = out.len();
        let Some(bytes) = piece.packet else {
            self.read.add(piece.head);
            out.extend_from_slice(piece.head);
            self.written.add(piece.head);
            return Ok(());
        };
        let packet = Packet::of(bytes).map_err(|_| self.changed())?;
        if let Some(field) = packet.compressed {
            return self.compressed(&piece, &packet, field, out);
        }
        self.read.add(piece.whole);
        let stamps = self.is.take(&packet).map_err(|_| self.changed())?;
        let unwritten = stamps.unwritten.map(|it| (piece.at, it));
        self.unwritten = self.unwritten.or(unwritten);
        let mut patches = std::mem::take(&mut self.patches);
        patches.clear();
        self.patch(&packet, &stamps, piece.at, &mut patches)?;
        if let Some(length) = patches.length(bytes) {
            out.extend_from_slice(piece.key());
            let width = piece.length_width();
            let put = self
                .manner
                .put(out, length as u64, bytes.len() as u64, width);
            put.ok_or_else(|| self.changed())?;
            patches.apply(bytes, out);
        } else {
            out.extend_from_slice(piece.whole);
        }
        self.patches = patches;
        self.written.add(out.get(start..).unwrap_or_default());
        if let Some((byte, what)) = self.unwritten.filter(|_| self.has_moved) {
            let what = format!(
                "a packet begins here that has {what}, whose times cannot be written anew, and \
                 those around it are moved"
            );
            return Err(self.unwritable(byte, what));
        }
        Ok(())
    }

    /// Compressed packets, unpacked, moved and packed again.
    fn compressed(
        &mut self,
        piece: &Piece<'_>,
        packet: &Packet<'_>,
        field: Field<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let before = packet.bytes.get(..field.start).unwrap_or_default();
        let behind = packet.bytes.get(field.end..).unwrap_or_default();
        for part in [piece.key(), before, behind] {
            self.read.add(part);
            self.written.add(part);
        }
        let mut inner = Vec::new();
        let packed = field.value.bytes().unwrap_or_default();
        let path = self.path;
        compressed(path, piece.at, packed, &mut |piece| {
            self.piece(piece, &mut inner)
        })?;
        let failed = |source| PerfettoError::io(path, source);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&inner).map_err(failed)?;
        let packed = encoder.finish().map_err(failed)?;
        let mut content = before.to_vec();
        write::bytes(&mut content, field.number, &packed);
        content.extend_from_slice(behind);
        out.extend_from_slice(piece.key());
        write::varint(out, content.len() as u64);
        out.extend_from_slice(&content);
        Ok(())
    }

    /// Puts down what replaces parts of the packet.
    fn patch(
        &mut self,
        packet: &Packet<'_>,
        stamps: &Stamps,
        at: u64,
        patches: &mut Patches,
    ) -> Result<(), FormatError> {
        if let (Some((snapshot, moment)), Some(field)) = (&stamps.snapshot, packet.snapshot)
            && let Some(moved) = self.snapshot(packet, snapshot, *moment, field, at)?
        {
            let whole = field.start..field.end;
            patches.replace(whole, |out| out.extend_from_slice(&moved));
        }
        if !stamps.inner.is_empty() {
            self.inner(packet, stamps, at, patches)?;
        }
        if let (Some(time), Some(field)) = (stamps.time, packet.timestamp) {
            let was = field.value.number().unwrap_or_default();
            let stamp = self.stamp(packet.machine, stamps.clock, was, time, at)?;
            let width = field.end - field.value_start;
            let place = field.value_start..field.end;
            let put = patches.replace(place, |out| self.manner.put(out, stamp, was, width));
            put.ok_or_else(|| self.changed())?;
            if let Some(field) = packet.render_stage_field {
                let done = self.stage_length(packet, &field, patches);
                done.ok_or_else(|| self.changed())?;
            }
        }
        Ok(())
    }

    /// The length of a stage, if that is another; nothing if it is not what was noted.
    fn stage_length(
        &mut self,
        packet: &Packet<'_>,
        field: &Field<'_>,
        patches: &mut Patches,
    ) -> Option<()> {
        let Some(length) = self.lengths.of(self.event) else {
            return Some(());
        };
        let message = field.value.bytes()?;
        let (moved, was) = with_length(message, length);
        if let Manner::Anew(forms) = &mut self.manner {
            let event = self.event;
            forms.lengths.push(LengthWas { event, ..was });
        }
        let head = packet.bytes.get(field.start..field.value_start)?;
        let mut out = Vec::with_capacity(moved.len() + head.len());
        self.framed(&mut out, head, message.len(), &moved)?;
        patches.replace(field.start..field.end, |it| it.extend_from_slice(&out));
        Some(())
    }

    /// The fields of a packet that have times in them.
    fn inner(
        &mut self,
        packet: &Packet<'_>,
        stamps: &Stamps,
        at: u64,
        patches: &mut Patches,
    ) -> Result<(), FormatError> {
        let mut becomes = Vec::with_capacity(stamps.inner.len());
        for it in &stamps.inner {
            becomes.push(match it.time {
                Some(time) => self.stamp(packet.machine, Some(it.clock), it.shown, time, at)?,
                None => it.shown,
            });
        }
        let mut becomes = becomes.into_iter();
        for (field, place) in packet.inner() {
            let manner = &mut self.manner;
            let mut put = |out: &mut Vec<u8>, value, was, width| manner.put(out, value, was, width);
            let done = patches.replace(field.start..field.end, |out| {
                written_anew(packet.bytes, &field, place, &mut becomes, &mut put, out)
            });
            done.ok_or_else(|| self.changed())?;
        }
        Ok(())
    }

    /// The stamp that a clock of a machine has when it showed `was` at the time `time`.
    fn stamp(
        &mut self,
        machine: u32,
        clock: Option<ClockKey>,
        was: u64,
        time: i64,
        at: u64,
    ) -> Result<u64, FormatError> {
        let renewal = (self.renew)().ok_or_else(|| self.changed())?;
        self.event = renewal.event;
        let by = renewal.becomes.wrapping_sub(renewal.is) as i64;
        self.has_moved |= by != 0;
        let Some(clocks) = self.becomes.entry(machine) else {
            return Err(self.changed());
        };
        let moved = was.wrapping_add_signed(by);
        let stamp = match &mut self.manner {
            Manner::AsNoted { beyond, .. } => {
                let noted = beyond.next();
                Ok(noted.map(|it| moved.wrapping_add_signed(it.wrapping_neg())))
            }
            Manner::Anew(forms) => {
                let stamp = if self.has_moved {
                    clocks.stamp(clock, time.wrapping_add(by))
                } else {
                    clocks.time(clock, was);
                    Ok(was)
                };
                stamp.map(|it| {
                    forms.beyond.note(it.wrapping_sub(moved) as i64);
                    Some(it)
                })
            }
        };
        let stamp = stamp.map_err(|uncounted| {
            let what = match uncounted {
                Uncounted::Units(unit) => {
                    format!("the clock of this packet counts in units of {unit} ns, not in 1 ns")
                }
                Uncounted::Nowhere => {
                    "no snapshot of clocks leads to the corrected time of this packet".to_owned()
                }
            };
            self.unwritable(at, what)
        })?;
        stamp.ok_or_else(|| self.changed())
    }

    /// A field that is a snapshot of clocks; nothing if its moment is not known.
    fn snapshot(
        &mut self,
        packet: &Packet<'_>,
        snapshot: &Snapshot,
        moment: Option<i64>,
        field: Field<'_>,
        at: u64,
    ) -> Result<Option<Vec<u8>>, FormatError> {
        let Some(clocks) = self.becomes.entry(packet.machine) else {
            return Err(self.changed());
        };
        if moment.is_none() {
            clocks.take(snapshot);
            return Ok(None);
        }
        let renewal = (self.renew)().ok_or_else(|| self.changed())?;
        let by = renewal.becomes.wrapping_sub(renewal.is) as i64;
        self.has_moved |= by != 0;
        if let Some(unit) = snapshot.uneven(by) {
            let what =
                format!("a clock in this snapshot counts in units of {unit} ns, not in 1 ns");
            return Err(self.unwritable(at, what));
        }
        if snapshot.is_silent(by) {
            let what = "a clock in this snapshot does not say what it shows, so it cannot be moved";
            return Err(self.unwritable(at, what.to_owned()));
        }
        let message = field.value.bytes().unwrap_or_default();
        let mut moved = Vec::new();
        let done = self.readings(message, by, &mut moved);
        done.map_err(|_| self.changed())?
            .ok_or_else(|| self.changed())?;
        let again = Snapshot::of(&moved, packet.sequence).map_err(|_| self.changed())?;
        if let Some(clocks) = self.becomes.entry(packet.machine) {
            clocks.take(&again);
        }
        let head = packet.bytes.get(field.start..field.value_start);
        let mut out = Vec::new();
        let framed = self.framed(&mut out, head.unwrap_or_default(), message.len(), &moved);
        framed.ok_or_else(|| self.changed())?;
        Ok(Some(out))
    }

    /// The message of a snapshot with each clock moved.
    fn readings(
        &mut self,
        message: &[u8],
        by: i64,
        out: &mut Vec<u8>,
    ) -> Result<Option<()>, Damaged> {
        for field in Fields::of(message) {
            let field = field?;
            let (clock_snapshot::CLOCKS, Value::Bytes(reading)) = (field.number, field.value)
            else {
                out.extend_from_slice(message.get(field.start..field.end).unwrap_or_default());
                continue;
            };
            let mut moved = Vec::new();
            for inner in Fields::of(reading) {
                let inner = inner?;
                let (clock::TIMESTAMP, Value::Varint(was)) = (inner.number, inner.value) else {
                    moved
                        .extend_from_slice(reading.get(inner.start..inner.end).unwrap_or_default());
                    continue;
                };
                let key = reading.get(inner.start..inner.value_start);
                moved.extend_from_slice(key.unwrap_or_default());
                let width = inner.end - inner.value_start;
                let shows = was.wrapping_add_signed(by);
                if self.manner.put(&mut moved, shows, was, width).is_none() {
                    return Ok(None);
                }
            }
            let head = message.get(field.start..field.value_start);
            if self
                .framed(out, head.unwrap_or_default(), reading.len(), &moved)
                .is_none()
            {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// Appends a field with another value than the one of `was` bytes that had this head.
    fn framed(&mut self, out: &mut Vec<u8>, head: &[u8], was: usize, value: &[u8]) -> Option<()> {
        let manner = &mut self.manner;
        let mut put = |out: &mut Vec<u8>, value, was, width| manner.put(out, value, was, width);
        framed(out, head, was, value, &mut put)
    }
}
