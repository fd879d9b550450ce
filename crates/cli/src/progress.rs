//! Progress on a terminal, and the interrupt that stops the work.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use retime::Monitor;

mod bar;
mod course;

pub(crate) use self::course::Stage;

use self::bar::Bar;
use self::course::Course;
use crate::call::{self, Watch};
use crate::error::CliError;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The effect of a second interrupt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It ends the program at once.
    Ends,
    /// Nothing more than the first one: somebody else decides.
    Waits,
}

/// Signals so soon after the first one are the same wish, told twice: `timeout` sends its signal to
/// the command and to its process group. Nobody presses Ctrl-C twice as fast and means more by it.
const SAME: Duration = Duration::from_millis(250);

/// Lets Ctrl-C (and SIGTERM, SIGHUP) stop the work in an orderly way.
pub(crate) fn catch_interrupts(again: Again) {
    let mut first: Option<Instant> = None;
    let handler = move || {
        INTERRUPTED.store(true, Ordering::SeqCst);
        if is_second(&mut first, Instant::now()) && again == Again::Ends {
            std::process::exit(i32::from(crate::error::INTERRUPTED));
        }
    };
    // Without a handler an interrupt still leaves the target as it was.
    let _ = ctrlc::set_handler(handler);
}

/// True if a signal is a second wish, and not the `first` one told again.
fn is_second(first: &mut Option<Instant>, now: Instant) -> bool {
    now.saturating_duration_since(*first.get_or_insert(now)) > SAME
}

/// True if the user wants to stop.
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

/// The bar of the command that this process runs, where it has several stages.
static WHOLE: Mutex<Option<Arc<Bar>>> = Mutex::new(None);

fn whole() -> Option<Arc<Bar>> {
    WHOLE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Shows one bar for all stages of a command, until it is dropped.
pub(crate) struct Whole(());

impl Whole {
    /// With the stages that the command will have, as far as that is known.
    pub(crate) fn of(stages: &[Stage], quiet: bool) -> Self {
        // Several calls may be under way in a process of somebody else, who hears of stages.
        if call::watch().is_none() {
            let bar = Bar::new(Course::of(stages), target(quiet));
            *WHOLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(bar));
        }
        Self(())
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        let bar = WHOLE.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(bar) = bar {
            bar.clear();
        }
    }
}

/// A stage of the work on a bar; invisible in pipes and with `--quiet`. Who watches the
/// call hears of its bytes instead.
pub(crate) struct Progress {
    bar: Arc<Bar>,
    is_part: bool,
    watch: Option<Arc<dyn Watch>>,
    notices: Mutex<Vec<String>>,
}

impl Progress {
    /// A stage of so many bytes.
    pub(crate) fn new(stage: Stage, bytes: u64, quiet: bool) -> Self {
        let whole = whole();
        let is_part = whole.is_some();
        let own = || Arc::new(Bar::new(Course::of(&[stage]), target(quiet)));
        let bar = whole.unwrap_or_else(own);
        bar.enter(stage, Some(bytes));
        let watch = call::watch();
        if let Some(watch) = &watch {
            watch.stage(stage.name(), bytes);
        }
        Self {
            bar,
            is_part,
            watch,
            notices: Mutex::default(),
        }
    }

    /// Ends the stage; what a user should know of what was done in it.
    pub(crate) fn end(self) -> Vec<String> {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notices = std::mem::take(&mut *notices);
        // Threads tell them in any order.
        notices.sort_unstable();
        notices
    }

    /// A stage of which nobody knows how long it takes; it is shown as part of a command.
    pub(crate) fn open(stage: Stage) -> Self {
        let whole = whole();
        let is_part = whole.is_some();
        let own = || Arc::new(Bar::new(Course::of(&[stage]), ProgressDrawTarget::hidden()));
        let bar = whole.unwrap_or_else(own);
        bar.enter(stage, None);
        Self {
            bar,
            is_part,
            watch: call::watch(),
            notices: Mutex::default(),
        }
    }
}

impl Monitor for Progress {
    fn advance(&self, bytes: u64) {
        self.bar.advance(bytes);
        if let Some(watch) = &self.watch {
            watch.advance(bytes);
        }
    }

    fn announce(&self, bytes: u64) {
        self.bar.announce(bytes);
        if let Some(watch) = &self.watch {
            watch.announce(bytes);
        }
    }

    fn notice(&self, notice: &str) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        notices.push(notice.to_owned());
    }

    fn cancelled(&self) -> bool {
        self.bar.show();
        interrupted() || self.watch.as_ref().is_some_and(|it| it.cancelled())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if !self.is_part {
            self.bar.clear();
        }
    }
}

/// Hears of interrupts alone.
pub(crate) struct Interrupts;

impl Monitor for Interrupts {
    fn cancelled(&self) -> bool {
        interrupted()
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
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {wide_msg}") {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_follow_at_once_are_one_wish() {
        let (mut first, start) = (None, Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        assert!(!is_second(&mut first, at(0)));
        assert!(!is_second(&mut first, at(1)));
        assert!(!is_second(&mut first, at(250)));
        assert!(is_second(&mut first, at(251)));
        assert!(is_second(&mut first, at(10_000)));
    }
}
