//! A file from its beginning to its end, plain or gzip, through a window that moves.
//!
//! What is looked at lies in one piece in memory, however the system cuts the file, so that
//! a line or an event can be read as it stands. So the window grows to the longest of them,
//! and no further than it is allowed to.
//!
//! ```text
//! content   ..... read and left behind | in the window: bytes() | not read yet .....
//!                                       ^ advance(n)             ^ more()
//! ```

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crc32fast::Hasher;
use flate2::bufread::MultiGzDecoder;

use crate::ahead::{Ahead, Beside, Counted, Taken};
use crate::effort::Effort;

/// Bytes that are read at a time: enough that calls of the system do not count, few enough
/// that they are still in a core's cache when they are looked at.
const BLOCK: usize = 1 << 18;

/// How gzip data begins; RFC 1952, section 2.3.1.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// A part of the content of a file, in memory.
#[allow(missing_debug_implementations, reason = "what is read has none")]
pub struct Window<'a> {
    source: Box<dyn Read + Send + 'a>,
    effort: Option<Effort>,
    longest: usize,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where in the content the window starts.
    offset: u64,
    at_end: bool,
    crc: Hasher,
}

/// Why there is not more in a window.
#[derive(Debug)]
pub enum Refused {
    /// The content of the window is longer already than it may grow.
    TooLong,
    /// The file cannot be read, or its compressed data is damaged.
    Read(io::Error),
}

impl<'a> Window<'a> {
    /// On what a file holds, before its beginning. The window grows to no more than some
    /// `longest` bytes.
    pub fn new(file: impl Read + Send + 'a, longest: usize) -> io::Result<Self> {
        let (source, effort) = unpacked(file)?;
        Ok(Self::over(source, effort, longest))
    }

    /// A window over a file that is unpacked on a thread of its own, ahead of the reader,
    /// if it is compressed; `tell` is told of bytes that were taken from it.
    pub fn ahead(
        file: impl Read + Send + 'static,
        longest: usize,
        tell: impl FnMut(u64) + Send + 'a,
    ) -> io::Result<Self> {
        let bytes = Arc::<AtomicU64>::default();
        let counted = Counted {
            reader: file,
            bytes: Arc::clone(&bytes),
        };
        let (content, effort) = unpacked(counted)?;
        let taken = Taken {
            bytes,
            tell: Box::new(tell),
        };
        let source: Box<dyn Read + Send + 'a> = match effort {
            Some(_) => Box::new(Ahead::of(content, taken)?),
            None => Box::new(Beside { content, taken }),
        };
        Ok(Self::over(source, effort, longest))
    }

    fn over(source: Box<dyn Read + Send + 'a>, effort: Option<Effort>, longest: usize) -> Self {
        Self {
            source,
            effort,
            longest,
            buffer: vec![0; 2 * BLOCK],
            start: 0,
            end: 0,
            offset: 0,
            at_end: false,
            crc: Hasher::new(),
        }
    }

    /// True if the file is compressed.
    pub fn is_gzip(&self) -> bool {
        self.effort.is_some()
    }

    /// The effort with which the file was compressed; `None` for plain text.
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// The bytes in the window.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Where in the content of the file that starts, uncompressed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// True if there is nothing behind it any more, as far as is known.
    pub fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// Moves on by so many bytes, of those that are in the window.
    pub fn advance(&mut self, bytes: usize) {
        let bytes = bytes.min(self.end - self.start);
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// Reads more behind what is in the window; whether there was more.
    pub fn more(&mut self) -> Result<bool, Refused> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end > self.longest {
            return Err(Refused::TooLong);
        }
        if self.buffer.len() < self.end + BLOCK {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = loop {
            match self.source.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let count = read.map_err(Refused::Read)?;
        self.crc.update(room.get(..count).unwrap_or_default());
        self.end += count;
        self.at_end = count == 0;
        Ok(count > 0)
    }

    /// The check sum of all that was read, uncompressed.
    pub fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }
}

/// The content of a file, and whether it is compressed.
pub fn content<'a>(file: impl Read + Send + 'a) -> io::Result<(Box<dyn Read + Send + 'a>, bool)> {
    let (content, effort) = unpacked(file)?;
    Ok((content, effort.is_some()))
}

