//! Random training jobs, for their profiles.

use retime_sim::{Duration, Random};
use retime_testing::kineto::{
    Among, Bases, Class, Element, HostNames, KinetoRun, Step, Style, Windows,
};

use super::choices::Choices;

/// A short job of few ranks; the same for the same seed.
pub(super) fn job(seed: u64) -> KinetoRun {
    let mut choose = Choices(Random::new(seed, 1 << 50));
    let style = [Style::Nccl, Style::Nccl, Style::Gloo][choose.of(0..3) as usize];
    let ranks = choose.of(2..7) as u32;
    KinetoRun {
        seed,
        ranks,
        ranks_per_host: choose.of(1..4) as u32,
        tensor: choose.of(1..3) as u32,
        iterations: choose.of(2..9) as u32,
        steps: steps(&mut choose),
        offset: [0, 20_000, 2_000_000, 50_000_000][choose.of(0..4) as usize],
        drift: [0, 5_000, 50_000, 500_000][choose.of(0..4) as usize],
        sequence_numbers: choose.one_in(4),
        host_names: if choose.one_in(4) {
            HostNames::Absent
        } else {
            HostNames::Own
        },
        bases: [Bases::Same, Bases::Differing, Bases::Absent][choose.of(0..3) as usize],
        windows: Windows {
            left_out: choose.of(0..3) as u32,
            cut: choose.one_in(2),
        },
        missing: if choose.one_in(6) { vec![0] } else { vec![] },
        filler: 1,
        ..KinetoRun::training(style)
    }
}

/// What is done in an iteration, of lengths that vary much, little or not at all.
fn steps(choose: &mut Choices) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..choose.of(1..5) {
        let least = choose.of(20_000..800_000);
        steps.push(Step::Compute(match choose.of(0..3) {
            0 => Duration::constant(least),
            1 => Duration::uniform(least, least + 2_000),
            _ => Duration::heavy(least, least as f64 / 4.0),
        }));
        let classes = [
            Class::AllReduce,
            Class::AllReduce,
            Class::AllGather,
            Class::ReduceScatter,
            Class::Barrier,
            Class::Broadcast { root: 0 },
        ];
        steps.push(if choose.one_in(6) {
            Step::Neighbours {
                elements: 64,
                element: Element::Half,
            }
        } else {
            Step::Collective {
                class: classes[choose.of(0..6) as usize],
                among: [Among::World, Among::World, Among::Tensor, Among::Data]
                    [choose.of(0..4) as usize],
                elements: choose.of(64..66),
                element: Element::Float,
                asynchronous: choose.one_in(3),
            }
        });
    }
    steps
}
