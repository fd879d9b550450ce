//! The browser of whoever runs the command.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// What opens an address in the browser of the desktop.
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
    Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}
