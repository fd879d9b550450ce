//! A trace of several files, which processes read and write, each some of them.
//!
//! Its format joins what is in them; here is who has which file, and how tasks get there.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use retime_model::Monitor;
use retime_model::format::{FileHolders, Format, FormatError, InFiles, Trace};

use crate::command::{Answer, Bytes, Command, Failure};
use crate::communicator::Lost;
use crate::deal::deal_files;
use crate::mark::mark_of_files;
use crate::scaled::Scaled;
use crate::team::Team;

/// Opens a trace whose files all processes work on; the others [`serve`](crate::serve). `None` if
/// its format does not allow that, or it has one file alone.
pub(crate) fn open_in_files(
    team: &Arc<Team>,
    format: &'static dyn Format,
    path: &Path,
    monitor: &dyn Monitor,
) -> Result<Option<Box<dyn Trace>>, FormatError> {
    let Some(trace) = format.open_in_files(path, monitor) else {
        return Ok(None);
    };
    let trace = trace?;
    if trace.files().len() < 2 || team.size() < 2 {
        return Ok(None);
    }
    let hands = Processes::open(team, format, path, monitor)?;
    Ok(Some(trace.in_hands(Arc::new(hands))))
}

/// The processes, each with some files of a trace in hands.
struct Processes {
    team: Arc<Team>,
    format: &'static dyn Format,
    /// The number by which the others know the trace.
    number: u32,
    /// The process of each file.
    owners: Vec<usize>,
    /// The trace as this process works on its own files,
    own: Box<dyn InFiles>,
    /// and the bytes of these and of all.
    bytes: (u64, u64),
}

impl Processes {
    fn open(
        team: &Arc<Team>,
        format: &'static dyn Format,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Self, FormatError> {
        let own = format.open_in_files(path, monitor);
        let own = own.ok_or_else(|| FormatError::failed(Lost::Garbled(0)))??;
        let files = own.files();
        let mark = mark_of_files(&files);
        let owners = deal_files(files.iter().map(|it| it.1), team.size());
        let bytes = |of: &dyn Fn(usize) -> bool| {
            let files = files.iter().zip(&owners).filter(|it| of(*it.1));
            files.map(|it| it.0.1).sum()
        };
        let mut opened = team.ask();
        *opened += 1;
        let number = *opened;
        drop(opened);
        // From here on others may have it open, and forget it when this one is dropped.
        let processes = Self {
            bytes: (bytes(&|it| it == 0), bytes(&|_| true)),
            team: Arc::clone(team),
            format,
            number,
            owners,
            own,
        };
        let _asking = team.ask();
        for rank in 1..team.size() {
            let command = Command::OpenFiles {
                trace: number,
                format: format.name().into(),
                path: path.into(),
                mark,
            };
            team.send(rank, &command).map_err(FormatError::failed)?;
        }
        for answer in processes.answers::<Answer<()>>()? {
            answer.1.map_err(|it| processes.told(answer.0, it))?;
        }
        Ok(processes)
    }

    /// The answers of all others, by rank.
    fn answers<T: serde::de::DeserializeOwned>(&self) -> Result<Vec<(usize, T)>, FormatError> {
        let others = 1..self.team.size();
        let answers = others.map(|rank| Ok((rank, self.team.receive(rank)?)));
        // Each answers, whatever became of the others.
        let answers: Vec<Result<_, Lost>> = answers.collect();
        let answers: Result<_, _> = answers.into_iter().collect();
        answers.map_err(FormatError::failed)
    }

    fn told(&self, rank: usize, failure: Failure) -> FormatError {
        failure.of(rank, &self.team.node())
    }

    /// The files of a process.
    fn files_of(&self, rank: usize) -> Vec<usize> {
        let files = self.owners.iter().enumerate();
        files.filter(|it| *it.1 == rank).map(|it| it.0).collect()
    }
}

impl FileHolders for Processes {
    fn each(
        &self,
        mut tasks: Vec<Vec<u8>>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Result<Vec<u8>, FormatError>>, FormatError> {
        let lost = || FormatError::failed(Lost::Garbled(self.team.rank()));
        let _asking = self.team.ask();
        for rank in 1..self.team.size() {
            let tasks = self.files_of(rank).into_iter().map(|file| {
                let task = tasks.get_mut(file).map(std::mem::take);
                (file as u32, Bytes(task.unwrap_or_default()))
            });
            let work = Command::Work {
                trace: self.number,
                tasks: tasks.collect(),
            };
            self.team.send(rank, &work).map_err(FormatError::failed)?;
        }
        let scaled = Scaled::new(monitor, self.bytes.0, self.bytes.1);
        let own = self.files_of(0);
        let done = own.par_iter().map(|&file| {
            let task = tasks.get(file).ok_or_else(lost)?;
            self.own.work(file, task, &scaled)
        });
        let mut done: Vec<(usize, Result<Vec<u8>, FormatError>)> =
            own.iter().copied().zip(done.collect::<Vec<_>>()).collect();
        for (rank, answers) in self.answers::<Vec<Answer<Bytes>>>()? {
            let files = self.files_of(rank);
            if files.len() != answers.len() {
                return Err(FormatError::failed(Lost::Garbled(rank)));
            }
            let answers = answers.into_iter().map(|it| {
                let answer = it.map(|it| it.0);
                answer.map_err(|failure| self.told(rank, failure))
            });
            done.extend(files.into_iter().zip(answers));
        }
        done.sort_by_key(|it| it.0);
        Ok(done.into_iter().map(|it| it.1).collect())
    }

    fn of_copy(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Arc<dyn FileHolders>, FormatError> {
        Ok(Arc::new(Self::open(
            &self.team,
            self.format,
            path,
            monitor,
        )?))
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let _asking = self.team.ask();
        let trace = self.number;
        for rank in 1..self.team.size() {
            // Whoever is gone has forgotten it.
            let _ = self.team.send(rank, &Command::Close { trace });
        }
    }
}
