//! Progress of long work, and how to stop it.

use std::io::{self, Read};

/// Watches long work, from many threads at once.
///
/// The unit type watches nothing.
///
/// ```
/// use retime_model::Monitor;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[derive(Default)]
/// struct Bytes(AtomicU64);
/// impl Monitor for Bytes {
///     fn advance(&self, bytes: u64) {
///         self.0.fetch_add(bytes, Ordering::Relaxed);
///     }
/// }
///
/// let bytes = Bytes::default();
/// bytes.advance(1_048_576);
/// assert!(bytes.check().is_ok());
/// ```
pub trait Monitor: Sync {
    /// So many more bytes of a trace were read.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }

    /// So many bytes will be read besides those that were announced.
    fn announce(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Takes up what a user should know of a copy, in words, such as what it lacks.
    fn notice(&self, notice: &str) {
        let _ = notice;
    }

    /// True to give up. Asked every few milliseconds; what was begun is then
    /// left without a result.
    fn cancelled(&self) -> bool {
        false
    }

    /// Fails once the work is to be given up.
    fn check(&self) -> Result<(), Cancelled> {
        if self.cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}

impl Monitor for () {}

/// A reader whose progress is watched.
#[allow(missing_debug_implementations, reason = "a monitor has none")]
pub struct Watched<'a, R> {
    /// The reader that is watched.
    pub reader: R,
    /// Who hears of it.
    pub monitor: &'a dyn Monitor,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.monitor.advance(count as u64);
        Ok(count)
    }
}

/// The work was given up because its [`Monitor`] said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;
