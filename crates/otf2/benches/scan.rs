//! How many events per second are scanned and verified.
//!
//! ```text
//! cargo bench -p retime-otf2 --bench scan -- DIR/NAME.otf2
//! RETIME_BENCH_ARCHIVE=DIR/NAME.otf2 cargo bench -p retime-otf2 --bench scan
//! ```
//!
//! Without an archive it says so and does nothing. Small archives are read
//! again and again, so that a run takes about a second; one core is used.
#![allow(clippy::print_stdout)]

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use retime_otf2::{Otf2Trace, Result};

/// How long one measurement takes at least.
const ENOUGH: Duration = Duration::from_secs(1);

fn main() -> Result<()> {
    // Cargo adds arguments of its own, such as --bench.
    let argument = env::args().skip(1).find(|it| !it.starts_with("--"));
    let Some(archive) = argument.or_else(|| env::var("RETIME_BENCH_ARCHIVE").ok()) else {
        println!("skipped: name an archive, or set RETIME_BENCH_ARCHIVE");
        return Ok(());
    };
    let trace = Otf2Trace::open(&archive)?;
    for _ in 0..3 {
        measure("scan", || {
            let scan = |location| Ok(trace.scan(location, &())?.counts.total());
            trace.locations().map(scan).sum()
        })?;
    }
    for _ in 0..3 {
        measure("verify", || {
            let verify = |location| {
                let timeline = trace.node_times(location, &[], &())?;
                Ok(black_box(timeline).counts.total())
            };
            trace.locations().map(verify).sum()
        })?;
    }
    Ok(())
}

/// Prints the speed of something that handles so many events.
fn measure(what: &str, mut run: impl FnMut() -> Result<u64>) -> Result<()> {
    let start = Instant::now();
    let mut events = 0;
    while start.elapsed() < ENOUGH {
        events += run()?;
    }
    let speed = events as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!("{what}: {speed:.1} million events/s");
    Ok(())
}
