//! Events as lines of the format that `docs/STREAM.md` describes, with all that
//! happened-before knows of them.
//!
//! Messages are named by the node of their send, collective operations by their
//! position. On an inter-communicator each direction is an operation of its own.

use std::io::{self, Write};

use retime::causality::{Class, EventNode, JoinedOperation, Role, Slot};
use retime::{Clocks, LocationIndex, TraceInfo};

use super::{Listed, Row};

/// Writes the first line.
pub(crate) fn write_header(
    out: &mut impl Write,
    info: &TraceInfo,
    clocks: Option<&Clocks>,
) -> io::Result<()> {
    let rate = info.rate.get();
    write!(
        out,
        "{{\"retime-stream\":1,\"ticks_per_second\":{rate},\"locations\":["
    )?;
    let ids = info.locations.iter().map(|location| location.id);
    list(out, ids)?;
    if let Some(clocks) = clocks {
        write!(out, "],\"clocks\":[")?;
        let clocks = clocks.by_location().iter();
        list(out, clocks.map(|clock| u64::from(clock.0)))?;
    }
    out.write_all(b"],\"names\":")?;
    let all = (0..info.locations.len() as u32).map(LocationIndex);
    let names: Vec<String> = all.map(|it| info.full_name(it)).collect();
    serde_json::to_writer(&mut *out, &names)?;
    out.write_all(b"}\n")
}

fn list(out: &mut impl Write, numbers: impl Iterator<Item = u64>) -> io::Result<()> {
    for (at, number) in numbers.enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(out, "{comma}{number}")?;
    }
    Ok(())
}

/// How the lines of a trace are written.
pub(crate) struct Lines<'a> {
    pub(crate) listed: Listed<'a>,
    /// True if lines have the recorded time, too.
    pub(crate) raw: bool,
}

impl Lines<'_> {
    /// Writes an event.
    pub(crate) fn write(&self, out: &mut impl Write, row: &Row) -> io::Result<()> {
        let location = row.location_id(self.listed.info);
        write!(out, "{{\"location\":{location},\"time\":{}", row.time)?;
        self.write_role(out, row)?;
        let (event, kind) = (row.event, row.kind);
        write!(out, ",\"event\":{event},\"kind\":\"{kind}\"")?;
        if let Some(region) = row.region(self.listed.trace) {
            out.write_all(b",\"region\":")?;
            serde_json::to_writer(&mut *out, &region)?;
        }
        if let Some(peer) = row.peer {
            write!(out, ",\"peer\":{peer}")?;
        }
        if self.raw {
            write!(out, ",\"raw_time\":{}", row.raw)?;
        }
        out.write_all(b"}\n")
    }

    /// Writes the part of the event in communication, and the event or operation that it depends on
    /// or that depends on it.
    fn write_role(&self, out: &mut impl Write, row: &Row) -> io::Result<()> {
        let Some(node) = row.node else {
            return out.write_all(b",\"type\":\"internal\"");
        };
        let causality = self.listed.causality;
        let message = |type_: &str, send: EventNode| {
            let bytes = row.bytes.map(|it| format!(",\"bytes\":{it}"));
            let bytes = bytes.unwrap_or_default();
            format!(",\"type\":\"{type_}\",\"message\":{}{bytes}", send.0)
        };
        let role = causality.nodes().role(node);
        let text = match role {
            Role::Send => causality
                .message_target(node)
                .map(|_| message("send", node)),
            Role::Receive => causality
                .message_source(node)
                .map(|send| message("receive", send)),
            Role::CollectiveBegin | Role::CollectiveEnd => causality
                .slot(node)
                .map(|slot| self.collective(slot, role == Role::CollectiveBegin)),
        };
        let text = text.unwrap_or_else(|| ",\"type\":\"internal\"".into());
        out.write_all(text.as_bytes())
    }

    fn collective(&self, slot: Slot, is_begin: bool) -> String {
        let collectives = self.listed.causality.collectives();
        let (instance, own) = collectives.locate(slot);
        let JoinedOperation {
            class,
            across_sides,
            ..
        } = *collectives.operation(instance);
        let participants = collectives.participants(instance);
        // The side whose begins count; the ends are those of the other.
        let side = |place: usize| participants[place].side == 1;
        let from = side(own) == is_begin;
        let causes = |place: usize| {
            let counts = !across_sides || side(place) == from;
            counts && participants[place].cause().is_some()
        };
        let effects = |place: usize| {
            let counts = !across_sides || side(place) != from;
            counts && participants[place].effect().is_some()
        };
        let count = |of: &dyn Fn(usize) -> bool, end| (0..end).filter(|&place| of(place)).count();
        let (begins, ends) = (
            count(&causes, participants.len()),
            count(&effects, participants.len()),
        );
        let way = if from { "b" } else { "a" };
        let id = if across_sides {
            format!("\"{}{way}\"", instance.0)
        } else {
            instance.0.to_string()
        };
        let class = match class {
            Class::Prefix => format!("\"scan\",\"rank\":{}", count(&causes, own)),
            Class::OneToAll if is_begin => "\"from-root\",\"root\":true".into(),
            Class::OneToAll => "\"from-root\"".into(),
            Class::AllToOne if is_begin => "\"to-root\"".into(),
            Class::AllToOne => "\"to-root\",\"root\":true".into(),
            Class::AllToAll | Class::None => "\"all-to-all\"".into(),
        };
        let type_ = if is_begin { "begin" } else { "end" };
        let participants = participants.len();
        format!(
            ",\"type\":\"collective-{type_}\",\"collective\":{id},\"class\":{class},\
             \"participants\":{participants},\"begins\":{begins},\"ends\":{ends}"
        )
    }
}
