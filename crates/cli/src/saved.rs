//! The correction that is saved beside a corrected trace.
//!
//! `NAME.retime` holds the clock maps (see [`retime::SavedClock`]), how far
//! the times they give can be from the truth, and what `undo` needs. The first
//! part can be written by hand for `apply`.
//!
//! The version says how maps are to be understood. What may be absent, such as
//! the error bounds, came later and did not change it: files without are as good.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use retime::format::{EARLIER, Rewrite, Undo};
use retime::optimal::SavedErrorBound;
use retime::pipeline::Bounds;
use retime::{
    Access, Clocks, Correction, Modified, SavedClock, Timestamp, TraceInfo, copy_file,
    open_regular, resemble,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::clock_offsets::TraceOffsets;
use crate::error::CliError;
use crate::origin::Origin;
use crate::pipe;
use crate::progress::Interrupts;
use crate::saved_delay::SavedDelay;
use crate::staging::Staging;

const FORMAT: &str = "retime correction";
const VERSION: u32 = 1;

/// How many locations a message names: as many as fit a line.
const SHOWN: usize = 5;

/// A correction in a file.
#[derive(Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with format, version and clocks"
)]
pub(crate) struct SavedCorrection {
    format: String,
    version: u32,
    /// How it came about; for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    method: String,
    /// The ticks per second of the trace that it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ticks_per_second: Option<u64>,
    /// The trace it was made for; hand-written ones need not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<Origin>,
    /// The minimal delay that was enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_delay: Option<SavedDelay>,
    clocks: Vec<SavedClock>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<SavedBounds>,
    /// For the format of the trace alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undo: Option<Box<RawValue>>,
}

/// The part of a correction in a file that is not about times.
#[derive(Default, Deserialize)]
struct DelayOnly {
    #[serde(default)]
    min_delay: Option<Box<RawValue>>,
}

/// Error bounds of corrected times: with `[raw, before, after]` at a recorded
/// stamp, the truth lies at most so many ticks before and after the corrected
/// one; linear in between, and nothing known where a number is missing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedBounds {
    /// The drift bound: the largest wander of a clock's rate that the bounds assume, as a share.
    drift_bound: f64,
    /// A location of the clock whose time is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<u64>,
    clocks: Vec<SavedErrorBound>,
}

impl SavedBounds {
    pub(crate) fn new(bounded: &Bounds, clocks: &Clocks, info: &TraceInfo) -> Self {
        let first = clocks.locations(bounded.offsets.reference).first();
        let location = first.and_then(|it| info.locations.get(it.as_usize()));
        Self {
            drift_bound: bounded.drift,
            reference: location.map(|location| location.id),
            clocks: bounded.errors.save(info, clocks),
        }
    }
}

impl SavedCorrection {
    pub(crate) fn new(
        correction: &Correction,
        info: &TraceInfo,
        origin: Origin,
        method: String,
        undo: Undo,
    ) -> Result<Self, CliError> {
        let undo = RawValue::from_string(undo.0)
            .map_err(|error| CliError::Verification(format!("undo data are no JSON: {error}")))?;
        Ok(Self {
            format: FORMAT.into(),
            version: VERSION,
            method,
            ticks_per_second: Some(info.rate.get()),
            trace: Some(origin),
            min_delay: None,
            clocks: correction.save(info),
            bounds: None,
            undo: Some(undo),
        })
    }

    /// The correction that offsets of a trace say.
    pub(crate) fn of_offsets(path: &Path, offsets: TraceOffsets) -> Result<Self, CliError> {
        Ok(Self {
            format: FORMAT.into(),
            version: VERSION,
            method: String::new(),
            ticks_per_second: Some(offsets.ticks_per_second),
            clocks: offsets.saved(path)?,
            trace: offsets.trace,
            min_delay: None,
            bounds: None,
            undo: None,
        })
    }

    /// The data that restore the original, if they were saved.
    pub(crate) fn undo(&self) -> Option<Undo> {
        let undo = self.undo.as_ref()?;
        Some(Undo(undo.get().to_owned()))
    }

    /// Fails if it says that it was made for another trace, or names locations that this
    /// one does not have. Times are told from `zero`.
    pub(crate) fn refuse_stranger(
        &self,
        path: &Path,
        info: &TraceInfo,
        found: &Origin,
        zero: Timestamp,
    ) -> Result<(), CliError> {
        let differs = self.trace.as_ref();
        let differs = differs.and_then(|it| it.differs(found, info, zero));
        let strange = match differs {
            Some(how) => Some(format!("was made for another trace: {how}")),
            None => unknown(&self.clocks, info),
        };
        strange.map_or(Ok(()), |how| {
            let message = format!(
                "{how}; --force applies it to the locations with the same ids all the same"
            );
            Err(CliError::input(path, message))
        })
    }

    /// The correction with error bounds of the times it gives.
    pub(crate) fn with_bounds(self, bounds: Option<SavedBounds>) -> Self {
        Self { bounds, ..self }
    }

    /// The correction with the minimal delay that was enforced.
    pub(crate) fn with_min_delay(self, min_delay: Option<SavedDelay>) -> Self {
        Self { min_delay, ..self }
    }

    /// The minimal delay that was enforced, if it tells.
    pub(crate) fn min_delay(&self) -> Option<&SavedDelay> {
        self.min_delay.as_ref()
    }

    /// The minimal delay of the correction that lies beside a trace. Whoever needs the rest says
    /// what is wrong with it.
    pub(crate) fn read_delay(path: &Path) -> Result<Option<SavedDelay>, CliError> {
        let file = open_regular(path).map_err(|error| CliError::io(path, error))?;
        let only: DelayOnly = serde_json::from_reader(BufReader::new(file)).unwrap_or_default();
        let delay = only.min_delay.map(|it| serde_json::from_str(it.get()));
        delay
            .transpose()
            .map_err(|error| CliError::input(path, format!("min_delay: {error}")))
    }

