//! Progress on a terminal, and the interrupt that stops the work.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use retime::Monitor;

use crate::call::{self, Watch};
use crate::error::CliError;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What a second interrupt does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It ends the program at once.
    Ends,
    /// Nothing more than the first one: somebody else decides.
    Waits,
}

/// Lets Ctrl-C (and SIGTERM, SIGHUP) stop the work in an orderly way.
pub(crate) fn catch_interrupts(again: Again) {
    let handler = move || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) && again == Again::Ends {
            std::process::exit(i32::from(crate::error::INTERRUPTED));
        }
    };
    // Without a handler an interrupt still leaves the target as it was.
    let _ = ctrlc::set_handler(handler);
}

/// Whether the user wants to stop.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst) || call::cancelled()
}

/// Fails once the user wants to stop.
pub(crate) fn check_interrupt() -> Result<(), CliError> {
    if interrupted() {
        Err(CliError::Interrupted)
    } else {
        Ok(())
    }
}

fn target(quiet: bool) -> ProgressDrawTarget {
    let visible = !quiet && std::io::stderr().is_terminal();
    if visible {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// A bar over the bytes of one stage; invisible in pipes and with `--quiet`. Who watches
/// the call hears of them instead.
pub(crate) struct Progress {
    bar: ProgressBar,
    watch: Option<Arc<dyn Watch>>,
}

impl Progress {
    /// A bar for `bytes` of work, called `stage`.
    pub(crate) fn new(stage: &'static str, bytes: u64, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), target(quiet));
        let style = ProgressStyle::with_template(
            "{msg:<10} [{bar:32}] {percent:>3}%  {bytes_per_sec}, {eta} left",
        );
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(stage);
        let watch = call::watch();
        if let Some(watch) = &watch {
            watch.stage(stage, bytes);
        }
        Self { bar, watch }
    }
}

impl Monitor for Progress {
    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        if let Some(watch) = &self.watch {
            watch.advance(bytes);
        }
    }

    fn announce(&self, bytes: u64) {
        self.bar.inc_length(bytes);
        if let Some(watch) = &self.watch {
            watch.announce(bytes);
        }
    }

    fn cancelled(&self) -> bool {
        interrupted() || self.watch.as_ref().is_some_and(|it| it.cancelled())
    }
}

/// Hears of interrupts alone.
pub(crate) struct Interrupts;

impl Monitor for Interrupts {
    fn cancelled(&self) -> bool {
        interrupted()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A line that says which of several steps is under way; invisible in pipes and
/// with `--quiet`.
pub(crate) struct Steps {
    bar: ProgressBar,
    what: &'static str,
}

impl Steps {
    /// Steps of `what`.
    pub(crate) fn new(what: &'static str, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, target(quiet));
        if let Ok(style) = ProgressStyle::with_template("{msg} ({elapsed})") {
            bar.set_style(style);
        }
        Self { bar, what }
    }

    /// Names the next step; whether it is still wanted.
    pub(crate) fn go_on(&self, next: &str) -> bool {
        self.bar.set_message(format!("{}: {next}", self.what));
        self.bar.tick();
        !interrupted()
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
