//! `retime merge`: the profiles of a job as one file with one time.
//!
//! ```text
//! paths -> traces -> each corrected, read again -> documents on one axis -> one staged file
//! ```
//!
//! Files of one job are one trace, whose calls say how clocks differ. Traces of which nothing
//! says that are put beside each other by their own times, and the last lines say so.

pub(crate) mod args;
mod axis;
mod clocks_told;
mod constant;
mod packets;
mod part;
mod ranks;
mod runs;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use retime::format::Document;
use retime::{plural, printable_path};
use retime_export::Placement;
use retime_merge::{
    Arrow, ArrowEnd, Job, Member, MergeError, Merged, archive, can_be_carried, manifest,
    member_names, merge,
};

use super::asked::Asked;
use super::offsets_out;
use crate::drawn::Drawn;
use crate::error::{CliError, VIOLATIONS};
use crate::load::{Source, with_threads};
use crate::progress::{Progress, Stage, check_interrupt};
use crate::report::{self, examined, target};
use crate::staging::{Inputs, Staging, Target};
use crate::temporary;
use args::{MergeArgs, MergeOutput};
use packets::PacketsRoom;
use part::{Part, Room, part};
use ranks::RankGiven;
use runs::{RunPaths, grouped};

/// The outcome of a merge.
pub(crate) struct MergeDone {
    /// In three lines, or one more for each thing that is not known.
    pub(crate) outcome: String,
    pub(crate) exit: u8,
}

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &MergeArgs) -> Result<u8, CliError> {
    let run = &args.solving.run;
    run.refuse_verbose("in merge, which says all in some lines")?;
    let done = merged(args)?;
    if args.output.as_deref() == Some(Path::new("-")) {
        if !args.solving.run.quiet {
            // If even this cannot be written, the file is there all the same.
            let _ = write!(anstream::stderr(), "{}", done.outcome);
        }
    } else if !args.solving.run.quiet && !report::goes_to_stdout(&args.solving.run) {
        let output = args
            .output
            .as_deref()
            .or(args.offsets.offsets_out.as_deref());
        report::tell(&done.outcome, output.unwrap_or(Path::new("-")))?;
    }
    Ok(done.exit)
}

/// Merges, on the threads asked for.
pub(crate) fn merged(args: &MergeArgs) -> Result<MergeDone, CliError> {
    args.solving.refuse_strangers()?;
    args.refuse_untold_truth()?;
    let to_stdout = args.output.is_some() && args.file().is_none();
    if to_stdout && report::goes_to_stdout(&args.solving.run) {
        let message = "the trace and the report cannot both go to standard output";
        return Err(CliError::Usage(message.into()));
    }
    target::check(&args.solving.run, args.file())?;
    offsets_out::check(&args.offsets, args.file())?;
    with_threads(args.solving.run.threads, || merge_here(args))
}

impl MergeArgs {
    /// The request to correct one of the traces.
    fn asked<'a>(&'a self, run: &'a RunPaths) -> Asked<'a> {
        let solving = &self.solving;
        let source = Source::alone(&run.path, solving.format.asked(), solving.run.quiet);
        let source = Source {
            others: &run.others,
            ..source
        };
        Asked::of(source, solving, self.force)
    }
}

fn merge_here(args: &MergeArgs) -> Result<MergeDone, CliError> {
    // First of all, so that a bad target is known before any work.
    let written = args.written()?;
    let to_stdout = args.output.is_some() && args.file().is_none();
    if to_stdout && !matches!(written, Some(MergeOutput::Trace { .. })) {
        let message = "--manifest-only takes a file to write";
        return Err(CliError::Usage(message.into()));
    }
    let runs = grouped(&args.runs, &args.solving.format)?;
    if runs.len() > 1 && (args.solving.run.json.is_some() || args.solving.run.html.is_some()) {
        let message = "--json and --html tell of one trace, and these are several; retime correct \
                       reports each";
        return Err(CliError::Usage(message.into()));
    }
    let staging = staging(args)?;
    let scratch = match (&staging, to_stdout) {
        (None, true) => Some(temporary::directory()?),
        _ => None,
    };
    let room = match (&staging, &scratch) {
        (Some(staging), _) => Some(staging.directory()),
        (None, Some(scratch)) => Some(scratch.path()),
        (None, None) => None,
    };
    let parts = parts(args, &runs, written, room, staging.as_ref())?;
    let mut lines = clocks_told::lines(&parts);
    if let Some(output) = written {
        lines.push(put(args, &parts, output, staging)?);
    }
    let exit = exit_code(&parts);
    finish(args, parts, &mut lines)?;
    Ok(MergeDone {
        outcome: lines.join("\n") + "\n",
        exit,
    })
}

