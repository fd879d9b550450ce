//! Simulated training runs, recorded as the profiler of PyTorch does.
//!
//! A training job writes one JSON file for each rank, stamped by the clock of
//! the rank's host. [`KinetoRun`] simulates such a job in true time, and writes
//! the files with the truth beside them:
//!
//! ```text
//!  Step         what each rank does in an iteration   Compute, Collective, Pipeline, ..
//!    |
//!  simulation   who begins and ends what when, in true time
//!    |
//!    +--> rank0.pt.trace.json ...   the layout of libkineto, one clock for each host
//!    +--> truth.json                clocks, and which events are one operation
//! ```
//!
//! What proves something about the clocks is as in recordings of real jobs:
//!
//! | style | begins | ends |
//! |---|---|---|
//! | [`Nccl`](Style::Nccl) | a kernel, when its rank launched it and its stream is free | all members together, microseconds after the last began and the data went over |
//! | [`Gloo`](Style::Gloo) | when a thread of the group's two takes it from the queue | scattered over milliseconds after the last began |
//!
//! The stamps of a device are those of its host, unless the run says how far its clock is off
//! ([`Devices`]): then kernels can begin before their launch.
//!
//! A broadcast holds nobody up but those who wait for its root, and a small message of NCCL
//! does not wait for its receiver. A message of Gloo leaves within `c10d::send`, before
//! `gloo:send` begins, but not before it is awaited; `gloo:recv` ends some time after it
//! has come.
//!
//! ```
//! use retime_testing::kineto::{KinetoRun, Style};
//!
//! # let scratch = tempfile::tempdir()?;
//! let run = KinetoRun { ranks: 4, iterations: 3, ..KinetoRun::training(Style::Nccl) };
//! run.write(scratch.path())?;
//! assert!(scratch.path().join("rank3.pt.trace.json").exists());
//! assert!(scratch.path().join("truth.json").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod events;
mod filler;
mod groups;
mod happened;
mod job;
mod jobs;
mod names;
mod pipeline;
mod rank_file;
mod sharded;
mod simulation;
mod stamp;
mod truth;
mod window;

use std::{fs, path::Path};

use retime_sim::{Error, Result};

pub use retime_sim::Duration;

pub use self::job::{
    Among, Bases, Class, Devices, Element, HostNames, KinetoRun, SetClock, Step, Straggler, Style,
    Version, Windows,
};
use self::{groups::Groups, rank_file::RankFile, stamp::HostClock};

impl KinetoRun {
    /// Writes a file `rank<N>.pt.trace.json` for each rank that is not missing, and
    /// `truth.json`, into a directory, which is made if need be.
    pub fn write(&self, directory: &Path) -> Result<()> {
        for (number, what) in [
            (self.ranks, "ranks"),
            (self.ranks_per_host, "ranks per host"),
            (self.tensor, "ranks of a tensor group"),
            (self.stages, "stages"),
            (self.experts, "ranks of an expert group"),
        ] {
            if number == 0 {
                return Err(Error::Zero(what));
            }
        }
        fs::create_dir_all(directory)?;
        let groups = Groups::new(self);
        let happened = simulation::simulate(self, &groups);
        let clocks = HostClock::draw(self);
        let devices = HostClock::draw_devices(self, &clocks);
        let written = (0..self.ranks)
            .filter(|rank| !self.missing.contains(rank))
            .map(|rank| {
                let file = RankFile::new(self, &groups, &happened, [&clocks, &devices], rank);
                Ok((rank, file.write(directory)?))
            })
            .collect::<Result<Vec<_>>>()?;
        truth::write(self, &groups, &happened, &written, directory)
    }
}
