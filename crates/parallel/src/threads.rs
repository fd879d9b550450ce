//! A [`Communicator`] by threads of one process.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::communicator::{Communicator, Lost};

/// One of several threads.
struct Thread {
    rank: usize,
    longest: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
    /// Per thread: where messages are posted to it, or that a thread has ended.
    post: Vec<Sender<Posted>>,
    posted: Mutex<Receiver<Posted>>,
}

/// Who has posted something, and what.
type Posted = (usize, Result<Vec<u8>, Lost>);

/// Makes `size` communicators, each to be given to a thread of its own. Messages have at most
/// `longest` bytes.
///
/// ```
/// let mut all = retime_parallel::threads(2, 64);
/// let (second, first) = (all.pop().unwrap(), all.pop().unwrap());
/// std::thread::scope(|scope| {
///     scope.spawn(|| second.send(0, b"hello"));
///     assert_eq!(first.receive(1).unwrap(), b"hello");
/// });
/// ```
pub fn threads(size: usize, longest: usize) -> Vec<Box<dyn Communicator>> {
    let (post, posted): (Vec<Sender<Posted>>, Vec<_>) = (0..size).map(|_| channel()).unzip();
    let mut all: Vec<Thread> = (0..size)
        .zip(posted)
        .map(|(rank, posted)| Thread {
            rank,
            longest,
            to: Vec::new(),
            from: Vec::new(),
            post: post.clone(),
            posted: Mutex::new(posted),
        })
        .collect();
    for sender in 0..size {
        for receiver in 0..size {
            let (to, from) = channel();
            all[sender].to.push(to);
            all[receiver].from.push(Mutex::new(from));
        }
    }
    let boxed = all.into_iter().map(|it| Box::new(it) as _);
    boxed.collect()
}

impl Communicator for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn node(&self) -> String {
        String::from("here")
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), Lost> {
        let sent = self.to.get(to).map(|it| it.send(message.to_vec()));
        sent.and_then(Result::ok).ok_or(Lost::Ended(to))
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, Lost> {
        let channel = self.from.get(from).ok_or(Lost::Ended(from))?;
        let channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
        channel.recv().map_err(|_| Lost::Ended(from))
    }

    fn post(&self, to: usize, message: &[u8]) -> Result<(), Lost> {
        let post = self.post.get(to);
        let sent = post.map(|it| it.send((self.rank, Ok(message.to_vec()))));
        sent.and_then(Result::ok).ok_or(Lost::Ended(to))
    }

    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Lost> {
        let posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
        // This thread could post something itself, so that the channel never ends.
        let next = posted.recv_timeout(patience).ok();
        next.map(|(from, it)| Ok((from, it?))).transpose()
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        for post in &self.post {
            // Whoever is gone does not wait for it.
            let _ = post.send((self.rank, Err(Lost::Ended(self.rank))));
        }
    }
}
