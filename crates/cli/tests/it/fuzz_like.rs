//! Damaged archives: truncations and changed bits in every byte (with `RETIME_EFFORT=wide` every
//! truncation, and three changes of each byte).
//!
//! Most of it goes through the libraries in this process, stage by stage as
//! `retime correct` does; a sample goes through the command. Whatever happens
//! is a result: no panic, no endless loop, and nothing left behind.

use crate::archives;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::directory::{assert_same_trees, tree};
use crate::common::{Scratch, traces};
use retime::format::{Format, Trace, Undo};
use retime::pipeline::{Analysis, AnalysisOptions, DRIFT_BOUND, Method};
use retime::{Correction, SavedClock};
use retime_otf2_format::Otf2;
use retime_sim::{Layout, Program, from, to};
use retime_testing::Effort;

/// No archive here has more than a few dozen events: what takes so long, on however busy a machine, does
/// not end.
const PATIENCE: Duration = Duration::from_secs(20);

/// What became of an archive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Refused,
    Copied,
    Corrected,
}

/// Two processes with clocks that disagree, mapping tables and clock offsets.
fn ping_pong(dir: &Path) {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    program
        .on(0)
        .clock_offset(0, 5)
        .clock_offset(9_000, 7)
        .send(1_100, to(1))
        .irecv_request(1_200, 7)
        .irecv(3_300, from(1), 7)
        .barrier(3_400, 5_000);
    program
        .on(1)
        .clock_offset(0, -5)
        .clock_offset(9_000, 7)
        .recv(700, from(0))
        .send(1_800, to(0))
        .barrier(2_000, 2_400);
    traces::write(dir, "trace", &program);
}

/// Snapshots, markers, attributes, unknown records, mapping tables, thumbnail.
fn all_kinds_of_files(dir: &Path) {
    let dir = dir.join("trace");
    fs::create_dir_all(&dir).unwrap();
    archives::write(&dir, &archives::small_archive());
}

/// What `retime correct` does, through the same public pipeline.
fn correct(input: &Path, output: &Path) -> Result<Fate, String> {
    correct_or_copy(input, output, true)
}

/// The same with `--always`.
fn correct_always(input: &Path, output: &Path) -> Result<Fate, String> {
    correct_or_copy(input, output, false)
}

fn correct_or_copy(input: &Path, output: &Path, may_copy: bool) -> Result<Fate, String> {
    let trace = Otf2.open(input).map_err(|error| error.to_string())?;
    let scan = trace.scan(&()).map_err(|error| error.to_string())?;
    let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &());
    let mut analysis = analysis.map_err(|error| error.to_string())?;
    if may_copy && analysis.is_sound() {
        trace
            .rewriting()
            .unwrap()
            .copy(output, &())
            .map_err(|error| error.to_string())?;
        return Ok(Fate::Copied);
    }
    let method = Method::default();
    let method = if may_copy {
        analysis.suitable(method)
    } else {
        method
    };
    let solution = analysis
        .solve(&method, &())
        .map_err(|error| error.message)?;
    analysis.adopt(&solution, &()).unwrap();
    let _ = analysis.bounds(DRIFT_BOUND, Some(&solution), &());
    let undo = trace
        .rewriting()
        .unwrap()
        .rewrite(&solution.correction, output, &())
        .map_err(|error| error.to_string())?;

    // What was written must hold what is promised, and can be taken back.
    let left = &solution.left;
    assert_eq!(left.violated(), left.violated_within_clock());
    let written = Otf2.open(output).unwrap();
    let nodes = analysis.causality().nodes();
    let locations = 0..nodes.locations();
    let events: Vec<&[u32]> = locations.map(|it| nodes.events(&nodes.of(it))).collect();
    let mut times = Vec::new();
    for (timeline, contents) in written
        .timelines(&events, &())
        .unwrap()
        .into_iter()
        .zip(scan.contents)
    {
        assert_eq!(timeline.contents, contents);
        assert_eq!(timeline.backwards, 0);
        times.extend(timeline.times);
    }
    assert_eq!(times, solution.times);
    take_back(&*written, &solution.correction, &undo, input);
    Ok(Fate::Corrected)
}

/// What `retime apply` does with a shift, which touches every kind of file.
fn shift(input: &Path, output: &Path) -> Result<Fate, String> {
    let trace = Otf2.open(input).map_err(|error| error.to_string())?;
    let clock = SavedClock {
        locations: None,
        knots: vec![[0, 1_000_000].into()],
        steps: Vec::new(),
        distance: None,
    };
    let correction = Correction::restore(&[clock], trace.describe().unwrap()).unwrap();
    let undo = trace
        .rewriting()
        .unwrap()
        .rewrite(&correction, output, &())
        .map_err(|error| error.to_string())?;
    take_back(&*Otf2.open(output).unwrap(), &correction, &undo, input);
    Ok(Fate::Corrected)
}

fn take_back(written: &dyn Trace, correction: &Correction, undo: &Undo, input: &Path) {
    let back = input.with_file_name("back");
    fs::create_dir(&back).unwrap();
    written
        .rewriting()
        .unwrap()
        .restore(correction, undo, &back, &())
        .unwrap();
    assert_same_trees(&tree(input), &tree(&back));
    fs::remove_dir_all(back).unwrap();
}

