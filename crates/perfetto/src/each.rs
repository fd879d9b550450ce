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
use retime_perfetto_wire::read::Damaged;

use crate::error::PerfettoError;
use crate::packet::Packet;
use crate::pass::{NESTED, Piece, compressed, pieces};
use crate::remote::Remote;
use crate::timing::Timing;

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
    /// They are shown, to who only looks.
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
        if let (InnerTimes::Refused, Some(what)) = (self.inner_times, packet.inner_times) {
            return Err(PerfettoError::Unwritable {
                path: path.to_owned(),
                byte: piece.at,
                what: format!("a packet begins here that has {what}, with times within it"),
            }
            .into());
        }
        let stamps = self.timing.take(&packet).map_err(damaged)?;
        if let Some(sync) = packet.remote_sync {
            self.remote.take(packet.machine, sync).map_err(damaged)?;
        }
        let ahead = self.ahead.0.get(&packet.machine).copied();
        let sequence = self.timing.sequence(&packet);
        (self.visit)(PieceRead::Packet(PacketRead {
            bytes,
            machine: packet.machine,
            sequence: packet.sequence,
            time: stamps
                .time
                .map(|it| it.saturating_sub(ahead.unwrap_or_default())),
            clock: packet.clock.or(sequence.and_then(|it| it.clock)),
        }))
    }
}
