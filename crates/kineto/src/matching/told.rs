//! Calls of a few ranks, as profiles of them tell them: what is joined, and what is not.

use std::fmt::Write as _;

use super::{Joined, Part, matched};
use crate::chrome::Chrome;
use crate::document::Document;
use crate::profile::FileRead;

/// A profile, written event by event.
pub(super) struct Profile(String);

impl Profile {
    /// Begins the profile of a rank in a job of `ranks`, with process groups of these members.
    pub(super) fn of(rank: u32, ranks: u32, groups: &[(&str, &[u32])]) -> Self {
        let groups = groups.iter().map(|(name, ranks)| {
            let size = ranks.len();
            format!("{{\"pg_name\":\"{name}\",\"pg_size\":{size},\"ranks\":{ranks:?}}}")
        });
        let groups: Vec<String> = groups.collect();
        let groups = groups.join(",");
        Self(format!(
            "{{\"distributedInfo\":{{\"rank\":{rank},\"world_size\":{ranks},\
             \"pg_config\":[{groups}]}},\"traceEvents\":["
        ))
    }

    pub(super) fn event(&mut self, cat: &str, name: &str, tid: u32, ts: u64, dur: u64, args: &str) {
        let comma = if self.0.ends_with('[') { "" } else { "," };
        write!(
            self.0,
            "{comma}\n{{\"ph\":\"X\",\"cat\":\"{cat}\",\"name\":\"{name}\",\"pid\":1,\"tid\":{tid},\
             \"ts\":{ts},\"dur\":{dur},\"args\":{{{args}}}}}"
        )
        .unwrap();
    }

    /// A message of gloo: from when to when the call for it lasts, and until when the range.
    fn gloo(&mut self, is_send: bool, peer: u32, tag: u32, from: u64, to: u64, end: u64) {
        let (call, range) = if is_send {
            ("c10d::send", "gloo:send")
        } else {
            ("c10d::recv_", "gloo:recv")
        };
        let args = format!(
            "\"Concrete Inputs\":[\"\",\"\",\"{peer}\",\"{tag}\"],\"Input Dims\":[[[32]],[],[],[]]"
        );
        self.event("cpu_op", call, 7, from, to - from, &args);
        self.event("user_annotation", range, 7, to - 1, end - to + 1, "");
    }

    /// A call of three ranks.
    fn call(&mut self, rank: u32, number: u64) {
        let at = 100_000 + 5_000 * number + 400 * (number * number % 7);
        let begin = at + 20 * u64::from(rank) * (number % 3);
        let args = "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\
                    \"Group size\":3,\"Process Group Name\":\"0\",\
                    \"Process Group Ranks\":\"[0, 1, 2]\",\"dtype\":\"Float\"";
        let (name, dur) = ("ncclDevKernel_AllReduce", at + 400 - begin);
        self.event("kernel", name, 20, begin, dur, args);
    }

    pub(super) fn read(mut self) -> FileRead {
        self.0.push_str("]}");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rank.json");
        std::fs::write(&path, self.0).unwrap();
        Chrome.read(&path, &()).unwrap()
    }
}

/// Calls that are joined, by file in order of events: when in microseconds, and as what.
pub(super) fn joined(files: &[FileRead]) -> Vec<Vec<(u64, &'static str)>> {
    let matching = matched(files);
    let of_file = |(file, joined): (&FileRead, &Vec<Joined>)| {
        let role = |part: &Part| match part {
            Part::Send(_) => "send",
            Part::Receive(_) => "receive",
            Part::Collective { cause, effect, .. } => match (cause, effect) {
                (Some(_), Some(_)) => "both",
                (Some(_), None) => "cause",
                (None, Some(_)) => "effect",
                (None, None) => "none",
            },
        };
        let told = joined
            .iter()
            .map(|it| (file.columns.begin(it.event) / 1000, role(&it.part)));
        told.collect()
    };
    files.iter().zip(&matching.joined).map(of_file).collect()
}

/// All calls that are not used, by why.
pub(super) fn unused(files: &[FileRead]) -> Vec<(&'static str, u64)> {
    let matching = matched(files);
    let mut all = std::collections::BTreeMap::new();
    let of_files = files.iter().flat_map(|it| &it.unused);
    let of_files = of_files.map(|it| (it.kind, it.events));
    let of_calls = matching
        .unmatched
        .iter()
        .flatten()
        .map(|(why, it)| (*why, *it));
    for (why, calls) in of_files.chain(of_calls) {
        *all.entry(why).or_default() += calls;
    }
    all.into_iter().collect()
}

