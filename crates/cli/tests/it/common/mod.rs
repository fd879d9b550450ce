//! Runs the built command in a directory of its own.
pub(crate) mod directory;
pub(crate) mod golden;
pub(crate) mod judge;
pub(crate) mod times;
pub(crate) mod traces;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The command under test.
pub(crate) const RETIME: &str = env!("CARGO_BIN_EXE_retime");

/// The command of an example, which is built where only these tests are.
pub(crate) fn example(name: &str) -> PathBuf {
    let built = Path::new(RETIME).with_file_name("examples").join(name);
    if !built.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "retime-cli"]);
        let status = cargo.args(["--example", name]).status();
        assert!(status.unwrap().success());
    }
    built
}

/// What a command did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Outcome {
    /// Fails unless the command ended with this exit code and no message.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!((self.code, &*self.stderr), (Some(code), ""), "{self:#?}");
        self
    }
}

/// A temporary directory in which commands run, so that paths in their output
/// are relative and the same everywhere.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// In memory where the system has a place for that, to spare the disk.
    pub(crate) fn in_memory() -> Self {
        tempfile::tempdir_in("/dev/shm").map_or_else(|_| Self::new(), Self)
    }

    /// With a directory `run` of the profiles of a job on one host, of each rank by its events.
    pub(crate) fn with_profiles(events: &[Vec<String>]) -> Self {
        let scratch = Self::new();
        fs::create_dir(scratch.join("run")).unwrap();
        let ranks = events.len();
        for (rank, events) in events.iter().enumerate() {
            let text = format!(
                r#"{{"distributedInfo": {{"rank": {rank}, "world_size": {ranks}, "backend": "nccl"}},
                  "host_name": "node0", "traceEvents": [{}]}}"#,
                events.join(",\n")
            );
            scratch.write(&format!("run/rank{rank}.json"), &text);
        }
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.join(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap()
    }

    /// The names of all entries, hidden ones included, sorted.
    pub(crate) fn entries(&self) -> Vec<String> {
        directory::entries(self.path())
    }

    /// Runs retime with these words as arguments.
    pub(crate) fn retime(&self, arguments: &str) -> Outcome {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs it and fails unless it succeeds without a word on stderr.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &str) -> String {
        self.retime(arguments).expect_code(0).stdout
    }

    /// The command, not yet started.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = self.program(RETIME);
        command.args(arguments.split_whitespace());
        command
    }

    /// Any program, in this directory and a plain environment.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path())
            .stdin(Stdio::null())
            .env("LC_ALL", "C");
        for variable in [
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "NO_COLOR",
            "COLUMNS",
            "RAYON_NUM_THREADS",
            "RUST_BACKTRACE",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a shell script in which `$RETIME` is the command.
    pub(crate) fn shell(&self, script: &str) -> Outcome {
        let mut command = self.program("sh");
        command.args(["-c", script]).env("RETIME", RETIME);
        command.output().unwrap().into()
    }
}

/// The JSON lines of messages between locations: time, `send` or `receive`, and number of each.
pub(crate) fn as_lines<const N: usize>(events: [Vec<(i64, &str, i64)>; N]) -> String {
    let mut lines = String::new();
    for (location, mut events) in events.into_iter().enumerate() {
        events.sort_unstable();
        for (time, kind, message) in events {
            let event = serde_json::json!({
                "location": location, "time": time, "type": kind, "message": message.to_string(),
            });
            lines += &event.to_string();
            lines.push('\n');
        }
    }
    lines
}
