//! `retime order`: all events of a trace on the common time line.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use retime::causality::{Check, Defect, check};
use retime::pipeline::{AskedDelay, Examined};
use retime::{
    CausalityOptions, Clocks, Delay, Grouping, MinimalDelay, TickRate, Ticks, Timestamp, plural,
    printable,
};

use crate::args::{OrderArgs, OrderFormat};
use crate::delay_beside::DelayBeside;
use crate::error::{CliError, VIOLATIONS};
use crate::load::{Loaded, load_with, with_threads};
use crate::method::to_ticks;
use crate::progress::Interrupts;
use crate::report::build::{examined_part, unrelated_parts};
use crate::report::examined;
use crate::report::model::ExaminedPart;
use crate::serial::line::{Lines, write_header};
use crate::serial::{Listed, Row, each_event};

/// Bytes of output that are buffered.
const BUFFER: usize = 1 << 16;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &OrderArgs) -> Result<u8, CliError> {
    with_threads(args.run.threads, || order(args))
}

fn order(args: &OrderArgs) -> Result<u8, CliError> {
    let format = args.ranks.asked().or(args.input_format);
    let source = args.input.source(format, args.run.quiet);
    let (loaded, saved) = load_with(source, |trace| {
        let saved = DelayBeside::of(trace)?;
        let options = CausalityOptions {
            keep_lengths: saved.looks_at_lengths(),
            ..args.matching.options()
        };
        Ok((options, saved))
    })?;
    let window = Window::of(args, &loaded)?;
    let given = match saved.asked(&loaded.info)? {
        Some(AskedDelay::Given(delay)) => Some(delay),
        _ => None,
    };
    let (info, causality) = (&loaded.info, &loaded.causality);
    let clocks = Grouping::Auto.clocks(info, causality);
    let check = checked(&loaded, &clocks, given.as_ref())?;
    let contradictions = contradictions(&loaded, &check, given.is_some());
    let found = contradictions + list(args, &loaded, window)?;
    let unused = loaded.opened.unused();
    let examined = examined_part(Examined::new(info, causality, &unused), None);
    let examined = ExaminedPart {
        unrelated: unrelated_parts(info, &clocks, &check, &unused),
        ..examined
    };
    let contradictory = (found > 0).then(|| {
        format!(
            "{} in the trace: effects stamped before their causes{} stand there by time; \
             retime correct repairs it",
            plural(found, "contradiction"),
            if given.is_some() {
                ", or sooner after them than the minimal delay that was given,"
            } else {
                ""
            }
        )
    });
    if !args.run.quiet {
        for message in contradictory
            .into_iter()
            .chain(examined::warning(&examined))
        {
            // If even this cannot be written, the exit code still tells.
            let _ = writeln!(anstream::stderr(), "{message}");
        }
    }
    Ok(match found {
        0 => examined::exit_code(&examined),
        _ => VIOLATIONS,
    })
}

/// All dependencies at the times of a trace, by a minimal delay if one was given to its correction.
fn checked(
    loaded: &Loaded,
    clocks: &Clocks,
    given: Option<&MinimalDelay>,
) -> Result<Check, CliError> {
    let (causality, none) = (&loaded.causality, MinimalDelay::Uniform(Ticks(0)));
    let (delay, times) = (given.unwrap_or(&none), causality.nodes().timestamps());
    Ok(check(causality, clocks, delay, times, &Interrupts)?)
}

/// Dependencies that are violated, also by a minimal delay that was given, and events stamped before the
/// one before them.
fn contradictions(loaded: &Loaded, check: &Check, is_given: bool) -> u64 {
    let found = if is_given {
        check.short() + check.violated_within_clock()
    } else {
        check.violated()
    };
    found + loaded.causality.defects().count(Defect::TimeRunsBackwards)
}

/// The stretch of time to list.
#[derive(Clone, Copy)]
struct Window {
    from: Timestamp,
    to: Timestamp,
}

