//! Who watches long work: is told how far it is, and says when to stop.

use std::ffi::{OsString, c_char, c_void};
use std::sync::Arc;

use retime_cli::library;

use crate::border::seen;
use crate::failed::Failed;
use crate::texts::c_text;

/// The watcher of a call. Each function may be NULL, and may be called from several threads at once
/// and until the call returns; none may call this library for the same handle, or leave other than
/// by returning (no longjmp, no exception of C++).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Watch {
    /// Given to each of the functions.
    pub data: *mut c_void,
    /// A stage of the work begins, in one word, which takes so many bytes. The name is gone once
    /// the function has returned.
    pub stage: Option<unsafe extern "C" fn(data: *mut c_void, name: *const c_char, bytes: u64)>,
    /// The stage takes so many bytes besides.
    pub announce: Option<unsafe extern "C" fn(data: *mut c_void, bytes: u64)>,
    /// So many more bytes of the stage are done.
    pub advance: Option<unsafe extern "C" fn(data: *mut c_void, bytes: u64)>,
    /// Other than 0 to give up with `RETIME_STATUS_INTERRUPTED`, leaving nothing behind. It is
    /// asked every few milliseconds.
    pub cancelled: Option<unsafe extern "C" fn(data: *mut c_void) -> i32>,
}

/// The functions of C, for the threads that work.
struct Watching(Watch);

// SAFETY: the header says that functions and data are used by several threads at once.
unsafe impl Send for Watching {}
// SAFETY: as above.
unsafe impl Sync for Watching {}

impl library::Watch for Watching {
    fn stage(&self, name: &'static str, bytes: u64) {
        if let Some(stage) = self.0.stage {
            let name = c_text(name);
            // SAFETY: a function that the caller gave for this.
            unsafe { stage(self.0.data, name.as_ptr(), bytes) }
        }
    }

    fn advance(&self, bytes: u64) {
        if let Some(advance) = self.0.advance {
            // SAFETY: as in `stage`.
            unsafe { advance(self.0.data, bytes) }
        }
    }

    fn announce(&self, bytes: u64) {
        if let Some(announce) = self.0.announce {
            // SAFETY: as in `stage`.
            unsafe { announce(self.0.data, bytes) }
        }
    }

    fn cancelled(&self) -> bool {
        let Some(cancelled) = self.0.cancelled else {
            return false;
        };
        // SAFETY: as in `stage`.
        unsafe { cancelled(self.0.data) != 0 }
    }
}

/// Nobody, for calls that nobody watches: without a watcher they would be those of a command,
/// which shows its progress on a terminal and hears its signals.
struct Nobody;

impl library::Watch for Nobody {
    fn stage(&self, _: &'static str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn announce(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        false
    }
}

/// A call of the command with some words.
///
/// # Safety
///
/// `watch` is NULL or points to a watcher.
pub(crate) unsafe fn call(
    words: Vec<OsString>,
    watch: *const Watch,
) -> Result<library::Call, Failed> {
    let watch: Arc<dyn library::Watch> = if watch.is_null() {
        Arc::new(Nobody)
    } else {
        // SAFETY: as the caller promises.
        Arc::new(Watching(*unsafe { seen(watch, "the watcher") }?))
    };
    Ok(library::Call {
        words,
        program: Vec::new(),
        watch: Some(watch),
    })
}
