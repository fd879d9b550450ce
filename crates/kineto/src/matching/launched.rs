//! Calls of two ranks are joined that only their launches and streams tell.

use std::fmt::Write as _;

use retime_model::Class;

use super::matched;
use crate::call::{Call, What};
use crate::chrome::Chrome;
use crate::document::Document;
use crate::profile::FileRead;

/// An operation as PyTorch 2.0 records it: the request, the range within it, the launch
/// within that, and a kernel later.
struct Asked {
    request: &'static str,
    /// Elements that come out, and that go in.
    elements: (u64, u64),
    range: &'static str,
    kernels: u64,
    stream: u32,
}

const ALL_REDUCE: Asked = Asked {
    request: "allreduce_",
    elements: (64, 64),
    range: "all_reduce",
    kernels: 1,
    stream: 84,
};
const ALL_TO_ALL: Asked = Asked {
    request: "alltoall_base_",
    range: "all_to_all",
    ..ALL_REDUCE
};
const ALL_GATHER: Asked = Asked {
    request: "_allgather_base_",
    elements: (128, 64),
    range: "_all_gather_base",
    ..ALL_REDUCE
};

/// The profile of a rank that asks for operations every 100 us.
fn profile(rank: u32, ranks: u32, all: &[Asked]) -> FileRead {
    profile_later(0, &[], rank, ranks, all)
}

/// The profile of such a rank whose clock is ahead by so many microseconds, within iterations.
fn profile_later(ahead: u64, iterations: &[u32], rank: u32, ranks: u32, all: &[Asked]) -> FileRead {
    let mut text = format!(
        "{{\"distributedInfo\":{{\"rank\":{rank},\"world_size\":{ranks}}},\"traceEvents\":["
    );
    let mut event = |cat: &str, name: &str, (tid, ts, dur): (u32, u64, u64), args: &str| {
        let comma = if text.ends_with('[') { "" } else { "," };
        write!(
            text,
            "{comma}\n{{\"ph\":\"X\",\"cat\":\"{cat}\",\"name\":\"{name}\",\"pid\":1,\"tid\":{tid},\
             \"ts\":{ts},\"dur\":{dur},\"args\":{{{args}}}}}"
        )
        .unwrap();
    };
    for iteration in iterations {
        let name = format!("ProfilerStep#{iteration}");
        let lasts = 100 * all.len() as u64;
        event("user_annotation", &name, (7, ahead, lasts), "");
    }
    for (number, asked) in (0..).zip(all) {
        let at = ahead + 100 * number + u64::from(rank);
        let (output, input) = asked.elements;
        let dims = format!("\"Input Dims\":[[{output}],[{input}],[],[]]");
        event(
            "cpu_op",
            &format!("c10d::{}", asked.request),
            (7, at, 40),
            &dims,
        );
        let dims = format!("\"Input Dims\":[[{input}]],\"Input type\":[\"float\"]");
        let range = format!("nccl:{}", asked.range);
        event("user_annotation", &range, (7, at + 5, 30), &dims);
        for kernel in 0..asked.kernels {
            let launch = format!("\"correlation\": {}", 10 * number + kernel);
            let time = (7, at + 10 + kernel, 1);
            event("cuda_runtime", "cudaLaunchKernel", time, &launch);
            let time = (asked.stream, at + 20 + 5 * kernel, 5);
            event(
                "kernel",
                "ncclKernel_SendRecv_RING(ncclDevComm*)",
                time,
                &launch,
            );
        }
    }
    text.push_str("]}");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rank.json");
    std::fs::write(&path, text).unwrap();
    Chrome.read(&path, &()).unwrap()
}

