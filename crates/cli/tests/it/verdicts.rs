//! The verdict of `correct` is that of `check` on what it wrote.
//!
//! Where profiles carry no numbers, which calls belong together depends on times, so what
//! was checked of the recording need not be what a reader of the copy finds. Random jobs
//! say so; `RETIME_KINETO_JOBS=5000` asks for more of them than fit a fast test.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use retime_sim::{Among, Bases, Class, Duration, Element, KinetoRun, Random, Step, Style, Windows};

use crate::common::Scratch;
use crate::common::directory::assert_same;

/// How a random choice is made.
struct Choices(Random);

impl Choices {
    fn of(&mut self, range: Range<u64>) -> u64 {
        let width = (range.end - range.start) as f64;
        range.start + (self.0.uniform() * width) as u64
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.of(0..many) == 0
    }
}

/// A short job of few ranks; the same for the same seed.
fn job(seed: u64) -> KinetoRun {
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
        host_names: !choose.one_in(4),
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

/// The exit codes of `correct`, and of `check` of what it wrote, if it wrote anything.
fn verdicts(scratch: &Scratch, run: &str) -> (Option<i32>, Option<i32>) {
    let corrected = scratch.retime(&format!("correct {run} -o out --quiet --threads 1"));
    if !scratch.join("out").exists() {
        return (corrected.code, None);
    }
    let checked = scratch.retime("check out --quiet --threads 1");
    assert!(
        checked.code.is_some() && checked.code != Some(2),
        "{checked:?}"
    );
    (corrected.code, checked.code)
}

/// Whether `check` may end so on what `correct` ended so on: what `correct` does not vouch
/// for can be too near to its cause, which `check` does not ask about.
fn agree((corrected, checked): (Option<i32>, Option<i32>)) -> bool {
    checked.is_none() || corrected == checked || corrected == Some(1)
}

#[test]
fn check_says_of_the_copy_what_correct_has_said() {
    let jobs = std::env::var("RETIME_KINETO_JOBS").ok();
    let jobs: u64 = jobs.and_then(|it| it.parse().ok()).unwrap_or(40);
    let first = std::env::var("RETIME_KINETO_FIRST").ok();
    let first: u64 = first.and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut counted: BTreeMap<(Option<i32>, Option<i32>), u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in first..first + jobs {
        let scratch = Scratch::in_memory();
        job(seed).write(&scratch.join("run")).unwrap();
        fs::remove_file(scratch.join("run/truth.json")).unwrap();
        let found = verdicts(&scratch, "run");
        *counted.entry(found).or_default() += 1;
        if !agree(found) {
            wrong.push((seed, found));
        }
    }
    println!("correct, then check: {counted:?}");
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_joins_on_corrected_times_is_corrected_too() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packed = manifest.join("../../../shared/traces/defects/profiles-2026-11.tar.zst");
    let Ok(packed) = fs::read(packed) else {
        println!("skipped: no shared traces");
        return;
    };
    let scratch = Scratch::new();
    let decoder = ruzstd::decoding::StreamingDecoder::new(&*packed).unwrap();
    tar::Archive::new(decoder).unpack(scratch.path()).unwrap();
    for number in [861, 848] {
        let run = format!("kineto-check-after-correct-{number}/in");
        let found = verdicts(&scratch, &run);
        assert!(found.1.is_some() && agree(found), "{run}: {found:?}");
        scratch.succeed("undo out -o back --quiet");
        assert_same(&scratch.join("back"), &scratch.join(&run));
        for made in ["out", "back"] {
            fs::remove_dir_all(scratch.join(made)).unwrap();
        }
    }
}
