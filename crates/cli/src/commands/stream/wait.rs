//! Waiting for input, without being deaf to all else.
//!
//! A read that waits for a silent producer cannot be ended by a flag, and a consumer that
//! is gone shows at the next write only. So before each read that may wait, both are
//! watched. Where there is no `poll`, a read waits until something comes.

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// A read does not wait, be it for the end of the input.
    Input,
    /// The user wants to stop.
    Interrupt,
    /// Nobody is left who reads the output.
    NobodyReads,
}

#[cfg(unix)]
pub(super) use watched::for_input;

/// Waits until standard input has something.
#[cfg(not(unix))]
pub(super) fn for_input() -> std::io::Result<Woken> {
    Ok(if crate::progress::interrupted() {
        Woken::Interrupt
    } else {
        Woken::Input
    })
}

#[cfg(unix)]
mod watched {
    use std::io;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    use super::Woken;
    use crate::progress::interrupted;

    /// So often an interrupt is looked for: a quarter of the time after which somebody
    /// who pressed Ctrl-C thinks that nobody heard.
    const LOOK: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };

    /// Waits until standard input has something. What has come is read even if nobody
    /// is left to hear of it, so that how much is read of a file does not depend on time.
    pub(in super::super) fn for_input() -> io::Result<Woken> {
        let (input, output) = (io::stdin(), io::stdout());
        loop {
            if interrupted() {
                return Ok(Woken::Interrupt);
            }
            // Asked for nothing, it tells of errors and ends.
            let mut watched = [
                PollFd::new(&input, PollFlags::IN),
                PollFd::new(&output, PollFlags::empty()),
            ];
            match poll(&mut watched, Some(&LOOK)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(why(&watched)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn why([input, output]: &[PollFd<'_>; 2]) -> Woken {
        let is_left = output.revents().intersects(PollFlags::ERR | PollFlags::HUP);
        if is_left && input.revents().is_empty() {
            Woken::NobodyReads
        } else {
            // Or one of them is nothing that can be watched.
            Woken::Input
        }
    }
}
