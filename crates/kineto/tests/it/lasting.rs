//! How long the two ends of a message last, which shows who waited for whom.

use std::fs;

use retime::causality::{Causality, CausalityOptions};
use retime::format::Format;
use retime_kineto::Kineto;

/// A profile of a rank with one kernel of a message, in microseconds.
fn profile(rank: u32, what: &str, peer: &str, begin: u32, lasts: u32) -> String {
    format!(
        r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 2}}, "traceEvents": [
        {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0, "tid": 7,
          "ts": {begin}, "dur": {lasts}, "args": {{"Collective name": "{what}", {peer},
          "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float", "Group size": 2,
          "Seq": 1, "Process Group Name": "0", "Process Group Ranks": "[0, 1]",
          "device": 0, "stream": 7}}}}]}}"#
    )
}

#[test]
fn a_message_tells_how_long_its_ends_last() {
    let directory = tempfile::tempdir().unwrap();
    for (rank, what, peer, begin, lasts) in [
        (0, "send", r#""Dst Rank": 1"#, 100, 60),
        (1, "recv", r#""Src Rank": 0"#, 130, 30),
    ] {
        let path = directory.path().join(format!("rank{rank}.json"));
        fs::write(path, profile(rank, what, peer, begin, lasts)).unwrap();
    }
    let scan = Kineto.open(directory.path()).unwrap().scan(&()).unwrap();
    let causality = Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap();
    let all: Vec<_> = causality.awaited().collect();
    let [message] = &all[..] else {
        panic!("{all:?}")
    };
    assert_eq!(
        (message.lasted.0, message.held.map(|it| it.0)),
        (30_000, Some(60_000))
    );
}
