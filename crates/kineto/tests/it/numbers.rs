//! Numbers that a file says of itself: none of them sizes anything.

use std::fs;

use retime::causality::{Causality, CausalityOptions};
use retime::format::Format;
use retime_kineto::Kineto;

/// Numbers at and beyond the limits of what they are kept in.
const NUMBERS: [&str; 9] = [
    "0",
    "-1",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e300",
    "\"4294967295\"",
];

/// A kernel with a number in place of one of those that it carries.
fn file(place: usize, number: &str) -> String {
    let mut at = ["1", "2", "5", "1", "7", "1", "0", "4", "0"].map(str::to_owned);
    number.clone_into(&mut at[place]);
    let [
        rank,
        size,
        pid,
        tid,
        seq,
        peer,
        member,
        elements,
        correlation,
    ] = at;
    format!(
        r#"{{"distributedInfo": {{"rank": {rank}, "world_size": {size}, "pg_config":
        [{{"pg_name": "0", "ranks": [{member}, 1]}}]}}, "traceEvents": [
        {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": {pid},
          "tid": {tid}, "ts": 5, "dur": 3, "args": {{"Collective name": "allreduce",
          "Seq": {seq}, "In msg nelems": {elements}, "dtype": "Float", "device": {member},
          "correlation": {correlation}, "Process Group Name": "0",
          "Process Group Ranks": "[{member}, 1]"}}}},
        {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": {pid},
          "tid": {tid}, "ts": 9, "dur": 3, "args": {{"Collective name": "send",
          "Dst Rank": {peer}, "Seq": {seq}, "Process Group Name": "0",
          "Process Group Ranks": "[{member}, 1]"}}}}]}}"#,
        member = member.trim_matches('"'),
    )
}

#[test]
fn no_number_is_a_size() {
    for place in 0..9 {
        for number in NUMBERS {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("rank0.json");
            fs::write(&path, file(place, number)).unwrap();
            let trace = Kineto.open(&path).unwrap();
            let scan = trace.scan(&()).unwrap();
            let told: usize = trace.warnings(&scan.contents).iter().map(String::len).sum();
            assert!(told < 1000, "{place} {number}: {told} bytes of warnings");
            Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap();
        }
    }
}

#[test]
fn ranks_without_a_file_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rank1.json");
    fs::write(&path, file(1, "4294967295")).unwrap();
    let trace = Kineto.open(&path).unwrap();
    let scan = trace.scan(&()).unwrap();
    assert_eq!(
        trace.warnings(&scan.contents),
        [
            "the job has 4294967295 ranks, and 4294967294 of them have no file here: 0, 2, 3, \
             4, 5, 6, 7, 8, ..."
        ]
    );
}
