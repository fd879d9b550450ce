//! Ways out where the system refuses.

use std::error::Error;
use std::io;

use crate::error::CliError;

/// Lets the limit on the size of files be an error of the write that exceeds it, where by
/// default it kills the process. To be called before any thread is started.
pub(crate) fn outlive_the_limit_of_files() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        // If it cannot be held back, the kill still leaves the target as it was.
        let _ = SigSet::from_iter([Signal::SIGXFSZ]).thread_block();
    }
}

/// Names a way out of an error, if its cause shows one.
pub(crate) fn of(error: &CliError) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::FileTooLarge) => return Some(too_large()),
            Some(io::ErrorKind::AddrInUse) => {
                return Some("give another --port, or none for any that is free".into());
            }
            _ => {}
        }
        cause = error.source();
    }
    None
}

fn too_large() -> String {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, getrlimit};
        if let Some(limit) = getrlimit(Resource::Fsize).current {
            return format!(
                "no file may have more than {} here; raise that limit (ulimit -f unlimited)",
                retime::plural(limit, "byte")
            );
        }
    }
    "the file system takes no larger files; write to another one".into()
}