const BOTH: &[u32] = &[0, 1];

/// Two stages of a pipeline, the second 100 us ahead: 5 messages of the first to the second, each
/// of which is waited for as long as `waited` says.
fn stages(groups: &[(&str, &[u32])], waited: bool) -> [FileRead; 2] {
    let mut first = Profile::of(0, 2, groups);
    let mut second = Profile::of(1, 2, groups);
    for (number, at) in [0, 1_000, 3_300, 4_100, 7_600].into_iter().enumerate() {
        let at = at + 10_000;
        // The receiver is late for one, and the sender for the next.
        let late = if number.is_multiple_of(2) { 400 } else { 0 };
        let end = at + 400 + 30;
        first.gloo(
            true,
            1,
            0,
            at + 400 - late,
            at + 420 - late,
            if waited { end } else { at + 421 - late },
        );
        second.gloo(
            false,
            0,
            0,
            100 + at + late,
            100 + at + late + 9,
            100 + end + 5,
        );
    }
    [first.read(), second.read()]
}

#[test]
fn messages_of_gloo_leave_when_their_call_begins() {
    let files = stages(&[("0", BOTH)], true);
    let [first, second] = &joined(&files)[..] else {
        panic!()
    };
    assert_eq!(first[..2], [(10_000, "send"), (11_400, "send")]);
    assert_eq!(second[..2], [(10_508, "receive"), (11_108, "receive")]);
    assert_eq!((first.len(), second.len()), (5, 5));
    assert_eq!(unused(&files), []);
    // Another group of the same ranks changes nothing, nor does one of a single rank.
    assert_eq!(
        joined(&stages(&[("0", BOTH), ("3", BOTH), ("4", &[0])], true))[0].len(),
        5
    );
}

#[test]
fn messages_of_gloo_are_not_guessed() {
    // A send that nobody waits for ends before its receive is posted.
    let files = stages(&[("0", BOTH)], false);
    assert_eq!(joined(&files), [[], []]);
    assert_eq!(unused(&files), [("ambiguous message call", 10)]);
    // Rank 1 of which group?
    let files = stages(&[("0", BOTH), ("1", &[1, 0])], true);
    assert_eq!(joined(&files), [[], []]);
    assert_eq!(unused(&files), [("ungrouped gloo message call", 10)]);
}

/// Two stages of a pipeline whose kernels say who sends to whom, the second 1.7 ms ahead: each
/// micro-batch goes forward, and comes back where messages go `both_ways`. Every fifth takes longer.
fn pipeline(both_ways: bool) -> [FileRead; 2] {
    let groups: &[(&str, &[u32])] = &[("0", BOTH), ("1", &[0]), ("2", &[1])];
    let mut stages = [0, 1].map(|rank| Profile::of(rank, 2, groups));
    let mut message = |from: usize, number: u64, at: u64| {
        for rank in [from, 1 - from] {
            let (kind, peer) = if rank == from {
                ("send", "Dst Rank")
            } else {
                ("recv", "Src Rank")
            };
            let args = format!(
                "\"Collective name\":\"{kind}\",\"{peer}\":{},\"In msg nelems\":8,\
                 \"Out msg nelems\":8,\"Group size\":2,\"Process Group Name\":\"0\",\
                 \"Process Group Ranks\":\"[0, 1]\",\"dtype\":\"Half\"",
                1 - rank
            );
            // A receive waits since long before.
            let waits = if rank == from {
                40
            } else {
                9_000 + 700 * (number % 3)
            };
            let end = at + 60 + 1_700 * rank as u64 + number % 7;
            let stream = 20 + 2 * from as u32 + u32::from(rank != from);
            stages[rank].event(
                "kernel",
                "ncclDevKernel_SendRecv",
                stream,
                end - waits,
                waits,
                &args,
            );
        }
    };
    let mut at = 100_000;
    for number in 0..20 {
        at += 60_000 + 25_000 * u64::from(number % 5 == 4);
        message(0, number, at);
        if both_ways {
            message(1, number, at + 30_000);
        }
    }
    stages.map(Profile::read)
}

