//! Several machines in one: each with its own name, network and `/tmp`.
//!
//! Linux can give processes a network and file systems of their own, see `ip-netns(8)` and
//! `unshare(1)`; it takes permission. A switch joins the networks, and what `mpirun` would
//! start by `ssh` is started by a script that enters the machine.
//!
//! ```text
//!  10.77.0.1 retime-PID-1 --+-- switch --+-- 10.77.0.3 retime-PID-3
//!  10.77.0.2 retime-PID-2 --+
//! ```

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Machines that see one directory, until they are dropped.
pub(crate) struct Machines {
    names: Vec<String>,
    switch: String,
    /// Runs a command on one of them.
    enter: PathBuf,
}

/// Whether a command succeeds that is given by its words.
fn succeeds(words: &str) -> bool {
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stderr(Stdio::null());
    command.status().is_ok_and(|it| it.success())
}

impl Machines {
    /// So many, which begin in `dir`, a directory that is not below `/tmp`; `None` without
    /// permission.
    pub(crate) fn new(count: usize, dir: &Path) -> Option<Self> {
        let process = std::process::id();
        let all = Self {
            names: (1..=count)
                .map(|it| format!("retime-{process}-{it}"))
                .collect(),
            switch: format!("retime-{process}-switch"),
            enter: dir.join("enter"),
        };
        all.connect()?;
        let enter = "#!/bin/sh\n\
            # MACHINE COMMAND...: as ssh would, its words are those of a shell.\n\
            machine=$1\n\
            shift\n\
            exec ip netns exec \"$machine\" unshare --uts --mount sh -c \"\
            hostname $machine && mount -t tmpfs none /tmp && cd DIR && $*\"\n";
        fs::write(&all.enter, enter.replace("DIR", dir.to_str()?)).ok()?;
        fs::set_permissions(&all.enter, fs::Permissions::from_mode(0o755)).ok()?;
        let can_enter = all.on(0, "true").status().ok()?.success();
        can_enter.then_some(all)
    }

    fn connect(&self) -> Option<()> {
        let switch = &self.switch;
        let mut steps = vec![
            format!("ip netns add {switch}"),
            format!("ip -n {switch} link add name bridge0 type bridge"),
            format!("ip -n {switch} link set bridge0 up"),
        ];
        let mut hosts = String::from("127.0.0.1 localhost\n");
        for (number, name) in (1..).zip(&self.names) {
            let port = format!("port{number}");
            steps.extend([
                format!("ip netns add {name}"),
                format!(
                    "ip -n {switch} link add name {port} type veth peer name eth0 netns {name}"
                ),
                format!("ip -n {switch} link set {port} master bridge0 up"),
                format!("ip -n {name} addr add 10.77.0.{number}/24 dev eth0"),
                format!("ip -n {name} link set eth0 up"),
                format!("ip -n {name} link set lo up"),
            ]);
            let _ = writeln!(hosts, "10.77.0.{number} {name}");
        }
        for name in &self.names {
            // What `ip netns exec` shows instead of the files in /etc.
            let etc = Path::new("/etc/netns").join(name);
            fs::create_dir_all(&etc).ok()?;
            fs::write(etc.join("hosts"), &hosts).ok()?;
        }
        steps.iter().all(|it| succeeds(it)).then_some(())
    }

    /// What one of them is called.
    pub(crate) fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    /// A shell command on one of them.
    pub(crate) fn on(&self, number: usize, words: &str) -> Command {
        let mut command = Command::new(&self.enter);
        command.arg(&self.names[number]).arg(words);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// The processes that run on one of them.
    pub(crate) fn processes(&self, number: usize) -> Vec<u32> {
        let mut command = Command::new("ip");
        let output = command
            .args(["netns", "pids", &self.names[number]])
            .output();
        let listed = String::from_utf8(output.unwrap().stdout).unwrap();
        listed.lines().filter_map(|it| it.parse().ok()).collect()
    }

    /// Ends what still runs on them.
    pub(crate) fn clear(&self) {
        for process in (0..self.names.len()).flat_map(|it| self.processes(it)) {
            succeeds(&format!("kill -9 {process}"));
        }
    }

    /// The words that start a command on the first of them, of which each machine runs so many.
    pub(crate) fn mpirun(&self, each: usize) -> String {
        let hosts = self.names.iter().map(|it| format!("{it}:{each}"));
        let hosts: Vec<String> = hosts.collect();
        format!(
            "mpirun --quiet --allow-run-as-root --mca plm_rsh_agent {} --host {} -n {} {}",
            self.enter.display(),
            hosts.join(","),
            each * self.names.len(),
            env!("CARGO_BIN_EXE_retime-mpi"),
        )
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.clear();
        for name in self.names.iter().chain([&self.switch]) {
            succeeds(&format!("ip netns del {name}"));
            // Nothing else is there, or it was never made.
            let _ = fs::remove_dir_all(Path::new("/etc/netns").join(name));
        }
    }
}
