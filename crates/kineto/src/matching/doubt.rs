//! Why it cannot be told which group calls of gloo are of, and what to record.

use std::collections::BTreeSet;

use super::reasons::AMBIGUOUS;

/// Why it cannot be told which group the calls of some threads of gloo are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// The header was made of kernels.
    OfKernels,
    /// More groups were made than headers list.
    Fewer,
    /// No group is listed that may run gloo.
    NoneRuns,
    /// There are more threads than listed groups have.
    TooManyThreads,
    /// They can be of several groups, which have different members.
    Several,
}

impl Doubt {
    /// How such calls are counted, in words that take a plural.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Several => AMBIGUOUS,
            _ => "ungrouped gloo collective call",
        }
    }

    /// Why, and what helps.
    const fn in_words(self) -> &'static str {
        match self {
            Self::OfKernels => {
                "distributedInfo lists only groups whose kernels were recorded, as in a profile \
                 that was asked for from outside; one that the program starts itself \
                 (torch.profiler) lists all"
            }
            Self::Fewer => {
                "distributedInfo counts or names more groups than the files list (pg_count, \
                 pg_config); profile after all groups were made, and give the files of all ranks"
            }
            Self::NoneRuns => {
                "distributedInfo lists no group that runs gloo (pg_config, backend_config); \
                 profile after all groups were made, with PyTorch 2.3 or newer"
            }
            Self::TooManyThreads => {
                "there are more threads than the listed groups have that may run gloo, so some \
                 groups are not listed, or have several network devices; profile after all groups \
                 were made, with one device (GLOO_SOCKET_IFNAME)"
            }
            Self::Several => {
                "their threads can be of several groups, and profiles do not say which; profile \
                 while all groups that run gloo have calls, and say which do (backend_config, \
                 PyTorch 2.3 or newer)"
            }
        }
    }
}

/// Says why groups of calls could not be told; nothing if all could.
pub(crate) fn warnings(doubts: &BTreeSet<Doubt>) -> Vec<String> {
    let warning = |it: &Doubt| {
        format!(
            "calls of gloo are left out whose process group cannot be told: {}",
            it.in_words()
        )
    };
    doubts.iter().map(warning).collect()
}
