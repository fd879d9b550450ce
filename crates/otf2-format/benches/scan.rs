//! How many events per second are scanned and verified.
//!
//! ```text
//! cargo bench -p retime-otf2-format --bench scan -- DIR/NAME.otf2
//! RETIME_BENCH_ARCHIVE=DIR/NAME.otf2 cargo bench -p retime-otf2-format --bench scan
//! ```
//!
//! Without an archive it says so and does nothing. Small archives are read
//! again and again, so that a run takes about a second; one core is used.
#![allow(clippy::print_stdout)]

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use retime_model::format::{Contents, Format};
use retime_otf2_format::Otf2;

/// How long one measurement takes at least.
const ENOUGH: Duration = Duration::from_secs(1);

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    // Cargo adds arguments of its own, such as --bench.
    let argument = env::args().skip(1).find(|it| !it.starts_with("--"));
    let Some(archive) = argument.or_else(|| env::var("RETIME_BENCH_ARCHIVE").ok()) else {
        println!("skipped: name an archive, or set RETIME_BENCH_ARCHIVE");
        return Ok(());
    };
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let trace = Otf2.open(Path::new(&archive))?;
    let locations = trace.describe().map_or(0, |info| info.locations.len());
    let nothing: Vec<&[u32]> = vec![&[]; locations];
    for _ in 0..3 {
        measure("scan", || {
            let scan = one_core.install(|| trace.scan(&()))?;
            Ok(black_box(scan).contents.iter().map(events).sum())
        })?;
    }
    for _ in 0..3 {
        measure("verify", || {
            let timelines = one_core.install(|| trace.timelines(&nothing, &()))?;
            Ok(timelines.iter().map(|it| events(&it.contents)).sum())
        })?;
    }
    Ok(())
}

fn events(contents: &Contents) -> u64 {
    contents.kinds.iter().map(|(_, count)| count).sum()
}

/// Prints the greatest speed of something that handles so many events.
fn measure(what: &str, mut run: impl FnMut() -> Outcome<u64>) -> Outcome {
    let start = Instant::now();
    let mut best = 0.0_f64;
    // The best run is the one that others disturbed least.
    while start.elapsed() < ENOUGH {
        let begin = Instant::now();
        let events = run()?;
        best = best.max(events as f64 / begin.elapsed().as_secs_f64() / 1e6);
    }
    println!("{what}: {best:.1} million events/s");
    Ok(())
}
