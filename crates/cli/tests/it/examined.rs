//! What is said of traces in which nothing, or little, can be looked at.

use std::path::Path;

use crate::common::Scratch;
use crate::common::golden::{assert_golden, transcript};
use retime_otf2::writer::{ArchiveWriter, LocationWriter, Message, WriteOptions};
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, EventData, GroupType, LocationGroupType, LocationType,
    Paradigm, RegionRole, RmaWinRef, SystemTreeDomain,
};
use serde_json::Value;

const WORLD: CommRef = CommRef(0);

/// A trace of two processes with two threads each on nodes of their own; ids count
/// threads. Each process is a rank, and its threads are a team.
pub(crate) fn write(dir: &Path, name: &str, fill: impl Fn(u64, &mut LocationWriter)) {
    std::fs::create_dir(dir.join(name)).unwrap();
    let path = dir.join(name).join("traces.otf2");
    let options = WriteOptions {
        properties: vec![("RETIME::TEST-TRACE".into(), "1".into())],
        ..WriteOptions::default()
    };
    let mut archive = ArchiveWriter::create(&path, options).unwrap();
    let it = archive.definitions();
    it.region("main", RegionRole::FUNCTION, Paradigm::USER);
    for rank in 0..2 {
        let node = it.system_tree_node(&format!("node{rank}"), "node", None);
        it.system_tree_domain(node, SystemTreeDomain::SHARED_MEMORY);
        let process = it.location_group(
            &format!("rank {rank}"),
            LocationGroupType::PROCESS,
            Some(node),
        );
        it.location(2 * rank, "main", LocationType::CPU_THREAD, process);
        it.location(2 * rank + 1, "worker", LocationType::CPU_THREAD, process);
    }
    it.group("", GroupType::COMM_LOCATION_GROUPS, Paradigm::MPI, &[0, 1]);
    let group = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0, 1]);
    it.comm("world", group, None);
    it.group(
        "",
        GroupType::COMM_LOCATIONS,
        Paradigm::OPENMP,
        &[0, 1, 2, 3],
    );
    for threads in [[0, 1], [2, 3]] {
        let team = it.group("", GroupType::COMM_GROUP, Paradigm::OPENMP, &threads);
        it.comm("team", team, None);
    }
    let mut written = Vec::new();
    for id in 0..4 {
        let mut location = archive.location(id).unwrap();
        fill(id, &mut location);
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
}

fn message(peer: u32) -> Message {
    Message {
        peer,
        comm: WORLD,
        tag: 0,
        length: 8,
    }
}

/// Two messages from process 0 to process 1 and back, both by workers.
fn exchange(id: u64, it: &mut LocationWriter, ahead: u64) {
    match id {
        1 => {
            it.send(1000, message(1)).unwrap();
            it.recv(5000, message(1)).unwrap();
        }
        3 => {
            it.recv(3000 - ahead, message(0)).unwrap();
            it.send(4000 - ahead, message(0)).unwrap();
        }
        _ => {}
    }
}

/// Five puts into the memory of process 1.
fn puts(id: u64, it: &mut LocationWriter) {
    for number in 0..if id == 0 { 5 } else { 0 } {
        let put = EventData::RmaPut {
            win: RmaWinRef(0),
            remote: 1,
            bytes: 8,
            matching_id: number,
        };
        it.event(6000 + number, &put).unwrap();
    }
}

/// Each process forks its worker twice.
fn teams(id: u64, it: &mut LocationWriter) {
    let thread_team = CommRef(1 + id as u32 / 2);
    let model = Paradigm::OPENMP;
    for time in [7000, 8000] {
        let mut record = |after: u64, data| it.event(time + after, &data).unwrap();
        if id.is_multiple_of(2) {
            record(0, EventData::ThreadFork { model, threads: 2 });
        }
        record(
            10 * (id % 2) + 1,
            EventData::ThreadTeamBegin { thread_team },
        );
        record(20, EventData::ThreadTeamEnd { thread_team });
        if id.is_multiple_of(2) {
            record(25, EventData::ThreadJoin { model });
        }
    }
}

/// The same as they were recorded before OTF2 1.2: nothing says who was in a team.
fn old_teams(id: u64, it: &mut LocationWriter) {
    if id.is_multiple_of(2) {
        it.event(7000, &EventData::OmpFork { threads: 2 }).unwrap();
        it.event(7025, &EventData::OmpJoin).unwrap();
    }
}

/// Messages that nobody has received.
fn lost(id: u64, it: &mut LocationWriter) {
    if id == 0 {
        it.send(1000, message(1)).unwrap();
        it.send(2000, message(1)).unwrap();
    }
}

