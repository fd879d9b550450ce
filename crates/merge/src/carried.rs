//! A file of packets, carried over packet by packet.
//!
//! ```text
//! first   who is in it                            (inhabitants)
//! then    each packet with other numbers          (renumber)
//! last    instants where arrows to other documents begin and end
//! ```

use std::path::Path;

use retime_model::Monitor;
use retime_model::format::{Document, FormatError};
use retime_perfetto::{MachinesAhead, PieceRead, each_packet};
use retime_perfetto_wire::fields::track_descriptor;
use retime_perfetto_wire::write::{bytes, uint};
use rustc_hash::FxHashMap;

use crate::chunks::Chunks;
use crate::error::MergeError;
use crate::inhabitants::Inhabitants;
use crate::job::Pointed;
use crate::numbers::Free;
use crate::packets::Sequence;
use crate::points::point;
use crate::renumber::{Named, Renumber, describe_process};
use crate::titles::{Owner, title_on};

/// Tracks that are added to those of a file, below the number of the document.
const ADDED: u64 = 1 << 28;

/// A document and where it stands.
pub(crate) struct Place<'a> {
    pub(crate) document: &'a Document,
    /// The position of the document.
    pub(crate) number: u32,
    /// The nanosecond that is 0 in the file.
    pub(crate) origin: i64,
}

/// The content of a file that was carried over, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) events: u64,
    pub(crate) processes: u64,
}

/// Writes the packets of a document, of which `ends` are those ends of arrows between documents
/// that are here, sorted.
pub(crate) fn carry(
    place: &Place<'_>,
    free: &mut Free,
    ends: &[Pointed],
    chunks: &mut Chunks<'_>,
    monitor: &dyn Monitor,
) -> Result<Carried, MergeError> {
    let &Place {
        document,
        number,
        origin,
    } = place;
    let inhabitants = Inhabitants::of(document, monitor)?;
    let named = named(document, &inhabitants, free);
    let first = (u64::from(number) + 1) << 32 | ADDED;
    let own = Sequence::new(free.sequence());
    describe(&inhabitants, &named, first, &own, &mut chunks.current);
    let mut renumber = Renumber::new(number, &inhabitants, &named);
    let shift = document.base.wrapping_sub(origin);
    each_packet(&document.path, &inhabitants.ahead, monitor, &mut |piece| {
        let out = &mut chunks.current;
        match piece {
            PieceRead::Packet(packet) => {
                // What only names things may lie before the beginning of the file.
                let moved = |it: i64| it.saturating_add(shift).max(0) as u64;
                let at = packet.time.map(moved);
                let mut room = Vec::new();
                renumber.packet(&packet.moved(&mut room, moved), at, free, out);
            }
            PieceRead::Other(bytes) => out.extend_from_slice(bytes),
        }
        chunks.put_within_walk();
        Ok(())
    })?;
    chunks.settle()?;
    let mut points = Points {
        document,
        origin,
        renumber,
        sequence: own,
        next: first + inhabitants.processes.len() as u64,
        added: FxHashMap::default(),
    };
    for together in ends.chunk_by(Pointed::leaves_with) {
        points.write(together, &mut chunks.current);
        chunks.put_if_full()?;
    }
    Ok(Carried {
        events: inhabitants.events,
        processes: inhabitants.processes.len() as u64,
    })
}

/// Fails where a file has packets that cannot stand beside those of others.
pub fn can_be_carried(path: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
    let none_ahead = MachinesAhead::default();
    each_packet(path, &none_ahead, monitor, &mut |_| Ok(())).map(drop)
}

/// Gives each process a number and a title.
fn named<'a>(document: &'a Document, inhabitants: &Inhabitants, free: &mut Free) -> Named<'a> {
    let processes = inhabitants.processes.iter().map(|it| {
        let title = title_on(document, &it.seen, Some(it.key.0));
        (free.pid(), title)
    });
    Named {
        processes: processes.collect(),
        document,
    }
}

/// Describes the processes for which the file has no tracks.
fn describe(
    inhabitants: &Inhabitants,
    named: &Named<'_>,
    first: u64,
    sequence: &Sequence,
    out: &mut Vec<u8>,
) {
    let all = inhabitants.processes.iter().zip(&named.processes);
    for (at, (_, (pid, title))) in (first..).zip(all).filter(|it| !it.1.0.is_described) {
        let (mut track, mut process) = (Vec::new(), Vec::new());
        describe_process(&mut process, *pid, title);
        uint(&mut track, track_descriptor::UUID, at);
        bytes(&mut track, track_descriptor::PROCESS, &process);
        uint(&mut track, track_descriptor::SIBLING_ORDER_RANK, *pid);
        sequence.describe(out, &track);
    }
}

/// Writes instants at which arrows begin or end.
struct Points<'a> {
    document: &'a Document,
    origin: i64,
    renumber: Renumber<'a>,
    sequence: Sequence,
    /// The next free number of a track.
    next: u64,
    /// The tracks of those events that are on none of their own, as kernels on queues of GPUs, by
    /// whose they are.
    added: FxHashMap<String, u64>,
}

impl Points<'_> {
    /// Writes the ends that are at one event.
    fn write(&mut self, together: &[Pointed], out: &mut Vec<u8>) {
        let Some(end) = together.first().map(|it| it.end) else {
            return;
        };
        let own = self.document.tracks.get(end.track as usize);
        let own = own.and_then(|it| {
            let numbers = &mut self.renumber.numbers;
            Some(numbers.track(it.machine, it.uuid?))
        });
        let track = own.unwrap_or_else(|| self.added(end.track, out));
        let at = end.at.saturating_sub(self.origin).max(0);
        point(out, &mut self.sequence, track, together, at);
    }

    /// The track that is added for events of a track of the document, which is described if it is
    /// new.
    fn added(&mut self, track: u32, out: &mut Vec<u8>) -> u64 {
        let owner = Owner::of_track(self.document, track).name;
        if let Some(known) = self.added.get(&owner) {
            return *known;
        }
        let number = self.next;
        self.next += 1;
        let mut described = Vec::new();
        uint(&mut described, track_descriptor::UUID, number);
        let name = format!("{owner}: dependencies");
        bytes(&mut described, track_descriptor::NAME, name.as_bytes());
        self.sequence.describe(out, &described);
        self.added.insert(owner, number);
        number
    }
}
