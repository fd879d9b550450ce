//! A bar on a terminal, which fits 20 columns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::course::{Course, Reached, Stage};

/// From one picture to the next, in milliseconds.
const PAUSE: u64 = 100;
/// The length of the whole bar in steps; finer than any terminal.
const LENGTH: u64 = 10_000;

/// One bar for the stages of a command.
pub(super) struct Bar {
    drawn: ProgressBar,
    start: Instant,
    /// When it was drawn last, in milliseconds since the start.
    drawn_at: AtomicU64,
    /// Bytes of the stage that are done, and all of them.
    done: AtomicU64,
    bytes: AtomicU64,
    course: Mutex<Course>,
}

impl Bar {
    pub(super) fn new(course: Course, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(LENGTH), target);
        // What is said comes first, and the bar takes the columns that are left.
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar}") {
            bar.set_style(style.progress_chars("=>-"));
        }
        Self {
            drawn: bar,
            start: Instant::now(),
            drawn_at: AtomicU64::new(0),
            done: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            course: Mutex::new(course),
        }
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stage begins, of so many bytes if that is known.
    pub(super) fn enter(&self, stage: Stage, bytes: Option<u64>) {
        self.course().enter(stage, self.start.elapsed());
        self.done.store(0, Ordering::Relaxed);
        self.bytes.store(bytes.unwrap_or(0), Ordering::Relaxed);
        self.draw();
    }

    pub(super) fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
        self.show();
    }

    pub(super) fn announce(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Draws it again, unless it was drawn just before. Cheap enough to be called by
    /// whoever asks whether to go on.
    pub(super) fn show(&self) {
        if self.drawn.is_hidden() {
            return;
        }
        let now = self.start.elapsed().as_millis() as u64;
        let last = self.drawn_at.load(Ordering::Relaxed);
        let ordering = Ordering::Relaxed;
        // Of several threads one draws.
        if now >= last + PAUSE
            && self
                .drawn_at
                .compare_exchange(last, now, ordering, ordering)
                .is_ok()
        {
            self.draw();
        }
    }

    fn draw(&self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        let through = (bytes > 0).then(|| done as f64 / bytes as f64);
        let course = self.course();
        let (reached, stage) = (
            course.reached(through, self.start.elapsed()),
            course.stage(),
        );
        drop(course);
        self.drawn
            .set_position((reached.part * LENGTH as f64) as u64);
        self.drawn.set_message(text(stage, reached));
    }

    pub(super) fn clear(&self) {
        self.drawn.finish_and_clear();
    }
}

/// 18 columns at most, so that one is left for the bar in 20.
fn text(stage: Option<Stage>, reached: Reached) -> String {
    let name = stage.map_or("", Stage::name);
    let percent = (100.0 * reached.part) as u32;
    let left = reached.remaining.map(rounded).unwrap_or_default();
    format!("{name:<9} {percent:>3}% {left:>3}")
}

/// In three columns.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..=99 => format!("{seconds}s"),
        100..=5_969 => format!("{}m", (seconds + 30) / 60),
        5_970..=358_199 => format!("{}h", (seconds + 1_800) / 3_600),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_leaves_room_for_a_bar_in_20_columns() {
        let last = [99, 5_969, 358_199];
        let first = last.map(|it| it + 1);
        for seconds in [0, u64::MAX / 4].into_iter().chain(last).chain(first) {
            let reached = Reached {
                part: 1.0,
                remaining: Some(Duration::from_secs(seconds)),
            };
            let said = text(Some(Stage::Verifying), reached);
            assert!(said.len() <= 18, "{said:?}");
        }
        let reached = Reached {
            part: 0.25,
            remaining: None,
        };
        assert_eq!(text(Some(Stage::Aligning), reached), "aligning   25%    ");
    }
}
