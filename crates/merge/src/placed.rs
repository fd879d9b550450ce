//! Where a document stands in the file: its numbers, and its times on the axis.

use retime_model::format::Document;
use rustc_hash::FxHashSet;

use crate::survey::Survey;
use crate::titles::{Owner, title};

/// A document with what no other one of the file has.
pub(crate) struct Placed<'a> {
    pub(crate) document: &'a Document,
    /// The position of the document.
    pub(crate) number: u32,
    pub(crate) survey: Survey,
    /// Nanoseconds from what it calls 0 to what the file calls so.
    shift: i64,
    /// The number that the file gives to each process with events; 0 for others.
    pids: Vec<u64>,
    /// The processes with events, in order.
    pub(crate) shown: Vec<u32>,
}

impl<'a> Placed<'a> {
    /// Gives numbers from `next` on.
    pub(crate) fn new(
        document: &'a Document,
        number: u32,
        survey: Survey,
        origin: i64,
        next: &mut u64,
    ) -> Self {
        let shown = survey.shown();
        let mut pids = vec![0; survey.processes.len()];
        for &process in &shown {
            if let Some(pid) = pids.get_mut(process as usize) {
                *pid = *next;
                *next += 1;
            }
        }
        Self {
            document,
            number,
            survey,
            shift: document.base.wrapping_sub(origin),
            pids,
            shown,
        }
    }

    /// A time on the axis; what only names things may lie before its beginning.
    pub(crate) fn at(&self, time: i64) -> i64 {
        time.saturating_add(self.shift).max(0)
    }

    /// The number of a process, if it has events.
    pub(crate) fn pid(&self, process: u32) -> Option<u64> {
        let pid = self.pids.get(process as usize).copied();
        pid.filter(|it| *it > 0)
    }

    /// The name of a process.
    pub(crate) fn title(&self, process: u32) -> String {
        let process = self.survey.processes.get(process as usize);
        process.map_or_else(String::new, |it| title(self.document, it))
    }

    /// The statements of job and host, as JSON, by the profile that a process was recorded in.
    pub(crate) fn said(&self, process: u32) -> Option<&str> {
        self.owner(process)?.said
    }

    /// The processes with events at which stands what profiles say of job and host, each with
    /// that: the first of each rank, and all that are of none, as nothing else holds these together.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut met = FxHashSet::default();
        self.shown.iter().filter_map(move |&process| {
            let owner = self.owner(process)?;
            let said = owner.said?;
            (met.insert(owner.name) || !owner.is_rank).then_some((process, said))
        })
    }

    fn owner(&self, process: u32) -> Option<Owner<'_>> {
        let seen = self.survey.processes.get(process as usize)?;
        Some(Owner::of_process(self.document, seen, None))
    }

    /// The thread that is a track of the document.
    pub(crate) fn thread_of_track(&self, track: u32) -> Option<u32> {
        let track = self.document.tracks.get(track as usize)?;
        self.survey.find(&track.pid, &track.tid)
    }
}
