//! Simulated jobs in which the clock of a host is set while they are profiled.

use retime::format::Format;
use retime_kineto::Kineto;
use retime_testing::kineto::{Duration, KinetoRun, SetClock, Step, Style, Windows};

use crate::simulated::{judge_scan, none_is_joined_wrongly};
use crate::truth::Truth;

/// Jobs of all kinds, in which a clock is set by less than a call lasts, by as much as some iterations do,
/// and by more.
fn run(seed: u64) -> KinetoRun {
    let of = seed / 4;
    let by = [
        -60_000_000,
        40_000_000,
        -5_000_000,
        24_000_000,
        -300_000,
        12_000_000,
        -12_500_000,
    ];
    let kind = match seed % 4 {
        0 => KinetoRun::training(Style::Nccl),
        1 => KinetoRun::training(Style::Gloo),
        2 => KinetoRun::pipeline(of.is_multiple_of(2)),
        _ => even(),
    };
    KinetoRun {
        seed,
        sequence_numbers: of % 5 == 4,
        offset: [100_000, 10_000_000][(of % 2) as usize],
        windows: Windows {
            left_out: [0, 2][(of / 2 % 2) as usize],
            cut: of % 3 == 1,
        },
        set_clocks: vec![SetClock {
            host: (seed % 2) as u32,
            at: [100_000_000, 25_000_000, 170_000_000][(of % 3) as usize],
            by: by[(of % 7) as usize],
        }],
        ..kind
    }
}

/// Data parallelism by iterations that last equally long.
fn even() -> KinetoRun {
    let mut run = KinetoRun::data_parallel();
    if let Some(Step::Compute(takes)) = run.steps.first_mut() {
        *takes = Duration::uniform(4_000_000, 4_010_000);
    }
    run
}

#[test]
fn no_call_is_joined_wrongly_where_the_clock_of_a_host_is_set() {
    none_is_joined_wrongly(run, 8);
}

/// More calls without numbers are joined than those of groups within a host, which are three in five.
#[test]
fn calls_without_numbers_are_joined_where_the_clock_of_a_host_is_set_once() {
    for (style, by) in [(Style::Gloo, 40_000_000), (Style::Nccl, -5_000_000)] {
        let joined = |set_clocks: Vec<SetClock>| {
            let directory = tempfile::tempdir().unwrap();
            let run = KinetoRun {
                seed: 6,
                sequence_numbers: false,
                set_clocks,
                ..KinetoRun::training(style)
            };
            run.write(directory.path()).unwrap();
            let truth = Truth::of(directory.path());
            let scan = Kineto.open(directory.path()).unwrap().scan(&()).unwrap();
            judge_scan(&truth, &scan).calls
        };
        let set = SetClock {
            host: 1,
            at: 100_000_000,
            by,
        };
        let (set, steady) = (joined(vec![set]), joined(Vec::new()));
        assert!(10 * set > 7 * steady, "{set} of {steady}");
    }
}
