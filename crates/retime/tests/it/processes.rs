//! Threads that are processes to each other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use retime_distributed::{Broken, Peers};

/// Nobody has to wait for longer than this in a test.
const LONGEST: Duration = Duration::from_secs(100);

/// One of several threads that are processes to each other.
pub struct Thread {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
    post: Vec<Sender<(usize, Vec<u8>)>>,
    posted: Mutex<Receiver<(usize, Vec<u8>)>>,
    /// How many messages all have posted.
    pub posts: Arc<AtomicUsize>,
}

impl Peers for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), Broken> {
        self.to[to].send(message).map_err(|_| Broken::Lost(to))
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, Broken> {
        let from_it = self.from[from].lock().unwrap();
        from_it.recv_timeout(LONGEST).map_err(|why| {
            assert_ne!(
                why,
                RecvTimeoutError::Timeout,
                "{} waits for {from}",
                self.rank
            );
            Broken::Lost(from)
        })
    }

    fn post(&self, to: usize, message: Vec<u8>) -> Result<(), Broken> {
        self.posts.fetch_add(1, Ordering::Relaxed);
        let sent = self.post[to].send((self.rank, message));
        sent.map_err(|_| Broken::Lost(to))
    }

    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Broken> {
        Ok(self.posted.lock().unwrap().recv_timeout(patience).ok())
    }

    /// Here each process takes all steps by itself.
    fn announce(&self, _: &[u8]) -> Result<(), Broken> {
        Ok(())
    }
}

fn processes(size: usize) -> Vec<Thread> {
    let posts = Arc::new(AtomicUsize::new(0));
    let (post, posted): (Vec<Sender<_>>, Vec<_>) = (0..size).map(|_| channel()).unzip();
    let mut all: Vec<Thread> = (0..size)
        .zip(posted)
        .map(|(rank, posted)| Thread {
            rank,
            to: Vec::new(),
            from: Vec::new(),
            post: post.clone(),
            posts: Arc::clone(&posts),
            posted: Mutex::new(posted),
        })
        .collect();
    for from in 0..size {
        for to in 0..size {
            let (sender, receiver) = channel();
            all[from].to.push(sender);
            all[to].from.push(Mutex::new(receiver));
        }
    }
    all
}

/// What each of so many processes comes to.
pub fn together<T: Send>(size: usize, run: impl Fn(Thread) -> T + Sync) -> Vec<T> {
    let run = &run;
    std::thread::scope(|scope| {
        let all: Vec<_> = processes(size)
            .into_iter()
            .map(|peer| scope.spawn(move || run(peer)))
            .collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    })
}
