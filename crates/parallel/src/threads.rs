//! A [`Communicator`] by threads of one process.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use crate::communicator::{Communicator, Lost};

/// One of several threads.
struct Thread {
    rank: usize,
    longest: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

/// As many as asked for, each to be given to a thread of its own. Messages have at most
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
    let mut all: Vec<Thread> = (0..size)
        .map(|rank| Thread {
            rank,
            longest,
            to: Vec::new(),
            from: Vec::new(),
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
}
