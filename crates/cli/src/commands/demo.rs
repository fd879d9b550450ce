//! `retime demo`: the whole story on a bundled real recording.
//!
//! The recording is an MPI run of four ranks that exchange halos on a 2-D grid,
//! with collectives in between. Every rank ran with a clock set off by a known
//! amount, so the correction can be held against the truth.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use clap::Args;
use retime::causality::{Check, EventNode};
use retime::{Causality, TickRate, Timestamp, format_seconds, group_digits, printable_path};
use retime_picture::Decades;

use super::correct;
use super::done::Done;
use crate::analysed::{Analysed, analyse};
use crate::args::{CheckArgs, CorrectArgs, DemoArgs};
use crate::drawn::sketch;
use crate::error::CliError;
use crate::load::with_threads;
use crate::report::quoted::quoted_path;
use crate::report::to_stdout;
use crate::{staging, temporary};

/// The recording, as a compressed archive of one directory `halo`.
const RECORDING: &[u8] = include_bytes!("../../demo/halo.tar.zst");

/// How far the clock of each rank was set off, in ns; known to 5 ns.
const CLOCK_OFFSETS: [i64; 4] = [-1_598, 148_402, -81_598, 38_402];

/// Runs the command.
pub(crate) fn run(args: &DemoArgs) -> Result<u8, CliError> {
    let scratch;
    let directory = if let Some(directory) = &args.keep {
        staging::make_directory(directory)?;
        directory.as_path()
    } else {
        scratch = temporary::directory()?;
        scratch.path()
    };
    let exit = show(directory, args.keep.as_deref());
    if exit.is_err() && args.keep.is_some() {
        // It was made above. Nothing better can be done about a failure here.
        let _ = fs::remove_dir_all(directory);
    }
    exit
}

/// All of it, in an empty directory; `keep` if that is to stay.
fn show(directory: &Path, keep: Option<&Path>) -> Result<u8, CliError> {
    unpack(directory)?;
    let (recorded, corrected) = (directory.join("halo"), directory.join("corrected"));
    let before = checked(&recorded)?;
    to_stdout(&introduce(&before))?;
    to_stdout(&describe_check(1, "check halo", &before))?;

    let done = correct::correct(&correct_args(&recorded, &corrected)?)?;
    let after = checked(&corrected)?;
    to_stdout(&describe_correction(2, &done))?;
    to_stdout(&describe_check(3, "check corrected", &after))?;
    to_stdout(&picture(&before, &after))?;
    to_stdout(&truth(&before, &after))?;
    if let Some(directory) = keep {
        let kept = format!(
            "\nKept in {}: try retime undo {} -o {}\n",
            printable_path(directory),
            quoted_path(&directory.join("corrected")),
            quoted_path(&directory.join("restored")),
        );
        to_stdout(&kept)?;
    }
    Ok(u8::from(after.analysis.recorded().violated() > 0))
}

fn unpack(directory: &Path) -> Result<(), CliError> {
    let broken = |error: String| CliError::input(Path::new("bundled recording"), error);
    let decoder = ruzstd::decoding::StreamingDecoder::new(RECORDING)
        .map_err(|error| broken(error.to_string()))?;
    tar::Archive::new(decoder)
        .unpack(directory)
        .map_err(|error| CliError::io(directory, root_of(error)))
}

/// Finds the error at the root of others: `tar` says only where it failed.
fn root_of(error: io::Error) -> io::Error {
    let mut cause: &dyn std::error::Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let code = cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}

