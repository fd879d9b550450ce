//! Every input that once broke a promise, and some random ones for every target.
#![allow(clippy::unwrap_used, reason = "failing is how a test reports")]

use std::fs;
use std::path::Path;

use retime_fuzz::run::{Effort, run};
use retime_fuzz::targets::TARGETS;

#[test]
fn crashers_are_mended() {
    let crashers = Path::new(env!("CARGO_MANIFEST_DIR")).join("crashers");
    for entry in fs::read_dir(crashers).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let target = TARGETS.iter().find(|it| name.starts_with(it.name));
        if let Some(target) = target {
            (target.check)(&fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_target_takes_its_seeds_and_what_comes_of_them() {
    let new = tempfile::tempdir().unwrap();
    for target in &TARGETS {
        for seed in (target.seeds)() {
            let words = (target.check)(&seed);
            assert!(!words.starts_with("refused"), "{}: {words}", target.name);
        }
        let outcome = run(target, Effort::Inputs(100), 1997, new.path());
        assert!(outcome.crashers.is_empty(), "{}: {outcome:?}", target.name);
        assert!(outcome.said > 1, "{}: {outcome:?}", target.name);
    }
}
