//! The browser of whoever runs the command.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// The program that opens an address in the browser of the desktop.
const DESKTOP: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens an address in the browser that `$BROWSER` names, else in that of the desktop; true if one
/// was started. It goes on by itself, and says nothing here.
pub(super) fn open(address: &str) -> bool {
    let chosen = env::var_os("BROWSER").filter(|it| !it.is_empty());
    let program = chosen.unwrap_or_else(|| OsString::from(DESKTOP));
    let mut command = Command::new(program);
    // A group of its own, so that Ctrl-C ends the viewer and not the browser with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}
