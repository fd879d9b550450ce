//! The packets of a file one by one with the time of each, for whoever puts files together.
//!
//! ```text
//! a file, first     which machines are ahead       each_packet(path, &MachinesAhead::default(), ..)
//!         then      packets at the common time     each_packet(path, &ahead, ..)
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use retime_model::Monitor;
use retime_model::format::FormatError;
use retime_perfetto_wire::fields::trace_packet;
use retime_perfetto_wire::read::Damaged;
use retime_perfetto_wire::write::varint;

use crate::error::PerfettoError;
use crate::inner::written_anew;
use crate::packet::Packet;
use crate::pass::{NESTED, Piece, compressed, pieces};
use crate::patches::Patches;
use crate::remote::Remote;
use crate::timing::{InnerStamp, Timing};

/// The message on events of the kernel, which are merged by nobody.
const FTRACE: &str = "events of the kernel (ftrace), whose processors have numbers that those of \
                      other files have, too";

/// A piece of a file.
#[derive(Clone, Copy, Debug)]
pub enum PieceRead<'a> {
    /// A packet; compressed ones come one by one.
    Packet(PacketRead<'a>),
    /// All of what is none.
    Other(&'a [u8]),
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketRead<'a> {
    /// The fields of it, without the key and the length before them.
    pub bytes: &'a [u8],
    /// The machine that it says, or 0.
    pub machine: u32,
    /// The sequence that it says, or 0.
    pub sequence: u32,
    /// The time of its timestamp, in nanoseconds by the clock of the trace; nothing if it has none,
    /// or nothing tells its time.
    pub time: Option<i64>,
    /// The clock of its timestamp, by itself or by its sequence, if either says one.
    pub clock: Option<u32>,
    /// The times within it, as they stand,
    inner: &'a [InnerStamp],
    /// and by how many nanoseconds they are ahead.
    ahead: i64,
}

impl<'a> PacketRead<'a> {
    /// The packet with the times within it where `renew` puts times of the clock of the trace; in
    /// `room` where it has any.
    pub fn moved<'b>(&self, room: &'b mut Vec<u8>, renew: impl Fn(i64) -> u64) -> PacketRead<'b>
    where
        'a: 'b,
    {
        let Some(bytes) = self.renewed(renew) else {
            return *self;
        };
        *room = bytes;
        PacketRead {
            bytes: room,
            inner: &[],
            ..*self
        }
    }

    fn renewed(&self, renew: impl Fn(i64) -> u64) -> Option<Vec<u8>> {
        if self.inner.iter().all(|it| it.time.is_none()) {
            return None;
        }
        let becomes = self.inner.iter().map(|it| {
            let time = it.time.map(|it| it.saturating_sub(self.ahead));
            time.map_or(it.shown, &renew)
        });
        let packet = Packet::of(self.bytes).ok()?;
        let mut becomes = becomes.collect::<Vec<_>>().into_iter();
        let mut put = |out: &mut Vec<u8>, value, _, _| {
            varint(out, value);
            Some(())
        };
        let mut patches = Patches::default();
        for (field, place) in packet.inner() {
            patches.replace(field.start..field.end, |out| {
                written_anew(self.bytes, &field, place, &mut becomes, &mut put, out)
            })?;
        }
        let mut out = Vec::new();
        patches.apply(self.bytes, &mut out);
        Some(out)
    }
}

/// The nanoseconds by which the clocks of machines are ahead, as the file says.
#[derive(Clone, Debug, Default)]
pub struct MachinesAhead(BTreeMap<u32, i64>);

/// Shows all pieces of a file, with the times of machines set back by what is known of them;
/// returns by what they are ahead. Fails where a packet has times within it that cannot be given
/// anew.
pub fn each_packet(
    path: &Path,
    ahead: &MachinesAhead,
    monitor: &dyn Monitor,
    visit: &mut dyn FnMut(PieceRead<'_>) -> Result<(), FormatError>,
) -> Result<MachinesAhead, FormatError> {
    each_piece(path, ahead, InnerTimes::Refused, monitor, visit)
}

/// Packets that have times within them, as those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InnerTimes {
    /// They are shown, to a reader that writes nothing.
    Kept,
    /// They cannot be given other times.
    Refused,
}

/// Shows all pieces of a file.
pub(crate) fn each_piece(
    path: &Path,
    ahead: &MachinesAhead,
    inner_times: InnerTimes,
    monitor: &dyn Monitor,
    visit: &mut dyn FnMut(PieceRead<'_>) -> Result<(), FormatError>,
) -> Result<MachinesAhead, FormatError> {
    let mut each = Each {
        path,
        ahead,
        inner_times,
        is_inside: false,
        timing: Timing::default(),
        remote: Remote::default(),
        visit,
    };
    pieces(path, monitor, &mut |piece| each.piece(piece))?;
    Ok(MachinesAhead(each.remote.ahead().collect()))
}

/// The state of a pass.
struct Each<'a> {
    path: &'a Path,
    ahead: &'a MachinesAhead,
    inner_times: InnerTimes,
    /// True within compressed packets, which hold no others.
    is_inside: bool,
    timing: Timing,
    remote: Remote,
    visit: &'a mut dyn FnMut(PieceRead<'_>) -> Result<(), FormatError>,
}

impl Each<'_> {
    fn piece(&mut self, piece: Piece<'_>) -> Result<(), FormatError> {
        let Some(bytes) = piece.packet else {
            return (self.visit)(PieceRead::Other(piece.head));
        };
        let path = self.path;
        let damaged = |it: Damaged| PerfettoError::packet(path, piece.at, format!("a packet {it}"));
        let packet = Packet::of(bytes).map_err(damaged)?;
        if let Some(field) = packet.compressed {
            if std::mem::replace(&mut self.is_inside, true) {
                return Err(PerfettoError::packet(path, piece.at, NESTED));
            }
            let packed = field.value.bytes().unwrap_or_default();
            compressed(path, piece.at, packed, &mut |piece| self.piece(piece))?;
            self.is_inside = false;
            return Ok(());
        }
        let stamps = self.timing.take(&packet).map_err(damaged)?;
        let has_ftrace = packet
            .inner()
            .any(|it| it.0.number == trace_packet::FTRACE_EVENTS);
        let what = stamps.unwritten.or(has_ftrace.then_some(FTRACE));
        if let (InnerTimes::Refused, Some(what)) = (self.inner_times, what) {
            return Err(PerfettoError::Unmerged {
                path: path.to_owned(),
                byte: piece.at,
                what,
            }
            .into());
        }
        if let Some(sync) = packet.remote_sync {
            self.remote.take(packet.machine, sync).map_err(damaged)?;
        }
        let ahead = self
            .ahead
            .0
            .get(&packet.machine)
            .copied()
            .unwrap_or_default();
        let sequence = self.timing.sequence();
        (self.visit)(PieceRead::Packet(PacketRead {
            bytes,
            machine: packet.machine,
            sequence: packet.sequence,
            time: stamps.time.map(|it| it.saturating_sub(ahead)),
            inner: &stamps.inner,
            ahead,
            clock: packet.clock.or(sequence.and_then(|it| it.clock)),
        }))
    }
}
