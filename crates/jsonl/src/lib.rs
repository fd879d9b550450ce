//! JSON lines, one event each, as a trace format of retime.
//!
//! The lines are those that `retime stream` reads, described in `docs/STREAM.md`;
//! here they are a file, plain or gzip, that is read as a whole, corrected by any
//! method, and written again with nothing but the digits of its times changed.
//!
//! ```text
//! input   file --> lines                        plain or gzip
//! line    line --> Fields --> What              what a line says
//! pass    lines --> Said                        one pass, locations as they are met
//! scan, timelines, rewrite, restore, rows       what is done in a pass
//! ```
//!
//! Two processes whose clocks disagree: the answer comes before it was sent.
//!
//! ```
//! use retime::Monitor;
//! use retime::format::Format;
//! use retime::pipeline::{Analysis, AnalysisOptions, Method};
//! use retime_jsonl::JsonLines;
//!
//! let directory = tempfile::tempdir()?;
//! let (recorded, corrected) = (directory.path().join("a.jsonl"), directory.path().join("b.jsonl"));
//! std::fs::write(&recorded, r#"{"location":"client","time":1000,"type":"send","message":1}
//! {"location":"server","time":1500,"type":"receive","message":1}
//! {"location":"server","time":1700,"type":"send","message":2,"note":"a reply"}
//! {"location":"client","time":1200,"type":"receive","message":2}
//! "#)?;
//! let trace = JsonLines.open(&recorded)?;
//! let scan = trace.scan(&())?;
//! let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &())?;
//! assert_eq!(analysis.recorded().violated(), 1);
//!
//! let solution = analysis.solve(&Method::default(), &())?;
//! trace.rewriting().unwrap().rewrite(&solution.correction, &corrected, &())?;
//! let scan = JsonLines.open(&corrected)?.scan(&())?;
//! let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &())?;
//! assert_eq!(analysis.recorded().violated(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod id;
mod input;
mod kinds;
pub mod line;
mod noticed;
mod open;
mod output;
mod pass;
mod places;
mod recognise;
mod restore;
mod rewrite;
mod rows;
mod scan;
mod timelines;
mod trace;
mod undo;

use std::io;
use std::path::Path;

use retime_model::format::{Format, FormatError, Recognition, Trace};
use retime_model::{Monitor, presence};

pub use error::JsonlError;
pub use id::{Id, IdMap};

/// Files of JSON lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonLines;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn describe(&self) -> &'static str {
        "a file of JSON lines, plain or gzip"
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        recognise::recognise(path)
    }

    fn open_watched(&self, path: &Path, _: &dyn Monitor) -> Result<Box<dyn Trace>, FormatError> {
        Ok(Box::new(trace::EventFile::open(path)?))
    }

    fn can_rewrite(&self) -> bool {
        true
    }

    fn may_replace(&self, target: &Path, _input: &Path) -> Result<(), String> {
        let untold = |error: io::Error| format!("cannot be looked at: {error}");
        let found = presence::kind_of_entry(target).map_err(untold)?;
        if !found.is_some_and(|it| it.is_file()) {
            return Err("is no file; --force replaces only files that retime wrote".into());
        }
        if recognise::begins_like_one(target).map_err(untold)? {
            return Ok(());
        }
        Err(
            "does not hold JSON lines of events, so --force would delete something else; remove \
             it yourself or give another file"
                .into(),
        )
    }
}
