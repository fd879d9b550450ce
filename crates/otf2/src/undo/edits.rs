//! How to get the original bytes of a file from the corrected ones.
//!
//! A list of steps through the corrected file: so many bytes are the same,
//! then so many are left out and these come in their place. Most files that
//! need edits at all need a handful, since only records that change their
//! size and the borders of chunks are listed.
//!
//! ```text
//! corrected   aaaa bbbb cccc dddd
//! original    aaaa xx   cccc            copy 4, for 4 put "xx"
//!                                       copy 4, for 4 put ""
//! ```

use std::io::{self, Read};

use super::packed::{Packed, Unpack};

/// Notes what a rewriter does, to be undone.
#[derive(Default)]
pub(crate) struct EditLog {
    packed: Packed,
    same: u64,
    added: u64,
    dropped: Vec<u8>,
}

impl EditLog {
    /// So many bytes went from the original to the corrected file.
    pub(crate) fn same(&mut self, bytes: usize) {
        if bytes > 0 {
            self.close();
            self.same += bytes as u64;
        }
    }

    /// So many bytes are only in the corrected file.
    pub(crate) fn added(&mut self, bytes: usize) {
        self.added += bytes as u64;
    }

    /// These bytes are only in the original file.
    pub(crate) fn dropped(&mut self, bytes: &[u8]) {
        self.dropped.extend_from_slice(bytes);
    }

    fn close(&mut self) {
        if self.added > 0 || !self.dropped.is_empty() {
            self.packed.number(self.same);
            self.packed.number(self.added);
            self.packed.bytes(&self.dropped);
            (self.same, self.added) = (0, 0);
            self.dropped.clear();
        }
    }

    pub(crate) fn finish(mut self) -> Packed {
        self.close();
        self.packed
    }
}

/// The original bytes, from a reader of the corrected ones.
pub(crate) struct EditReader<'a, R> {
    corrected: R,
    edits: Unpack<'a>,
    /// Bytes to copy before `skip`.
    same: u64,
    skip: u64,
    insert: &'a [u8],
}

impl<'a, R: Read> EditReader<'a, R> {
    pub(crate) fn new(corrected: R, edits: &'a Packed) -> Self {
        let mut reader = Self {
            corrected,
            edits: edits.unpack(),
            same: 0,
            skip: 0,
            insert: &[],
        };
        reader.next_edit();
        reader
    }

    /// The reader of the corrected bytes.
    pub(crate) fn into_inner(self) -> R {
        self.corrected
    }

    fn next_edit(&mut self) {
        let mut next = || {
            let edits = &mut self.edits;
            Some((edits.number()?, edits.number()?, edits.bytes()?))
        };
        // Behind the last edit everything is the same.
        (self.same, self.skip, self.insert) = next().unwrap_or((u64::MAX, 0, &[]));
    }
}

impl<R: Read> Read for EditReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.same > 0 {
                let limit = buffer
                    .len()
                    .min(usize::try_from(self.same).unwrap_or(usize::MAX));
                let read = self
                    .corrected
                    .read(buffer.get_mut(..limit).unwrap_or_default())?;
                self.same -= read as u64;
                return Ok(read);
            }
            if self.skip > 0 {
                let skipped = io::copy(
                    &mut self.corrected.by_ref().take(self.skip),
                    &mut io::sink(),
                )?;
                if skipped < self.skip {
                    return Ok(0);
                }
                self.skip = 0;
            }
            if !self.insert.is_empty() {
                return self.insert.read(buffer);
            }
            self.next_edit();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Do {
        Same(Vec<u8>),
        Add(Vec<u8>),
        Drop(Vec<u8>),
    }

    fn actions() -> impl Strategy<Value = Vec<Do>> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..30);
        let action = prop_oneof![
            bytes().prop_map(Do::Same),
            bytes().prop_map(Do::Add),
            bytes().prop_map(Do::Drop),
        ];
        proptest::collection::vec(action, 0..20)
    }

    proptest! {
        #[test]
        fn edits_lead_back(actions in actions()) {
            let (mut log, mut original, mut corrected) = (EditLog::default(), vec![], vec![]);
            for action in actions {
                match action {
                    Do::Same(bytes) => {
                        log.same(bytes.len());
                        original.extend_from_slice(&bytes);
                        corrected.extend_from_slice(&bytes);
                    }
                    Do::Add(bytes) => {
                        log.added(bytes.len());
                        corrected.extend_from_slice(&bytes);
                    }
                    Do::Drop(bytes) => {
                        log.dropped(&bytes);
                        original.extend_from_slice(&bytes);
                    }
                }
            }
            let edits = log.finish();
            let mut restored = Vec::new();
            EditReader::new(&corrected[..], &edits).read_to_end(&mut restored).unwrap();
            prop_assert_eq!(restored, original);
        }
    }
}
