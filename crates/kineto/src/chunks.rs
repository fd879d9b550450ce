//! Content that is written in chunks, which are compressed side by side.

use crc32fast::Hasher;
use rayon::prelude::*;
use retime_gzip::Output;

/// Bytes that are written at a time; of a compressed file, that are compressed as one. Each
/// of these starts without the 32 KiB before it, which is a hundredth of it at most.
const CHUNK: usize = 1 << 22;

/// Chunks that are compressed at the same time.
const ABREAST: usize = 8;

/// Content that is not written yet.
#[derive(Debug)]
pub struct Chunks {
    /// The number of chunks that are written together.
    abreast: usize,
    full: Vec<Vec<u8>>,
    /// The bytes to be written next.
    pub current: Vec<u8>,
    crc: Hasher,
}

/// Room for a chunk, which ends with the event that fills it.
fn room_for_one() -> Vec<u8> {
    Vec::with_capacity(CHUNK + CHUNK / 4)
}

impl Chunks {
    /// The chunks of a file, which may be compressed.
    pub fn new(is_gzip: bool) -> Self {
        Self {
            abreast: if is_gzip { ABREAST } else { 1 },
            full: Vec::new(),
            current: room_for_one(),
            crc: Hasher::new(),
        }
    }

    /// The check sum of what was written.
    pub fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.current.extend_from_slice(bytes);
    }

    /// Writes what is full.
    pub fn put_if_full(&mut self, output: &mut Output<'_>) -> std::io::Result<()> {
        if self.current.len() < CHUNK {
            return Ok(());
        }
        self.full
            .push(std::mem::replace(&mut self.current, room_for_one()));
        if self.full.len() >= self.abreast {
            self.put(output)?;
        }
        Ok(())
    }

    /// Writes all there is.
    pub fn put(&mut self, output: &mut Output<'_>) -> std::io::Result<()> {
        self.full.push(std::mem::take(&mut self.current));
        let packing = output.packing();
        for chunk in &self.full {
            self.crc.update(chunk);
        }
        let full = std::mem::take(&mut self.full);
        let packed = full.into_par_iter().map(|chunk| packing.packed(chunk));
        let packed = packed.collect::<std::io::Result<Vec<_>>>()?;
        packed.iter().try_for_each(|it| output.put(it))
    }
}
