//! How messages travel: up a binomial tree and back, or between two.
//!
//! The process `r` hears from `r + 1`, `r + 2`, `r + 4` ... as far as these powers of two do
//! not occur in `r`, and then tells `r` without its lowest:
//!
//! ```text
//!  0 <- 1     0 <- 2 <- 3     0 <- 4 <- 5, 4 <- 6 <- 7
//! ```

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use retime::causality::Partial;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::talks::Talks;
use crate::peers::{Broken, Peers};

/// The last byte of a message that goes over the tree: an answer lies before it, or why there
/// is none.
const ANSWER: u8 = 0;
const BROKEN: u8 = 1;

/// A message that goes over the tree.
type Message = Result<Vec<u8>, Broken>;

/// The place of a process among the others.
pub(super) struct Tree {
    pub(super) peers: Arc<dyn Peers>,
    /// The process of each location.
    pub(super) owners: Vec<u32>,
    pub(super) broken: OnceLock<Broken>,
}

impl Tree {
    pub(super) fn fail(&self, broken: Broken) {
        // What broke first is the reason for all else.
        let _ = self.broken.set(broken);
    }

    fn send<T: Serialize>(&self, to: usize, value: &T) -> Result<(), Broken> {
        let message = postcard::to_allocvec(value).map_err(|_| Broken::Lost(self.peers.rank()))?;
        self.peers.send(to, message)
    }

    fn receive<T: DeserializeOwned>(&self, from: usize) -> Result<T, Broken> {
        let message = self.peers.receive(from)?;
        postcard::from_bytes(&message).map_err(|_| Broken::Lost(from))
    }

    /// Posts a value to another process.
    pub(super) fn post<T: Serialize>(&self, to: usize, value: &T) -> Result<(), Broken> {
        let message = postcard::to_allocvec(value).map_err(|_| Broken::Lost(self.peers.rank()))?;
        self.peers.post(to, message)
    }

    /// The next value that another process has posted, if one comes in time.
    pub(super) fn posted<T: DeserializeOwned>(
        &self,
        patience: Duration,
    ) -> Result<Option<(usize, T)>, Broken> {
        let Some((from, message)) = self.peers.posted(patience)? else {
            return Ok(None);
        };
        let value = postcard::from_bytes(&message).map_err(|_| Broken::Lost(from))?;
        Ok(Some((from, value)))
    }

    /// Up the tree and back. Who is not told what all have found, or has nothing to say for
    /// some reason, keeps what it knows.
    pub(super) fn all_reduce(&self, mine: &mut dyn Partial, broken: Option<Broken>) {
        let broken = self.joined(mine, broken);
        let known = self.known(broken, || mine.pack());
        self.told(known, broken, |all| mine.replace(all), |_| None);
    }

    /// Up the tree; back comes to each only the part of it that is for itself and those above
    /// it, which are some processes in a row. Nothing if something broke.
    pub(super) fn scatter(&self, mut mine: Talks) -> Option<Talks> {
        let broken = self.joined(&mut mine, None);
        let known = self.known(broken, || mine.pack());
        let heard = OnceCell::new();
        let take = |all: &[u8]| {
            let talks = postcard::from_bytes::<Talks>(all);
            talks.is_ok_and(|talks| heard.set(talks).is_ok())
        };
        let of_child = |child: usize| {
            let above = child..child + self.above(child);
            let part = heard.get().unwrap_or(&mine).to(above);
            Some(self.known(None, || part.pack()))
        };
        self.told(known, broken, take, of_child);
        match self.peers.rank() {
            _ if self.broken.get().is_some() => None,
            0 => Some(mine),
            _ => heard.into_inner(),
        }
    }

    /// Up the tree; only that it is done goes back, or why it could not be. What all have found
    /// is known to the root, to the others what it is of themselves and of those above them.
    pub(super) fn reduce(&self, mine: &mut dyn Partial) {
        let broken = self.joined(mine, None);
        let is_root = self.peers.rank() == 0;
        let nothing = || Some(Vec::new());
        let known = self.known(broken, || if is_root { nothing() } else { mine.pack() });
        self.told(known, broken, |_| true, |_| None);
    }

    /// Merges what those above this process in the tree have found; what broke there.
    fn joined(&self, mine: &mut dyn Partial, mut broken: Option<Broken>) -> Option<Broken> {
        for child in self.children() {
            // Whatever it sent, a process that is told nothing waits for ever.
            let why = match self.heard(child) {
                Ok(heard) if mine.merge(&heard) => None,
                Ok(_) => Some(Broken::Lost(child)),
                Err(why) => Some(why),
            };
            broken = broken.or(why);
        }
        broken
    }

