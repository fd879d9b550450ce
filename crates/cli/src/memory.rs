//! Memory that runs out is an error like others.
//!
//! In Rust an allocation that fails ends the process on the spot, and nothing in it can say
//! more or tidy up. So where memory is limited, by `--max-memory` or by limits of the shell
//! (`ulimit -v`, `ulimit -d`), the work is done by a second process of the same command;
//! the first one waits, passes interrupts on, and if the second one dies removes what that
//! leaves behind and says what would help:
//!
//! ```text
//!   retime --max-memory 1GiB ...       sets the limit, starts
//!    \-> retime (supervised) ...       does the work; dies where it wants more
//! ```
//!
//! What a trace needs follows from how many of its events take part in communication. One
//! location of middling size says about how many that are, if the format can read it alone:
//!
//! ```text
//!   needed >= 32 bytes * its events that communicate * bytes of all / bytes of it
//! ```
//!
//! If even that is more than is allowed, the command ends before it reads the others.

use std::path::Path;
use std::str::FromStr;

use clap::Args;
use retime::LocationIndex;
use retime::format::Format;

use crate::error::CliError;
use crate::progress::Interrupts;

/// Bytes for each event that communicates, at least: `check` was measured to take between
/// 36 and 120, `correct` up to 190 where clocks are hard to align.
const LEAST_PER_NODE: u64 = 32;

/// A limit below that leaves no room for the program itself.
const LEAST: u64 = 16 << 20;

/// How much memory may be used.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct MemoryArgs {
    /// Fail rather than use more memory, such as 500MB or 4GiB. A trace takes some 40 to 190
    /// bytes for each of its events that communicate
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_memory: Option<Size>,
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let units: [(&str, u64); 8] = [
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("TiB", 1 << 40),
            ("kB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("TB", 1_000_000_000_000),
        ];
        let bytes = units.iter().find_map(|(unit, factor)| {
            let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
            (number >= 0.0).then_some((number * *factor as f64) as u64)
        });
        match bytes {
            Some(bytes) if bytes >= LEAST => Ok(Self(bytes)),
            Some(_) => Err(format!(
                "\"{text}\" is less than the program itself needs, {}",
                shown(LEAST)
            )),
            None => Err(format!(
                "\"{text}\" is no size of memory: write a number with MB, MiB, GB or GiB, such as 4GiB"
            )),
        }
    }
}

/// Bytes as people read them.
fn shown(bytes: u64) -> String {
    format!("{} MiB", retime::group_digits(bytes.div_ceil(1 << 20)))
}

/// Fails if a trace needs more memory than may be used, before it is read as a whole.
pub(crate) fn check(path: &Path, format: &dyn Format) -> Result<(), CliError> {
    let Some(limit) = limit() else {
        return Ok(());
    };
    let Some(communicating) = estimate(path, format)? else {
        return Ok(());
    };
    let least = LEAST_PER_NODE.saturating_mul(communicating);
    if least <= limit {
        return Ok(());
    }
    let message = format!(
        "about {} communicate, which takes at least {} of memory; {}",
        retime::plural(communicating, "event"),
        shown(least),
        what_would_help(limit)
    );
    Err(CliError::input(path, message))
}

/// About how many events communicate, if one location can be read alone.
fn estimate(path: &Path, format: &dyn Format) -> Result<Option<u64>, CliError> {
    let Some(parts) = format.open_in_parts(path, &Interrupts) else {
        return Ok(None);
    };
    let parts = parts?;
    let sizes = parts.sizes();
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|&it| sizes[it]);
    let Some(&middle) = by_size.get(sizes.len() / 2) else {
        return Ok(None);
    };
    let part = [LocationIndex(middle as u32)];
    let read = parts.scan_part(&part, false, &Interrupts)?;
    let found: usize = read.locations.iter().map(|it| it.log.len()).sum();
    let all: u64 = sizes.iter().sum();
    let share = all as f64 / sizes[middle].max(1) as f64;
    Ok(Some((found as f64 * share) as u64))
}

fn what_would_help(limit: u64) -> String {
    format!(
        "no more than {} may be used here: raise --max-memory or ulimit -v, or work on a machine \
         with more",
        shown(limit)
    )
}

/// The bytes that this process may allocate, if they are limited.
#[cfg(target_os = "linux")]
fn limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    let limits = [Resource::As, Resource::Data].map(|it| getrlimit(it).current);
    limits.into_iter().flatten().min()
}

/// Elsewhere nothing is known of it.
#[cfg(not(target_os = "linux"))]
fn limit() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
pub(crate) use supervision::supervise;

