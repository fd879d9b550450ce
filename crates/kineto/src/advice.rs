//! Advice what to record so that calls can be joined, where half of them or more could not be.
//!
//! | not joined are | record |
//! |---|---|
//! | kernels without an operation or a group | with PyTorch 2.3 or newer, which writes both into kernels; with CUDA graphs, after the process groups were made, so that the header lists them |
//! | kernels that send or receive, without a peer | with PyTorch 2.5 or newer, which says it; 2.3 says the group, and with `record_shapes=True` the rank in it is an argument |
//! | messages of gloo without a peer, calls without a root | with `record_shapes=True`, for both are arguments |
//! | equal numbers of a group in one file, or several processes on one stream | the files of the ranks, or who each process is |
//! | calls that may be of one iteration or of the next | with `step()` of the profiler, which numbers iterations, or with newer PyTorch, which numbers calls |
//! | calls without numbers that no clocks allow | again, once no clock is set meanwhile; or with newer PyTorch, which numbers calls |
//! | ranks without any call | iterations in which they communicate, and the activities of the device |
//! | requests without kernels | the activities of the device, too |
//!
//! Where some kernels of a file say their group, those that do not are of a CUDA graph, or were launched while
//! nothing of the program was recorded: no version says more of them. Nor does any of kernels that do several
//! collectives together, of different groups or kinds.
//!
//! Source: pull requests to PyTorch and Kineto, 2023 to 2024, for the versions: kineto 880 (groups), 963 and
//! pytorch 130812 (peers).
//!
//! That ranks have no file is said anyway.

use retime_model::format::SILENT_RANK;

use crate::profile::FileRead;

/// Parts of the words in which calls are counted that are not used, with what helps.
const HELP: [(&str, &str); 13] = [
    ("ungrouped communication kernel", NEWER),
    ("unnamed NCCL kernel", NEWER),
    ("unnamed RCCL kernel", NEWER),
    ("peerless communication kernel", PEERS),
    ("custom all-reduce kernel", LISTED),
    ("peerless", SHAPES),
    ("rootless collective call", SHAPES),
    ("ambiguous collective call", NUMBERED),
    ("contradictory collective call", STEADY),
    ("lone collective request", DEVICE),
    ("doubly numbered", APART),
    ("mixed call", APART),
    (SILENT_RANK, COMMUNICATING),
];

const NEWER: &str = "PyTorch 2.3 or newer writes operation and group into kernels of NCCL, 2.5 or newer \
                     the peers of messages, too";
const PEERS: &str = "PyTorch 2.5 or newer says the peers of messages of NCCL, 2.3 or newer does with \
                     record_shapes=True";
const LISTED: &str = "profile after the process groups were made, so that the header lists them";
const SHAPES: &str = "record_shapes=True keeps roots and peers";
const NUMBERED: &str = "step() of the profiler numbers iterations, and newer PyTorch numbers calls of NCCL \
                        (\"Seq\")";
const APART: &str = "ranks that were put into one file are told apart if retime merge did so, or by labels or \
                     names of processes, such as \"Rank 3\"; else give the files of the ranks";
const STEADY: &str = "where a clock was set while it was profiled, no straight difference of two clocks fits \
                      calls that have no numbers: profile again once time services have settled, or with newer \
                      PyTorch, which numbers calls";
const COMMUNICATING: &str = "iterations in which ranks communicate, recorded with ProfilerActivity.CUDA (or XPU, \
                             HPU), whose kernels of NCCL relate them, or for gloo with ProfilerActivity.CPU";
const DEVICE: &str = "activities with ProfilerActivity.CUDA (or XPU, HPU) record the kernels";

/// Calls that were joined, and those that were only counted.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub(crate) joined: u64,
    pub(crate) others: u64,
    /// True if no file has [older](are_older) kernels.
    pub(crate) are_grouped: bool,
}

/// True if kernels of a file do not say what a newer version would, as none of it does: each rank may have a
/// version of its own.
pub(crate) fn are_older(file: &FileRead) -> bool {
    let newer_helps =
        |kind: &str| { HELP.iter() }.any(|(part, help)| *help == NEWER && kind.contains(part));
    !file.says_groups && file.unused.iter().any(|it| newer_helps(it.kind))
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
            && !(share.are_grouped && *help == NEWER)
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
        are_grouped: false,
    };

    #[test]
    fn what_helps_is_said_once() {
        let kinds = ["unnamed NCCL kernel", "ungrouped communication kernel"];
        let both = advice(NONE, kinds.into_iter());
        assert_eq!(
            both.as_deref(),
            Some(
                "no call could be joined; what helps: PyTorch 2.3 or newer writes operation and \
                 group into kernels of NCCL, 2.5 or newer the peers of messages, too"
            )
        );
        let newer = Share {
            are_grouped: true,
            ..NONE
        };
        let of_newer = advice(
            newer,
            [kinds[0], "peerless communication kernel"].into_iter(),
        );
        assert!(of_newer.is_some_and(|it| it.contains("what helps: PyTorch 2.5 or newer says")));
        assert_eq!(advice(newer, kinds.into_iter().take(1)), None);
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
            let share = Share { joined, ..NONE };
            advice(share, ["ambiguous collective call"].into_iter())
        };
        assert!(
            of(0).is_some_and(|it| it.starts_with("no call could be joined; what helps: step()"))
        );
        assert!(of(8).is_some_and(|it| it.starts_with("half of the calls or more could not be")));
        assert_eq!(of(9), None);
    }
}
