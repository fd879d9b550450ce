//! Simulated jobs of several kinds of parallelism: nothing is joined that does not belong together.

use retime::format::Format;
use retime_kineto::Kineto;
use retime_testing::kineto::{KinetoRun, Straggler, Version, Windows};

use crate::simulated::{Joined, judge_scan, none_is_joined_wrongly};
use crate::truth::Truth;

/// Parameters that are shared out, tables of a recommender, gradients reduced to who keeps them, and mixtures
/// of experts in a pipeline; with and without numbers, in parts, with equal names of groups.
fn run(seed: u64) -> KinetoRun {
    let of = seed / 4;
    let kind = match seed % 4 {
        0 => KinetoRun::sharded(),
        1 => KinetoRun::embeddings(),
        2 => KinetoRun::reduced_to_owners(),
        _ => KinetoRun::experts(),
    };
    KinetoRun {
        seed,
        sequence_numbers: of % 3 == 1,
        version: [Version::Computing, Version::Peers, Version::Groups]
            [(of % 4 / 2 + of % 8 / 7) as usize],
        equal_names: of % 5 == 2,
        offset: [100_000, 10_000_000][(of % 2) as usize],
        windows: Windows {
            left_out: [0, 2][(of / 2 % 2) as usize],
            cut: of % 3 == 2,
        },
        missing: if of % 7 == 5 { vec![1, 6] } else { Vec::new() },
        stragglers: if of % 5 == 1 {
            vec![Straggler {
                rank: 3,
                every: 1,
                late: 20_000_000,
            }]
        } else {
            Vec::new()
        },
        iterations: 8,
        filler: 1,
        ..kind
    }
}

#[test]
fn no_call_of_any_parallelism_is_joined_with_another() {
    none_is_joined_wrongly(run, 8);
}

/// Profilers that cut iterations leave messages that iterations tell; half of them without these.
#[test]
fn messages_of_iterations_that_are_cut_are_joined() {
    let directory = tempfile::tempdir().unwrap();
    let run = KinetoRun {
        seed: 52,
        sequence_numbers: false,
        windows: Windows {
            left_out: 2,
            cut: true,
        },
        ..KinetoRun::experts()
    };
    run.write(directory.path()).unwrap();
    let truth = Truth::of(directory.path());
    let scan = Kineto.open(directory.path()).unwrap().scan(&()).unwrap();
    let Joined { calls, of, .. } = judge_scan(&truth, &scan);
    assert!(10 * calls > 8 * of, "{calls} of {of}");
}