/// Corrects all traces, each of which may be written into `room` on the way.
fn parts(
    args: &MergeArgs,
    runs: &[RunPaths],
    written: Option<MergeOutput>,
    room: Option<&Path>,
    staging: Option<&Staging>,
) -> Result<Vec<Part>, CliError> {
    let mut placement = Placement::default();
    let mut parts: Vec<Part> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let own = room.zip(written).map(|(it, output)| Room {
            output,
            copy: output
                .has_copies()
                .then(|| it.join(format!("corrected-{number}"))),
            packets: output.takes_events().then(|| PacketsRoom {
                path: it.join(format!("packets-{number}")),
                placement: placement.clone(),
            }),
        });
        let others: Vec<&RankGiven> = parts.iter().flat_map(|it| &it.ranks).collect();
        let found = part(args.asked(run), own, &others);
        let found = match staging {
            Some(staging) => staging.written(found)?,
            None => found?,
        };
        if let Some(packets) = &found.packets {
            placement = packets.behind.clone();
        }
        parts.push(found);
    }
    Ok(parts)
}

fn staging(args: &MergeArgs) -> Result<Option<Staging>, CliError> {
    let Some(file) = args.file() else {
        return Ok(None);
    };
    let inputs = match args.runs.split_first() {
        Some((trace, others)) => Inputs { trace, others },
        None => Inputs::alone(file),
    };
    let target = Target {
        path: file,
        force: args.force,
    };
    Staging::for_merged(target, inputs).map(Some)
}

fn exit_code(parts: &[Part]) -> u8 {
    let left: u64 = parts.iter().map(|it| it.shown.left).sum();
    if left > 0 {
        return VIOLATIONS;
    }
    let codes = parts
        .iter()
        .map(|it| examined::exit_code(&it.report.examined));
    codes.max().unwrap_or_default()
}

/// Writes what was asked for beside the file, and adds to what is said.
fn finish(args: &MergeArgs, parts: Vec<Part>, lines: &mut Vec<String>) -> Result<(), CliError> {
    let mut offsets = Vec::new();
    let mut reported: Option<(report::model::Report, Drawn)> = None;
    let of_parts = parts.iter();
    let of_parts = of_parts.map(|it| (&*it.report.warnings, &*it.ranks, it.job_size));
    let warnings = ranks::warnings(&of_parts.collect::<Vec<_>>());
    lines.splice(0..0, warnings.iter().map(|it| format!("warning: {it}")));
    for part in parts {
        offsets.push(part.offsets);
        reported = Some((part.report, part.drawn));
    }
    offsets_out::write_all(offsets, &args.offsets)?;
    if let Some(path) = &args.offsets.offsets_out {
        lines.push(format!(
            "Wrote {}: the offsets of all clocks.",
            printable_path(path)
        ));
    }
    let Some((report, drawn)) = reported else {
        return Ok(());
    };
    let outcome = lines.last().cloned().unwrap_or_default();
    drawn.write(&report.judged(), &outcome, &args.solving.run)?;
    report::write_json(&report.judged(), &args.solving.run)
}

/// Writes the file; what is said of it.
fn put(
    args: &MergeArgs,
    parts: &[Part],
    output: MergeOutput,
    staging: Option<Staging>,
) -> Result<String, CliError> {
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let Some(staging) = staging else {
        let written = fill(args, parts, output, &mut io::stdout());
        return match written {
            // That nobody reads on is no error.
            Err(CliError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
                Ok("Nobody read to the end.".into())
            }
            Err(CliError::Interrupted) => Err(CliError::CutShort),
            written => written.map(|it| told(path, &it)),
        };
    };
    let file = staging.file();
    let failed = |error| CliError::io(&file, error);
    let written = (|| {
        let mut out = File::create_new(&file).map_err(failed)?;
        give_access(parts, &out).map_err(failed)?;
        fill(args, parts, output, &mut out)
    })();
    let written = staging.written(written)?;
    check_interrupt()?;
    staging.commit_file()?;
    Ok(told(path, &written))
}

/// Lets those read the file for whom all traces are open.
fn give_access(parts: &[Part], file: &File) -> io::Result<()> {
    let all = parts.iter().map(|it| it.access.clone());
    all.reduce(|one, other| one.both(&other))
        .map_or(Ok(()), |it| it.of_data().give(file))
}

/// The content of what was written, in words.
struct Content(String);

fn told(path: &Path, content: &Content) -> String {
    format!("Wrote {}: {}", printable_path(path), content.0)
}

