//! A command that another program calls in its own process.
//!
//! Several can be under way at a time, on threads of their own, so each knows by itself
//! how it was called, who watches it, and whether it is to stop. The threads that work
//! for it inherit that. A command that has a process of its own needs none of this.

use std::cell::RefCell;
use std::ffi::OsString;
use std::sync::Arc;

/// Who watches a call, in place of a terminal. Asked and told from many threads at once.
pub trait Watch: Send + Sync {
    /// A stage of the work begins, in one word, which takes so many bytes.
    fn stage(&self, name: &'static str, bytes: u64);
    /// So many more bytes of the stage are done.
    fn advance(&self, bytes: u64);
    /// The stage takes so many bytes besides.
    fn announce(&self, bytes: u64);
    /// True to give up; asked every few milliseconds.
    fn cancelled(&self) -> bool;
}

/// How a command was called.
#[derive(Clone)]
pub struct Call {
    /// The command line that was asked for, without the name of the command.
    pub words: Vec<OsString>,
    /// The program and the words before those above that do the same in another process.
    pub program: Vec<OsString>,
    /// Who watches; nobody if the command has the process for itself.
    pub watch: Option<Arc<dyn Watch>>,
}

thread_local! {
    static CALL: RefCell<Option<Arc<Call>>> = const { RefCell::new(None) };
}

/// The call that this thread works for, if there is one.
pub(crate) fn current() -> Option<Arc<Call>> {
    CALL.with_borrow(Clone::clone)
}

/// Lets this thread work for a call until its end.
pub(crate) fn join(call: Option<Arc<Call>>) {
    CALL.with_borrow_mut(|own| *own = call);
}

/// Does `work` for a call.
pub(crate) fn within<T>(call: Call, work: impl FnOnce() -> T) -> T {
    let before = current();
    join(Some(Arc::new(call)));
    let done = work();
    join(before);
    done
}

/// Who watches what this thread does.
pub(crate) fn watch() -> Option<Arc<dyn Watch>> {
    CALL.with_borrow(|call| call.as_ref()?.watch.clone())
}

/// True if the call that this thread works for is to stop.
pub(crate) fn cancelled() -> bool {
    CALL.with_borrow(|call| {
        let watch = call.as_ref().and_then(|it| it.watch.as_ref());
        watch.is_some_and(|it| it.cancelled())
    })
}

/// The words of the command line, without the name of the command.
pub(crate) fn words() -> Vec<OsString> {
    match current() {
        Some(call) => call.words.clone(),
        None => std::env::args_os().skip(1).collect(),
    }
}