/// A rank with messages to and from another one of its group, which has no file.
#[test]
fn kernels_name_the_other_end_by_its_rank_in_the_job() {
    let mut profile = Profile::of(3, 4, &[("5", &[1, 3])]);
    for number in 0..6_u64 {
        for (place, (kind, peer)) in (0..).zip([("send", "Dst Rank"), ("recv", "Src Rank")]) {
            let args = format!(
                "\"Collective name\":\"{kind}\",\"{peer}\":1,\"In msg nelems\":8,\
                 \"Out msg nelems\":8,\"Group size\":2,\"Process Group Name\":\"5\",\
                 \"Process Group Ranks\":\"[1, 3]\",\"dtype\":\"Half\""
            );
            let begin = 10_000 + 1_000 * number + 300 * place;
            let stream = 20 + place as u32;
            profile.event("kernel", "ncclDevKernel_SendRecv", stream, begin, 80, &args);
        }
    }
    let mut other = Profile::of(0, 4, &[("4", &[0, 2])]);
    other.event("cpu_op", "aten::mm", 1, 10_000, 80, "");
    let files = [profile.read(), other.read()];
    assert_eq!(joined(&files), [[], []]);
    assert_eq!(unused(&files), [("lone message call", 12)]);
}

#[test]
fn messages_both_ways_tell_their_shift() {
    let files = pipeline(true);
    let of_file = |file: usize, role: &str| {
        let joined = &joined(&files)[file];
        joined.iter().filter(|it| it.1 == role).count()
    };
    for file in [0, 1] {
        assert_eq!((of_file(file, "send"), of_file(file, "receive")), (20, 20));
    }
    // Messages of one way are there later by any clock that is ahead.
    let files = pipeline(false);
    assert_eq!(joined(&files), [[], []]);
    assert_eq!(unused(&files), [("ambiguous message call", 40)]);
}

/// Two ranks on one clock with kernels of these names and lengths, each on its stream.
fn kernels(groups: &[(&str, &[u32])], all: &[(&str, u32)], args: &str) -> [FileRead; 2] {
    [0, 1].map(|rank| {
        let mut profile = Profile::of(rank, 2, groups);
        let mut at = 1_000;
        for (number, (name, stream)) in (0..).zip(all) {
            at += 1_000 + number * number * 37;
            let begin = at + u64::from(rank) * 20 * (number % 3);
            let name = format!("{name}(Arguments)");
            let comma = if args.is_empty() { "" } else { "," };
            let args = format!("{args}{comma}\"Seq\":{number}");
            profile.event("kernel", &name, *stream, begin, at + 80 - begin, &args);
        }
        profile.read()
    })
}

const OWN: &str = "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>";
const GRAPH: &str = "ncclDevKernel_AllGather_RING_LL";

#[test]
fn kernels_are_told_by_their_order() {
    let all = [(OWN, 7), (OWN, 7), (GRAPH, 7), (OWN, 7), (OWN, 7)];
    let files = kernels(&[("0", BOTH), ("2", BOTH)], &all, "");
    assert_eq!(joined(&files)[1].len(), 5);
    assert!(joined(&files).iter().flatten().all(|it| it.1 == "both"));
    assert_eq!(matched(&files).groups.len(), 1);
}

#[test]
fn kernels_without_a_group_or_an_order_are_not_guessed() {
    let all = [(OWN, 7), (OWN, 7), (GRAPH, 7), (OWN, 7), (OWN, 7)];
    // Which group they are of, nothing tells.
    for groups in [&[][..], &[("0", BOTH), ("1", &[0, 2]), ("2", &[1, 2])]] {
        let files = kernels(groups, &all, "");
        assert_eq!(joined(&files), [[], []]);
        assert_eq!(
            unused(&files),
            [("custom all-reduce kernel", 8), ("unnamed NCCL kernel", 2)]
        );
    }
    // Equal kernels on two streams may begin in another order elsewhere.
    let files = kernels(&[("0", BOTH)], &[(OWN, 7), (OWN, 8), (OWN, 7)], "");
    assert_eq!(joined(&files), [[], []]);
    assert_eq!(unused(&files), [("ambiguous collective call", 6)]);
}

