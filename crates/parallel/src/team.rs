//! Values as messages, and what is counted of them.
//!
//! A value is packed by `postcard` and sent in pieces that a message can hold; the last byte
//! of each tells whether more of them follow.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use retime_distributed::{Broken, Distribution};
use retime_model::format::Contents;
use serde::{Serialize, de::DeserializeOwned};

use crate::command::Command;
use crate::communicator::{Communicator, Lost};
use crate::usage::Usage;

/// The last byte of a piece of a message if more follow; `LAST` is that of the last piece.
const MORE: u8 = 1;
const LAST: u8 = 0;

/// A process together with those that it works with.
pub struct Team {
    communicator: Box<dyn Communicator>,
    /// Answers go to whoever has asked, so one thing is asked at a time.
    asking: Mutex<u32>,
    begun: Instant,
    messages: AtomicU64,
    bytes: AtomicU64,
    /// The number of events of the trace that was read last.
    events: AtomicU64,
    alone: AtomicBool,
    /// Per process: pieces of a message that is posted and not complete.
    pieces: Mutex<Vec<Vec<u8>>>,
    /// Who holds what of the trace that is analysed together, if one is.
    distribution: Mutex<Option<Distribution>>,
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} of {}", self.rank(), self.size())
    }
}

impl Team {
    /// The team of all processes that a communicator reaches.
    pub fn new(communicator: Box<dyn Communicator>) -> Self {
        Self {
            pieces: Mutex::new(vec![Vec::new(); communicator.size()]),
            communicator,
            asking: Mutex::new(0),
            begun: Instant::now(),
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            events: AtomicU64::new(0),
            alone: AtomicBool::new(false),
            distribution: Mutex::new(None),
        }
    }

    /// The number of this process.
    pub fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.communicator.size()
    }

    /// The machine that this process runs on.
    pub(crate) fn node(&self) -> String {
        self.communicator.node()
    }

    /// True if a trace was opened that process 0 had to work on alone, since its format
    /// knows no parts.
    pub fn worked_alone(&self) -> bool {
        self.alone.load(Ordering::Relaxed)
    }

    /// How many events the trace has that was read last; 0 if none was.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    pub(crate) fn count_events<'a>(&self, contents: impl Iterator<Item = &'a Contents>) {
        let kinds = contents.flat_map(|it| &it.kinds);
        let events = kinds.map(|(_, events)| events).sum();
        self.events.store(events, Ordering::Relaxed);
    }

    /// Why processes could not analyse together what they have begun to, if so.
    pub fn broken(&self) -> Option<Broken> {
        let distribution = self
            .distribution
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        distribution.as_ref()?.broken()
    }

    pub(crate) fn keep_distribution(&self, distribution: Distribution) {
        *self
            .distribution
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(distribution);
    }

    /// Notes that process 0 works on a trace alone.
    pub fn work_alone(&self) {
        self.alone.store(true, Ordering::Relaxed);
    }

    /// Sends a value to all other processes, which have to [`hear`](Self::hear) it.
    pub fn tell(&self, value: &impl Serialize) -> Result<(), Lost> {
        let _asking = self.ask();
        (1..self.size()).try_for_each(|rank| self.send(rank, value))
    }

    /// Waits for what process 0 tells.
    pub fn hear<T: DeserializeOwned>(&self) -> Result<T, Lost> {
        self.receive(0)
    }

    /// Sends the other processes home; what each has taken, this one first. To be called
    /// by process 0 when it is done.
    pub fn dismiss(&self) -> Result<Vec<Usage>, Lost> {
        let _asking = self.ask();
        let others = 1..self.size();
        for rank in others.clone() {
            self.send(rank, &Command::Dismiss)?;
        }
        let mut all = vec![self.usage(self.begun.elapsed())];
        for rank in others {
            all.push(self.receive(rank)?);
        }
        Ok(all)
    }

    /// The time, memory and messages that this process has taken, given the time it worked.
    pub(crate) fn usage(&self, worked: Duration) -> Usage {
        Usage::new(
            worked,
            self.messages.load(Ordering::Relaxed),
            self.bytes.load(Ordering::Relaxed),
        )
    }

    /// Keeps others from asking; holds how many traces were opened.
    pub(crate) fn ask(&self) -> MutexGuard<'_, u32> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn send(&self, to: usize, value: &impl Serialize) -> Result<(), Lost> {
        // What is sent here always has a length.
        let packed = postcard::to_allocvec(value);
        self.send_bytes(to, packed.map_err(|_| Lost::Garbled(self.rank()))?)
    }

    pub(crate) fn send_bytes(&self, to: usize, bytes: Vec<u8>) -> Result<(), Lost> {
        self.in_pieces(bytes, |piece| self.communicator.send(to, piece))
    }

    /// Sends bytes that the other process takes by [`posted_bytes`](Self::posted_bytes).
    pub(crate) fn post_bytes(&self, to: usize, bytes: Vec<u8>) -> Result<(), Lost> {
        self.in_pieces(bytes, |piece| self.communicator.post(to, piece))
    }

    /// Messages of many megabytes are usual, so they are not copied.
    fn in_pieces(
        &self,
        mut bytes: Vec<u8>,
        send: impl Fn(&[u8]) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        let longest = self.communicator.longest().max(2) - 1;
        let last = (bytes.len().max(1) - 1) / longest * longest;
        let send = |piece: &[u8]| {
            send(piece)?;
            self.messages.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            Ok(())
        };
        for piece in bytes[..last].chunks(longest) {
            send(&[piece, &[MORE]].concat())?;
        }
        bytes.push(LAST);
        send(&bytes[last..])
    }

    /// The next bytes that any other process has posted, if some come in time.
    pub(crate) fn posted_bytes(
        &self,
        patience: Duration,
    ) -> Result<Option<(usize, Vec<u8>)>, Lost> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        // Pieces of several processes come in any order; more of one that has begun do come.
        while let Some((from, mut piece)) = self.communicator.posted(patience)? {
            let end = piece.pop();
            let of = pieces.get_mut(from).ok_or(Lost::Garbled(from))?;
            of.extend(piece);
            match end {
                Some(LAST) => return Ok(Some((from, std::mem::take(of)))),
                Some(MORE) => {}
                _ => return Err(Lost::Garbled(from)),
            }
        }
        Ok(None)
    }

    pub(crate) fn receive<T: DeserializeOwned>(&self, from: usize) -> Result<T, Lost> {
        let bytes = self.receive_bytes(from)?;
        postcard::from_bytes(&bytes).map_err(|_| Lost::Garbled(from))
    }

    pub(crate) fn receive_bytes(&self, from: usize) -> Result<Vec<u8>, Lost> {
        let mut bytes = self.communicator.receive(from)?;
        loop {
            match bytes.pop() {
                Some(LAST) => return Ok(bytes),
                Some(MORE) => bytes.extend(self.communicator.receive(from)?),
                _ => return Err(Lost::Garbled(from)),
            }
        }
    }
}