/// How many calls of the first of two ranks are joined, and the others by why they are not.
fn joined(ranks: u32, all: &[Asked]) -> (usize, Vec<(&'static str, u64)>) {
    let files = [profile(0, ranks, all), profile(1, ranks, all)];
    let matching = matched(&files);
    let unused = files[0].unused.iter();
    let mut others: Vec<(&str, u64)> = unused.map(|it| (it.kind, it.events)).collect();
    others.extend(
        matching.unmatched[0]
            .iter()
            .map(|(why, calls)| (*why, *calls)),
    );
    (matching.joined[0].len(), others)
}

#[test]
fn a_kernel_is_the_call_that_launched_it() {
    let all = [ALL_REDUCE, ALL_TO_ALL, ALL_GATHER, ALL_REDUCE];
    assert_eq!(joined(2, &all), (4, vec![]));
    let files = [profile(0, 2, &all), profile(1, 2, &all)];
    let of = |file: &FileRead| {
        let operation = |it: &Call| match it.what {
            What::Collective(operation) => operation.class(false),
            _ => Class::None,
        };
        let kernel = |it: &Call| file.columns.begin(it.event);
        let all = file.calls.iter().map(|it| (operation(it), kernel(it)));
        all.collect::<Vec<_>>()
    };
    let every = |times: [u64; 4]| times.map(|it| (Class::AllToAll, it)).to_vec();
    assert_eq!(of(&files[0]), every([20_000, 120_000, 220_000, 320_000]));
    assert_eq!(of(&files[1]), every([21_000, 121_000, 221_000, 321_000]));
}

/// Clocks that differ by most of the time that was recorded leave open whether both ranks recorded
/// the same operations, unless the profiler has numbered their iterations.
#[test]
fn iterations_of_one_number_are_one_iteration() {
    let all = [ALL_REDUCE, ALL_GATHER, ALL_REDUCE, ALL_REDUCE];
    let joined = |iterations: [&[u32]; 2]| {
        let first = profile_later(0, iterations[0], 0, 2, &all);
        let files = [first, profile_later(250, iterations[1], 1, 2, &all)];
        matched(&files).joined[0].len()
    };
    assert_eq!(joined([&[], &[]]), 0);
    assert_eq!(joined([&[4], &[4]]), 4);
    assert_eq!(joined([&[4], &[5]]), 0);
    assert_eq!(joined([&[4], &[]]), 0);
    // The copies of an iteration that stands in a file twice are one.
    assert_eq!(joined([&[4, 4], &[4]]), 4);
    assert_eq!(joined([&[4, 4], &[5, 5, 5]]), 0);
}

#[test]
fn unequal_exchanges_order_nobody() {
    let uneven = Asked {
        elements: (64, 32),
        ..ALL_TO_ALL
    };
    let unordered = vec![("unordered collective call", 1)];
    assert_eq!(joined(2, &[ALL_REDUCE, uneven, ALL_REDUCE]), (2, unordered));
}

#[test]
fn several_kernels_of_one_range_are_none_of_it() {
    let coalesced = Asked {
        kernels: 2,
        ..ALL_REDUCE
    };
    let unnamed = vec![("unnamed NCCL kernel", 2)];
    assert_eq!(joined(2, &[ALL_REDUCE, coalesced]), (1, unnamed));
}

#[test]
fn who_is_in_a_group_is_not_guessed() {
    // Of two streams nobody says which is that of all ranks, but its own calls.
    let elsewhere = Asked {
        stream: 90,
        ..ALL_REDUCE
    };
    let ungrouped = |calls| vec![("ungrouped communication kernel", calls)];
    assert_eq!(joined(2, &[ALL_REDUCE, elsewhere]), (0, ungrouped(2)));
    let elsewhere = || Asked {
        stream: 90,
        ..ALL_REDUCE
    };
    let two = [ALL_GATHER, ALL_REDUCE, elsewhere()];
    assert_eq!(joined(2, &two), (2, ungrouped(1)));
    // Kernels elsewhere that tell nothing are of another group, as messages between stages are.
    let untold = Asked {
        kernels: 2,
        ..elsewhere()
    };
    let others = vec![
        ("unnamed NCCL kernel", 2),
        ("ungrouped communication kernel", 1),
    ];
    assert_eq!(joined(2, &[ALL_REDUCE, untold]), (0, others));
    // Half of the ranks gather: none of the calls on this stream is of all.
    assert_eq!(joined(4, &[ALL_GATHER, ALL_REDUCE]), (0, ungrouped(2)));
    assert_eq!(joined(4, &[ALL_REDUCE, ALL_REDUCE]).0, 2);
}
