//! Events of threads: teams that fork and join, threads created one by one.

use super::{failure::Result, handles::CommRef, kinds::Paradigm, location::LocationWriter};

const FORK: u8 = 53;
const JOIN: u8 = 54;
const TEAM_BEGIN: u8 = 55;
const TEAM_END: u8 = 56;
const CREATE: u8 = 62;
const BEGIN: u8 = 63;
const WAIT: u8 = 64;
const END: u8 = 65;

/// Threads.
impl LocationWriter {
    /// A team of threads is forked.
    pub fn thread_fork(&mut self, time: u64, model: Paradigm, threads: u32) -> Result<()> {
        self.start().u8(model as u8).c32(threads);
        self.commit(time, FORK)
    }

    /// The team of threads has joined.
    pub fn thread_join(&mut self, time: u64, model: Paradigm) -> Result<()> {
        self.start().u8(model as u8);
        self.commit(time, JOIN)
    }

    /// This thread begins to work in a team.
    pub fn thread_team_begin(&mut self, time: u64, team: CommRef) -> Result<()> {
        self.start().c32(team.0);
        self.commit(time, TEAM_BEGIN)
    }

    /// This thread ends its work in a team.
    pub fn thread_team_end(&mut self, time: u64, team: CommRef) -> Result<()> {
        self.start().c32(team.0);
        self.commit(time, TEAM_END)
    }

    /// A thread is created. The contingent and the count, together, tell which.
    pub fn thread_create(&mut self, time: u64, contingent: CommRef, count: u64) -> Result<()> {
        self.created(time, CREATE, contingent, count)
    }

    /// This thread, created elsewhere, begins.
    pub fn thread_begin(&mut self, time: u64, contingent: CommRef, count: u64) -> Result<()> {
        self.created(time, BEGIN, contingent, count)
    }

    /// The end of a created thread was waited for.
    pub fn thread_wait(&mut self, time: u64, contingent: CommRef, count: u64) -> Result<()> {
        self.created(time, WAIT, contingent, count)
    }

    /// This thread, created elsewhere, ends.
    pub fn thread_end(&mut self, time: u64, contingent: CommRef, count: u64) -> Result<()> {
        self.created(time, END, contingent, count)
    }

    fn created(&mut self, time: u64, code: u8, contingent: CommRef, count: u64) -> Result<()> {
        self.start().c32(contingent.0).c64(count);
        self.commit(time, code)
    }
}
