//! The verdict of `correct` is that of `check` on what it wrote.
//!
//! Where profiles carry no numbers, which calls belong together depends on times, so what
//! was checked of the recording need not be what a reader of the copy finds. In archives
//! records can be missing or wrong, clocks can be set, and stamps can run backwards. Random
//! jobs and programs say so; `RETIME_KINETO_JOBS=5000` and `RETIME_OTF2_PROGRAMS=5000` ask
//! for more of them than fit a fast test, `RETIME_VERDICTS_FIRST` for others.

mod choices;
mod jobs;
mod programs;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use retime_sim::Random;
use retime_testing::Effort;

use self::choices::Choices;
use crate::common::directory::assert_same;
use crate::common::{Scratch, traces};

/// How `correct` and then `check` of what it wrote ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Verdicts {
    corrected: Option<i32>,
    /// `None` where nothing was written, which is no verdict on it.
    checked: Option<i32>,
    /// True if all that `correct` does not vouch for is that effects are too near to their
    /// causes, which `check` does not ask about.
    only_short: bool,
    /// True if lines were written, which cannot say all that was not looked at.
    merged: bool,
}

impl Verdicts {
    fn of(scratch: &Scratch, run: &str, options: &str) -> Self {
        let words = format!("correct {run} -o out --threads 1 {options}");
        let correct = scratch.retime(&words);
        assert!(correct.code.is_some_and(|it| it != 2), "{correct:?}");
        let checked = scratch.join("out").exists().then(|| {
            let check = scratch.retime("check out --quiet --threads 1");
            assert!(check.code.is_some_and(|it| it != 2), "{check:?}");
            check.code
        });
        Self {
            merged: options == "--merged",
            corrected: correct.code,
            checked: checked.flatten(),
            only_short: correct
                .stdout
                .contains("with 0 dependencies still reversed"),
        }
    }

    fn agree(self) -> bool {
        let Some(checked) = self.checked else {
            return self.corrected == Some(1);
        };
        match self.corrected {
            Some(1) if self.only_short => checked != 1,
            Some(3) if self.merged => [0, 3].contains(&checked),
            corrected => corrected == Some(checked),
        }
    }
}

/// A number from the environment.
fn asked_for(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// Tries one after the other, and says how many ended how. Some have to end with each of
/// the exit codes.
fn try_all(count: u64, exit_codes: &[i32], verdicts: impl Fn(u64) -> Verdicts) {
    let first = asked_for("RETIME_VERDICTS_FIRST", 0);
    let mut counted: BTreeMap<Verdicts, (u64, u64)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in first..first + count {
        let found = verdicts(seed);
        let (times, last) = counted.entry(found).or_default();
        (*times, *last) = (*times + 1, seed);
        if !found.agree() {
            wrong.push((seed, found));
        }
    }
    for code in exit_codes {
        let ended_so = |it: &Verdicts| it.checked == Some(*code);
        assert!(counted.keys().any(ended_so), "none with exit code {code}");
    }
    for (found, (times, last)) in counted {
        println!("{times} times, the last of seed {last}: {found:?}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn check_says_of_corrected_profiles_what_correct_has_said() {
    try_all(
        asked_for("RETIME_KINETO_JOBS", Effort::asked().pick(13, 40, 400)),
        &[0, 3],
        |seed| {
            let scratch = Scratch::in_memory();
            jobs::job(seed).write(&scratch.join("run")).unwrap();
            fs::remove_file(scratch.join("run/truth.json")).unwrap();
            Verdicts::of(&scratch, "run", "")
        },
    );
}

#[test]
fn check_says_of_corrected_archives_what_correct_has_said() {
    let options = [
        "",
        "",
        "",
        "--method clc",
        "--method gentlest",
        "--method regression --repair off --force",
        "--method optimal",
        "--min-delay 3us",
        "--clocks location",
        "--clocks node",
        "--always",
        "--merged",
    ];
    try_all(
        asked_for("RETIME_OTF2_PROGRAMS", Effort::asked().pick(50, 150, 1500)),
        &[0, 1, 3],
        |seed| {
            let scratch = Scratch::in_memory();
            traces::write(scratch.path(), "run", &programs::program(seed));
            let options = Choices(Random::new(seed, 1 << 52)).one(&options);
            Verdicts::of(&scratch, "run", options)
        },
    );
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
        let found = Verdicts::of(&scratch, &run, "");
        assert!(found.checked.is_some() && found.agree(), "{run}: {found:?}");
        scratch.succeed("undo out -o back --quiet");
        assert_same(&scratch.join("back"), &scratch.join(&run));
        for made in ["out", "back"] {
            fs::remove_dir_all(scratch.join(made)).unwrap();
        }
    }
}
