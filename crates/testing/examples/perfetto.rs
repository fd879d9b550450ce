//! Makes packets of Perfetto of a profile of Kineto: `perfetto PROFILE.json TRACE.pftrace SHAPE`,
//! where the shape is `pytorch`, `stages` or `rocprof`.
//!
//! ```text
//! kineto /tmp/large style=nccl iterations=100 filler=20
//! perfetto /tmp/large/rank0.pt.trace.json /tmp/rank0.pftrace pytorch
//! ```

#![allow(clippy::print_stderr, reason = "it is a command")]

use std::{error::Error, fs, process::ExitCode};

use retime_testing::perfetto::{Shape, packets};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [profile, trace, shape] = arguments else {
        return Err("usage: perfetto PROFILE.json TRACE.pftrace SHAPE".into());
    };
    let shape = match &**shape {
        "pytorch" => Shape::PyTorch,
        "stages" => Shape::Stages,
        "rocprof" => Shape::Rocprof,
        other => return Err(format!("{other} is no shape: pytorch, stages or rocprof").into()),
    };
    fs::write(trace, packets(&fs::read(profile)?, shape)?)?;
    Ok(())
}
