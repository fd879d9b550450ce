//! The compilers and tools that the tests need, and what they build.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The directory of the crate.
pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where the libraries are.
pub(crate) fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.ancestors().nth(2).unwrap().to_path_buf();
    assert!(
        built.join("libretime.so").exists() && built.join("libretime.a").exists(),
        "build the libraries first: make capi"
    );
    built
}

/// True if a tool is there; says so if it is not, which `make test-capi` makes an error.
pub(crate) fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        assert!(
            std::env::var_os("RETIME_REQUIRE_COMPILERS").is_none(),
            "there is no {tool}"
        );
        eprintln!("skipped: there is no {tool}");
    }
    there
}

/// Runs a command that has to succeed; returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let Output {
        status,
        stdout,
        stderr,
    } = output;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&stdout).into_owned(),
        String::from_utf8_lossy(&stderr).into_owned(),
    );
    assert!(status.success(), "{command:?}: {status}\n{stdout}{stderr}");
    stdout
}

/// The languages in which programs are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Language {
    C,
    Cpp,
    Fortran,
}

impl Language {
    /// The language of a source, if it is one of a program.
    pub(crate) fn of(source: &Path) -> Option<Self> {
        match source.extension().and_then(OsStr::to_str)? {
            "c" => Some(Self::C),
            "cpp" => Some(Self::Cpp),
            "f90" => Some(Self::Fortran),
            _ => None,
        }
    }

    /// The compiler, which warns of all it can, and takes no warning.
    pub(crate) fn compiler(self) -> &'static str {
        match self {
            Self::C => "cc",
            Self::Cpp => "c++",
            Self::Fortran => "gfortran",
        }
    }

    pub(crate) fn compile(self) -> Command {
        let mut compile = Command::new(self.compiler());
        compile.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1"]);
        compile.arg(match self {
            Self::C => "-std=c99",
            Self::Cpp => "-std=c++11",
            Self::Fortran => "-std=f2008",
        });
        compile.args(["-pthread", "-I"]).arg(here().join("include"));
        compile
    }
}

/// How a program gets the library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Linked {
    Shared,
    Static,
}

/// Builds a program in a directory.
pub(crate) fn build(source: &Path, linked: Linked, into: &Path) -> PathBuf {
    let language = Language::of(source).unwrap();
    let program = into.join(source.file_stem().unwrap());
    let mut compile = language.compile();
    if language == Language::Fortran {
        compile.arg("-J").arg(into);
        compile.arg(here().join("fortran/retime.f90"));
    }
    compile.arg(source).arg("-o").arg(&program);
    let built = libraries();
    match linked {
        Linked::Shared => {
            // What a program looks for is the name inside of the library.
            let name = into.join("libretime.so.0");
            if !name.exists() {
                std::os::unix::fs::symlink(built.join("libretime.so"), &name).unwrap();
            }
            compile.arg(&name);
            compile.arg(format!("-Wl,-rpath,{}", into.display()));
        }
        Linked::Static => {
            compile.arg(built.join("libretime.a"));
            compile.args(["-lpthread", "-ldl", "-lm", "-lrt", "-lutil", "-lgcc_s"]);
        }
    }
    run(&mut compile);
    program
}
