//! Writes the trace of a simulated halo exchange.
//!
//! ```text
//! cargo run --release -p retime-sim --example generate -- \
//!     --ranks 4 --events 1e7 --seed 1 --offset 100us --drift 2ppm -o DIR [--truth DIR]
//! ```

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the command line"
)]

use std::{error::Error, path::PathBuf, process::ExitCode, time::Instant};

use retime_sim::{Collective, HaloExchange, Spread, Timer};

const USAGE: &str = "\
Writes the trace of a simulated halo exchange.

  -o DIR              directory of the trace, DIR/traces.otf2
  --truth DIR         also write the trace with true times
  --ranks N           processes, on the most square grid      [4]
  --events N          at least so many events (1e7 is fine)   [1e6]
  --iterations N      iterations, instead of events
  --seed N            what all randomness derives from        [0]
  --collective KIND   barrier, allreduce or none              [allreduce]
  --every N           iterations from collective to next      [1]
  --ranks-per-node N  processes on a node                     [all]
  --threads N         threads of a process                    [1]
  --threads-send      further threads send messages too
  --offset TIME       largest clock offset (ns, us, ms, s)    [0ns]
  --drift RATE        largest drift (ppm, ppb)                [0ppm]
  --wander TIME       largest slow deviation                  [0ns]
  --wander-period TIME  its period                            [10s]
  --step TIME         steps of the clocks                     [1ns]
  --node-clocks       one clock per node, not per process
  --resolution N      ticks per second                        [1e9]
  --epoch N           ticks at the start                      [one second]";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            ExitCode::from(2)
        }
    }
}

fn generate() -> Result<()> {
    let Some(request) = parse(std::env::args().skip(1))? else {
        println!("{USAGE}");
        return Ok(());
    };
    let start = Instant::now();
    let anchor = request.output.join("traces.otf2");
    let written = match &request.truth {
        Some(truth) => request
            .program
            .write_with_truth(&anchor, &truth.join("traces.otf2"))?,
        None => request.program.write(&anchor)?,
    };
    println!(
        "{}: {} events, {} messages, {} collectives, {} bytes, {:.3} s",
        anchor.display(),
        written.statistics.events,
        written.statistics.messages,
        written.statistics.collectives,
        written.trace.bytes,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

struct Request {
    program: HaloExchange,
    output: PathBuf,
    truth: Option<PathBuf>,
}

/// What the arguments ask for; nothing if they ask for help.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Request>> {
    let mut program = HaloExchange::default();
    let mut spread = Spread::default();
    let (mut output, mut truth) = (None, None);
    let (mut events, mut iterations) = (1_000_000, None);
    let (mut node_clocks, mut epoch) = (false, None);
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "-h" | "--help" => return Ok(None),
            "--threads-send" => program.threads_send = true,
            "--node-clocks" => node_clocks = true,
            _ => {
                let value = arguments.next().ok_or(format!("{name} needs a value"))?;
                match name.as_str() {
                    "-o" => output = Some(value.into()),
                    "--truth" => truth = Some(value.into()),
                    "--events" => events = count(&value)?,
                    "--iterations" => iterations = Some(count(&value)?),
                    "--epoch" => epoch = Some(count(&value)?),
                    _ => set(&mut program, &mut spread, &name, &value)?,
                }
            }
        }
    }
    let layout = program.layout();
    program.clocks = if node_clocks {
        spread.per_node(&layout, program.seed)
    } else {
        spread.per_process(&layout, program.seed)
    };
    let resolution = program.timer.resolution;
    program.timer.epoch = epoch.unwrap_or(resolution);
    program.iterations = match iterations {
        Some(iterations) => iterations,
        None => program.iterations_for(events)?,
    };
    Ok(Some(Request {
        program,
        output: output.ok_or("-o DIR is missing; --help shows all options")?,
        truth,
    }))
}

/// Sets one property of the program or of its clocks.
fn set(program: &mut HaloExchange, spread: &mut Spread, name: &str, value: &str) -> Result<()> {
    let small = || -> Result<u32> { Ok(u32::try_from(count(value)?)?) };
    match name {
        "--ranks" => program.grid = HaloExchange::square_grid(small()?),
        "--seed" => program.seed = count(value)?,
        "--collective" => match value {
            "barrier" => program.collective = Collective::Barrier,
            "allreduce" => program.collective = Collective::Allreduce,
            "none" => program.collective_every = 0,
            other => return Err(format!("{other} is not a known collective").into()),
        },
        "--every" => program.collective_every = count(value)?,
        "--ranks-per-node" => program.ranks_per_node = small()?,
        "--threads" => program.threads = small()?,
        "--offset" => spread.offset = nanoseconds(value)?,
        "--drift" => spread.drift = rate(value)?,
        "--wander" => spread.wander = nanoseconds(value)?,
        "--wander-period" => spread.period = nanoseconds(value)?,
        "--step" => spread.step = nanoseconds(value)? as u64,
        "--resolution" => {
            program.timer = Timer {
                resolution: count(value)?,
                ..program.timer
            }
        }
        other => return Err(format!("unknown option {other}; --help shows all").into()),
    }
    Ok(())
}

/// A whole number, also written as 1e7.
fn count(text: &str) -> Result<u64> {
    if let Ok(exact) = text.parse() {
        return Ok(exact);
    }
    let number: f64 = text
        .parse()
        .map_err(|_| format!("{text} is not a number"))?;
    if number >= 0.0 && number < u64::MAX as f64 && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    Err(format!("{text} is not a whole number").into())
}

fn nanoseconds(text: &str) -> Result<f64> {
    quantity(text, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)])
}

fn rate(text: &str) -> Result<f64> {
    quantity(text, &[("ppm", 1e-6), ("ppb", 1e-9)])
}

/// A number with a unit.
fn quantity(text: &str, units: &[(&str, f64)]) -> Result<f64> {
    let found = units.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number * factor)
    });
    found.ok_or_else(|| {
        let names: Vec<_> = units.iter().map(|it| it.0).collect();
        format!(
            "{text} is not a number with one of the units {}",
            names.join(", ")
        )
        .into()
    })
}
