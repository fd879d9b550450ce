//! When devices compute beside kernels that communicate.

use std::fs;

use retime::causality::{Causality, CausalityOptions, Role};
use retime::format::Format;
use retime_kineto::Kineto;

/// A kernel, in microseconds, of a device on a stream.
fn kernel(name: &str, (device, stream): (u32, u32), span: (u32, u32), args: &str) -> String {
    let (begin, lasts) = (span.0, span.1 - span.0);
    format!(
        r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": {device}, "tid": {stream},
          "ts": {begin}, "dur": {lasts}, "args": {{{args}}}}}"#
    )
}

fn call(what: &str, stream: u32, span: (u32, u32), more: &str) -> String {
    let args = format!(
        r#"{more}, "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float", "Group size": 2,
          "Process Group Name": "0", "Process Group Ranks": "[0, 1]""#
    );
    kernel(&format!("ncclDevKernel_{what}"), (0, stream), span, &args)
}

/// A rank with two sums and a message, and what it computes meanwhile.
fn profile(rank: u32, work: &[String]) -> String {
    let sum = |seq: u32, span| {
        let more = format!(r#""Collective name": "allreduce", "Seq": {seq}"#);
        call("AllReduce", 20, span, &more)
    };
    let end = [
        r#""Collective name": "send", "Dst Rank": 1, "Seq": 1"#,
        r#""Collective name": "recv", "Src Rank": 0, "Seq": 1"#,
    ][rank as usize];
    let mut events = vec![
        sum(1, (10 - 5 * rank, 50)),
        sum(2, (210 + 5 * rank, 250)),
        call("SendRecv", 24, (100 + 30 * rank, 160), end),
    ];
    events.extend_from_slice(work);
    format!(
        r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 2}}, "traceEvents": [{}]}}"#,
        events.join(", ")
    )
}

/// A process, the role of an event of it, and the spans that are hidden, in ns since its begin.
type Hidden = (u64, Role, Vec<(i64, i64)>);

/// All that is hidden of two ranks that compute these.
fn overlapped(work: [&[String]; 2]) -> Vec<Hidden> {
    let directory = tempfile::tempdir().unwrap();
    for (rank, work) in (0..).zip(work) {
        let path = directory.path().join(format!("rank{rank}.json"));
        fs::write(path, profile(rank, work)).unwrap();
    }
    let scan = Kineto.open(directory.path()).unwrap().scan(&()).unwrap();
    let causality = Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap();
    let nodes = causality.nodes();
    let of = |node| {
        let spans = causality.overlapped(node).map(|it| (it.from, it.to));
        let process = scan.info.locations[nodes.location(node).as_usize()].process;
        let knows = causality.knows_work(nodes.location(node));
        let spans: Vec<(i64, i64)> = spans.collect();
        assert!(knows || spans.is_empty());
        (process as u64, nodes.role(node), spans)
    };
    let all = nodes.all().map(of);
    all.filter(|it| !it.2.is_empty()).collect()
}

#[test]
fn kernels_of_the_same_device_hide_what_waits() {
    let gemm = |device, stream, span| kernel("gemm", (device, stream), span, "");
    let work = [
        // Two streams, one behind the other, and before and after the sum.
        gemm(0, 7, (0, 20)),
        gemm(0, 7, (20, 30)),
        gemm(0, 8, (25, 35)),
        gemm(0, 7, (45, 60)),
        // Beside the message.
        gemm(0, 7, (110, 120)),
        // Another device, a copy, an annotation, and something else that communicates.
        gemm(1, 7, (210, 250)),
        r#"{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "pid": 0, "tid": 7, "ts": 215,
            "dur": 9}"#
            .to_owned(),
        r#"{"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7,
            "ts": 200, "dur": 90}"#
            .to_owned(),
        kernel("ncclDevKernel_Generic", (0, 28), (212, 240), ""),
    ];
    let found = overlapped([&work, &[gemm(0, 7, (140, 150))]]);
    let expected = [
        (
            0,
            Role::CollectiveBegin,
            vec![(0, 25_000), (35_000, 40_000)],
        ),
        (0, Role::Send, vec![(10_000, 20_000)]),
        // A receive counts since it was asked for.
        (1, Role::Receive, vec![(10_000, 20_000)]),
    ];
    assert_eq!(found, expected);
    assert!(overlapped([&[], &[]]).is_empty());
}
