//! Progress of long operations, and how to stop them.

/// Watches an operation that reads a whole trace, from many threads at once.
///
/// The unit type watches nothing.
///
/// ```
/// use retime_otf2::Monitor;
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
/// assert!(!bytes.cancelled());
/// ```
pub trait Monitor: Sync {
    /// So many more bytes of the trace were read.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether to give up with [`Error::Interrupted`](crate::Error::Interrupted).
    /// Asked once per chunk.
    fn cancelled(&self) -> bool {
        false
    }
}

impl Monitor for () {}
