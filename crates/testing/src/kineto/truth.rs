//! The truth that the files do not say: the clocks, and which events are one operation.
//!
//! ```json
//! {"epoch": 1795171426000000000, "style": "Nccl", "seed": 1,
//!  "ranks": [{"rank": 0, "file": "rank0.pt.trace.json", "host": "node0",
//!             "offset": -1234567, "drift": 4711, "base": 1790857026000000000}],
//!  "instances": [{"group": "0", "name": "allreduce", "root": null,
//!                 "members": [{"rank": 0, "event": 42, "ts": "4314400000123.456",
//!                              "begin": 1000, "end": 2000}]}]}
//! ```
//!
//! `epoch` is true time in nanoseconds since 1970. At that moment a clock is ahead
//! by `offset` nanoseconds, and gains `drift` parts per billion; the clock of its device is by
//! `device_offset` and `device_drift`, if that is another. `event` counts
//! from 0 in `traceEvents`; `begin` and `end` are true, since the epoch. Operations
//! are in the order in which programs take them, and without the members of which
//! nothing was recorded. In a message the first member is the sender, if it is
//! there; `root` is the rank of the root.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use super::{
    groups::Groups,
    happened::{Happened, Instance, What},
    job::{Class, KinetoRun, Style, file_name},
    names::Names,
    rank_file::Written,
    stamp::{EPOCH, HostClock},
};
use retime_sim::Result;

/// Writes `truth.json`; `written` is of the ranks that are not missing.
pub(super) fn write(
    run: &KinetoRun,
    groups: &Groups,
    happened: &Happened,
    written: &[(u32, Written)],
    directory: &Path,
) -> Result<()> {
    let mut to = BufWriter::new(File::create(directory.join("truth.json"))?);
    let (style, seed) = (run.style, run.seed);
    write!(
        to,
        r#"{{"epoch": {EPOCH}, "style": "{style:?}", "seed": {seed}, "ranks": ["#
    )?;
    for (number, (rank, written)) in written.iter().enumerate() {
        let (file, host) = (file_name(*rank), run.host(*rank));
        let clock = &written.stamps.clock;
        let (offset, drift) = (clock.offset, clock.drift);
        let base = written.stamps.base.unwrap_or(0);
        let comma = if number > 0 { "," } else { "" };
        write!(
            to,
            "{comma}\n  {{\"rank\": {rank}, \"file\": \"{file}\", \"host\": \"node{host}\", \"offset\": {offset}, \"drift\": {drift}, "
        )?;
        if run.devices.offset > 0 || run.devices.drift > 0 {
            let HostClock { offset, drift, .. } = &written.device.clock;
            write!(
                to,
                "\"device_offset\": {offset}, \"device_drift\": {drift}, "
            )?;
        }
        if !clock.set.is_empty() {
            let set = clock.set.iter().map(|(at, by)| format!("[{at}, {by}]"));
            let set: Vec<String> = set.collect();
            write!(to, "\"set\": [{}], ", set.join(", "))?;
        }
        write!(to, "\"base\": {base}}}")?;
    }
    write!(to, "],\n \"instances\": [")?;
    let mut comma = "";
    for instance in &happened.instances {
        let members = members(run.style, happened, instance, written);
        if !members.is_empty() {
            write!(
                to,
                "{comma}\n  {}",
                described(groups, happened, instance, &members)
            )?;
            comma = ",";
        }
    }
    writeln!(to, "]}}")?;
    to.flush()?;
    Ok(())
}

/// The members of an operation that were recorded.
fn members(
    style: Style,
    happened: &Happened,
    instance: &Instance,
    written: &[(u32, Written)],
) -> Vec<String> {
    instance
        .members
        .iter()
        .filter_map(|&(rank, call)| {
            let (_, written) = written.iter().find(|(it, _)| *it == rank)?;
            let placed = written.calls[call].as_ref()?;
            let span = happened.ranks[rank as usize].calls[call].proof(style);
            Some(format!(
                r#"{{"rank": {rank}, "event": {}, "ts": "{}", "begin": {}, "end": {}}}"#,
                placed.number, placed.ts, span.begin, span.end
            ))
        })
        .collect()
}

fn described(
    groups: &Groups,
    happened: &Happened,
    instance: &Instance,
    members: &[String],
) -> String {
    let group = groups.get(instance.group);
    let name = match instance.what {
        What::Message => "message",
        What::Collective(_) => {
            let (rank, call) = instance.members[0];
            let role = happened.ranks[rank as usize].calls[call].role;
            Names::new(instance.what, role, instance.payload.element).collective
        }
    };
    let root = match instance.what {
        What::Collective(Class::Broadcast { root } | Class::Reduce { root }) => {
            group.ranks[root as usize % group.ranks.len()].to_string()
        }
        _ => "null".to_owned(),
    };
    format!(
        r#"{{"group": "{}", "name": "{name}", "root": {root}, "members": [{}]}}"#,
        group.name,
        members.join(", ")
    )
}
