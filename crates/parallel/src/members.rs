//! The processes of a team as those who share a trace.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use retime_distributed::{Broken, Peers};

use crate::command::Command;
use crate::communicator::Lost;
use crate::team::Team;

/// The processes of a team.
pub(crate) struct Members(pub(crate) Arc<Team>);

impl From<Lost> for Broken {
    fn from(lost: Lost) -> Self {
        let (Lost::Ended(rank) | Lost::Garbled(rank)) = lost;
        Self::Lost(rank)
    }
}

impl Peers for Members {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), Broken> {
        Ok(self.0.send_bytes(to, message)?)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, Broken> {
        Ok(self.0.receive_bytes(from)?)
    }

    fn post(&self, to: usize, message: Vec<u8>) -> Result<(), Broken> {
        Ok(self.0.post_bytes(to, message)?)
    }

    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Broken> {
        Ok(self.0.posted_bytes(patience)?)
    }

    fn announce(&self, step: &[u8]) -> Result<(), Broken> {
        let command = Command::Step(Cow::Borrowed(step));
        let others = 1..self.0.size();
        { others }.try_for_each(|rank| Ok(self.0.send(rank, &command)?))
    }
}
