//! One of the traces that are merged: analysed, corrected, and read again as what is shown.
//!
//! ```text
//! analyse -> contradictions? -> solve -> a corrected copy -> read again: documents, arrows
//!                           \-> the files as they are    ->
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use retime::causality::{Check, EventNode};
use retime::format::{Document, DocumentKind, Shape, Trace};
use retime::pipeline::{Analysis, Solution};
use retime::{Access, TraceInfo};
use retime_export::dependencies;
use retime_merge::{Arrow, ArrowEnd};

use super::super::asked::{Asked, analyse, is_left_alone};
use super::super::found::{Found, as_corrected, as_recorded};
use super::super::merged::access;
use super::super::offsets_out;
use super::args::MergeOutput;
use super::packets::{self, PacketsRoom, PacketsWritten};
use super::ranks::{self, RankGiven};
use crate::analysed::Analysed;
use crate::clock_offsets::TraceOffsets;
use crate::drawn::{self, Drawn};
use crate::error::CliError;
use crate::formats;
use crate::load::joined;
use crate::progress::{Interrupts, Progress, Stage, check_interrupt};
use crate::report::model::Report;

/// A trace that is a part of the file.
pub(super) struct Part {
    pub(super) report: Report,
    pub(super) drawn: Drawn,
    pub(super) offsets: TraceOffsets,
    /// The ids of the locations of each document.
    pub(super) locations: Vec<Vec<u64>>,
    /// The ranks of the files that were given.
    pub(super) ranks: Vec<RankGiven>,
    /// The number of ranks that these give their job.
    pub(super) job_size: Option<u32>,
    /// The files of packets that were given.
    pub(super) given: Vec<PathBuf>,
    /// The access of the trace.
    pub(super) access: Access,
    pub(super) shown: Shown,
    /// The packets of its events, where its files are no documents.
    pub(super) packets: Option<PacketsWritten>,
}

/// The places where a trace may be written on the way.
pub(super) struct Room {
    /// The output in which it will be.
    pub(super) output: MergeOutput,
    /// The output of its corrected files, if these are wanted.
    pub(super) copy: Option<PathBuf>,
    /// The output of packets, where the file takes any.
    pub(super) packets: Option<PacketsRoom>,
}

/// The part of a trace that is shown.
pub(super) struct Shown {
    pub(super) documents: Vec<Document>,
    pub(super) arrows: Vec<Arrow>,
    /// The dependencies that are reversed, or shorter than a minimal delay that was given.
    pub(super) left: u64,
}

/// Analyses and corrects a trace, which is written into `room` if it is to be put together
/// with others, which have the ranks `others`.
pub(super) fn part(
    asked: Asked<'_>,
    room: Option<Room>,
    others: &[&RankGiven],
) -> Result<Part, CliError> {
    let (mut analysed, method) = analyse(asked)?;
    let documents = analysed.opened.trace.documents();
    let has_documents = !documents.is_empty();
    refuse_strangers(&analysed, &documents, room.as_ref())?;
    let packets = documents
        .iter()
        .filter(|it| it.kind == DocumentKind::Packets);
    let given = packets.map(|it| it.path.clone()).collect();
    let job_size = ranks::job_size(&documents);
    let ranks = ranks::of(&documents);
    ranks::refuse_twice(others, &ranks)?;
    drop(documents);
    let Found {
        report,
        bounds,
        solved,
    } = if is_left_alone(asked, &method, &analysed) {
        as_recorded(asked, &analysed)?
    } else {
        as_corrected(asked, &method, &mut analysed)?
    };
    let solution = solved.as_ref().map(|it| &it.0);
    let offsets = offsets_out::of(&analysed, solution, bounds.as_ref());
    let drawn = drawn::draw(&analysed, solution, bounds.as_ref(), asked.run)?;
    let access = access(&*analysed.opened.trace)?;
    let locations = locations(&*analysed.opened.trace, analysed.analysis.info());
    let times = solved.as_ref().map(|it| &it.1);
    let is_given = analysed.analysis.delay().is_given();
    let left = left(is_given, times.unwrap_or(analysed.analysis.recorded()));
    let mut packets = None;
    let (copy, packets_room) = room.map_or((None, None), |it| (it.copy, it.packets));
    if let Some(room) = packets_room.filter(|_| !has_documents) {
        let correction = solution.map(|it| &it.correction);
        let bounds = bounds.as_ref().map(|it| &it.errors);
        packets = Some(packets::write(asked, &analysed, correction, bounds, room)?);
    }
    let shown = match (copy.filter(|_| has_documents), solution) {
        (Some(copy), Some(solution)) => corrected(asked, analysed, solution, &copy)?,
        _ => Shown {
            documents: analysed.opened.trace.documents(),
            arrows: arrows(&*analysed.opened.trace, &analysed.analysis),
            left,
        },
    };
    Ok(Part {
        report,
        drawn,
        offsets,
        locations,
        ranks,
        job_size,
        given,
        access,
        shown,
        packets,
    })
}

