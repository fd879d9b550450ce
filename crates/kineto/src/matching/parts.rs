//! Operations in which parts of members are of unequal sizes, or empty.

use super::told::{Profile, joined, unused};
use crate::profile::FileRead;

/// Ranks that take part in four operations of one group, which each describes in its own way.
fn taking_part<const RANKS: usize>(own: [&str; RANKS]) -> [FileRead; RANKS] {
    let ranks: Vec<usize> = (0..RANKS).collect();
    let mut rank = 0;
    own.map(|own| {
        let mut profile = Profile::of(rank, RANKS as u32, &[]);
        for number in 0..4 {
            let at = 1_000 + 1_000 * number;
            let args = format!(
                "{own},\"Group size\":{RANKS},\"Process Group Name\":\"0\",\"dtype\":\"Float\",\
                 \"Process Group Ranks\":\"{ranks:?}\",\"Seq\":{number}"
            );
            profile.event(
                "kernel",
                "ncclDevKernel_SendRecv",
                20,
                at + u64::from(rank),
                80,
                &args,
            );
        }
        rank += 1;
        profile.read()
    })
}

/// An exchange from which so much comes to a rank, as NCCL's kernels describe it.
fn exchange(out: &str) -> String {
    format!(
        "\"Collective name\":\"all_to_allv\",\"In msg nelems\":8,\"Out msg nelems\":9,\
         \"Out split size\":\"{out}\""
    )
}

/// The roles of each rank, which are the same in all four operations.
fn roles<const RANKS: usize>(files: &[FileRead; RANKS]) -> [&'static str; RANKS] {
    let mut all = joined(files).into_iter();
    files.each_ref().map(|_| {
        let own: Vec<&str> = all.next().unwrap().into_iter().map(|it| it.1).collect();
        assert!(own.is_empty() || own == [own[0]; 4], "{own:?}");
        own.first().copied().unwrap_or("left out")
    })
}

#[test]
fn who_gets_something_from_others_waits_for_them() {
    let of = |out: [&str; 3]| taking_part(out.map(exchange).each_ref().map(|it| &**it));
    for (out, expected) in [
        (["[4, 5, 1]", "[1, 1, 1]", "[2, 2, 2]"], ["both"; 3]),
        // Nothing from oneself.
        (["[0, 5, 1]", "[1, 0, 1]", "[2, 2, 0]"], ["both"; 3]),
        // The last sends nothing, receives nothing, neither.
        (
            ["[4, 5, 0]", "[1, 1, 0]", "[2, 2, 0]"],
            ["both", "both", "effect"],
        ),
        (
            ["[4, 5, 1]", "[1, 1, 1]", "[0, 0, 0]"],
            ["both", "both", "cause"],
        ),
        (
            ["[4, 5, 0]", "[1, 1, 0]", "[0, 0, 0]"],
            ["both", "both", "left out"],
        ),
        // Sizes are left out.
        (
            ["[4, 5, 1]", "[1, 1, ...]", "[2, 2, 2]"],
            ["both", "cause", "both"],
        ),
    ] {
        assert_eq!(roles(&of(out)), expected, "{out:?}");
    }
    for out in [
        ["[9, 0, 0]", "[0, 9, 0]", "[0, 0, 9]"],
        ["[4, ...]"; 3],
        ["[]"; 3],
    ] {
        let files = of(out);
        assert_eq!(roles(&files), ["left out"; 3], "{out:?}");
        assert_eq!(
            unused(&files),
            [("unordered collective call", 12)],
            "{out:?}"
        );
    }
}

