//! Unpacking a few blocks ahead of the reader, on a thread of its own.
//!
//! ```text
//! thread   file --> unpacked blocks --> | full |  |  | --> who reads
//!                       ^------- blocks to be filled again ----'
//! ```

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Blocks that are unpacked at most before somebody takes the first.
const AHEAD: usize = 4;

/// Bytes of a block.
const BLOCK: usize = 1 << 18;

/// Content that is unpacked ahead.
pub(crate) struct Ahead<'a> {
    full: Receiver<io::Result<Vec<u8>>>,
    empty: Sender<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
    taken: Taken<'a>,
}

/// The bytes of the file that were taken, as the reading side counts them.
pub(crate) struct Taken<'a> {
    pub(crate) bytes: Arc<AtomicU64>,
    pub(crate) tell: Box<dyn FnMut(u64) + Send + 'a>,
}

impl Taken<'_> {
    fn told(&mut self) {
        let bytes = self.bytes.swap(0, Ordering::Relaxed);
        if bytes > 0 {
            (self.tell)(bytes);
        }
    }
}

/// A reader that counts the bytes it gives.
pub(crate) struct Counted<R> {
    pub(crate) reader: R,
    pub(crate) bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Content that is unpacked only as far as it is read.
pub(crate) struct Beside<'a, R> {
    pub(crate) content: R,
    pub(crate) taken: Taken<'a>,
}

impl<R: Read> Read for Beside<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer);
        self.taken.told();
        count
    }
}

impl<'a> Ahead<'a> {
    /// Begins to unpack; fails where the system has no thread to give.
    pub(crate) fn of(content: impl Read + Send + 'static, taken: Taken<'a>) -> io::Result<Self> {
        let (give, full) = sync_channel(AHEAD);
        let (empty, filled_again) = channel();
        let unpack = move || unpack(content, &give, &filled_again);
        thread::Builder::new()
            .name("unpack".to_owned())
            .spawn(unpack)?;
        Ok(Self {
            full,
            empty,
            block: Vec::new(),
            at: 0,
            taken,
        })
    }
}

/// Fills block after block, until the end, an error, or nobody reads any more.
fn unpack(
    mut content: impl Read,
    give: &SyncSender<io::Result<Vec<u8>>>,
    empty: &Receiver<Vec<u8>>,
) {
    loop {
        let mut block = empty.try_recv().unwrap_or_else(|_| vec![0; BLOCK]);
        block.resize(BLOCK, 0);
        let read = match content.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let is_last = !read.as_ref().is_ok_and(|count| *count > 0);
        let given = give.send(read.map(|count| {
            block.truncate(count);
            block
        }));
        if is_last || given.is_err() {
            return;
        }
    }
}

impl Read for Ahead<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            let ended = || io::Error::other("the thread that unpacks has ended");
            let next = self.full.recv().map_err(|_| ended())?;
            self.taken.told();
            let used = std::mem::replace(&mut self.block, next?);
            self.at = 0;
            if used.capacity() > 0 {
                // Nobody takes it who is at the end.
                let _ = self.empty.send(used);
            }
        }
        let mut left = self.block.get(self.at..).unwrap_or_default();
        let count = left.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}
