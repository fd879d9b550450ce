//! The file of offsets, written anew after each measurement: a program that is killed has
//! those of its start.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use retime_measure::{Measured, OffsetsFile};
use retime_model::printable_path;

use crate::clock::LocalClock;

/// All measurements so far.
#[derive(Debug)]
pub(crate) struct Offsets {
    path: PathBuf,
    file: OffsetsFile,
}

impl Offsets {
    pub(crate) fn new(path: &Path, clock: LocalClock) -> Self {
        Self {
            path: path.to_owned(),
            file: OffsetsFile::new(clock.name(), clock.rate()),
        }
    }

    /// Adds what was measured of each rank, and writes all. Of another run it takes the place;
    /// a file of another kind stays, and is an error.
    pub(crate) fn add(&mut self, ranks: &[Option<Measured>]) -> io::Result<()> {
        self.file.add(ranks);
        let failed = |error: io::Error| {
            let path = printable_path(&self.path);
            io::Error::new(
                error.kind(),
                format!("cannot write offsets to {path}: {error}"),
            )
        };
        if !may_replace(&self.path).map_err(failed)? {
            return Err(failed(io::Error::other(
                "it holds something else; give another RETIME_OFFSETS_FILE",
            )));
        }
        let mut staged = self.path.as_os_str().to_owned();
        staged.push(".part");
        fs::write(&staged, self.file.text()).map_err(failed)?;
        fs::rename(&staged, &self.path).map_err(failed)
    }
}

/// True if nothing is there, or a file of offsets.
fn may_replace(path: &Path) -> io::Result<bool> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let mut beginning = [0; OffsetsFile::BEGINNING.len()];
    Ok(file.metadata()?.is_file()
        && file.read_exact(&mut beginning).is_ok()
        && beginning == OffsetsFile::BEGINNING.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_measure::ClockSource;

    #[test]
    fn offsets_take_the_place_of_offsets_only() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("offsets");
        let clock = LocalClock::System(ClockSource::Monotonic);
        for _ in 0..2 {
            Offsets::new(&path, clock).add(&[None]).unwrap();
            assert!(
                fs::read_to_string(&path)
                    .unwrap()
                    .contains("# 0: its clock")
            );
        }
        fs::write(&path, "my thesis").unwrap();
        let error = Offsets::new(&path, clock).add(&[None]).unwrap_err();
        assert!(
            error.to_string().contains("it holds something else"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "my thesis");
    }
}
