//! What processes on other machines find there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use retime_model::Monitor;
use retime_model::format::{Format, FormatError, InParts, Recognition, Trace};
use retime_otf2_format::Otf2;
use retime_parallel::{Communicator, Lost, Team, open, serve, threads};

use crate::hybrid;

/// A thread on a machine of its own.
struct OnNode(Box<dyn Communicator>);

impl Communicator for OnNode {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn node(&self) -> String {
        format!("node{}", self.rank())
    }

    fn longest(&self) -> usize {
        self.0.longest()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), Lost> {
        self.0.send(to, message)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, Lost> {
        self.0.receive(from)
    }

    fn post(&self, to: usize, message: &[u8]) -> Result<(), Lost> {
        self.0.post(to, message)
    }

    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Lost> {
        self.0.posted(patience)
    }
}

/// The format where all paths lead to one.
struct Elsewhere(PathBuf);

impl Format for Elsewhere {
    fn name(&self) -> &'static str {
        Otf2.name()
    }

    fn describe(&self) -> &'static str {
        Otf2.describe()
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        Otf2.recognise(path)
    }

    fn open_watched(&self, _: &Path, monitor: &dyn Monitor) -> Result<Box<dyn Trace>, FormatError> {
        Otf2.open_watched(&self.0, monitor)
    }

    fn open_in_parts(
        &self,
        _: &Path,
        monitor: &dyn Monitor,
    ) -> Option<Result<Box<dyn InParts>, FormatError>> {
        Otf2.open_in_parts(&self.0, monitor)
    }

    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String> {
        Otf2.may_replace(target, input)
    }
}

/// What comes of opening a trace where the second machine has another at its path.
fn opened(here: &Path, there: &Path) -> Result<(), String> {
    let mut members = threads(2, 1_000).into_iter().map(OnNode);
    let first = Arc::new(Team::new(Box::new(members.next().unwrap())));
    let second = Arc::new(Team::new(Box::new(members.next().unwrap())));
    let formats: [&'static dyn Format; 1] = [Box::leak(Box::new(Elsewhere(there.to_owned())))];
    thread::scope(|scope| {
        scope.spawn(move || serve(&second, &formats, &()));
        let opened = open(&first, &Otf2, here, true, &());
        let opened = opened.map(drop).map_err(|it| it.to_string());
        first.dismiss().unwrap();
        opened
    })
}

#[test]
fn the_machine_is_named_on_which_something_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let here = hybrid::write(dir.path());
    assert_eq!(opened(&here, &here), Ok(()));
    let error = opened(&here, &dir.path().join("none.otf2")).unwrap_err();
    assert!(error.starts_with("on node1 (process 1): "), "{error}");
    assert!(error.contains("none.otf2"), "{error}");
}

#[test]
fn another_trace_at_the_same_path_is_refused() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (here, there) = (hybrid::write(one.path()), hybrid::write(other.path()));
    assert_eq!(opened(&here, &there), Ok(()), "a copy is as good");
    let events = other.path().join("t/104.evt");
    let mut bytes = fs::read(&events).unwrap();
    bytes.push(0);
    fs::write(&events, bytes).unwrap();
    let error = opened(&here, &there).unwrap_err();
    let expected = "is not the trace that process 0 has there";
    assert!(error.contains(expected), "{error}");
}