/// Replicas of a server have a group of their own beside that of all.
#[test]
fn kernels_that_say_how_many_take_part_are_of_the_group_of_so_many() {
    let all = [(OWN, 7), (OWN, 7), (GRAPH, 7), (OWN, 7), (OWN, 7)];
    let files = kernels(&[("0", BOTH), ("1", &[0, 1, 2])], &all, "");
    let calls: Vec<usize> = joined(&files).iter().map(Vec::len).collect();
    assert_eq!(calls, [4, 4]);
    assert_eq!(unused(&files), [("unnamed NCCL kernel", 2)]);
    // None of theirs has four members.
    let own = "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>";
    let files = kernels(&[("0", BOTH)], &[(own, 7), (own, 7)], "");
    assert_eq!(joined(&files), [[], []]);
    assert_eq!(unused(&files), [("custom all-reduce kernel", 4)]);
}

#[test]
fn groups_of_equal_name_are_told_apart() {
    // Ranks 0 and 1, and 2 and 3, call their group "1"; calls leave the members out.
    let args = "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\
                \"Group size\":2,\"Seq\":3,\"Process Group Name\":\"1\",\
                \"Process Group Ranks\":\"[...]\",\"dtype\":\"Float\"";
    let files = [0, 1, 2, 3].map(|rank| {
        let members: &[u32] = if rank < 2 { BOTH } else { &[2, 3] };
        let mut profile = Profile::of(rank, 4, &[("1", members)]);
        profile.event("kernel", "ncclDevKernel_AllReduce", 20, 1_000, 50, args);
        profile.read()
    });
    let matching = matched(&files);
    let ids: Vec<_> = matching.joined.iter().flatten().map(|it| it.part).collect();
    let same = |a: usize, b: usize| match (ids[a], ids[b]) {
        (Part::Collective { id: a, .. }, Part::Collective { id: b, .. }) => a == b,
        _ => false,
    };
    assert_eq!(ids.len(), 4);
    assert!(same(0, 1) && same(2, 3) && !same(0, 2));
    assert_eq!(matching.groups.len(), 2);
}

/// All-reduces of a rank of two, with numbers or without; so many of them stand in the file twice.
fn repeated(rank: u32, is_numbered: bool, twice: u64) -> FileRead {
    let mut profile = Profile::of(rank, 2, &[("0", BOTH)]);
    for copies in [8, twice] {
        for number in 0..copies {
            let at = 1_000 * (number + 1) + 37 * number * number;
            let number = if is_numbered { number } else { 0 };
            let number = format!("\"Seq\":{number},").repeat(usize::from(is_numbered));
            let args = format!(
                "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\
                 \"Group size\":2,{number}\"Process Group Name\":\"0\",\
                 \"Process Group Ranks\":\"[0, 1]\",\"dtype\":\"Float\""
            );
            let begin = at + 10 * u64::from(rank);
            profile.event("kernel", "ncclDevKernel_AllReduce", 20, begin, 80, &args);
        }
    }
    profile.read()
}

#[test]
fn calls_that_stand_in_a_file_twice_count_once() {
    for is_numbered in [true, false] {
        let once = [0, 1].map(|rank| repeated(rank, is_numbered, 0));
        let twice = [(0, 8), (1, 5)].map(|(rank, twice)| repeated(rank, is_numbered, twice));
        assert_eq!(twice.each_ref().map(|it| it.repeated), [8, 5]);
        assert_eq!(joined(&twice), joined(&once));
        assert_eq!((joined(&once)[1].len(), unused(&twice)), (8, vec![]));
    }
}

/// Numbered all-reduces of two ranks, of which the second has its clock set back by 2 ms before the sixth.
fn set_back() -> [FileRead; 2] {
    [0, 1].map(|rank| {
        let mut profile = Profile::of(rank, 2, &[("0", BOTH)]);
        for number in 0..10_u64 {
            let args = format!(
                "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\
                 \"Group size\":2,\"Seq\":{number},\"Process Group Name\":\"0\",\
                 \"Process Group Ranks\":\"[0, 1]\",\"dtype\":\"Float\""
            );
            let back = if rank == 1 && number >= 5 { 2_100 } else { 0 };
            let begin = 10_000 + 1_000 * number - back;
            profile.event("kernel", "ncclDevKernel_AllReduce", 20, begin, 80, &args);
        }
        profile.read()
    })
}