/// Refuses a trace whose events or packets the output cannot hold.
fn refuse_strangers(
    analysed: &Analysed,
    documents: &[Document],
    room: Option<&Room>,
) -> Result<(), CliError> {
    let Some(output) = room.map(|it| it.output) else {
        return Ok(());
    };
    if !documents.is_empty() || output.takes_events() {
        return Ok(());
    }
    let of_what = match output {
        MergeOutput::Trace { .. } => {
            "only files in Chrome's format and packets of Perfetto become JSON with all they hold; \
             -o NAME.pftrace takes its events, too, and retime export -o NAME.json writes what it shows of a trace as JSON, \
             slices and arrows, at corrected times"
        }
        MergeOutput::Archive | MergeOutput::Manifest => {
            "only files that Perfetto reads, JSON in Chrome's format and packets, become members of \
             an archive; -o NAME.pftrace takes its events, too"
        }
    };
    let message = format!("is {}, and {of_what}", analysed.opened.trace.format());
    Err(CliError::input(&analysed.opened.path, message))
}

/// Writes a corrected copy and reads it again.
fn corrected(
    asked: Asked<'_>,
    analysed: Analysed,
    solution: &Solution,
    copy: &Path,
) -> Result<Shown, CliError> {
    let trace = analysed.opened.rewriting()?;
    fs::create_dir(copy).map_err(|error| CliError::io(copy, error))?;
    // A file keeps its name, by which its processes are called.
    let copy = match analysed.opened.path.file_name() {
        Some(name) if trace.shape() == Shape::File => copy.join(name),
        _ => copy.to_owned(),
    };
    let progress = Progress::new(Stage::Writing, trace.bytes(), asked.run.quiet);
    trace.rewrite(&solution.correction, &copy, &progress)?;
    drop(progress);
    check_interrupt()?;
    let path = trace.copy_at(&copy);
    let written = match trace.open_copy(&path, &Interrupts) {
        Some(written) => written?,
        None => formats::open(&path, formats::of(&path, asked.source.format)?, None, false)?,
    };
    let options = analysed.analysis.options().clone();
    let is_given = analysed.analysis.delay().is_given();
    // The copy takes as much room.
    drop(analysed);
    let progress = Progress::new(Stage::Verifying, written.bytes(), asked.run.quiet);
    let scan = written.scan(&progress)?;
    drop(progress);
    let causality = joined(&path, &scan.info, scan.logs, options.causality)?;
    let analysis = Analysis::of(scan.info, causality, options, &Interrupts)?;
    Ok(Shown {
        documents: written.documents(),
        arrows: arrows(&*written, &analysis),
        left: left(is_given, analysis.recorded()),
    })
}

/// Counts dependencies that are reversed, or shorter than a minimal delay that was asked for.
fn left(is_given: bool, times: &Check) -> u64 {
    if is_given {
        times.short() + times.violated_within_clock()
    } else {
        times.violated()
    }
}

/// The ids of the locations of each document.
fn locations(trace: &dyn Trace, info: &TraceInfo) -> Vec<Vec<u64>> {
    let documents = trace.documents();
    let of = |document: &Document| {
        let first = document.first.as_usize();
        let own = info.locations.get(first..first + document.tracks.len());
        own.unwrap_or_default().iter().map(|it| it.id).collect()
    };
    documents.iter().map(of).collect()
}

/// The dependencies between processes at the times of a trace; those within a process its
/// documents show themselves.
fn arrows(trace: &dyn Trace, analysis: &Analysis) -> Vec<Arrow> {
    let documents = trace.documents();
    let (causality, info) = (analysis.causality(), analysis.info());
    let nodes = causality.nodes();
    let process = |node| Some(info.locations.get(nodes.location(node).as_usize())?.process);
    let end = |node: EventNode| {
        let location = nodes.location(node);
        let after = documents.partition_point(|it| it.first.0 <= location.0);
        let document = after.checked_sub(1)?;
        Some(ArrowEnd {
            document: document as u32,
            track: location.0 - documents.get(document)?.first.0,
            at: nodes.timestamp(node).0.wrapping_sub(trace.zero().0) as i64,
        })
    };
    let between = dependencies(causality).into_iter();
    let between = between.filter(|it| process(it.cause) != process(it.effect));
    let found = between.filter_map(|it| {
        Some(Arrow {
            from: end(it.cause)?,
            to: end(it.effect)?,
        })
    });
    let mut found: Vec<Arrow> = found.collect();
    found.sort_unstable_by_key(|it| (it.to, it.from));
    found
}
