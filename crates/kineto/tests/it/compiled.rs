//! Operations of compiled programs: joined only where it is known who takes part.

use std::fmt::Write as _;
use std::path::Path;

use retime::format::Format;
use retime_kineto::Kineto;

/// An instruction with its groups and its device.
struct Said {
    device: u32,
    text: &'static str,
}

/// Instructions of a program, with the run of each and when it begins.
type Done = (&'static str, u32, u64);

const THREE_RUNS: [Done; 7] = [
    ("all-reduce", 7, 100),
    ("all-gather.3", 7, 400),
    ("all-reduce", 8, 900),
    ("all-gather.3", 8, 1_300),
    ("all-reduce-start", 9, 1_500),
    ("all-gather.3", 9, 1_600),
    ("all-gather.3", 9, 1_800),
];

/// A profile of one process whose session began `zero` microseconds earlier than it could have,
/// with some runs of a program.
fn write(path: &Path, zero: u64, said: &[Said], done: &[Done]) {
    let mut events = Vec::new();
    for said in said {
        for (op, run, at) in done {
            let (device, text, at) = (said.device, said.text, at + zero);
            let mut event = String::new();
            write!(
                event,
                r#"{{"ph":"X","pid":7,"tid":{device},"ts":{at}.125,"dur":60,"name":"{op}","args":{{
                "hlo_op":"{op}","hlo_module":"jit_step","run_id":"{run}",
                "device_ordinal":"{device}","long_name":"{text}"}}}}"#
            )
            .unwrap();
            events.push(event);
        }
    }
    let events = events.join(",");
    let text = format!(r#"{{"displayTimeUnit":"ns","traceEvents":[{events}]}}"#);
    std::fs::write(path, text).unwrap();
}

/// The number of begins of operations that are joined, and of unused calls by reason.
fn joined(files: &[(&str, u64, &[Said])]) -> (usize, Vec<(&'static str, u64)>) {
    let of = |&(name, zero, said)| (name, zero, said, &THREE_RUNS[..]);
    joined_of(&files.iter().map(of).collect::<Vec<_>>())
}

fn joined_of(files: &[(&str, u64, &[Said], &[Done])]) -> (usize, Vec<(&'static str, u64)>) {
    let directory = tempfile::tempdir().unwrap();
    for (name, zero, said, done) in files {
        write(&directory.path().join(name), *zero, said, done);
    }
    let trace = Kineto.open(directory.path()).unwrap();
    let scan = trace.scan(&()).unwrap();
    let begins = scan.logs.iter().map(|log| {
        let named = &log.columns().named_operations;
        named
            .iter()
            .filter(|it| it.node.0.is_multiple_of(2))
            .count()
    });
    let unused = trace.unused(&scan.contents);
    let count = |it: &retime::format::Unused| (it.kind, it.records.iter().sum());
    (begins.sum(), unused.iter().map(count).collect())
}

const ONE: &str = "all-reduce(%p), replica_groups={{0,1,2}}, to_apply=%add";

const fn on(device: u32, text: &'static str) -> Said {
    Said { device, text }
}

#[test]
fn two_devices_have_one_group() {
    let (begins, unused) = joined(&[
        ("host0.trace.json", 0, &[on(0, "")]),
        ("host1.trace.json", 5_000, &[on(2_048, "")]),
    ]);
    // Two runs of two instructions; what the third does twice may be cut, as it is the last, and what
    // is only started waits for nobody.
    assert_eq!(begins, 2 * 4);
    assert_eq!(
        unused,
        [("XLA collective", 2), ("ambiguous collective call", 4)]
    );
}

#[test]
fn of_more_devices_the_text_has_to_say_that_all_take_part() {
    let of = |text| {
        joined(&[
            ("host0.trace.json", 0, &[on(0, text)][..]),
            ("host1.trace.json", 5_000, &[on(1, text)]),
            ("host2.trace.json", 900, &[on(2, text)]),
        ])
        .0
    };
    assert_eq!(of(ONE), 3 * 4);
    assert_eq!(of("replica_groups=[1,3]<=[3]"), 3 * 4);
    for text in [
        "",
        "replica_groups={}",
        "replica_groups={{0,1},{2}}",
        "replica_groups={{0,1}}",
    ] {
        assert_eq!(of(text), 0, "{text}");
    }
}

#[test]
fn several_devices_of_a_process_are_not_told_apart() {
    let (begins, unused) = joined(&[
        ("host0.trace.json", 0, &[on(0, ""), on(1, "")]),
        ("host1.trace.json", 5_000, &[on(2, ""), on(3, "")]),
    ]);
    assert_eq!((begins, unused), (0, vec![("XLA collective", 28)]));
}

#[test]
fn what_a_loop_does_again_meets_what_others_do_again() {
    let with = |more: &[Done], others: &[Done]| {
        let done = |more: &[Done]| [&THREE_RUNS[..], more].concat();
        joined_of(&[
            ("host0.trace.json", 0, &[on(0, "")], &done(more)),
            ("host1.trace.json", 5_000, &[on(2_048, "")], &done(others)),
        ])
    };
    let next: Done = ("all-reduce", 10, 2_500);
    let started = ("XLA collective", 2);
    // Seven of each: the third run is over before the fourth begins.
    assert_eq!(with(&[next], &[next]), (2 * 7, vec![started]));
    // One did it three times, as far as is recorded: nobody knows which of them are those of the other.
    let again = [("all-gather.3", 9, 2_000), next];
    let lone = ("lone collective call", 5);
    assert_eq!(with(&again, &[next]), (2 * 5, vec![started, lone]));
}

#[test]
fn what_a_processor_does_is_done_by_threads() {
    let streams = |process: &str| {
        let directory = tempfile::tempdir().unwrap();
        for (name, device) in [("host0.trace.json", 0), ("host1.trace.json", 2_048)] {
            let path = directory.path().join(name);
            write(&path, 0, &[on(device, "")], &THREE_RUNS);
            let text = std::fs::read_to_string(&path).unwrap();
            let named = format!(
                r#""traceEvents":[{{"ph":"M","pid":7,"name":"process_name","args":{{"name":"{process}"}}}},"#
            );
            std::fs::write(&path, text.replace("\"traceEvents\":[", &named)).unwrap();
        }
        let scan = Kineto.open(directory.path()).unwrap().scan(&()).unwrap();
        scan.info.streams.len()
    };
    assert_eq!(streams("/device:TPU:0"), 2);
    assert_eq!(streams("/host:CPU"), 0);
}
