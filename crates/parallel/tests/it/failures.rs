//! What one process cannot do, process 0 says in the same words as if it had tried.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retime_model::format::{Format, FormatError, Trace};
use retime_model::{ClockMap, Clocks, Correction, Knot, Monitor, Timestamp};
use retime_otf2_format::Otf2;
use retime_parallel::{Team, open, serve, threads};

use crate::hybrid::{self, RANKS};
use crate::team::{SIZES, with};

fn later(locations: usize) -> Correction {
    let knot = Knot::at(Timestamp(0), Timestamp(7));
    let map = ClockMap::new(vec![knot], vec![]).unwrap();
    Correction::new(Clocks::each_location(locations), vec![map; locations])
}

#[test]
fn a_damaged_file_is_named_by_whoever_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = hybrid::write(dir.path());
    for damaged in ["0.evt", "104.evt", "203.evt"] {
        let path = dir.path().join("t").join(damaged);
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes.truncate(bytes.len() / 2);
        fs::write(&path, &bytes).unwrap();
        let alone = |trace: &dyn Trace| trace.scan(&()).unwrap_err().to_string();
        let expected = alone(&*Otf2.open(&anchor).unwrap());
        assert!(expected.contains(damaged), "{expected}");
        for size in SIZES {
            let found = with(size, &(), |team| {
                alone(&*open(team, &Otf2, &anchor, true, &()).unwrap())
            });
            assert_eq!(found, expected, "{size}");
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn a_trace_that_is_not_there_is_missed_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none.otf2");
    let expected = Otf2.open(&path).err().unwrap().to_string();
    let found = with(3, &(), |team| {
        open(team, &Otf2, &path, true, &())
            .err()
            .unwrap()
            .to_string()
    });
    assert_eq!(found, expected);
}

#[test]
fn what_exists_is_not_overwritten_by_anybody() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = hybrid::write(dir.path());
    let locations = 3 * RANKS as usize;
    for size in SIZES {
        let to = tempfile::tempdir().unwrap();
        fs::create_dir(to.path().join("t")).unwrap();
        let taken = to.path().join("t/204.evt");
        fs::write(&taken, "mine").unwrap();
        let error = with(size, &(), |team| {
            let trace = open(team, &Otf2, &anchor, true, &()).unwrap();
            trace
                .rewriting()
                .unwrap()
                .rewrite(&later(locations), to.path(), &())
                .unwrap_err()
                .to_string()
        });
        assert!(error.contains("204.evt"), "{error}");
        assert_eq!(fs::read(&taken).unwrap(), b"mine");
        assert!(
            !to.path().join("t.otf2").exists(),
            "without an anchor it is no archive"
        );
    }
}

/// Wants to stop from the start.
struct Stopped(AtomicBool);

impl Monitor for Stopped {
    fn cancelled(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed);
        true
    }
}

#[test]
fn an_interrupt_of_any_process_is_one_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = hybrid::write(dir.path());
    let stopped = Stopped(AtomicBool::new(false));
    let found = with(3, &stopped, |team| {
        open(team, &Otf2, &anchor, true, &())?.scan(&())
    });
    assert!(matches!(found, Err(FormatError::Cancelled(_))), "{found:?}");
    assert!(stopped.0.into_inner());
}

#[test]
fn an_interrupt_while_the_first_opens_a_trace_sends_the_others_home() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = hybrid::write(dir.path());
    let stopped = Stopped(AtomicBool::new(false));
    let found = with(3, &(), |team| {
        open(team, &Otf2, &anchor, true, &stopped).err().unwrap()
    });
    assert!(matches!(found, FormatError::Cancelled(_)), "{found:?}");
}

#[test]
fn a_process_that_is_gone_is_no_reason_to_wait() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = hybrid::write(dir.path());
    let mut members = threads(3, 1 << 20).into_iter();
    let first = Arc::new(Team::new(members.next().unwrap()));
    let second = Arc::new(Team::new(members.next().unwrap()));
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&second, &[&Otf2 as &dyn Format], &()));
        drop(members);
        let error = open(&first, &Otf2, &anchor, true, &())
            .err()
            .unwrap()
            .to_string();
        assert_eq!(error, "process 2 has ended");
        assert!(first.dismiss().is_err());
        drop(first);
    });
}