#[test]
fn calls_that_are_stamped_in_another_order_than_numbered_are_left_out() {
    let files = set_back();
    // Of 0 to 4, 5 and 6 before 3 and 4 as stamped, 7, 8 and 9, these four are left out.
    let both = [("doubtful collective call", 4), ("lone collective call", 4)];
    assert_eq!(unused(&files), both);
    let lengths: Vec<usize> = joined(&files).iter().map(Vec::len).collect();
    assert_eq!(lengths, [6, 6]);
    let warnings = matched(&files).warnings();
    assert!(
        warnings[0].starts_with("4 calls are left out"),
        "{warnings:?}"
    );
}

#[test]
fn calls_of_a_group_of_one_are_no_communication() {
    let args = |name: &str, ranks: &[u32]| {
        let size = ranks.len();
        format!(
            "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\"Seq\":3,\
             \"Group size\":{size},\"Process Group Name\":\"{name}\",\"dtype\":\"Float\""
        )
    };
    let files = [0, 1].map(|rank| {
        let own = [rank];
        let mut profile = Profile::of(rank, 2, &[("0", BOTH), ("1", &own)]);
        for (stream, name, ranks) in [(20, "0", BOTH), (21, "1", &own), (22, "unsaid", &own)] {
            let name = args(name, ranks);
            profile.event(
                "kernel",
                "ncclDevKernel_AllReduce",
                stream,
                1_000,
                50,
                &name,
            );
        }
        profile.read()
    });
    assert!(joined(&files).iter().all(|it| it.len() == 1));
    assert_eq!(unused(&files), []);
    // Of a group of two that only one has recorded nothing is sure but that.
    assert_eq!(unused(&files[..1]), [("lone collective call", 1)]);
}

/// Iterations of two windows of a rank, and the all-reduces in each, of which the first of either
/// window may be left out.
fn paused(rank: u32, left_out: [u64; 2]) -> FileRead {
    let mut profile = Profile::of(rank, 2, &[("0", BOTH)]);
    for (first, left_out) in [10, 20].into_iter().zip(left_out) {
        for number in first..first + 4 {
            let at = 10_000 * number;
            let step = format!("ProfilerStep#{number}");
            profile.event("user_annotation", &step, 1, at, 9_000, "");
            for call in 0..3 {
                if (number - first) * 3 + call < left_out {
                    continue;
                }
                let begin = at + 1_000 + 2_500 * call + 20 * u64::from(rank) * (number % 3);
                let args = "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\
                            \"Out msg nelems\":8,\"Group size\":2,\"Process Group Name\":\"0\",\
                            \"Process Group Ranks\":\"[0, 1]\",\"dtype\":\"Float\"";
                let end = at + 1_200 + 2_500 * call;
                profile.event(
                    "kernel",
                    "ncclDevKernel_AllReduce",
                    20,
                    begin,
                    end - begin,
                    args,
                );
            }
        }
    }
    profile.read()
}

#[test]
fn each_window_is_aligned_by_itself() {
    // No shift of all calls is right, as each rank lacks others.
    let files = [paused(0, [0, 4]), paused(1, [2, 0])];
    let matching = matched(&files);
    let moments = |file: usize| {
        let joined = matching.joined[file].iter();
        let ids = joined.map(|it| match it.part {
            Part::Collective { id, .. } => (id, files[file].columns.end(it.event) / 1000),
            _ => panic!(),
        });
        ids.collect::<Vec<_>>()
    };
    assert_eq!(moments(0).len(), 10 + 8);
    assert_eq!(moments(0), moments(1));
}

/// Four ranks on one clock, whose pairs sum up by gloo at the same times, with this header.
fn pairs_of_gloo(said: &str) -> [FileRead; 4] {
    [0_u32, 1, 2, 3].map(|rank| {
        let mut profile = Profile(format!(
            "{{\"distributedInfo\":{{\"rank\":{rank},\"world_size\":4,{said}}},\"traceEvents\":["
        ));
        for number in 0..10 {
            let at = 1_000 * (number + 1) + 37 * number * number;
            let begin = at + 10 * u64::from(rank);
            let args = "\"Input Dims\":[[64]],\"Input type\":[\"float\"]";
            profile.event("user_annotation", "gloo:all_reduce", 100, begin, 80, args);
        }
        profile.read()
    })
}