/// Options as if given on the command line, so that their defaults hold.
fn parsed<A: Args>(words: &[&OsStr]) -> Result<A, CliError> {
    let command = A::augment_args(clap::Command::new("retime").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let args = matches.and_then(|matches| A::from_arg_matches(&matches));
    args.map_err(|error| CliError::Usage(error.to_string()))
}

fn correct_args(recorded: &Path, corrected: &Path) -> Result<CorrectArgs, CliError> {
    // Whatever the paths begin with.
    let mut output = OsString::from("--output=");
    output.push(corrected);
    parsed(&[output.as_os_str(), OsStr::new("--"), recorded.as_os_str()])
}

fn checked(trace: &Path) -> Result<Analysed, CliError> {
    let args: CheckArgs = parsed(&[OsStr::new("--"), trace.as_os_str()])?;
    with_threads(args.run.threads, || {
        analyse(args.input.shared(&args.format, args.run.quiet), &args.model)
    })
}

fn heading(text: &str) -> String {
    let style = anstyle::Style::new().bold();
    format!("\n{style}{text}{style:#}\n")
}

fn introduce(before: &Analysed) -> String {
    let info = before.analysis.info();
    let nodes = before.analysis.causality().nodes();
    let events: u64 = (0..nodes.locations())
        .map(|location| nodes.event_count(location))
        .sum();
    let mut text = heading("A recording with clocks that disagree");
    let _ = writeln!(
        text,
        "A real MPI run: {} ranks exchange halos on a 2-D grid, {} events, {} messages.\n\
         The clock of each rank was set off on purpose. Against that of rank 0:",
        info.locations.len(),
        group_digits(events),
        group_digits(before.analysis.causality().messages()),
    );
    for (rank, offset) in CLOCK_OFFSETS.iter().enumerate().skip(1) {
        let _ = writeln!(
            text,
            "  rank {rank}  {:>+7.1} us",
            (offset - CLOCK_OFFSETS[0]) as f64 / 1e3
        );
    }
    text
}

fn describe_check(step: u32, command: &str, analysed: &Analysed) -> String {
    let Check {
        messages,
        collectives,
        ..
    } = analysed.analysis.recorded();
    let mut text = heading(&format!("{step}. retime {command}"));
    if analysed.analysis.recorded().violated() == 0 {
        let _ = writeln!(
            text,
            "All {} messages arrive after they were sent; all {} ends of collectives come after\n\
             the last rank has entered.",
            group_digits(messages.total),
            group_digits(collectives.total),
        );
    } else {
        let _ = writeln!(
            text,
            "{} of {} messages arrive before they were sent;\n\
             {} of {} times a rank leaves a collective before the last rank enters it.",
            group_digits(messages.violated),
            group_digits(messages.total),
            group_digits(collectives.violated),
            group_digits(collectives.total),
        );
    }
    text
}

fn describe_correction(step: u32, done: &Done) -> String {
    let mut text = heading(&format!("{step}. retime correct halo -o corrected"));
    let (Some(method), Some(distortion)) = (&done.report.method, &done.report.distortion) else {
        return text;
    };
    let measured = &distortion.measured;
    let rate = done.report.trace.ticks_per_second as f64;
    let kept = measured.unchanged + measured.small;
    let _ = writeln!(
        text,
        "{}: events move by {} on average;\n\
         {:.1} % of all intervals within a rank keep their length (to 0.1 % or a tick).\n\
         Written, read again and checked in {}.",
        capitalised(&method.name),
        format_seconds(measured.mean_displacement / rate),
        100.0 * kept as f64 / measured.intervals.max(1) as f64,
        format_seconds(done.report.timing.total_seconds),
    );
    text
}

/// The text as it begins a sentence.
fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).collect()
}

/// How many messages have which latency, before and after.
fn picture(before: &Analysed, after: &Analysed) -> String {
    let (recorded, corrected) = (before.analysis.causality(), after.analysis.causality());
    let times = corrected.nodes().timestamps();
    let decades = Decades::of(recorded, before.analysis.info().rate, Some(times));
    sketch::histogram(&decades, true)
}

fn truth(before: &Analysed, after: &Analysed) -> String {
    let recorded = before.analysis.causality();
    let rate = before.analysis.info().rate;
    let raw = mean_error(recorded, recorded.nodes().timestamps(), rate);
    let corrected = mean_error(
        recorded,
        after.analysis.causality().nodes().timestamps(),
        rate,
    );
    let mut text = heading("Against the truth");
    let _ = writeln!(
        text,
        "Mean error of an event's time (a shift common to all ranks aside): {} recorded, {} corrected.",
        format_seconds(raw),
        format_seconds(corrected),
    );
    text
}

/// Mean deviation from the true times, with the common shift removed.
fn mean_error(recorded: &Causality, times: &[Timestamp], rate: TickRate) -> f64 {
    let nodes = recorded.nodes();
    let error = |(node, time): (EventNode, &Timestamp)| {
        let offset = CLOCK_OFFSETS[nodes.location(node).as_usize() % CLOCK_OFFSETS.len()];
        let off_by = time.0.wrapping_sub(nodes.timestamp(node).0) as i64 + offset;
        off_by as f64
    };
    let count = times.len().max(1) as f64;
    let errors = nodes.all().zip(times).map(error);
    let shift = errors.clone().sum::<f64>() / count;
    let deviation = errors.map(|error| (error - shift).abs()).sum::<f64>() / count;
    deviation / rate.get() as f64
}