    /// The processes that this one hears from and tells.
    fn children(&self) -> Vec<usize> {
        let (rank, size) = (self.peers.rank(), self.peers.size());
        let powers = (0..usize::BITS).map(|it| 1_usize << it);
        let below = powers.take_while(|power| *power < size && rank & power == 0);
        below.map(|it| rank + it).filter(|it| *it < size).collect()
    }

    /// How many processes there are from one on, itself and those above it.
    fn above(&self, rank: usize) -> usize {
        let width = match rank {
            0 => self.peers.size(),
            _ => rank & rank.wrapping_neg(),
        };
        width.min(self.peers.size() - rank)
    }

    /// Tells the process below what is `known` here, and those above what comes back: from
    /// the root what it knows itself. They are told all of it, if `of_child` makes nothing
    /// else for them. Before that, `take` gets what came, unless that something broke.
    fn told(
        &self,
        known: Vec<u8>,
        mut broken: Option<Broken>,
        mut take: impl FnMut(&[u8]) -> bool,
        of_child: impl Fn(usize) -> Option<Vec<u8>>,
    ) {
        let rank = self.peers.rank();
        let mut told = known;
        if rank > 0 {
            let parent = rank & (rank - 1);
            let heard = self.peers.send(parent, told);
            let heard = heard.and_then(|()| self.heard(parent));
            let taken = heard.and_then(|all| {
                let is_taken = take(&all);
                is_taken.then_some(all).ok_or(Broken::Lost(parent))
            });
            broken = broken.or(taken.as_ref().err().copied());
            told = Self::message(taken);
        }
        let is_answer = broken.is_none();
        for (others, child) in self.children().into_iter().enumerate().rev() {
            let own = is_answer.then(|| of_child(child));
            let told = own.flatten().unwrap_or_else(|| match others {
                0 => std::mem::take(&mut told),
                _ => told.clone(),
            });
            if let Err(why) = self.peers.send(child, told) {
                broken = broken.or(Some(why));
            }
        }
        if let Some(broken) = broken {
            self.fail(broken);
        }
    }

    /// A message of what is known, or of what broke.
    fn known(&self, broken: Option<Broken>, pack: impl FnOnce() -> Option<Vec<u8>>) -> Vec<u8> {
        let own = || pack().ok_or(Broken::Lost(self.peers.rank()));
        let known = broken.map_or_else(own, Err);
        if let Err(why) = known {
            self.fail(why);
        }
        Self::message(known)
    }

    /// The message as it is sent; what cannot be is nothing, which nobody understands.
    fn message(message: Message) -> Vec<u8> {
        let (mut bytes, last) = match message {
            Ok(bytes) => (bytes, ANSWER),
            Err(why) => (postcard::to_allocvec(&why).unwrap_or_default(), BROKEN),
        };
        bytes.push(last);
        bytes
    }

    /// The message of another process.
    fn heard(&self, from: usize) -> Message {
        let mut bytes = self.peers.receive(from)?;
        match bytes.pop() {
            Some(ANSWER) => Ok(bytes),
            Some(BROKEN) => Err(postcard::from_bytes(&bytes).unwrap_or(Broken::Lost(from))),
            _ => Err(Broken::Lost(from)),
        }
    }

    /// Round by round with another process, so that no two wait for each other: in round
    /// `k` with the one whose number differs by the bits of `k`. Nothing is sent where there
    /// is nothing to send; which others `senders` says do have something.
    pub(super) fn swap<T>(
        &self,
        mut to: Vec<Vec<T>>,
        received: &mut [Vec<T>],
        senders: &[bool],
    ) -> Result<(), Broken>
    where
        T: Serialize + DeserializeOwned,
    {
        let (rank, size) = (self.peers.rank(), self.peers.size());
        for round in 1..size.next_power_of_two() {
            let peer = rank ^ round;
            if peer >= size {
                continue;
            }
            let sends = std::mem::take(&mut to[peer]);
            let send = move || {
                if sends.is_empty() {
                    return Ok(());
                }
                self.send(peer, &sends)
            };
            let mut receive = || -> Result<(), Broken> {
                if senders[peer] {
                    received[peer] = self.receive(peer)?;
                }
                Ok(())
            };
            if rank < peer {
                send()?;
                receive()?;
            } else {
                receive()?;
                send()?;
            }
        }
        Ok(())
    }
}
