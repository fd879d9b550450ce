//! What a recording says twice: a byte that is wrong shows where it is said again.
//!
//! Every byte of the event files of small archives is changed, and what was read before
//! and after is compared, field by field. Where another record, the definitions or the
//! order of times say the same, `retime check` has to notice; what it cannot notice is
//! listed in docs/TESTING.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::directory::tree;
use crate::common::{Scratch, judge, traces};
use crate::examined;
use retime::format::Format;
use retime::pipeline::{Analysis, AnalysisOptions};
use retime_otf2::writer::LocationWriter;
use retime_otf2::{
    CommRef, EventData, IoHandleRef, IoOperationFlags, IoOperationMode, LockType, Paradigm,
    RmaWinRef,
};
use retime_otf2_format::Otf2;
use retime_testing::Effort;

/// An event as OTF2 tools show it.
#[derive(Clone, PartialEq)]
struct Shown {
    time: u64,
    name: &'static str,
    fields: Vec<(&'static str, String)>,
}

/// All events of a location, or that they cannot be shown.
fn shown(trace: &Path, id: u64) -> Option<Vec<Shown>> {
    let trace = retime_otf2::Trace::open(trace).ok()?;
    let at = trace.location_ids().position(|it| it == id)?;
    let mut events = trace.events(retime::LocationIndex(at as u32)).ok()?;
    let mut found = Vec::new();
    while let Some(event) = events.next().ok()? {
        let fields = event.decode().ok()?;
        let mut fields: Vec<_> = fields
            .iter()
            .map(|it| (it.name(), format!("{:?}", it.value)))
            .collect();
        let attributes = event.decode_attributes().ok()?;
        fields.extend(attributes.iter().map(|it| ("attribute", format!("{it:?}"))));
        found.push(Shown {
            time: event.time,
            name: event.name(),
            fields,
        });
    }
    Some(found)
}

/// What `retime check` says against a trace.
fn said_against(trace: &Path) -> Result<String, String> {
    let trace = Otf2.open(trace).map_err(|error| error.to_string())?;
    let scan = trace.scan(&()).map_err(|error| error.to_string())?;
    let warnings = trace.warnings(&scan.contents);
    let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &());
    let analysis = analysis.map_err(|error| error.to_string())?;
    let defects = analysis.causality().defects();
    let violated = analysis.recorded().violated();
    Ok(format!("{defects:?} {violated} {warnings:?}"))
}

/// What a change of a byte did to the events of its file.
fn effect(before: &[Shown], after: Option<&[Shown]>, at: usize) -> String {
    let Some(after) = after else {
        return "unreadable".into();
    };
    let names = |events: &[Shown]| events.iter().map(|it| it.name).collect::<Vec<_>>();
    if names(before) != names(after) {
        return "other events".into();
    }
    if before.iter().zip(after).any(|(a, b)| a.time != b.time) {
        return if after.is_sorted_by_key(|it| it.time) {
            "time between its neighbours".into()
        } else {
            "time beyond its neighbours".into()
        };
    }
    let changed = before.iter().zip(after).find(|(a, b)| a != b);
    let Some((old, new)) = changed else {
        return if at < 18 { "chunk header" } else { "nothing" }.into();
    };
    let mut fields = old.fields.iter().zip(&new.fields);
    let field = fields.find(|(a, b)| a != b);
    let field = field.map_or("number of fields", |(field, _)| field.0);
    format!("{}.{field}", old.name)
}

/// What is not said twice: nothing can be noticed of these. docs/TESTING.md says why.
const SAID_ONCE: [&str; 7] = [
    "nothing",
    "time between its neighbours",
    "RmaPut.remote",
    "RmaPut.bytes",
    "ThreadFork.numberOfRequestedThreads",
    "IoOperationBegin.bytesRequest",
    "IoOperationComplete.bytesResult",
];

/// What two processes of two threads each begin under a name and end under it.
fn life_cycles(id: u64, it: &mut LocationWriter) {
    let mut time = 1_000 * (id + 1);
    let mut record = |data: EventData| {
        time += 20;
        it.event(time, &data).unwrap();
    };
    let model = Paradigm::OPENMP;
    let thread_team = CommRef(1 + id as u32 / 2);
    let is_first = id.is_multiple_of(2);
    if is_first {
        let win = RmaWinRef(0);
        record(EventData::RmaWinCreate { win });
        for (remote, matching_id) in [(0, 7), (1, 8)] {
            let (lock, lock_type) = (5, LockType::SHARED);
            record(EventData::RmaRequestLock {
                win,
                remote,
                lock,
                lock_type,
            });
            record(EventData::RmaAcquireLock {
                win,
                remote,
                lock,
                lock_type,
            });
            record(EventData::RmaPut {
                win,
                remote,
                bytes: 64,
                matching_id,
            });
            record(EventData::RmaOpCompleteNonBlocking { win, matching_id });
            record(EventData::RmaOpCompleteRemote { win, matching_id });
            record(EventData::RmaReleaseLock { win, remote, lock });
        }
        record(EventData::RmaWinDestroy { win });
        record(EventData::ThreadFork { model, threads: 2 });
    }
    record(EventData::ThreadTeamBegin { thread_team });
    let task = |generation_number| (thread_team, 0, generation_number);
    let (lock, acquisition_order) = (1, 3 + id as u32);
    record(EventData::ThreadAcquireLock {
        model,
        lock,
        acquisition_order,
    });
    record(EventData::ThreadReleaseLock {
        model,
        lock,
        acquisition_order,
    });
    for (thread_team, creating_thread, generation_number) in [task(1), task(2)] {
        // Who makes a task leaves it to the other.
        record(if is_first {
            EventData::ThreadTaskCreate {
                thread_team,
                creating_thread,
                generation_number,
            }
        } else {
            EventData::ThreadTaskComplete {
                thread_team,
                creating_thread,
                generation_number,
            }
        });
    }
    record(EventData::ThreadTeamEnd { thread_team });
    if is_first {
        record(EventData::ThreadJoin { model });
        let handle = IoHandleRef(4);
        record(EventData::IoOperationBegin {
            handle,
            mode: IoOperationMode::READ,
            operation_flags: IoOperationFlags::NONE,
            bytes_request: 100,
            matching_id: 1,
        });
        record(EventData::IoOperationComplete {
            handle,
            bytes_result: 90,
            matching_id: 1,
        });
    }
}

