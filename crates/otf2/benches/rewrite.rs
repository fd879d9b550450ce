//! How many events per second are written with new times and restored.
//!
//! ```text
//! cargo bench -p retime-otf2 --bench rewrite -- DIR/NAME.otf2
//! RETIME_BENCH_ARCHIVE=DIR/NAME.otf2 cargo bench -p retime-otf2 --bench rewrite
//! ```
//!
//! Without an archive it says so and does nothing. All cores are used, and the
//! copies go to the directory for temporary files.
#![allow(clippy::print_stdout)]

use std::env;
use std::error::Error;
use std::fs;
use std::time::Instant;

use retime_model::{ClockMap, Clocks, Correction, Knot, Timestamp};
use retime_otf2::Trace;

/// Pieces of each map.
const PIECES: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds arguments of its own, such as --bench.
    let argument = env::args().skip(1).find(|it| !it.starts_with("--"));
    let Some(archive) = argument.or_else(|| env::var("RETIME_BENCH_ARCHIVE").ok()) else {
        println!("skipped: name an archive, or set RETIME_BENCH_ARCHIVE");
        return Ok(());
    };
    let trace = Trace::open(&archive)?;
    let (mut events, mut least, mut greatest) = (0, u64::MAX, 0);
    for location in trace.locations() {
        let timeline = trace.times(location, &[], &())?;
        events += timeline.counts.total();
        if let Some((first, last)) = timeline.range {
            (least, greatest) = (least.min(first.0), greatest.max(last.0));
        }
    }
    let clocks = Clocks::each_location(trace.locations().len());
    for (what, map) in [
        ("shifted", shifted()?),
        ("bent", bent(least, greatest - least)?),
    ] {
        let maps = vec![map; clocks.len()];
        measure(&trace, &Correction::new(clocks.clone(), maps), events, what)?;
    }
    Ok(())
}

/// One shift for all times.
fn shifted() -> Result<ClockMap, Box<dyn Error>> {
    let knot = Knot::at(Timestamp(0), Timestamp(1_000_000));
    Ok(ClockMap::new(vec![knot], vec![])?)
}

/// Pieces that run by turns one in a thousand too fast and too slow.
fn bent(start: u64, length: u64) -> Result<ClockMap, Box<dyn Error>> {
    let piece = (length / PIECES).max(1_000);
    let knots = (0..=PIECES).map(|number| {
        let raw = start + number * piece;
        Knot::at(
            Timestamp(raw),
            Timestamp(raw + number % 2 * (piece / 1_000)),
        )
    });
    Ok(ClockMap::new(knots.collect(), vec![])?)
}

fn measure(
    trace: &Trace,
    correction: &Correction,
    events: u64,
    what: &str,
) -> Result<(), Box<dyn Error>> {
    let speed = |start: Instant| events as f64 / start.elapsed().as_secs_f64() / 1e6;
    for _ in 0..3 {
        let dir = tempfile::tempdir()?;
        let (new, back) = (dir.path().join("new"), dir.path().join("back"));
        fs::create_dir(&new)?;
        fs::create_dir(&back)?;
        let start = Instant::now();
        let rewritten = trace.rewrite(correction, &new, &())?;
        let rewriting = speed(start);
        let corrected = Trace::open(&new)?;
        let start = Instant::now();
        corrected.restore(correction, &rewritten.undo, &back, &())?;
        let restoring = speed(start);
        let undo = serde_json::to_string(&rewritten.undo)?.len();
        println!(
            "{what}: rewritten {rewriting:.1}, restored {restoring:.1} million events/s, \
             {undo} bytes of undo data"
        );
    }
    Ok(())
}
