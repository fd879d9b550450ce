//! The command `retime`; all of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    retime_cli::run()
}
