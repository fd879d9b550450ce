//! Experiments of Score-P and Scalasca, of which a corrected copy has all that still holds.

use std::fs;

use crate::common::directory::{assert_same, assert_same_trees, tree};
use crate::common::{Scratch, traces};

/// A measurement that was analysed, with directories of its tools, beside a trace of one's own
/// making and a sound one.
fn prepared() -> Scratch {
    let scratch = traces::scratch([("run", traces::skewed()), ("sound", traces::sound())]);
    for run in ["run", "sound"] {
        for (name, content) in [
            ("scorep.cfg", "SCOREP_ENABLE_TRACING=true\n"),
            ("profile.cubex", "profile"),
            ("scout.cubex", "wait states"),
            ("trace.stat", "statistics"),
            ("perf/metrics/papi.txt", "counters"),
            ("perf/trace.stat", "of another kind"),
        ] {
            let path = scratch.join(run).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        fs::create_dir_all(scratch.join(run).join("perf/empty")).unwrap();
    }
    scratch
}

#[test]
fn results_of_recorded_times_are_set_aside_and_put_back() {
    let scratch = prepared();
    let said = scratch.succeed("correct run -o out");
    for name in ["scout.cubex", "trace.stat"] {
        let warning = format!(
            "{name} was computed from the recorded times: the copy has it as uncorrected/{name}, \
             and undo puts it back\n"
        );
        assert!(said.contains(&warning), "{said}");
        assert!(!scratch.join("out").join(name).exists());
        let aside = fs::read(scratch.join("out/uncorrected").join(name)).unwrap();
        assert_eq!(aside, fs::read(scratch.join("run").join(name)).unwrap());
    }
    assert_same(&scratch.join("run/perf"), &scratch.join("out/perf"));
    assert!(scratch.join("out/profile.cubex").exists());
    let last = said.lines().last().unwrap();
    let next = "Open it in Vampir (vampir out/traces.otf2), or analyse it anew with Scalasca \
                (scout.mpi out/traces.otf2, with as many processes as ran; then scalasca -examine \
                out).";
    assert!(last.ends_with(next), "{last}");
    scratch.succeed("undo out -o back");
    assert_same(&scratch.join("run"), &scratch.join("back"));
}

#[test]
fn of_several_corrections_each_has_its_own_directory() {
    let scratch = prepared();
    fs::create_dir_all(scratch.join("run/uncorrected")).unwrap();
    scratch.write("run/uncorrected/scout.cubex", "of an earlier correction");
    scratch.succeed("correct run -o out");
    let kept = fs::read(scratch.join("out/uncorrected/scout.cubex")).unwrap();
    assert_eq!(kept, b"of an earlier correction");
    assert!(scratch.join("out/uncorrected-2/scout.cubex").exists());
    scratch.succeed("undo out -o back");
    assert_same(&scratch.join("run"), &scratch.join("back"));
}

#[test]
fn a_sound_experiment_keeps_its_results_in_place() {
    let scratch = prepared();
    scratch.succeed("correct sound -o out");
    assert_same(&scratch.join("sound"), &scratch.join("out"));
}

/// The anchor alone speaks of the trace, and a directory with a trace of its own of another one.
#[test]
fn no_more_is_taken_along_than_belongs_to_the_experiment() {
    let scratch = prepared();
    scratch.succeed("correct run/traces.otf2 -o alone");
    assert!(!scratch.join("alone/perf").exists());
    assert!(!scratch.join("alone/uncorrected").exists());
    fs::rename(scratch.join("sound"), scratch.join("run/sound")).unwrap();
    let said = scratch.succeed("correct run -o out");
    let warning = "sound is not copied: it is a directory with a trace of its own\n";
    assert!(said.contains(warning), "{said}");
    let mut expected = tree(&scratch.join("run"));
    expected.retain(|name, _| !name.starts_with("sound"));
    scratch.succeed("undo out -o back");
    assert_same_trees(&expected, &tree(&scratch.join("back")));
}

#[test]
fn a_result_that_was_changed_since_is_not_put_back() {
    let scratch = prepared();
    scratch.succeed("correct run -o out");
    scratch.write("out/uncorrected/trace.stat", "edited");
    let outcome = scratch.retime("undo out -o back");
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    let named = "retime: out/uncorrected/trace.stat: cannot be restored: it is not the file that \
                 the correction wrote";
    assert!(outcome.stderr.starts_with(named), "{outcome:#?}");
    assert!(!scratch.join("back").exists());
}