#[test]
fn calls_of_gloo_are_not_of_groups_that_do_not_run_it() {
    let world = "\"pg_name\":\"0\",\"ranks\":[0,1,2,3]";
    for said in [
        format!("\"pg_config\":[{{{world},\"backend_config\":\"cuda:nccl\"}}]"),
        format!("\"backend\":\"nccl\",\"pg_config\":[{{{world}}}]"),
        format!("\"nccl_version\":\"unknown\",\"pg_config\":[{{{world}}}]"),
        format!("\"pg_count\":3,\"pg_config\":[{{{world}}}]"),
        "\"backend\":\"nccl\"".to_owned(),
    ] {
        let files = pairs_of_gloo(&said);
        assert!(joined(&files).iter().all(Vec::is_empty), "{said}");
        assert_eq!(unused(&files), [("ungrouped gloo collective call", 40)]);
        assert_eq!(matched(&files).warnings().len(), 1);
    }
    let config = "\"backend_config\":\"cpu:gloo,cuda:nccl\"";
    let files = pairs_of_gloo(&format!("\"pg_config\":[{{{world},{config}}}]"));
    assert!(joined(&files).iter().all(|it| it.len() == 10));
    assert_eq!(
        (unused(&files), matched(&files).warnings()),
        (vec![], vec![])
    );
}

/// A rank with iterations of one length, as its clock shows them that is so far ahead, and whose
/// first has this number.
fn even(rank: u32, ahead: u64, first: u64) -> FileRead {
    let mut profile = Profile::of(rank, 2, &[("0", BOTH)]);
    for number in 0..10 {
        let at = 100_000 + 2_000 * number + ahead;
        let step = format!("ProfilerStep#{}", first + number);
        profile.event("user_annotation", &step, 1, at, 1_900, "");
        let begin = at + 100 + 20 * u64::from(rank) * (number % 3);
        let args = "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\
                    \"Group size\":2,\"Process Group Name\":\"0\",\
                    \"Process Group Ranks\":\"[0, 1]\",\"dtype\":\"Float\"";
        let (name, dur) = ("ncclDevKernel_AllReduce", at + 400 - begin);
        profile.event("kernel", name, 20, begin, dur, args);
    }
    profile.read()
}

/// A rank of three with those of ten calls that it recorded, iterations of which last differently.
fn recorded(rank: u32, calls: std::ops::Range<u64>) -> FileRead {
    let mut profile = Profile::of(rank, 3, &[("0", &[0, 1, 2])]);
    for number in calls {
        profile.call(rank, number);
    }
    profile.read()
}

#[test]
fn ranks_have_calls_in_common_that_the_longest_sequence_lacks() {
    let files = [recorded(0, 4..9), recorded(1, 2..8), recorded(2, 5..10)];
    let lengths: Vec<usize> = joined(&files).iter().map(Vec::len).collect();
    // All but 2 and 3 of the second, and 9 of the third: the first and the third both have 8.
    assert_eq!(lengths, [5, 4, 4]);
    assert_eq!(unused(&files), [("lone collective call", 3)]);
}

#[test]
fn what_lies_behind_a_pause_is_not_what_others_have_there() {
    // The first paused after call 7, where the longest ends, and went on with 9, to which the third has 8.
    let mut first = Profile::of(0, 3, &[("0", &[0, 1, 2])]);
    for number in [4, 5, 6, 7, 9] {
        first.call(0, number);
    }
    let files = [first.read(), recorded(1, 2..8), recorded(2, 5..9)];
    let lengths: Vec<usize> = joined(&files).iter().map(Vec::len).collect();
    assert_eq!(lengths, [4, 4, 3]);
}

#[test]
fn clocks_and_iterations_that_contradict_each_other_join_nothing() {
    // Clocks alone say that they differ by nothing, and the calls by one.
    let files = [even(0, 0, 5), even(1, 2_001, 5)];
    assert_eq!(joined(&files), [[], []]);
    let both = [
        ("ambiguous collective call", 10),
        ("lone collective call", 10),
    ];
    assert_eq!(unused(&files), both);
    // Where both say the same, all belong together.
    let files = [even(0, 0, 5), even(1, 1, 5)];
    assert!(joined(&files).iter().all(|it| it.len() == 10));
}
