//! How long the two ends of a message last, which shows who waited for whom.

use std::fs;

use retime::causality::{Causality, CausalityOptions};
use retime::format::Format;
use retime_kineto::Kineto;

/// A kernel of NCCL, in microseconds.
fn kernel(what: &str, stream: u32, begin: u32, lasts: u32, more: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_{what}", "pid": 0,
          "tid": {stream}, "ts": {begin}, "dur": {lasts}, "args": {{{more}, "In msg nelems": 8,
          "Out msg nelems": 8, "dtype": "Float", "Group size": 2, "Process Group Name": "0",
          "Process Group Ranks": "[0, 1]", "device": 0, "stream": {stream}}}}}"#
    )
}

/// A profile of a rank with two collectives and its end of a message.
fn profile(rank: u32, message: &str) -> String {
    let sum = |seq: u32, begin: u32, lasts: u32| {
        let more = format!(r#""Collective name": "allreduce", "Seq": {seq}"#);
        kernel("AllReduce", 8, begin, lasts, &more)
    };
    // Either rank comes last once.
    let sums = [
        sum(1, 10 - 5 * rank, 40 + 5 * rank),
        sum(2, 210 + 5 * rank, 40 - 5 * rank),
    ];
    format!(
        r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 2}}, "traceEvents": [
        {}, {message}]}}"#,
        sums.join(", ")
    )
}

#[test]
fn a_message_tells_how_long_its_ends_last() {
    let directory = tempfile::tempdir().unwrap();
    let ends = [
        (r#""Collective name": "send", "Dst Rank": 1"#, 100, 60),
        (r#""Collective name": "recv", "Src Rank": 0"#, 130, 30),
    ];
    for (rank, (what, begin, lasts)) in (0..).zip(ends) {
        let more = format!(r#"{what}, "Seq": 1"#);
        let message = kernel("SendRecv", 7, begin, lasts, &more);
        let path = directory.path().join(format!("rank{rank}.json"));
        fs::write(path, profile(rank, &message)).unwrap();
    }
    let scan = Kineto.open(directory.path()).unwrap().scan(&()).unwrap();
    let causality = Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap();
    let lasted = causality
        .awaited()
        .map(|it| (it.lasted.0, causality.held(&it).map(|it| it.lasted.0)));
    assert_eq!(lasted.collect::<Vec<_>>(), [(30_000, Some(60_000))]);
}