fn fill(
    args: &MergeArgs,
    parts: &[Part],
    output: MergeOutput,
    out: &mut (dyn Write + Send),
) -> Result<Content, CliError> {
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let bytes = args.runs.iter().filter_map(|it| std::fs::metadata(it).ok());
    let bytes = bytes.map(|it| it.len()).sum();
    let progress = Progress::new(Stage::Exporting, bytes, args.solving.run.quiet);
    let failed = |error| match error {
        MergeError::Format(error) => CliError::from(error),
        MergeError::Io(error) if path.as_os_str() == "-" => {
            CliError::io(Path::new("standard output"), error)
        }
        MergeError::Io(error) => CliError::io(path, error),
        error => CliError::Format(Box::new(error)),
    };
    match output {
        MergeOutput::Trace {
            kind,
            is_compressed,
        } => {
            let job = job(parts);
            let effort = is_compressed.then_some(retime_gzip::Effort::Fast);
            let merged = merge(&job, kind, effort, out, &progress);
            let merged = merged.map_err(|error| failed(as_given(error, parts, &progress)))?;
            let packets = parts.iter().filter_map(|it| it.packets.as_ref());
            let mut words = in_words(&merged, job.documents.len());
            words += &untold_in_words(&merged);
            for it in packets {
                words.push(' ');
                words += &it.in_words();
            }
            Ok(Content(words))
        }
        MergeOutput::Archive => {
            let job = job(parts);
            let files = || job.documents.iter().map(|it| &*it.path);
            let names = member_names(job.documents.iter());
            let members = job.documents.iter().zip(names);
            let members = members.map(|(it, name)| Member::of(it, name, 0, &progress));
            let members: Vec<Member> = members.collect::<Result<_, _>>().map_err(failed)?;
            archive(&members, files(), out, &progress).map_err(failed)?;
            Ok(Content(format!(
                "{} at corrected times with a manifest. Open it in https://ui.perfetto.dev \
                 (58 or later).",
                plural(members.len() as u64, "profile")
            )))
        }
        MergeOutput::Manifest => {
            let constant = constant::members(parts, &progress).map_err(failed)?;
            let text = manifest(&constant.members);
            let written = out.write_all(text.as_bytes());
            written.map_err(|error| CliError::io(path, error))?;
            Ok(Content(constant.in_words()))
        }
    }
}

/// The error of a corrected file as that of the file that was given, which has the same packets.
fn as_given(error: MergeError, parts: &[Part], progress: &Progress) -> MergeError {
    if !matches!(error, MergeError::Format(_)) {
        return error;
    }
    let mut given = parts.iter().flat_map(|it| &it.given);
    let of_given = given.find_map(|it| can_be_carried(it, progress).err());
    of_given.map_or(error, MergeError::Format)
}

fn in_words(merged: &Merged, documents: usize) -> String {
    if documents == 0 {
        // What it has of traces that are none is told behind.
        return "no profile. Open it in https://ui.perfetto.dev.".into();
    }
    // A profile has GPUs and pseudo-processes beside the process of its rank.
    format!(
        "{} (shown as {}), {}, {} between them. Open it in https://ui.perfetto.dev.",
        plural(documents as u64, "profile"),
        plural(merged.processes, "process"),
        plural(merged.events, "event"),
        plural(merged.arrows, "arrow"),
    )
}

/// Says in words how many things of the documents the file does not hold.
fn untold_in_words(merged: &Merged) -> String {
    let all = merged.untold.iter();
    let all: Vec<String> = all.map(|(what, count)| plural(*count, what)).collect();
    match all.join(", ") {
        none if none.is_empty() => none,
        all => format!(" JSON has no place for {all} of the packets; -o NAME.pftrace has."),
    }
}

/// All documents, by rank, on one axis.
fn job(parts: &[Part]) -> Job {
    let later = axis::later(parts);
    let mut placed: Vec<(usize, u32, Document)> = Vec::new();
    for (part, (it, by)) in parts.iter().zip(&later).enumerate() {
        let own = (0..).zip(&it.shown.documents);
        placed.extend(own.map(|(number, document)| (part, number, document.later(*by))));
    }
    // Those without a rank come behind, as they were given.
    placed.sort_by_key(|it| (it.0, first_rank(&it.2).is_none(), first_rank(&it.2)));
    let mut position: Vec<Vec<u32>> = parts
        .iter()
        .map(|it| vec![0; it.shown.documents.len()])
        .collect();
    for (at, (part, number, _)) in (0..).zip(&placed) {
        if let Some(it) = position
            .get_mut(*part)
            .and_then(|it| it.get_mut(*number as usize))
        {
            *it = at;
        }
    }
    let moved = |part: usize, end: ArrowEnd| ArrowEnd {
        document: position[part][end.document as usize],
        at: end.at.saturating_add(later[part]),
        ..end
    };
    let arrows = parts.iter().enumerate().flat_map(|(part, it)| {
        let own = it.shown.arrows.iter();
        own.map(move |arrow| (part, *arrow))
    });
    let arrows = arrows.map(|(part, arrow)| Arrow {
        from: moved(part, arrow.from),
        to: moved(part, arrow.to),
    });
    let extents = placed.iter().filter_map(|it| it.2.extent);
    let packets = parts.iter().filter_map(|it| it.packets.as_ref());
    Job {
        packets: packets.map(|it| it.path.clone()).collect(),
        origin: extents.map(|it| it.first).min().unwrap_or_default(),
        arrows: arrows.collect(),
        documents: placed.into_iter().map(|it| it.2).collect(),
    }
}

/// The least rank that a document is of.
fn first_rank(document: &Document) -> Option<u32> {
    let ranks = document.ranks.iter().filter_map(|it| it.label.parse().ok());
    document.rank.into_iter().chain(ranks).min()
}
