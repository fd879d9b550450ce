//! Advice what to record so that calls can be joined, where half of them or more could not be.
//!
//! | not joined are | record |
//! |---|---|
//! | kernels without an operation or a group | with PyTorch 2.3 or newer, which writes both into kernels; with CUDA graphs, after the process groups were made, so that the header lists them |
//! | messages without a peer, calls without a root | with `record_shapes=True`, for both are arguments |
//! | equal numbers of a group in one file | the files of the ranks, or who each process is |
//! | calls that may be of one iteration or of the next | with `step()` of the profiler, which numbers iterations, or with newer PyTorch, which numbers calls |
//! | requests without kernels | the activities of the device, too |
//!
//! That ranks have no file is said anyway.

/// Parts of the words in which calls are counted that are not used, with what helps.
const HELP: [(&str, &str); 9] = [
    ("ungrouped communication kernel", NEWER),
    ("unnamed NCCL kernel", NEWER),
    ("unnamed RCCL kernel", NEWER),
    ("custom all-reduce kernel", LISTED),
    ("peerless", SHAPES),
    ("rootless collective call", SHAPES),
    ("ambiguous collective call", NUMBERED),
    ("lone collective request", DEVICE),
    ("doubly numbered", APART),
];

const NEWER: &str = "PyTorch 2.3 or newer writes operation and group into kernels of NCCL";
const LISTED: &str = "profile after the process groups were made, so that the header lists them";
const SHAPES: &str = "record_shapes=True keeps roots and peers";
const NUMBERED: &str = "step() of the profiler numbers iterations, and newer PyTorch numbers calls of NCCL \
                        (\"Seq\")";
const APART: &str = "ranks that were put into one file are told apart if retime merge did so, or by labels or \
                     names of processes, such as \"Rank 3\"; else give the files of the ranks";
const DEVICE: &str = "activities with ProfilerActivity.CUDA (or XPU, HPU) record the kernels";

/// Calls that were joined, and those that were only counted.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub(crate) joined: u64,
    pub(crate) others: u64,
}

/// Advice where calls of these kinds were only counted; nothing if none is known, or if more were joined.
pub(crate) fn advice<'a>(share: Share, kinds: impl Iterator<Item = &'a str>) -> Option<String> {
    if share.joined > share.others {
        return None;
    }
    let mut all: Vec<&str> = Vec::new();
    for kind in kinds {
        let help = HELP.iter().find(|(part, _)| kind.contains(part));
        if let Some((_, help)) = help
            && !all.contains(help)
        {
            all.push(help);
        }
    }
    let how_many = match share.joined {
        0 => "no call could",
        _ => "half of the calls or more could not",
    };
    (!all.is_empty()).then(|| format!("{how_many} be joined; what helps: {}", all.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Share = Share {
        joined: 0,
        others: 8,
    };

    #[test]
    fn what_helps_is_said_once() {
        let kinds = ["unnamed NCCL kernel", "ungrouped communication kernel"];
        let both = advice(NONE, kinds.into_iter());
        assert_eq!(
            both.as_deref(),
            Some(
                "no call could be joined; what helps: PyTorch 2.3 or newer writes operation and \
                 group into kernels of NCCL"
            )
        );
        let kinds = ["peerless gloo message call", "lone collective request"];
        let both = advice(NONE, kinds.into_iter()).unwrap_or_default();
        assert!(both.contains("record_shapes=True keeps roots and peers; activities with"));
        let twice = advice(NONE, ["doubly numbered collective call"].into_iter());
        assert!(twice.is_some_and(|it| it.contains("give the files of the ranks")));
        let kinds = ["DeepEP kernel", "XLA collective", "lone collective call"];
        assert_eq!(advice(NONE, kinds.into_iter()), None);
    }

    #[test]
    fn where_half_of_the_calls_were_joined_more_is_said_too() {
        let of = |joined| {
            let share = Share { joined, others: 8 };
            advice(share, ["ambiguous collective call"].into_iter())
        };
        assert!(
            of(0).is_some_and(|it| it.starts_with("no call could be joined; what helps: step()"))
        );
        assert!(of(8).is_some_and(|it| it.starts_with("half of the calls or more could not be")));
        assert_eq!(of(9), None);
    }
}