/// Writes the archives that are changed.
fn archives(scratch: &Scratch) -> [&'static str; 3] {
    traces::halo(scratch.path(), "halo", 60);
    traces::write(scratch.path(), "hand-made", &traces::sound());
    examined::write(scratch.path(), "life-cycles", life_cycles);
    ["halo", "hand-made", "life-cycles"]
}

/// Changes bytes of all event files, every `stride`-th in several ways, and hands what
/// came of each to `judge`: the events before and after, and whether `check` noticed.
fn flip(
    trace: &Path,
    stride: usize,
    mut judge: impl FnMut(&Path, usize, (&[Shown], Option<&[Shown]>), bool),
) {
    let sound = said_against(trace).unwrap();
    for (name, content) in tree(trace) {
        let (Some(content), Some("evt")) = (content, name.extension().and_then(|it| it.to_str()))
        else {
            continue;
        };
        let id = name.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let before = shown(trace, id).unwrap();
        let path = trace.join(&name);
        let mut damaged = content.clone();
        for at in (0..content.len()).step_by(stride) {
            for flip in [0x01, 0x10, 0x40, 0xff] {
                damaged[at] = content[at] ^ flip;
                fs::write(&path, &damaged).unwrap();
                let after = shown(trace, id);
                let noticed = said_against(trace) != Ok(sound.clone());
                judge(&name, at, (&before, after.as_deref()), noticed);
            }
            damaged[at] = content[at];
        }
        fs::write(&path, content).unwrap();
    }
}

#[test]
fn what_is_said_twice_is_noticed() {
    let scratch = Scratch::in_memory();
    // Every seventh byte meets each field, which are many more than seven to a file.
    let (stride, least) = Effort::asked().pick((7, 700), (3, 1_600), (1, 5_000));
    // By what a change did: how many there were, and how many were noticed.
    let mut tally = BTreeMap::<String, [u32; 2]>::new();
    for name in archives(&scratch) {
        flip(
            &scratch.join(name),
            stride,
            |_, at, (before, after), noticed| {
                let counted = tally.entry(effect(before, after, at)).or_default();
                counted[0] += 1;
                counted[1] += u32::from(noticed);
            },
        );
    }
    let (mut all, mut silent) = (0, 0);
    for (effect, [changes, noticed]) in &tally {
        eprintln!("{noticed:>6} of {changes:>6} noticed: {effect}");
        if !SAID_ONCE.contains(&&**effect) {
            all += changes;
            silent += changes - noticed;
        }
    }
    eprintln!("{silent} of {all} changes of what is said twice pass silently");
    assert!(tally.len() > 25 && all > least, "{tally:?}");
    assert!(silent * 100 <= all, "{silent} of {all} pass silently");
}

/// Whether libotf2 reads all that it shows of a trace.
fn otf2_print_reads(anchor: &Path) -> bool {
    let mut print = Command::new("timeout");
    print.args(["--signal=KILL", "5", "otf2-print", "-A"]);
    let print = print.arg(anchor).output().unwrap();
    print.status.success() && !String::from_utf8_lossy(&print.stderr).contains("error")
}

#[test]
fn what_otf2_print_refuses_is_noticed() {
    let scratch = Scratch::in_memory();
    // Each run of otf2-print takes longer than all else together.
    let (stride, least) = Effort::asked().pick((501, 1), (167, 5), (1, 1_000));
    let (mut refused, mut silent) = (0, Vec::new());
    // The last one defines no windows and files.
    for name in &archives(&scratch)[..2] {
        let trace = scratch.join(name);
        let anchor = trace.join("traces.otf2");
        if judge::otf2_print(&anchor, &[]).is_none() {
            return;
        }
        flip(&trace, stride, |file, at, _, noticed| {
            if !otf2_print_reads(&anchor) {
                refused += 1;
                if !noticed {
                    silent.push(format!("{name} {} {at}", file.display()));
                }
            }
        });
    }
    eprintln!("otf2-print refuses {refused}");
    assert!(
        refused > least && silent.is_empty(),
        "{refused}: {silent:?}"
    );
}
