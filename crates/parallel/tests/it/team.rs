//! Threads that work on a trace as processes do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use retime_kineto::Kineto;
use retime_model::Monitor;
use retime_model::format::Format;
use retime_otf2_format::Otf2;
use retime_parallel::{Team, serve, threads};

/// Numbers of processes: one, few, and more than most traces here have locations.
pub(crate) const SIZES: [usize; 4] = [1, 2, 3, 17];

/// Does the work of process 0 of so many, the last of which are watched by `monitor`.
pub(crate) fn with<T>(size: usize, monitor: &dyn Monitor, work: impl FnOnce(&Arc<Team>) -> T) -> T {
    // Such short messages that nearly every value takes several.
    let mut members = threads(size, 100).into_iter();
    let first = Arc::new(Team::new(members.next().unwrap()));
    // Where the work panics, what it works with is dropped, so that nobody waits for it.
    thread::scope(move |scope| {
        for member in members {
            scope.spawn(move || {
                serve(
                    &Arc::new(Team::new(member)),
                    &[&Otf2 as &dyn Format, &Kineto],
                    &Shared(monitor),
                )
            });
        }
        let first = first;
        let done = work(&first);
        assert_eq!(first.dismiss().unwrap().len(), size);
        done
    })
}

struct Shared<'a>(&'a dyn Monitor);

impl Monitor for Shared<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// All files below a directory.
pub(crate) fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![dir.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}
