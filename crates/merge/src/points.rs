//! Instants at which arrows between documents begin and end, in packets.
//!
//! An arrow begins where it is among the flows of an instant, and ends where it terminates. Where
//! it ends before it begins readers draw nothing, so one that is reversed is drawn by a second
//! flow, which ends nowhere; of that they take the end that begins first for the beginning.

use retime_perfetto_wire::fields::track_event;

use crate::job::Pointed;
use crate::packets::Sequence;

/// The numbers of arrows between documents: above those in one.
const BETWEEN: u64 = 1 << 62;

/// The numbers of flows that draw reversed dependencies: above those of all arrows.
const DRAWN: u64 = 3 << 62;

/// Writes the instant of some ends at one event.
pub(crate) fn point(
    out: &mut Vec<u8>,
    sequence: &mut Sequence,
    track: u64,
    ends: &[Pointed],
    at: i64,
) {
    let Some(first) = ends.first() else {
        return;
    };
    sequence.event(track_event::INSTANT, track);
    sequence.name(first.name().as_bytes());
    sequence.category(b"retime");
    for pointed in ends {
        let number = pointed.arrow as u64;
        if pointed.is_cause {
            sequence.flow(BETWEEN | number);
        } else {
            sequence.last_flow(BETWEEN | number);
        }
        if pointed.is_reversed {
            sequence.flow(DRAWN | number);
        }
    }
    sequence.send(out, at);
}
