//! `retime-mpi measure`: how far the clocks of all processes are from that of process 0.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _, stderr, stdout};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use clap::Parser;
use mpi::environment::processor_name;
use retime_measure::{ClockSource, Exchange as _, Measured, OffsetsFile, Row, measure, table};
use retime_model::{TickRate, printable_path};

use crate::exit::FAILURE;
use crate::peers::Peers;

/// The name of the command.
pub(crate) const NAME: &str = "measure";

/// The longest name of a host that is told.
const LONGEST_NAME: usize = 64;

/// Measure how far the clocks of all processes are from that of process 0:
/// mpirun -n P retime-mpi measure.
///
/// Each process asks another one what time it is, up to 100 times, and believes the fastest
/// answer, which is wrong by half of the time it took at most; over a tree, one process of each
/// node first. The table has the offset (what has to be added to the clock), its bound, the
/// fastest round trip and the one in the middle, and how fast the clock drifts.
#[derive(Debug, Parser)]
#[command(name = "retime-mpi measure", version, max_term_width = 100, color = clap::ColorChoice::Never)]
struct MeasureArgs {
    /// The clock to measure: monotonic, `monotonic_raw` or realtime
    #[arg(long, value_name = "NAME", default_value = "monotonic")]
    clock: ClockSource,
    /// How often to measure; drifts need two measurements
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// So many seconds between two measurements
    #[arg(long, value_name = "SECONDS", default_value_t = 1)]
    every: u32,
    /// Write all that was measured to a new file, for retime correct --offsets
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Does it in each of the processes; the exit code. The first says what is wrong.
pub(crate) fn run(command_line: impl IntoIterator<Item = OsString>) -> u8 {
    let parsed = MeasureArgs::try_parse_from(command_line);
    let clock = parsed.as_ref().map(|it| it.clock).unwrap_or_default();
    let mut peers = Peers::new(clock);
    let is_first = peers.rank() == 0;
    match parsed {
        Ok(args) => measured(&args, &mut peers).unwrap_or_else(|error| {
            if is_first {
                // If even this cannot be written, the exit code still tells.
                let _ = writeln!(stderr(), "retime-mpi: {error}");
            }
            FAILURE
        }),
        Err(message) => {
            if is_first {
                let _ = message.print();
            }
            u8::try_from(message.exit_code()).unwrap_or(FAILURE)
        }
    }
}

fn measured(args: &MeasureArgs, peers: &mut Peers) -> io::Result<u8> {
    let is_first = peers.rank() == 0;
    let occupied = args
        .output
        .as_deref()
        .filter(|it| it.symlink_metadata().is_ok());
    if peers.told(occupied.is_some()) {
        return Err(io::Error::other(match occupied {
            Some(path) => format!("{}: exists already; give a new file", printable_path(path)),
            None => "the output exists already".to_owned(),
        }));
    }
    let all = measure_repeatedly(args, peers);
    let hosts = hosts(peers);
    if !is_first {
        return Ok(0);
    }
    let rate = TickRate::NANOSECONDS;
    let rows = hosts.into_iter().enumerate().map(|(rank, host)| Row {
        host,
        measured: all.iter().map(|it| it[rank]).collect(),
    });
    stdout().write_all(table(&rows.collect::<Vec<_>>(), rate).as_bytes())?;
    if let Some(path) = &args.output {
        let mut file = OffsetsFile::new(args.clock.name(), rate);
        for ranks in &all {
            file.add(ranks);
        }
        write(path, &file).map_err(|error| {
            io::Error::other(format!("cannot write {}: {error}", printable_path(path)))
        })?;
    }
    Ok(0)
}

/// Each measurement of all ranks.
fn measure_repeatedly(args: &MeasureArgs, peers: &mut Peers) -> Vec<Vec<Option<Measured>>> {
    let tree = peers.tree();
    let mut all = Vec::new();
    for time in 0..args.repeat {
        if time > 0 {
            sleep(Duration::from_secs(u64::from(args.every)));
        }
        let Ok::<_, Infallible>(own) = measure(peers, &tree);
        all.push(peers.measured_by_all(own));
    }
    all
}

/// The host of each rank.
fn hosts(peers: &Peers) -> Vec<String> {
    let name = processor_name().unwrap_or_default();
    let mut bytes = name.into_bytes();
    bytes.resize(LONGEST_NAME, 0);
    let all = peers.all_gathered(&bytes);
    let names = all.chunks(LONGEST_NAME);
    let names = names.map(|it| {
        String::from_utf8_lossy(it)
            .trim_end_matches('\0')
            .to_owned()
    });
    names.collect()
}

fn write(path: &Path, offsets: &OffsetsFile) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(offsets.text().as_bytes())?;
    file.sync_all()
}
