//! Makes a training run in a directory: `kineto DIRECTORY [KEY=VALUE]...`.
//!
//! Keys are the fields of [`KinetoRun`] and of its windows; `style` comes first, as
//! the others start from what it decides.
//!
//! ```text
//! kineto /tmp/run style=nccl ranks=16 ranks_per_host=8 sequence_numbers=false seed=7
//! kineto /tmp/run style=gloo left_out=2 cut=true missing=3,5 late=2,4,3000000
//! kineto /tmp/hosts style=nccl ranks=64 ranks_per_host=8 late_host=3,1,3000000 scatter=10000,22000
//! kineto /tmp/gpus style=nccl device_offset=200000 device_drift=5000 devices_awaited=true
//! kineto /tmp/set style=nccl ranks=8 ranks_per_host=4 set=1,150000000,-5000000
//! kineto /tmp/shared style=sharded version=peers   # also embeddings, owners, experts
//! kineto /tmp/large style=nccl iterations=100 filler=20
//! ```
//!
//! The last makes 8 files of together 280 MB. `late` is a rank, in each so manieth
//! iteration, and by how many nanoseconds; `late_host` the same of all ranks of a host, whose
//! number follows `ranks_per_host`. `scatter` is between which nanoseconds the ends of an
//! operation lie behind its last begin and transfer. `device_offset` is by how many nanoseconds the
//! clock of a GPU is off that of its host at most, and `device_drift` by how many parts per
//! billion; `set` is a host, after how many nanoseconds its clock is set, and by how many. With `devices_awaited` each iteration ends with a call that waits for the GPU.

#![allow(clippy::print_stderr, reason = "it is a command")]

use std::{error::Error, path::Path, process::ExitCode};

use retime_sim::Duration;
use retime_testing::kineto::{Bases, HostNames, KinetoRun, SetClock, Straggler, Style, Version};

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
    let [directory, settings @ ..] = arguments else {
        return Err("usage: kineto DIRECTORY [KEY=VALUE]...".into());
    };
    let mut run = KinetoRun::training(Style::Nccl);
    for setting in settings {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("{setting} is not KEY=VALUE"))?;
        set(&mut run, key, value).map_err(|error| format!("{setting}: {error}"))?;
    }
    Ok(run.write(Path::new(directory))?)
}

fn set(run: &mut KinetoRun, key: &str, value: &str) -> Result<(), Box<dyn Error>> {
    match key {
        "style" if value == "serving" => *run = KinetoRun::serving(),
        "style" if value == "data" => *run = KinetoRun::data_parallel(),
        "style" if value == "sharded" => *run = KinetoRun::sharded(),
        "style" if value == "embeddings" => *run = KinetoRun::embeddings(),
        "style" if value == "owners" => *run = KinetoRun::reduced_to_owners(),
        "style" if value == "experts" => *run = KinetoRun::experts(),
        "style" if value == "pipeline" => *run = KinetoRun::pipeline(true),
        "style" => *run = KinetoRun::training(style(value)?),
        "seed" => run.seed = value.parse()?,
        "ranks" => run.ranks = value.parse()?,
        "ranks_per_host" => run.ranks_per_host = value.parse()?,
        "stages" => run.stages = value.parse()?,
        "experts" => run.experts = value.parse()?,
        "says_requests" => run.says_requests = value.parse()?,
        "tensor" => run.tensor = value.parse()?,
        "equal_names" => run.equal_names = value.parse()?,
        "iterations" => run.iterations = value.parse()?,
        "offset" => run.offset = value.parse()?,
        "drift" => run.drift = value.parse()?,
        "set" => run.set_clocks.push(set_clock(value)?),
        "device_offset" => run.devices.offset = value.parse()?,
        "device_drift" => run.devices.drift = value.parse()?,
        "devices_awaited" => run.devices.awaited = value.parse()?,
        "version" => run.version = version(value)?,
        "sequence_numbers" => run.sequence_numbers = value.parse()?,
        "host_names" => run.host_names = host_names(value)?,
        "bases" => run.bases = bases(value)?,
        "left_out" => run.windows.left_out = value.parse()?,
        "cut" => run.windows.cut = value.parse()?,
        "missing" => run.missing = numbers(value)?,
        "late" => run.stragglers.push(straggler(value)?),
        "late_host" => {
            let Straggler { rank, every, late } = straggler(value)?;
            let first = rank * run.ranks_per_host;
            let own =
                (first..first + run.ranks_per_host).map(|rank| Straggler { rank, every, late });
            run.stragglers.extend(own);
        }
        "scatter" => run.scatter = scatter(value)?,
        "filler" => run.filler = value.parse()?,
        _ => return Err("there is no such key".into()),
    }
    Ok(())
}

fn style(value: &str) -> Result<Style, &'static str> {
    match value {
        "nccl" => Ok(Style::Nccl),
        "gloo" => Ok(Style::Gloo),
        _ => Err(
            "styles are nccl, gloo, serving, data, pipeline, sharded, embeddings, owners and experts",
        ),
    }
}

fn bases(value: &str) -> Result<Bases, &'static str> {
    match value {
        "same" => Ok(Bases::Same),
        "differing" => Ok(Bases::Differing),
        "absent" => Ok(Bases::Absent),
        _ => Err("bases are same, differing and absent"),
    }
}

fn version(value: &str) -> Result<Version, &'static str> {
    match value {
        "ranges" => Ok(Version::Ranges),
        "groups" => Ok(Version::Groups),
        "peers" => Ok(Version::Peers),
        "computing" => Ok(Version::Computing),
        _ => Err("versions are ranges, groups, peers and computing"),
    }
}

fn host_names(value: &str) -> Result<HostNames, &'static str> {
    match value {
        "own" => Ok(HostNames::Own),
        "one" => Ok(HostNames::One),
        "absent" => Ok(HostNames::Absent),
        _ => Err("names of hosts are own, one and absent"),
    }
}

fn straggler(value: &str) -> Result<Straggler, Box<dyn Error>> {
    match numbers::<u64>(value)?[..] {
        [rank, every, late] => Ok(Straggler {
            rank: rank.try_into()?,
            every: every.try_into()?,
            late,
        }),
        _ => Err("three numbers are needed".into()),
    }
}

fn set_clock(value: &str) -> Result<SetClock, Box<dyn Error>> {
    match numbers::<i64>(value)?[..] {
        [host, at, by] => Ok(SetClock {
            host: host.try_into()?,
            at: at.try_into()?,
            by,
        }),
        _ => Err("three numbers are needed".into()),
    }
}

fn scatter(value: &str) -> Result<Duration, Box<dyn Error>> {
    match numbers::<u64>(value)?[..] {
        [least, most] => Ok(Duration::uniform(least, most)),
        _ => Err("two numbers are needed".into()),
    }
}

fn numbers<T: std::str::FromStr>(value: &str) -> Result<Vec<T>, T::Err> {
    value.split(',').map(str::parse).collect()
}