type Action = fn(&Path, &Path) -> Result<Fate, String>;

/// Damages every byte of every file in turn; the numbers of fates.
fn damage_everything(make: fn(&Path), action: Action) -> [usize; 3] {
    let scratch = Scratch::in_memory();
    make(scratch.path());
    let input = scratch.join("trace");
    let (sound, effort) = (tree(&input), Effort::asked());
    let mut fates = [0; 3];
    for (name, content) in &sound {
        let Some(content) = content else { continue };
        let path = input.join(name);
        let mut survive = |what: &str, damaged: &[u8]| {
            fs::write(&path, damaged).unwrap();
            let fate =
                survived(&scratch, action).unwrap_or_else(|| panic!("{} {what}", name.display()));
            fates[fate as usize] += 1;
        };
        for length in (0..content.len()).step_by(effort.pick(3, 1, 1)) {
            survive(&format!("cut to {length} bytes"), &content[..length]);
        }
        let mut damaged = content.clone();
        for at in 0..content.len() {
            let flips = [0x01, 0x10, 0xff];
            for &flip in effort.pick(&flips[at % 3..=at % 3], &flips, &flips) {
                damaged[at] = content[at] ^ flip;
                survive(&format!("byte {at} ^ {flip:#x}"), &damaged);
            }
            damaged[at] = content[at];
        }
        fs::write(&path, content).unwrap();
    }
    fates
}

/// Runs the action; `None` if it panics or takes too long. Once is no proof
/// of an endless loop on a busy machine, three times are.
fn survived(scratch: &Scratch, action: Action) -> Option<Fate> {
    let (input, output) = (scratch.join("trace"), scratch.join("out"));
    for _ in 0..3 {
        fs::create_dir(&output).unwrap();
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| action(&input, &output))).ok()?;
        let elapsed = start.elapsed();
        fs::remove_dir_all(&output).unwrap();
        if elapsed < PATIENCE {
            return Some(result.unwrap_or(Fate::Refused));
        }
    }
    None
}

#[track_caller]
fn assert_every_fate(fates: [usize; 3], least: [usize; 3]) {
    eprintln!("refused, copied, corrected: {fates:?}");
    let enough = fates
        .iter()
        .zip(least)
        .all(|(&found, least)| found >= least);
    assert!(enough, "{fates:?}");
}

#[test]
fn correct_survives_every_damage() {
    let fates = damage_everything(ping_pong, correct);
    assert_every_fate(fates, [300, 1, 300]);
}

#[test]
fn correct_survives_damage_to_all_kinds_of_files() {
    let fates = damage_everything(all_kinds_of_files, correct_always);
    assert_every_fate(fates, [150, 0, 150]);
}

#[test]
fn rewriting_survives_damage_to_all_kinds_of_files() {
    let fates = damage_everything(all_kinds_of_files, shift);
    assert_every_fate(fates, [150, 0, 150]);
}

/// A sample through the command, which may not take much memory either.
#[test]
fn the_command_survives_damage() {
    let scratch = Scratch::new();
    ping_pong(scratch.path());
    let input = scratch.join("trace");
    let mut number = 0_usize;
    let (mut failed, mut written, mut refused) = (0, 0, 0);
    for (name, content) in tree(&input) {
        let Some(content) = content else { continue };
        for at in 0..content.len() {
            // Strides that meet every place of the 8-byte fields in time.
            number += 1;
            if !number.is_multiple_of(Effort::asked().pick(37, 13, 5)) {
                continue;
            }
            let mut damaged = content.clone();
            if number.is_multiple_of(2) {
                damaged.truncate(at);
            } else {
                damaged[at] ^= 0x41;
            }
            fs::write(input.join(&name), &damaged).unwrap();
            let what = format!("{} at {at}", name.display());
            let run = "ulimit -v 1000000; timeout 20 \"$RETIME\" correct --threads 2 trace -o out";
            let outcome = scratch.shell(run);
            let code = outcome.code.unwrap();
            match code {
                // A stamp far off makes clocks that are none.
                1 if outcome.stderr.contains("cannot be right") => {
                    refused += 1;
                    assert_eq!(scratch.entries(), ["trace"], "{what}");
                }
                // 3: what names partners may be what is damaged.
                0 | 1 | 3 => {
                    written += 1;
                    assert_eq!(scratch.entries(), ["out", "trace"], "{what}");
                    fs::remove_dir_all(scratch.join("out")).unwrap();
                }
                2 => {
                    failed += 1;
                    assert!(
                        outcome.stderr.starts_with("retime: "),
                        "{what}: {outcome:#?}"
                    );
                    assert_eq!(outcome.stdout, "", "{what}");
                    assert_eq!(scratch.entries(), ["trace"], "{what}");
                }
                _ => panic!("{what}: {outcome:#?}"),
            }
            assert!(
                !outcome.stderr.contains("defect of retime"),
                "{what}: {outcome:#?}"
            );
            assert_eq!(fs::read(input.join(&name)).unwrap(), damaged);
        }
        fs::write(input.join(&name), content).unwrap();
    }
    assert!(
        failed > 7 && written > 7 && refused < 5,
        "{failed} failed, {written} written, {refused} refused"
    );
}