impl Window {
    fn of(args: &OrderArgs, loaded: &Loaded) -> Result<Self, CliError> {
        let nodes = loaded.causality.nodes();
        let rate = loaded.info.rate;
        let stamp = |delay: Option<Delay>, or: u64| -> Result<Timestamp, CliError> {
            let ticks = delay.map(|delay| to_ticks(delay, rate)).transpose()?;
            let stamp = ticks.map(|ticks| nodes.absolute(ticks).unwrap_or(Timestamp(u64::MAX)));
            Ok(stamp.unwrap_or(Timestamp(or)))
        };
        let (from, to) = (stamp(args.from, 0)?, stamp(args.to, u64::MAX)?);
        if from > to {
            return Err(CliError::Usage("--from lies after --to".into()));
        }
        Ok(Self { from, to })
    }
}

/// Lists the events; returns how many could not wait for a cause of their time.
fn list(args: &OrderArgs, loaded: &Loaded, window: Window) -> Result<u64, CliError> {
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    let to_stdout = |error| CliError::io(Path::new("standard output"), error);
    let listed = Listed {
        trace: &*loaded.opened.trace,
        info: &loaded.info,
        causality: &loaded.causality,
    };
    let lines = Lines { listed, raw: false };
    let mut write = || -> Result<u64, CliError> {
        match args.format {
            OrderFormat::Text => writeln!(out, "{TEXT_HEADER}"),
            OrderFormat::Csv => writeln!(out, "{CSV_HEADER}"),
            OrderFormat::Jsonl => write_header(&mut out, &loaded.info, None),
        }
        .map_err(to_stdout)?;
        let forced = each_event(listed, None, |row| {
            if row.moment >= window.from && row.moment <= window.to {
                match args.format {
                    OrderFormat::Text => write_text(&mut out, loaded, row),
                    OrderFormat::Csv => write_csv(&mut out, loaded, row),
                    OrderFormat::Jsonl => lines.write(&mut out, row),
                }
                .map_err(to_stdout)?;
            }
            Ok(row.moment <= window.to)
        })?;
        out.flush().map_err(to_stdout)?;
        Ok(forced)
    };
    match write() {
        // Whoever reads the list has seen enough.
        Err(CliError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(CliError::Interrupted) => Err(CliError::CutShort),
        outcome => outcome,
    }
}

const TEXT_HEADER: &str = "                time           seconds   location      event  kind";
const CSV_HEADER: &str = "time,seconds,location,event,kind,region,peer";

fn since(loaded: &Loaded, row: &Row) -> String {
    let since = loaded.causality.nodes().relative(row.time);
    seconds(loaded.info.rate, since)
}

/// The time as the files have it. Lines have none below 0, so that they count from where
/// stamps do.
fn told(loaded: &Loaded, row: &Row) -> i128 {
    row.time.after(loaded.opened.trace.zero())
}

fn write_text(out: &mut impl Write, loaded: &Loaded, row: &Row) -> io::Result<()> {
    let (location, since) = (row.location_id(&loaded.info), since(loaded, row));
    let (time, event, kind) = (told(loaded, row), row.event, row.kind);
    write!(out, "{time:>20}  {since:>16}  {location:>9}  {event:>9}  ")?;
    match (row.region(&*loaded.opened.trace), row.peer) {
        (Some(region), _) => writeln!(out, "{kind:<18}  {}", printable(&region)),
        (None, Some(peer)) => writeln!(out, "{kind:<18}  location {peer}"),
        (None, None) => writeln!(out, "{kind}"),
    }
}

fn write_csv(out: &mut impl Write, loaded: &Loaded, row: &Row) -> io::Result<()> {
    let (location, since) = (row.location_id(&loaded.info), since(loaded, row));
    let (time, event, kind) = (told(loaded, row), row.event, row.kind);
    write!(out, "{time},{since},{location},{event},{kind},")?;
    if let Some(region) = row.region(&*loaded.opened.trace) {
        let region = printable(&region);
        if region.contains(['"', ',']) {
            write!(out, "\"{}\"", region.replace('"', "\"\""))?;
        } else {
            out.write_all(region.as_bytes())?;
        }
    }
    match row.peer {
        Some(peer) => writeln!(out, ",{peer}"),
        None => writeln!(out, ","),
    }
}

/// Seconds with nine decimals, exactly, rounded towards the first event.
fn seconds(rate: TickRate, since: Ticks) -> String {
    let nanoseconds = u128::from(since.0.unsigned_abs()) * 1_000_000_000 / u128::from(rate.get());
    let sign = if since.0 < 0 && nanoseconds > 0 {
        "-"
    } else {
        ""
    };
    let (whole, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    format!("{sign}{whole}.{rest:09}")
}
