//! Files that the command line names and that may be pipes, as the shell gives them for
//! `<(...)` and `>(...)`.
//!
//! At the other end of a pipe somebody may never come, and the system waits for that with
//! no regard to signals. So a thread of its own waits, while this one hears an interrupt;
//! what is read is read once, and is small.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use retime::{NotRegular, open_regular, presence};

use crate::error::CliError;
use crate::progress::check_interrupt;

/// How long an interrupt may stay unheard.
const PATIENCE: Duration = Duration::from_millis(50);

/// Opens a regular file or a pipe for reading.
pub(crate) fn read(path: &Path) -> Result<Box<dyn Read>, CliError> {
    let failed = |error| CliError::io(path, error);
    if !is_pipe(path).map_err(failed)? {
        let file = open_regular(path).map_err(failed)?;
        return Ok(Box::new(BufReader::new(file)));
    }
    let pipe = path.to_owned();
    let content = waiting(move || {
        let mut content = Vec::new();
        File::open(pipe)?.read_to_end(&mut content)?;
        Ok(content)
    })?;
    Ok(Box::new(Cursor::new(content.map_err(failed)?)))
}

/// The text that a regular file or a pipe holds.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = read(path)?.read_to_string(&mut text);
    read.map_err(|error| CliError::io(path, error))?;
    Ok(text)
}

/// Opens a pipe or a device for writing.
pub(crate) fn open_to_write(path: &Path) -> Result<File, CliError> {
    let kind = presence::kind(path).map_err(|error| CliError::io(path, error))?;
    if let Some(found @ NotRegular::Directory) = kind.and_then(NotRegular::of) {
        return Err(CliError::io(path, found.into()));
    }
    let pipe = path.to_owned();
    let opened = waiting(move || File::options().write(true).open(pipe))?;
    opened.map_err(|error| CliError::io(path, error))
}

fn is_pipe(path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        Ok(presence::kind(path)?.is_some_and(|it| it.is_fifo()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(false)
    }
}

/// Does what may wait for somebody else, unless an interrupt comes first. The thread that
/// waits then is left behind; it holds nothing but the pipe.
fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<io::Result<T>, CliError> {
    let (told, done) = channel();
    // Nobody listens any more after an interrupt.
    let started = thread::Builder::new().spawn(move || {
        let _ = told.send(work());
    });
    if let Err(error) = started {
        return Ok(Err(error));
    }
    loop {
        match done.recv_timeout(PATIENCE) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Timeout) => check_interrupt()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(io::Error::other("the thread that reads it has failed")));
            }
        }
    }
}