#[test]
fn lists_of_tensors_of_unequal_sizes_are_gathered_from_all_but_the_empty() {
    let gather = |size: u64| {
        let all = 3 * size;
        format!(
            "\"Collective name\":\"all_gather\",\"In msg nelems\":{size},\"Out msg nelems\":{all}"
        )
    };
    let of = |sizes: [u64; 3]| taking_part(sizes.map(gather).each_ref().map(|it| &**it));
    assert_eq!(roles(&of([5, 3, 8])), ["both"; 3]);
    assert_eq!(roles(&of([5, 0, 8])), ["both", "left out", "both"]);
    assert_eq!(roles(&of([0, 0, 8])), ["left out"; 3]);
    // Parts of one tensor are equal, so these are not one operation.
    let base = |size: u64| gather(size).replace("all_gather", "_allgather_base");
    let files = taking_part([base(5), base(3)].each_ref().map(|it| &**it));
    assert_eq!(unused(&files), [("lone collective call", 8)]);
}

/// Kernels of oneCCL say nothing, and are launched by the runtime of SYCL.
#[test]
fn kernels_of_other_devices_are_told_by_their_launches() {
    let files = [0, 1].map(|rank: u32| {
        let mut profile = Profile::of(rank, 2, &[]);
        for number in 0..4 {
            let at = 1_000 + 1_000 * number + u64::from(rank);
            let asked = format!(
                "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\
                 \"dtype\":\"Float\",\"Group size\":2,\"Process Group Name\":\"0\",\
                 \"Process Group Ranks\":\"[0, 1]\",\"Seq\":{number}"
            );
            let number = format!("\"correlation\":{}", 7 + number);
            let launch = "urEnqueueKernelLaunchWithArgsExp";
            profile.event("cpu_op", "record_param_comms", 3, at, 40, &asked);
            profile.event("xpu_runtime", launch, 3, at + 10, 5, &number);
            profile.event(
                "kernel",
                "oneccl_reduce_base<float, 2>",
                20,
                at + 60,
                80,
                &number,
            );
        }
        profile.read()
    });
    assert_eq!(roles(&files), ["both"; 2]);
}

/// Parameters of an optimizer whose ranks own a part of them each, which each hands on by gloo in turn, so that
/// several calls are asked for before the first of them is under way.
#[test]
fn roots_that_differ_are_told_by_sizes() {
    let roots = [(0, "[[8,4]]"), (1, "[[4,8]]"), (2, "[[4]]"), (2, "[[2]]")];
    let job = |requested: &[(u32, &str)]| {
        [0, 1, 2].map(|rank| {
            let mut profile = Profile::of(rank, 3, &[("0", &[0, 1, 2])]);
            for number in 0..4 {
                let at = 10_000 + 10_000 * number + 30 * number * number;
                let sizes = "\"Input Dims\":[[50]],\"Input type\":[\"float\"]";
                let begin = at - 900 + 10 * u64::from(rank);
                profile.event("user_annotation", "gloo:all_reduce", 9, begin, 300, sizes);
                for (place, (root, sizes)) in (0..).zip(requested) {
                    let args = format!(
                        "\"Concrete Inputs\":[\"\",\"\",\"{root}\",\"0\"],\"Input Dims\":[{sizes},[],[]]"
                    );
                    profile.event("cpu_op", "c10d::broadcast_", 1, at + 5 * place, 4, &args);
                }
                for (place, (_, sizes)) in (0..).zip(roots) {
                    let args = format!("\"Input Dims\":{sizes},\"Input type\":[\"float\"]");
                    let begin = at + 100 + 300 * place + u64::from(rank);
                    profile.event("user_annotation", "gloo:broadcast", 9, begin, 200, &args);
                }
            }
            profile.read()
        })
    };
    let files = job(&roots);
    let causes = |files: &[FileRead]| {
        let all = joined(files).into_iter();
        let causes = all.map(|it| it.iter().filter(|it| it.1 == "cause").count());
        causes.collect::<Vec<usize>>()
    };
    assert_eq!(causes(&files), [4, 4, 8]);
    assert_eq!(unused(&files), []);
    // Tensors of equal sizes with two roots tell none.
    let files = job(&[roots[0], (2, "[[8,4]]"), roots[1], roots[2], roots[3]]);
    assert_eq!(causes(&files), [0, 4, 8]);
    assert_eq!(unused(&files), [("rootless collective call", 12)]);
}