    /// Writes a new file, which may be read by whom the file or directory `like` may.
    pub(crate) fn write(&self, path: &Path, like: &Path) -> Result<(), CliError> {
        let found = fs::metadata(like).map_err(|error| CliError::io(like, error))?;
        let write = || -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create_new(path)?);
            Access::of(&found, like)?.of_data().give(file.get_ref())?;
            serde_json::to_writer(&mut file, self)?;
            file.write_all(b"\n")?;
            file.flush()
        };
        write().map_err(|error| CliError::io(path, error))
    }

    /// Reads the one that lies beside a trace.
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let file = open_regular(path).map_err(|error| CliError::io(path, error))?;
        Self::parse(path, BufReader::new(file))
    }

    /// Reads one that was named, which may come from a pipe.
    pub(crate) fn read_given(path: &Path) -> Result<Self, CliError> {
        if path.is_dir() {
            let message = "is a directory; give the file *.retime, which lies in a corrected archive and \
                           beside a corrected file";
            return Err(CliError::input(path, message));
        }
        Self::parse(path, pipe::read(path)?)
    }

    fn parse(path: &Path, text: impl Read) -> Result<Self, CliError> {
        let saved: Self = serde_json::from_reader(text)
            .map_err(|error| CliError::input(path, format!("is no saved correction: {error}")))?;
        if saved.format != FORMAT {
            return Err(CliError::input(
                path,
                format!("is no saved correction: \"format\" must be \"{FORMAT}\""),
            ));
        }
        if saved.version != VERSION {
            let message = format!(
                "has version {}; this retime reads version {VERSION}",
                saved.version
            );
            return Err(CliError::input(path, message));
        }
        Ok(saved)
    }

    /// The clock maps for a trace.
    pub(crate) fn correction(&self, path: &Path, info: &TraceInfo) -> Result<Correction, CliError> {
        if let Some(rate) = self
            .ticks_per_second
            .filter(|&rate| rate != info.rate.get())
        {
            let message = format!(
                "was made for {rate} ticks per second, the trace has {}",
                info.rate.get()
            );
            return Err(CliError::input(path, message));
        }
        Correction::restore(&self.clocks, info)
            .map_err(|error| CliError::input(path, error.to_string()))
    }
}

/// The locations that clocks name and the trace does not have, in words.
fn unknown(clocks: &[SavedClock], info: &TraceInfo) -> Option<String> {
    let known: HashSet<u64> = info.locations.iter().map(|it| it.id).collect();
    let named = clocks.iter().flat_map(|clock| {
        let stepped = clock.steps.iter().map(|it| it[1]);
        clock.locations.iter().flatten().copied().chain(stepped)
    });
    let missing: BTreeSet<u64> = named.filter(|id| !known.contains(id)).collect();
    let ids: Vec<String> = missing.iter().take(SHOWN).map(u64::to_string).collect();
    let (noun, rest) = match missing.len() {
        0 => return None,
        1 => ("location", String::new()),
        count if count <= SHOWN => ("locations", String::new()),
        count => ("locations", format!(" and {} more", count - SHOWN)),
    };
    Some(format!(
        "names {noun} {}{rest}, which the trace does not have",
        ids.join(", ")
    ))
}

/// The correction that is saved beside a trace, if there is one; older ones have
/// [another name](EARLIER).
pub(crate) fn beside(trace: &dyn Rewrite) -> Result<Option<PathBuf>, CliError> {
    let path = trace.correction_path();
    let mut earlier = path.clone().into_os_string();
    earlier.push(EARLIER);
    for path in [path, earlier.into()] {
        match path.try_exists() {
            Ok(true) => return Ok(Some(path)),
            Ok(false) => {}
            // The name of the trace just fits; there can be no file with a longer one.
            Err(error) if error.kind() == ErrorKind::InvalidFilename => {}
            Err(error) => return Err(CliError::io(&path, error)),
        }
    }
    Ok(None)
}

/// The correction that belongs to what was named.
pub(crate) fn included(trace: &dyn Rewrite) -> Result<Option<PathBuf>, CliError> {
    if trace.includes_correction() {
        beside(trace)
    } else {
        Ok(None)
    }
}

/// A second correction would need a place of its own, and without the first there is no way
/// back to the original.
pub(crate) fn refuse_second(trace: &dyn Rewrite) -> Result<(), CliError> {
    included(trace)?.map_or(Ok(()), |path| {
        let message = "is the correction of an earlier run, and a copy can hold only one; \
                       undo it first, or move it elsewhere to leave it out";
        Err(CliError::input(&path, message))
    })
}

/// Gives the plain copy of a trace its correction, where the format has not copied that with
/// all that lies beside it.
pub(crate) fn take_along(trace: &dyn Rewrite, staging: &Staging) -> Result<(), CliError> {
    let Some(path) = included(trace)? else {
        return Ok(());
    };
    let copied = staging
        .directory()
        .join(path.file_name().unwrap_or_default());
    let exists = copied.try_exists();
    if exists.map_err(|error| CliError::io(&copied, error))? {
        return Ok(());
    }
    let to = staging.correction(trace);
    let failed = |path: &Path, error| CliError::io(path, error);
    let found = fs::metadata(&path).map_err(|error| failed(&path, error))?;
    copy_file(&path, &to, &Interrupts, failed)?;
    resemble(&found, &path, &to, Modified::of(&found)).map_err(|error| failed(&to, error))
}
