//! Traces of Perfetto as a trace format of retime: profiles as PyTorch and rocprof write them
//! natively, traces of programs that use Perfetto's SDK, and what `retime export` writes.
//!
//! A file is a sequence of packets. All that tells of communication is read by the code that
//! reads Kineto's JSON (`retime-kineto`), since the same profilers write both, and so are ranks
//! of a job told, calls joined, hosts grouped, and several files of a job read as one.
//!
//! ```text
//! pass         file --> packets                plain, gzip, and packets that are compressed
//! packet       packet --> fields               where they stand in its bytes
//! words        words by number
//! recent       things by key, the last one found at once
//! interned     packets --> words               what a sequence has said once
//! clocks       snapshots --> times             of the clock of the trace
//! inner        packet --> times in it          beside its timestamp, and these written anew
//! timing       packet --> stamps               which of them move, and when they are
//! remote       notes of clocks --> differences of machines
//! event, stage messages --> events             of threads and of GPUs
//! annotations  messages --> arguments          as Kineto's JSON has them
//! tracks       descriptors --> processes and threads
//! slices       begins and ends --> what lasts
//! arrows       ends of arrows --> those that say where they lead
//! reader       file --> what retime-kineto knows of a profile
//! seen         what reading comes past         for readers that keep nothing
//! contents     all but times                   so that a copy can be compared
//! forms        how numbers were written        for undo
//! patches      parts of a packet that change
//! lengths      lengths of stages of GPUs that change
//! writer       file, other times --> file
//! each         file --> packets with times      for whoever puts files together
//! counters     values of counters
//! untold       what no event holds, counted
//! told         events with all they say         for writers of another format
//! xspace       file --> is it JAX's own form?   which is called like a trace of packets
//! packets      a kind of file that holds profiles
//! ```
//!
//! Two ranks whose clocks disagree by a second:
//!
//! ```
//! use retime::Monitor;
//! use retime::format::Format;
//! use retime::pipeline::{Analysis, AnalysisOptions, Method};
//! use retime_perfetto::Perfetto;
//! use retime_perfetto_wire::fields::{debug_annotation, trace, trace_packet, track_event};
//! use retime_perfetto_wire::write::{bytes, uint};
//!
//! let directory = tempfile::tempdir()?;
//! let run = directory.path().join("run");
//! std::fs::create_dir(&run)?;
//! for (rank, begin, end) in [(0, 1_000_250, 1_090_750), (1, 1_001_040_250, 1_001_091_375)] {
//!     let mut file = Vec::new();
//!     for (time, kind) in [(begin, track_event::SLICE_BEGIN), (end, track_event::SLICE_END)] {
//!         let (mut packet, mut event) = (Vec::new(), Vec::new());
//!         uint(&mut event, track_event::TYPE, kind);
//!         uint(&mut event, track_event::TRACK_UUID, 7);
//!         bytes(&mut event, track_event::NAME, b"ncclDevKernel_AllReduce");
//!         for (name, text) in [("Collective name", "allreduce"), ("Seq", "1"), ("grid", "[24]"),
//!             ("In msg nelems", "4"), ("dtype", "Float"), ("Process Group Name", "0"),
//!             ("Process Group Ranks", "[0, 1]")] {
//!             let mut annotation = Vec::new();
//!             bytes(&mut annotation, debug_annotation::NAME, name.as_bytes());
//!             bytes(&mut annotation, debug_annotation::STRING_VALUE, text.as_bytes());
//!             bytes(&mut event, track_event::DEBUG_ANNOTATIONS, &annotation);
//!         }
//!         uint(&mut packet, trace_packet::TIMESTAMP, time);
//!         bytes(&mut packet, trace_packet::TRACK_EVENT, &event);
//!         bytes(&mut file, trace::PACKET, &packet);
//!     }
//!     std::fs::write(run.join(format!("rank{rank}.pftrace")), file)?;
//! }
//! let trace = Perfetto.open(&run)?;
//! let scan = trace.scan(&())?;
//! let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &())?;
//! assert_eq!(analysis.recorded().violated(), 1);
//!
//! let solution = analysis.solve(&Method::default(), &())?;
//! let corrected = directory.path().join("corrected");
//! std::fs::create_dir(&corrected)?;
//! let writable = trace.rewriting().ok_or("traces of Perfetto can be rewritten")?;
//! writable.rewrite(&solution.correction, &corrected, &())?;
//! let scan = Perfetto.open(&corrected)?.scan(&())?;
//! let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &())?;
//! assert_eq!(analysis.recorded().violated(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotations;
mod arrows;
mod clocks;
mod contents;
mod counters;
mod each;
mod error;
mod event;
mod file_clock;
mod forms;
mod inner;
mod interned;
mod lengths;
mod packet;
mod packets;
mod pass;
mod patches;
mod reader;
mod recent;
mod remote;
mod seen;
mod slices;
mod stage;
mod timing;
mod told;
mod tracks;
mod untold;
mod words;
mod writer;
mod xspace;

use std::io;
use std::path::{Path, PathBuf};

use retime_kineto::{Chrome, Document, Kineto, KinetoByPath, RankPattern};
use retime_model::format::{Format, FormatError, Recognition, Trace};
use retime_model::{Monitor, presence};