/// The content of a file, and how hard it is compressed, if it is.
fn unpacked<'a>(
    file: impl Read + Send + 'a,
) -> io::Result<(Box<dyn Read + Send + 'a>, Option<Effort>)> {
    let mut file = BufReader::with_capacity(BLOCK, file);
    // Bytes that are read before an interrupt comes stay in the buffer.
    while let Err(error) = file.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(if file.buffer().starts_with(&GZIP) {
        let effort = Effort::of_header(file.buffer());
        (Box::new(MultiGzDecoder::new(file)), Some(effort))
    } else {
        (Box::new(file), None)
    })
}

/// True if a file is compressed.
pub fn is_gzip<'a>(file: impl Read + Send + 'a) -> io::Result<bool> {
    content(file).map(|(_, is_gzip)| is_gzip)
}

/// The first bytes of what a file holds, no more than so many. Where compressed data
/// is damaged, what comes before that.
pub fn first_bytes<'a>(file: impl Read + Send + 'a, count: u64) -> io::Result<Vec<u8>> {
    let (content, is_gzip) = content(file)?;
    let mut bytes = Vec::new();
    match content.take(count).read_to_end(&mut bytes) {
        Err(error) if !is_gzip || error.raw_os_error().is_some() => Err(error),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;
    use crate::Output;

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut output = Output::new(&mut file, Some(Effort::Fast)).unwrap();
        let packed = output.packing().packed(content.to_vec()).unwrap();
        output.put(&packed).unwrap();
        output.finish().unwrap();
        file
    }

    #[test]
    fn what_is_needed_lies_in_one_piece() {
        let content: Vec<u8> = (0..3 * BLOCK).map(|at| (at % 251) as u8).collect();
        for (file, is_gzip) in [(content.clone(), false), (gzip(&content), true)] {
            let mut window = Window::new(&*file, 2 * BLOCK).unwrap();
            assert_eq!(window.is_gzip(), is_gzip);
            let mut seen = Vec::new();
            while window.more().unwrap() {
                // Half of what is there stays.
                let taken = window.bytes().len() / 2;
                seen.extend_from_slice(&window.bytes()[..taken]);
                window.advance(taken);
                assert_eq!(window.offset(), seen.len() as u64);
            }
            seen.extend_from_slice(window.bytes());
            assert!(window.is_at_end());
            assert_eq!(seen, content);
            assert_eq!(window.crc(), crc32fast::hash(&content));
        }
    }

    #[test]
    fn what_is_unpacked_ahead_is_the_same() {
        let content: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let whole = gzip(&content);
        for cut in [0, 1, whole.len() / 2] {
            let file = whole[..whole.len() - cut].to_vec();
            let read = |mut window: Window<'_>| {
                let mut seen = Vec::new();
                let end = loop {
                    seen.extend_from_slice(window.bytes());
                    window.advance(usize::MAX);
                    match window.more() {
                        Ok(true) => {}
                        end => break end.is_ok(),
                    }
                };
                (seen, end, window.crc())
            };
            let plain = read(Window::new(&*file, usize::MAX).unwrap());
            let mut taken = 0;
            let told = |bytes| taken += bytes;
            let own = io::Cursor::new(file.clone());
            let ahead = read(Window::ahead(own, usize::MAX, told).unwrap());
            assert!(ahead == plain);
            assert_eq!(ahead.1, cut == 0);
            assert_eq!(taken, file.len() as u64);
        }
    }

    #[test]
    fn it_grows_no_further_than_it_may() {
        let content = vec![b'x'; 5 * BLOCK];
        let mut window = Window::new(&*content, BLOCK).unwrap();
        let refused = loop {
            match window.more() {
                Ok(true) => {}
                Ok(false) => panic!("all of it is in the window"),
                Err(refused) => break refused,
            }
        };
        assert!(matches!(refused, Refused::TooLong));
        assert!(window.bytes().len() <= 3 * BLOCK);
    }

    #[test]
    fn damage_is_an_error_and_what_comes_before_it_is_shown() {
        let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut file = gzip(&content);
        file.truncate(file.len() / 2);
        let mut window = Window::new(&*file, usize::MAX).unwrap();
        let refused = loop {
            match window.more() {
                Ok(more) => assert!(more, "the end is missing"),
                Err(refused) => break refused,
            }
        };
        assert!(matches!(refused, Refused::Read(_)));
        assert_eq!(first_bytes(&*file, 10).unwrap(), &content[..10]);
        assert!(!first_bytes(&*file, u64::MAX).unwrap().is_empty());
    }
}
