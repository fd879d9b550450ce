//! Runs targets: `retime-fuzz [TARGET|all] [SECONDS] [SEED]`.
#![allow(clippy::print_stdout, reason = "says what came out")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use retime_fuzz::run::{Effort, run};
use retime_fuzz::targets::TARGETS;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "all".into());
    let seconds = arguments
        .next()
        .and_then(|it| it.parse().ok())
        .unwrap_or(60);
    let seed = arguments
        .next()
        .and_then(|it| it.parse().ok())
        .unwrap_or(1997);
    let crashers = Path::new(env!("CARGO_MANIFEST_DIR")).join("crashers");
    let mut found = 0;
    let mut known = false;
    for target in TARGETS.iter().filter(|it| name == "all" || it.name == name) {
        known = true;
        let outcome = run(
            target,
            Effort::For(Duration::from_secs(seconds)),
            seed,
            &crashers,
        );
        println!(
            "{}: {} inputs, {} taken, {} kinds of answers, {} crashers",
            target.name,
            outcome.tried,
            outcome.taken,
            outcome.said,
            outcome.crashers.len()
        );
        for path in &outcome.crashers {
            println!("  {}", path.display());
        }
        found += outcome.crashers.len();
    }
    if !known {
        let names: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
        println!("no target {name}; there are all, {}", names.join(", "));
    }
    ExitCode::from(u8::from(found > 0 || !known))
}