/// Elsewhere memory is as the system has it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn supervise(_: Option<Size>, _: &[&Path]) -> Result<Supervision, CliError> {
    Ok(Supervision::Alone)
}

/// Which part this process has.
pub(crate) enum Supervision {
    /// It does the work, and nobody watches.
    Alone,
    /// It does the work, and another process waits for it.
    Supervised,
    /// It has waited; the exit code of the process that did the work.
    Done(u8),
}

#[cfg(target_os = "linux")]
mod supervision {
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

    use rustix::process::{
        Pid, Resource, Rlimit, Signal, kill_process, set_parent_process_death_signal, setrlimit,
    };

    use super::{Size, Supervision, limit, what_would_help};
    use crate::call;
    use crate::error::{CliError, FAILURE};
    use crate::staging;

    /// Tells the second process that it is one.
    const MARK: &str = "RETIME_SUPERVISED";

    /// Where memory is limited, lets a second process do the work. If that dies, nothing is
    /// left beside the `targets`.
    pub(crate) fn supervise(
        max_memory: Option<Size>,
        targets: &[&Path],
    ) -> Result<Supervision, CliError> {
        if std::env::var_os(MARK).is_some() {
            // Who waits for it may be killed.
            let _ = set_parent_process_death_signal(Some(Signal::TERM));
            return Ok(Supervision::Supervised);
        }
        if let Some(Size(bytes)) = max_memory {
            let allowed = limit().map_or(bytes, |limit| limit.min(bytes));
            let limits = Rlimit {
                current: Some(allowed),
                maximum: Some(allowed),
            };
            let set = setrlimit(Resource::Data, limits);
            set.map_err(|error| CliError::Usage(format!("--max-memory: {error}")))?;
        }
        let Some(limit) = limit() else {
            return Ok(Supervision::Alone);
        };
        let failed = |error| CliError::Usage(format!("cannot start a process: {error}"));
        let program = match call::current() {
            Some(call) => call.program.clone(),
            None => vec![std::env::current_exe().map_err(failed)?.into()],
        };
        let (program, first) = program.split_first().ok_or_else(|| {
            CliError::Usage("memory cannot be limited here: use the command retime".into())
        })?;
        let mut command = Command::new(program);
        // What is said of an allocation that fails is that it failed, not where.
        command
            .args(first)
            .args(call::words())
            .env(MARK, "1")
            .env("RUST_BACKTRACE", "0");
        pass_interrupts_on();
        let mut worker = command.spawn().map_err(failed)?;
        starts(&worker);
        let status = worker.wait().map_err(failed)?;
        if let Some(code) = status.code() {
            return Ok(Supervision::Done(u8::try_from(code).unwrap_or(FAILURE)));
        }
        for target in targets {
            staging::clean_up_after(target);
        }
        if ASKED.load(Ordering::SeqCst) {
            return Err(CliError::Interrupted);
        }
        let message = match status.signal().and_then(Signal::from_named_raw) {
            // So ends a process of Rust that gets no memory, or none for its stack.
            Some(Signal::ABORT | Signal::SEGV) => {
                format!("out of memory: {}", what_would_help(limit))
            }
            _ => format!("the process that did the work was ended: {status}"),
        };
        Err(CliError::Usage(message))
    }

    /// The process that does the work; 0 before there is one.
    static WORKER: AtomicI32 = AtomicI32::new(0);
    /// True once an interrupt has asked the worker to stop.
    static ASKED: AtomicBool = AtomicBool::new(false);

    /// The first interrupt lets the worker stop in an orderly way, a second one at once.
    fn pass_interrupts_on() {
        // Without a handler the worker hears of the end of this process.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::SeqCst) {
                send(Signal::KILL);
            } else {
                send(Signal::TERM);
            }
        });
    }

    fn starts(worker: &Child) {
        let id = i32::try_from(worker.id()).unwrap_or_default();
        WORKER.store(id, Ordering::SeqCst);
        if ASKED.load(Ordering::SeqCst) {
            send(Signal::TERM);
        }
    }

    fn send(signal: Signal) {
        if let Some(worker) = Pid::from_raw(WORKER.load(Ordering::SeqCst)) {
            // It may have ended.
            let _ = kill_process(worker, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!("16MiB".parse(), Ok(Size(16 << 20)));
        assert_eq!("1.5 GB".parse(), Ok(Size(1_500_000_000)));
        for wrong in ["", "5", "-1GB", "nanGB", "15MiB", "0", "2GiB/s", "much"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }
}