fn hand_made() -> Scratch {
    let scratch = Scratch::new();
    let dir = scratch.path();
    write(dir, "silent", |_, _| {});
    write(dir, "lost", |id, it| {
        if id == 0 {
            it.send(1000, message(1)).unwrap();
            it.send(2000, message(9)).unwrap();
        }
    });
    write(dir, "one-sided", |id, it| {
        exchange(id, it, 0);
        puts(id, it);
    });
    write(dir, "one-sided-skewed", |id, it| {
        exchange(id, it, 2500);
        puts(id, it);
    });
    write(dir, "hybrid", |id, it| {
        exchange(id, it, 0);
        teams(id, it);
    });
    write(dir, "hybrid-lost", |id, it| {
        lost(id, it);
        teams(id, it);
    });
    write(dir, "threads", teams);
    write(dir, "old-threads", old_teams);
    scratch
}

#[test]
fn what_could_not_be_looked_at_is_said_last() {
    let commands = [
        "check silent",
        "check lost",
        "check one-sided",
        "check one-sided-skewed",
        "check hybrid",
        "check hybrid --clocks location",
        "check hybrid-lost",
        "check threads",
        "check threads --clocks location",
        "check old-threads",
        "check lost --strict",
        "correct silent -o a",
        "correct lost -o b",
        "correct one-sided -o c",
        "correct one-sided-skewed -o d",
        "correct hybrid -o e",
        "correct one-sided -o f.jsonl --merged",
    ];
    assert_golden("examined.txt", &transcript(&hand_made(), &commands));
}

#[test]
fn reports_have_the_numbers() {
    let scratch = hand_made();
    let outcome = scratch.retime("check hybrid --json -");
    assert_eq!(outcome.code, Some(0));
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let expected = serde_json::json!({
        "verdict": "most-used",
        "recorded": 20,
        "used": 20,
        "within_clock": 0,
        "message_ends": { "recorded": 4, "used": 4 },
        // Two forks and two joins of two threads in each process.
        "calls": { "recorded": 16, "used": 16 },
        "maybe_dense": 0,
        "used_within_clock": 16,
        "unused": [],
    });
    assert_eq!(report["examined"], expected);
}

/// Messages that processes send themselves say nothing of others, of whom none has a second thread.
#[test]
fn what_a_process_sends_itself_makes_nothing_looked_at() {
    let scratch = Scratch::new();
    let to_itself = |id: u64, it: &mut LocationWriter| {
        for time in (100..900).step_by(100).filter(|_| id.is_multiple_of(2)) {
            it.send(time, message(id as u32 / 2)).unwrap();
            it.recv(time + 50, message(id as u32 / 2)).unwrap();
        }
    };
    write(scratch.path(), "alone", to_itself);
    write(scratch.path(), "alone-lost", |id, it| {
        to_itself(id, it);
        lost(id, it);
    });
    let alone = scratch.retime("check alone");
    let said =
        "No contradiction found, but nothing that is recorded leads from one process to another";
    assert_eq!(
        (alone.stdout.matches(said).count(), alone.code),
        (2, Some(0)),
        "{alone:?}"
    );
    let copied = scratch.succeed("correct alone -o copy");
    assert!(
        copied.contains(&format!("{said}. Nothing was changed")),
        "{copied}"
    );
    let lost = scratch.retime("check alone-lost");
    let said = "none of 2 records of communication between clocks could be used";
    assert!(lost.stdout.contains(said), "{lost:?}");
    assert_eq!(lost.code, Some(3));
    // Of a stretch nothing is said of what lies outside.
    let stretch = scratch.retime("correct alone -o part --from 300ns");
    assert!(
        stretch.stdout.contains("No contradiction after 300 ns"),
        "{stretch:?}"
    );
}

/// Making and freeing communicators is nothing that could be looked at.
#[test]
fn making_communicators_is_no_communication() {
    let scratch = Scratch::new();
    let makes = |id: u64, it: &mut LocationWriter| {
        let ends = [CollectiveOp::CREATE_HANDLE, CollectiveOp::DESTROY_HANDLE];
        for (time, collective_op) in [100, 200].into_iter().zip(ends) {
            if id.is_multiple_of(2) {
                let communicator = WORLD;
                let end = EventData::MpiCollectiveEnd {
                    collective_op,
                    communicator,
                    root: CollectiveRoot::None,
                    size_sent: 0,
                    size_received: 0,
                };
                it.event(time, &EventData::MpiCollectiveBegin).unwrap();
                it.event(time + 50, &end).unwrap();
                it.event(time + 60, &EventData::CommCreate { communicator })
                    .unwrap();
            }
        }
    };
    write(scratch.path(), "made", makes);
    write(scratch.path(), "made-and-used", |id, it| {
        makes(id, it);
        exchange(id, it, 0);
    });
    let nothing = scratch.succeed("check made");
    assert!(nothing.contains("no record of communication"), "{nothing}");
    let sound = scratch.succeed("check made-and-used");
    assert!(!sound.contains("not used"), "{sound}");
    let trusting = scratch.retime("check made --trust-implementation openmpi");
    assert!(!trusting.stdout.contains("no record"), "{trusting:?}");
    let unused = scratch.succeed("explain made-and-used --unused");
    assert_eq!(
        unused,
        "Everything that was recorded of communication could be used.\n"
    );
}

