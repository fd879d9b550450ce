//! How messages travel: up a binomial tree and back, or between two.
//!
//! The process `r` hears from `r + 1`, `r + 2`, `r + 4` ... as far as these powers of two do
//! not occur in `r`, and then tells `r` without its lowest:
//!
//! ```text
//!  0 <- 1     0 <- 2 <- 3     0 <- 4 <- 5, 4 <- 6 <- 7
//! ```

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Broken, Peers};

/// What goes over the tree.
#[derive(Serialize, Deserialize)]
enum Message<T> {
    Answer(T),
    Broken(Broken),
}

/// What a process needs to know of the others.
pub(super) struct Part {
    pub(super) peers: Arc<dyn Peers>,
    /// The process of each location.
    pub(super) owners: Vec<u32>,
    pub(super) broken: OnceLock<Broken>,
}

impl Part {
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

    /// Up the tree and back. Who is not told what all have found, or has nothing to say for
    /// some reason, keeps what it knows.
    pub(super) fn merged<T>(&self, join: &impl Fn(T, T) -> T, mine: T, broken: Option<Broken>) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        let (all, broken) = self.joined(join, mine, broken);
        let known = self.pack(&broken.map_or(Message::Answer(&all), Message::Broken));
        self.told(known, broken, |_, _| None).unwrap_or(all)
    }

    /// Up the tree; back comes to each only the part of it that is for itself and those above
    /// it, which are some processes in a row. Nothing if something broke.
    pub(super) fn scattered<T>(
        &self,
        join: &impl Fn(T, T) -> T,
        mine: T,
        part: impl Fn(&T, Range<usize>) -> T,
    ) -> Option<T>
    where
        T: Serialize + DeserializeOwned,
    {
        let (all, broken) = self.joined(join, mine, None);
        let known = self.pack(&broken.map_or(Message::Answer(&all), Message::Broken));
        let of_child = |heard: Option<&T>, child: usize| {
            let above = child..child + self.above(child);
            Some(self.pack(&Message::Answer(part(heard.unwrap_or(&all), above))))
        };
        let heard = self.told(known, broken, of_child);
        match self.peers.rank() {
            _ if self.broken.get().is_some() => None,
            0 => Some(all),
            _ => heard,
        }
    }

    /// Up the tree; only that it is done goes back, or why it could not be. What all have found
    /// is known to the first, to the others what it is of themselves and of those above them.
    pub(super) fn collected<T>(&self, join: &impl Fn(T, T) -> T, mine: T) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        let (all, broken) = self.joined(join, mine, None);
        let known = match (broken, self.peers.rank()) {
            (Some(broken), _) => self.pack(&Message::<()>::Broken(broken)),
            (None, 0) => self.pack(&Message::Answer(())),
            (None, _) => self.pack(&Message::Answer(&all)),
        };
        self.told::<()>(known, broken, |_, _| None);
        all
    }

    /// What this process has found and those above it in the tree, and what broke there.
    fn joined<T>(
        &self,
        join: &impl Fn(T, T) -> T,
        mine: T,
        mut broken: Option<Broken>,
    ) -> (T, Option<Broken>)
    where
        T: DeserializeOwned,
    {
        let mut all = mine;
        for child in self.children() {
            // Whatever it sent, a process that is told nothing waits for ever.
            match self.heard(child).0 {
                Message::Answer(heard) => all = join(all, heard),
                Message::Broken(why) => broken = broken.or(Some(why)),
            }
        }
        (all, broken)
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
    /// the first what it knows itself. They are told all of it, if `of_child` makes nothing
    /// else for them of what came. What came, unless that something broke.
    fn told<T: DeserializeOwned>(
        &self,
        known: Vec<u8>,
        mut broken: Option<Broken>,
        of_child: impl Fn(Option<&T>, usize) -> Option<Vec<u8>>,
    ) -> Option<T> {
        let rank = self.peers.rank();
        let (mut told, mut answer) = (known, None);
        if rank > 0 {
            let parent = rank & (rank - 1);
            let heard = match self.peers.send(parent, told) {
                Ok(()) => self.heard(parent),
                Err(why) => (Message::Broken(why), self.pack(&Message::<()>::Broken(why))),
            };
            told = heard.1;
            match heard.0 {
                Message::Answer(heard) => answer = Some(heard),
                Message::Broken(why) => broken = broken.or(Some(why)),
            }
        }
        let is_answer = broken.is_none();
        for (others, child) in self.children().into_iter().enumerate().rev() {
            let own = is_answer.then(|| of_child(answer.as_ref(), child));
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
        answer
    }

    /// A message as it is sent; where it cannot be, nothing, which nobody understands.
    fn pack<T: Serialize>(&self, message: &Message<T>) -> Vec<u8> {
        postcard::to_allocvec(message).unwrap_or_else(|_| {
            self.fail(Broken::Lost(self.peers.rank()));
            Vec::new()
        })
    }

    /// What another process says, and the bytes in which it does.
    fn heard<T: DeserializeOwned>(&self, from: usize) -> (Message<T>, Vec<u8>) {
        let heard = self.peers.receive(from).and_then(|bytes| {
            let message = postcard::from_bytes(&bytes).map_err(|_| Broken::Lost(from))?;
            Ok((message, bytes))
        });
        heard.unwrap_or_else(|why| (Message::Broken(why), self.pack(&Message::<()>::Broken(why))))
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
