//! One chunk of a corrected file in the making, and how it differs from the
//! original.

use super::output::Output;
use crate::error::Result;
use crate::undo::edits::EditLog;
use crate::undo::packed::Packed;

/// Bytes to be written, with a log of what to undo.
pub(super) struct Draft<'a> {
    output: &'a mut Output,
    bytes: Vec<u8>,
    log: EditLog,
}

impl<'a> Draft<'a> {
    pub(super) fn new(output: &'a mut Output) -> Self {
        Self {
            output,
            bytes: Vec::new(),
            log: EditLog::default(),
        }
    }

    /// Number of bytes since the last [`flush`](Self::flush).
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of the original, up to stamps that are undone by themselves.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.log.same(bytes.len());
    }

    /// Bytes that the original lacks.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.log.added(bytes.len());
    }

    /// Zeros that the original lacks, up to the given length.
    pub(super) fn pad(&mut self, length: usize) {
        self.log.added(length.saturating_sub(self.bytes.len()));
        self.bytes.resize(length, 0);
    }

    /// Bytes of the original that go.
    pub(super) fn drop(&mut self, bytes: &[u8]) {
        self.log.dropped(bytes);
    }

    /// Other bytes in the place of some of the original.
    pub(super) fn exchange(&mut self, old: &[u8], new: &[u8]) {
        let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (same, old) = old.split_at(start);
        self.keep(same);
        let (_, new) = new.split_at(start);
        let ends = old.iter().rev().zip(new.iter().rev());
        let end = ends.take_while(|(a, b)| a == b).count();
        let (old, same) = old.split_at(old.len() - end);
        let (new, _) = new.split_at(new.len() - end);
        self.add(new);
        self.drop(old);
        self.keep(same);
    }

    /// Changes bytes that were [added](Self::add) since the last flush.
    pub(super) fn amend(&mut self, at: usize, bytes: &[u8]) {
        let target = self.bytes.get_mut(at..at + bytes.len());
        if let Some(target) = target {
            target.copy_from_slice(bytes);
        }
    }

    /// Writes all bytes so far.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.output.write(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Writes the rest; how to undo it all.
    pub(super) fn finish(mut self) -> Result<Packed> {
        self.flush()?;
        Ok(self.log.finish())
    }
}