/// Accesses to the memory of others hide nothing that could be looked at, but where there is nothing
/// else nothing was.
#[test]
fn accesses_to_memory_alone_are_not_looked_at() {
    let scratch = hand_made();
    scratch.succeed("check one-sided");
    write(scratch.path(), "puts", puts);
    let outcome = scratch.retime("check puts");
    let said = "nothing was looked at: none of 5 records of communication could be used";
    assert!(outcome.stdout.contains(said), "{outcome:?}");
    assert_eq!(outcome.code, Some(3));
    let compared = scratch.retime("compare puts");
    let words: Vec<&str> = compared.stdout.split_whitespace().collect();
    let last_words = words.join(" ");
    assert!(last_words.contains(said), "{compared:?}");
    assert!(!last_words.contains("nothing to correct"), "{compared:?}");
    assert_eq!(compared.code, Some(3));
}

/// One of something is, does and has.
#[test]
fn one_is_not_told_as_several() {
    let scratch = Scratch::new();
    write(scratch.path(), "one", |id, it| {
        if id == 0 {
            it.event(10, &EventData::RmaWaitChange { win: RmaWinRef(0) })
                .unwrap();
        }
    });
    let unused = scratch.succeed("explain one --unused");
    let said = "1 one-sided synchronisation, which says nothing of how processes differ";
    assert!(unused.starts_with(said), "{unused}");
    let beyond = scratch.retime("explain one 0:7");
    let said = "location 0 has 1 event, numbered from 0; there is no event 7";
    assert!(beyond.stderr.contains(said), "{beyond:?}");
}

#[test]
fn an_unchecked_trace_is_copied_and_restored_as_it_is() {
    let scratch = hand_made();
    scratch.succeed("correct one-sided-skewed -o d");
    scratch.succeed("undo d -o back");
    scratch.retime("correct lost -o copy").expect_code(3);
    for (original, copy) in [("one-sided-skewed", "back"), ("lost", "copy")] {
        crate::common::directory::assert_same(&scratch.join(original), &scratch.join(copy));
    }
}

#[test]
fn comparisons_and_orders_say_what_they_could_not_look_at() {
    let last = |text: &str| {
        let line = text.lines().rev().find(|it| it.starts_with("Mind"));
        line.map(str::to_owned)
    };
    let scratch = hand_made();
    let none = "none of 2 records of communication could be used.";
    let nothing = "No contradiction found, but nothing was looked at:";
    for (trace, code, said) in [
        ("one-sided", 0, None),
        ("lost", 3, Some(none)),
        ("hybrid", 0, None),
        ("silent", 0, None),
    ] {
        let compared = scratch.retime(&format!("compare {trace} --method clc"));
        let ordered = scratch.retime(&format!("order {trace}"));
        assert_eq!((compared.code, ordered.code), (Some(code), Some(code)));
        let words: Vec<&str> = compared.stdout.split_whitespace().collect();
        let advised = said.is_some_and(|it| words.join(" ").ends_with(&format!("{nothing} {it}")));
        assert_eq!(advised, said.is_some(), "compare {trace}");
        let mind = said.map(|it| format!("Mind that {it}"));
        assert_eq!(last(&ordered.stderr), mind, "order {trace}");
    }
    write(scratch.path(), "skewed-and-lost", |id, it| {
        exchange(id, it, 2500);
        for time in (6_000..11_000).step_by(500).filter(|_| id == 0) {
            it.send(time, message(1)).unwrap();
        }
    });
    // What contradicts is said first, and by the exit code.
    let ordered = scratch.retime("order skewed-and-lost");
    assert_eq!(ordered.code, Some(1));
    let few = "Mind that only 4 of 14 records of communication could be used.";
    assert_eq!(last(&ordered.stderr).as_deref(), Some(few));
    // A method removes it; what could not be looked at may still contradict.
    let compared = scratch.retime("compare skewed-and-lost --method clc --json -");
    let comparison: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(compared.code, Some(3));
    assert_eq!(comparison["examined"]["verdict"], "small-part");
}

#[test]
fn nobody_is_left_behind_where_nobody_moves() {
    let scratch = hand_made();
    let dir = scratch.path();
    // Only one location has events.
    write(dir, "single", |id, it| {
        if id == 0 {
            it.event(10, &EventData::OmpFork { threads: 1 }).unwrap();
        }
    });
    for (trace, code) in [("single", 3), ("lost", 3), ("silent", 0)] {
        let outcome = scratch.retime(&format!("check {trace} --clocks location"));
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        assert!(!outcome.stdout.contains("nothing tells"), "{outcome:?}");
    }
}

#[test]
fn of_one_location_there_is_nothing_to_compare() {
    let scratch = Scratch::new();
    let lines = "{\"retime-stream\":1,\"locations\":[0]}\n{\"location\":0,\"time\":1}\n";
    scratch.write("one.jsonl", lines);
    let said = scratch.succeed("check one.jsonl");
    let expected = "The trace has one location, so there is nothing to compare";
    assert_eq!(said.matches(expected).count(), 2, "{said}");
}
