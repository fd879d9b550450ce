//! Building programs, and running them under the library.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The path in a variable that `make test-pmpi` sets.
pub(crate) fn given(name: &str) -> PathBuf {
    let path = std::env::var_os(name);
    path.unwrap_or_else(|| panic!("{name} is not set; run make test-pmpi"))
        .into()
}

/// The built command.
pub(crate) fn retime() -> PathBuf {
    given("RETIME")
}

/// A command of the MPI that is tested, such as `mpicc`; `RETIME_MPI` says which of several: Debian
/// has them side by side as `mpicc.openmpi` and `mpicc.mpich`.
pub(crate) fn of_mpi(command: &str) -> String {
    let suffix = std::env::var("RETIME_MPI").unwrap_or_default();
    format!("{command}{suffix}")
}

/// Compiles a program, linked with the library if it names it, else to be loaded into.
pub(crate) fn compiled(dir: &Path, compiler: &str, source: &Path, options: &[&str]) -> PathBuf {
    let to = dir.join(source.file_stem().unwrap());
    let text = fs::read_to_string(source).unwrap();
    let library = text.contains("retime_now").then(|| given("RETIME_PMPI"));
    let output = Command::new(compiler)
        .args(["-O1", "-pthread", "-I"])
        .arg(env!("CARGO_MANIFEST_DIR"))
        .args(options)
        .arg(source)
        .arg("-o")
        .arg(&to)
        .args(library)
        .current_dir(dir)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", source.display());
    to
}

/// One of the programs beside these tests.
pub(crate) fn program(dir: &Path, name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name);
    compiled(dir, &of_mpi("mpicc"), &source, &[])
}

/// True if the MPI that is tested is MPICH (its `mpirun` is Hydra), not Open MPI.
pub(crate) fn is_mpich() -> bool {
    let output = Command::new(of_mpi("mpirun"))
        .arg("--version")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).contains("HYDRA")
}

/// `mpirun` with so many processes, without the library.
pub(crate) fn mpirun(dir: &Path, size: u32) -> Command {
    let mut command = Command::new(of_mpi("mpirun"));
    if !is_mpich() {
        command.args(["--quiet", "--oversubscribe", "--allow-run-as-root"]);
    }
    // Runs of Open MPI share a directory in /tmp, and of several at a time now and then one cannot
    // make its own in there (issue 8510 of Open MPI).
    command
        .env("OMPI_MCA_orte_tmpdir_base", dir)
        .arg("-n")
        .arg(size.to_string())
        .current_dir(dir)
        .stdin(Stdio::null());
    command
}

/// Has what follows run under the library, with these variables.
pub(crate) fn under(mut command: Command, variables: &[(&str, &str)]) -> Command {
    let mut preload = std::ffi::OsString::from("LD_PRELOAD=");
    preload.push(given("RETIME_PMPI"));
    command.arg("env").arg(preload);
    command.args(
        variables
            .iter()
            .map(|(name, value)| format!("{name}={value}")),
    );
    command
}

/// Runs a program under the library.
pub(crate) fn run<A: AsRef<OsStr>>(
    dir: &Path,
    size: u32,
    variables: &[(&str, &str)],
    program: &Path,
    arguments: &[A],
) -> Output {
    let mut command = under(mpirun(dir, size), variables);
    command.arg(program).args(arguments).output().unwrap()
}

/// What a program has said that had to succeed.
#[track_caller]
pub(crate) fn succeeded(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {said}{out}", output.status);
    out.into_owned()
}
