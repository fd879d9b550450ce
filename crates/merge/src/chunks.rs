//! Bytes on their way into a file: compressed in parallel, some at a time.

use std::io::{self, Read};

use rayon::prelude::*;
use retime_gzip::Output;

/// Bytes that are compressed as one.
const CHUNK: usize = 1 << 20;

/// Chunks that are compressed at the same time.
const ABREAST: usize = 8;

/// Content that is not written yet.
pub(crate) struct Chunks<'a> {
    output: Output<'a>,
    full: Vec<Vec<u8>>,
    pub(crate) current: Vec<u8>,
    /// The first error within a walk.
    failure: Option<io::Error>,
}

impl<'a> Chunks<'a> {
    pub(crate) fn new(output: Output<'a>) -> Self {
        Self {
            output,
            full: Vec::new(),
            current: Vec::with_capacity(CHUNK + CHUNK / 8),
            failure: None,
        }
    }

    /// Writes what is there, once it is enough.
    pub(crate) fn put_if_full(&mut self) -> io::Result<()> {
        if self.current.len() < CHUNK {
            return Ok(());
        }
        let next = Vec::with_capacity(CHUNK + CHUNK / 8);
        self.full.push(std::mem::replace(&mut self.current, next));
        if self.full.len() >= ABREAST {
            self.put()?;
        }
        Ok(())
    }

    /// Writes what is there, once it is enough, within a walk whose errors are those of reading: the
    /// first one of writing is kept for [`Self::settle`], and nothing is gathered after it.
    pub(crate) fn put_within_walk(&mut self) {
        if self.failure.is_some() {
            self.current.clear();
        } else {
            self.failure = self.put_if_full().err();
        }
    }

    /// Fails as writing did within the last walk.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Takes some of what is read; how many bytes that were.
    pub(crate) fn take(&mut self, from: &mut impl Read) -> io::Result<u64> {
        from.take(CHUNK as u64)
            .read_to_end(&mut self.current)
            .map(|it| it as u64)
    }

    fn put(&mut self) -> io::Result<()> {
        let packing = self.output.packing();
        let full = std::mem::take(&mut self.full);
        let packed = full.into_par_iter().map(|chunk| packing.packed(chunk));
        let packed = packed.collect::<io::Result<Vec<_>>>()?;
        packed.iter().try_for_each(|it| self.output.put(it))
    }

    /// Writes the rest; how many bytes there were to compress.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.full.push(std::mem::take(&mut self.current));
        self.put()?;
        self.output.finish()
    }
}
