//! Programs that use the library as nobody should, or for long, under valgrind too.

use std::path::Path;
use std::process::Command;

use crate::examples::recording;
use crate::machine::{Language, Linked, build, has, here, run};

fn program(name: &str, place: &Path) -> Option<std::path::PathBuf> {
    let source = ["examples", "tests/programs"].map(|it| here().join(it).join(name));
    let source = source.iter().find(|it| it.exists()).unwrap();
    let language = Language::of(source).unwrap();
    has(language.compiler()).then(|| build(source, Linked::Shared, place))
}

/// A program under valgrind: no access to what is not its own, and nothing that is lost.
fn checked(program: &Path, arguments: &[&Path]) {
    if !has("valgrind") {
        return;
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    // Threads of the runtime keep what they have until the end.
    valgrind.args([
        "--errors-for-leak-kinds=definite,indirect",
        "--show-leak-kinds=definite,indirect",
    ]);
    valgrind.args(["--trace-children=yes", "--child-silent-after-fork=no"]);
    run(valgrind.arg(program).args(arguments));
}

#[test]
fn whatever_is_wrong_is_said() {
    let place = tempfile::tempdir().unwrap();
    if let Some(program) = program("misuse.c", place.path()) {
        let work = place.path().join("work");
        std::fs::create_dir(&work).unwrap();
        run(Command::new(&program).arg(&work));
        let work = place.path().join("again");
        std::fs::create_dir(&work).unwrap();
        checked(&program, &[&work]);
    }
}

#[test]
fn the_examples_are_clean() {
    let place = tempfile::tempdir().unwrap();
    let trace = recording(&place.path().join("trace"));
    if let Some(program) = program("correct.c", place.path()) {
        checked(&program, &[&trace, &place.path().join("out")]);
    }
    if let Some(program) = program("ordered_log.c", place.path()) {
        checked(&program, &[Path::new("20")]);
    }
    if let Some(program) = program("monitor.cpp", place.path()) {
        checked(&program, &[]);
    }
}

#[test]
fn each_class_of_operations_proves_what_it_does() {
    let place = tempfile::tempdir().unwrap();
    if let Some(program) = program("classes.c", place.path()) {
        run(&mut Command::new(&program));
        checked(&program, &[]);
    }
}

#[test]
fn threads_have_their_own_failures() {
    let place = tempfile::tempdir().unwrap();
    if let Some(program) = program("threads.c", place.path()) {
        run(&mut Command::new(&program));
        checked(&program, &[]);
    }
}
