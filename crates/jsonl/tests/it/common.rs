//! Files in a directory of their own, and what is done with them.

use std::io::{Read, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use retime::causality::{Causality, CausalityOptions};
use retime::format::{Format, FormatError, Scan, Trace, Undo};
use retime::{ClockMap, Clocks, Correction, Knot, Timestamp};
use retime_jsonl::JsonLines;
use tempfile::TempDir;

/// A file that goes away with it.
pub struct Input {
    directory: TempDir,
    pub path: PathBuf,
}

impl Input {
    pub fn new(content: impl AsRef<[u8]>) -> Self {
        Self::named("events.jsonl", content)
    }

    pub fn gzip(content: impl AsRef<[u8]>) -> Self {
        Self::named("events.jsonl.gz", compressed(content))
    }

    pub fn named(name: &str, content: impl AsRef<[u8]>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        // Undo data hold it: that of the same lines are the same.
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
        file.set_modified(time).unwrap();
        Self { directory, path }
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn open(&self) -> Result<Box<dyn Trace>, FormatError> {
        JsonLines.open(&self.path)
    }

    pub fn scan(&self) -> Result<Scan, FormatError> {
        self.open()?.scan(&())
    }

    /// What is wrong with it, with the name of the file alone.
    pub fn error(&self) -> String {
        self.said(&self.scan().unwrap_err())
    }

    pub fn said(&self, error: &FormatError) -> String {
        let directory = format!("{}/", self.directory.path().display());
        error.to_string().replace(&directory, "")
    }

    /// Rewrites it to a file beside it.
    pub fn rewrite(&self, correction: &Correction) -> Result<(Vec<u8>, Undo), FormatError> {
        let to = self.beside("corrected");
        let _ = std::fs::remove_file(&to);
        let undo = self
            .open()?
            .rewriting()
            .unwrap()
            .rewrite(correction, &to, &())?;
        Ok((std::fs::read(&to).unwrap(), undo))
    }

    /// Restores what this file was made of.
    pub fn restore(&self, correction: &Correction, undo: &Undo) -> Result<Vec<u8>, FormatError> {
        let to = self.beside("restored");
        let _ = std::fs::remove_file(&to);
        self.open()?
            .rewriting()
            .unwrap()
            .restore(correction, undo, &to, &())?;
        Ok(std::fs::read(&to).unwrap())
    }
}

pub fn causality(scan: Scan) -> Causality {
    Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap()
}

pub fn compressed(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub fn uncompressed(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

/// A map for each location, through knots `(raw, corrected)`.
pub fn correction(maps: &[&[(u64, u64)]]) -> Correction {
    let map = |knots: &&[(u64, u64)]| {
        let knots = knots.iter();
        let knots = knots.map(|&(raw, to)| Knot::at(Timestamp(raw), Timestamp(to)));
        ClockMap::new(knots.collect(), vec![]).unwrap()
    };
    let clocks = Clocks::each_location(maps.len());
    Correction::new(clocks, maps.iter().map(map).collect())
}