pub use each::{MachinesAhead, PacketRead, PieceRead, each_packet};
pub use error::PerfettoError;
pub use file_clock::{FileClock, file_clock};
use packets::Packets;
pub use told::{EventTold, FileTold, FlowTold};
pub use xspace::is_xspace;

/// Traces of Perfetto.
#[derive(Clone, Copy, Debug, Default)]
pub struct Perfetto;

impl Format for Perfetto {
    fn name(&self) -> &'static str {
        "perfetto"
    }

    fn describe(&self) -> &'static str {
        "a trace of Perfetto (*.pftrace), plain or gzip, or a directory of them, one per rank"
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        retime_kineto::recognise(&Packets, path)
    }

    fn open_watched(&self, path: &Path, _: &dyn Monitor) -> Result<Box<dyn Trace>, FormatError> {
        retime_kineto::open(&Packets, path, None)
    }

    fn open_files(&self, files: &[&Path]) -> Option<Result<Box<dyn Trace>, FormatError>> {
        Some(retime_kineto::open_files(&Packets, files, None))
    }

    fn can_rewrite(&self) -> bool {
        true
    }

    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String> {
        retime_kineto::may_replace(&Packets, target, input)
    }
}

/// Fails where a directory holds profiles of both kinds, Chrome's JSON and packets of Perfetto: a
/// trace is of one kind, and those of the other would be copied with the times that they have.
pub fn refuse_both_kinds(path: &Path) -> Result<(), FormatError> {
    let failed = |source| PerfettoError::io(path, source);
    let is_sure = |format: &dyn Format| -> io::Result<bool> {
        Ok(format.recognise(path)? == Recognition::Certain)
    };
    let holds_both = presence::is_directory(path)
        .and_then(|it| Ok(it && is_sure(&Perfetto)? && is_sure(&Kineto)?));
    if holds_both.map_err(failed)? {
        let path = path.to_owned();
        return Err(PerfettoError::BothKinds { path }.into());
    }
    Ok(())
}

/// Fails where files that are given as one trace are of both kinds, as a directory of such does.
pub fn refuse_files_of_both_kinds(files: &[&Path]) -> Result<(), FormatError> {
    let first = |format: &dyn Format| -> Result<Option<&Path>, FormatError> {
        for &path in files {
            let sure = format.recognise(path);
            if sure.map_err(|source| PerfettoError::io(path, source))? == Recognition::Certain {
                return Ok(Some(path));
            }
        }
        Ok(None)
    };
    if let Some((packets, json)) = first(&Perfetto)?.zip(first(&Kineto)?) {
        let (packets, json) = (packets.to_owned(), json.to_owned());
        return Err(PerfettoError::FilesOfBothKinds { packets, json }.into());
    }
    Ok(())
}

/// The profiles in a directory that are of another kind than those of a trace whose format is
/// called so, JAX's own form among them: a copy has them with the times that they have.
pub fn of_other_kind(path: &Path, format: &str) -> Result<Vec<PathBuf>, FormatError> {
    let found = match format {
        it if it == Chrome.format() => {
            retime_kineto::profiles_in(&Packets, path).and_then(|mut found| {
                found.extend(xspaces_in(path)?);
                Ok(found)
            })
        }
        it if it == Packets.format() => retime_kineto::profiles_in(&Chrome, path),
        _ => return Ok(Vec::new()),
    };
    Ok(found.map_err(|source| PerfettoError::io(path, source))?)
}

fn xspaces_in(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for called_like_packets in retime_kineto::others_in(&Packets, path)? {
        if Packets::is_xspace(&called_like_packets)? {
            found.push(called_like_packets);
        }
    }
    Ok(found)
}

/// Profiles with the ranks that a pattern finds in paths: traces of [`Perfetto`], or files of
/// Kineto where a path holds none.
#[derive(Clone, Debug)]
pub struct ProfilesByPath(pub RankPattern);

impl ProfilesByPath {
    fn are_packets(path: &Path) -> bool {
        let sure = Perfetto.recognise(path);
        sure.is_ok_and(|it| it == Recognition::Certain)
    }

    fn kineto(&self) -> KinetoByPath {
        KinetoByPath(self.0.clone())
    }
}

impl Format for ProfilesByPath {
    fn name(&self) -> &'static str {
        Kineto.name()
    }

    fn describe(&self) -> &'static str {
        Kineto.describe()
    }

    fn recognise(&self, path: &Path) -> io::Result<Recognition> {
        Ok(Perfetto.recognise(path)?.max(Kineto.recognise(path)?))
    }

    fn open_watched(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Box<dyn Trace>, FormatError> {
        refuse_both_kinds(path)?;
        if Self::are_packets(path) {
            return retime_kineto::open(&Packets, path, Some(&self.0));
        }
        self.kineto().open_watched(path, monitor)
    }

    fn open_files(&self, files: &[&Path]) -> Option<Result<Box<dyn Trace>, FormatError>> {
        if files.first().is_some_and(|it| Self::are_packets(it)) {
            return Some(retime_kineto::open_files(&Packets, files, Some(&self.0)));
        }
        self.kineto().open_files(files)
    }

    fn can_rewrite(&self) -> bool {
        true
    }

    fn may_replace(&self, target: &Path, input: &Path) -> Result<(), String> {
        if Self::are_packets(input) {
            return Perfetto.may_replace(target, input);
        }
        Kineto.may_replace(target, input)
    }
}
