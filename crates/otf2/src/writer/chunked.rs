//! A file of chunks.
//!
//! All files of an archive except the anchor are sequences of chunks of one
//! size. A chunk begins with a header that holds the numbers of its first and
//! last event, records never cross its end, and all chunks but the last are
//! filled up with zeros. The header's second number is known only when the
//! chunk is full, so one chunk is kept in memory and written in one piece.
//!
//! No file handle is kept between two chunks: a program may write thousands of
//! locations at the same time without running out of them.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::PathBuf,
};

use crate::chunk::{CHUNK_HEADER, MAX_CHUNK_SIZE, MIN_CHUNK_SIZE};
use crate::framing::{CHUNK_CODE, END_OF_BUFFER, END_OF_CHUNK, END_OF_FILE};

use super::failure::{WriteError, WriteResult};

pub(super) const LITTLE_ENDIAN: u8 = 0x42;
const LAST_NUMBER: usize = 10;

/// How the chunks of a file are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// Headers hold the numbers of the first and last event.
    Events,
    /// Headers hold 1 and 0, as in files of definitions.
    None,
}

/// Writes records into chunks, and chunks into a file.
#[derive(Debug)]
pub(super) struct ChunkedFile {
    path: PathBuf,
    size: usize,
    numbering: Numbering,
    chunk: Vec<u8>,
    /// Numbered records so far.
    records: u64,
    written: u64,
}

impl ChunkedFile {
    /// Creates the file, which must not exist.
    pub(super) fn create(path: PathBuf, size: u64, numbering: Numbering) -> WriteResult<Self> {
        check_size(size)?;
        if let Err(source) = File::create_new(&path) {
            return Err(WriteError::Io { path, source });
        }
        let mut file = Self {
            path,
            size: size as usize,
            numbering,
            chunk: Vec::new(),
            records: 0,
            written: 0,
        };
        file.open_chunk();
        Ok(file)
    }

    /// Bytes a record may take at most, with everything that belongs to it.
    pub(super) fn capacity(&self) -> usize {
        // One byte stays free for the end of the chunk.
        self.size - CHUNK_HEADER - 1
    }

    /// True if `bytes` more still fit into the current chunk.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.chunk.len() + bytes < self.size
    }

    /// True if the current chunk holds no record yet.
    pub(super) fn at_chunk_start(&self) -> bool {
        self.chunk.len() == CHUNK_HEADER
    }

    /// Ends the current chunk and opens the next.
    pub(super) fn next_chunk(&mut self) -> WriteResult {
        self.chunk.resize(self.size, END_OF_CHUNK);
        self.write_chunk()?;
        self.open_chunk();
        Ok(())
    }

    /// Appends bytes to the current chunk. The caller made sure of the room.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.chunk.extend_from_slice(bytes);
    }

    /// Counts one record, so that the header can tell its number.
    pub(super) fn count_record(&mut self) {
        self.records += 1;
    }

    /// Number of records counted.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Writes a whole record of a file without times: code, length, payload.
    pub(super) fn record(&mut self, code: u8, payload: &[u8]) -> WriteResult {
        let mut start = [0; FRAME_SIZE];
        let start = frame(&mut start, code, payload.len());
        let need = start.len() + payload.len();
        if need > self.capacity() {
            return Err(WriteError::RecordTooLarge { code, size: need });
        }
        if !self.has_room(need) {
            self.next_chunk()?;
        }
        self.push(start);
        self.push(payload);
        self.count_record();
        Ok(())
    }

    /// Ends the file. Returns its size.
    pub(super) fn finish(mut self) -> WriteResult<u64> {
        if !self.has_room(1) {
            self.next_chunk()?;
        }
        self.push(&[END_OF_FILE, END_OF_BUFFER]);
        self.write_chunk()?;
        Ok(self.written)
    }

    fn open_chunk(&mut self) {
        let (first, last) = match self.numbering {
            Numbering::Events => (self.records + 1, self.records),
            Numbering::None => (1, 0),
        };
        self.chunk.clear();
        self.chunk.extend_from_slice(&[CHUNK_CODE, LITTLE_ENDIAN]);
        self.chunk.extend_from_slice(&first.to_le_bytes());
        self.chunk.extend_from_slice(&last.to_le_bytes());
    }

    fn write_chunk(&mut self) -> WriteResult {
        if self.numbering == Numbering::Events {
            self.chunk[LAST_NUMBER..CHUNK_HEADER].copy_from_slice(&self.records.to_le_bytes());
        }
        OpenOptions::new()
            .append(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(&self.chunk))
            .map_err(|source| WriteError::Io {
                path: self.path.clone(),
                source,
            })?;
        self.written += self.chunk.len() as u64;
        Ok(())
    }
}

/// Refuses chunk sizes no reader would accept.
pub(super) fn check_size(size: u64) -> WriteResult {
    if (MIN_CHUNK_SIZE..=MAX_CHUNK_SIZE).contains(&size) {
        Ok(())
    } else {
        Err(WriteError::ChunkSize(size))
    }
}

/// Longest possible start of a record.
pub(super) const FRAME_SIZE: usize = 10;

/// The start of a record: its code and the length of its payload.
pub(super) fn frame(buffer: &mut [u8; FRAME_SIZE], code: u8, length: usize) -> &[u8] {
    buffer[0] = code;
    if let Ok(short @ 0..=0xFE) = u8::try_from(length) {
        buffer[1] = short;
        return &buffer[..2];
    }
    buffer[1] = 0xFF;
    buffer[2..].copy_from_slice(&(length as u64).to_le_bytes());
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 0x4_0000;

    fn write(fill: impl FnOnce(&mut ChunkedFile)) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut file = ChunkedFile::create(path.clone(), SIZE, Numbering::Events).unwrap();
        fill(&mut file);
        let written = file.finish().unwrap();
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(written, bytes.len() as u64);
        bytes
    }

    fn number(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn an_empty_file_is_twenty_bytes() {
        let bytes = write(|_| {});
        assert_eq!(bytes.len(), 20);
        assert_eq!((number(&bytes, 2), number(&bytes, 10)), (1, 0));
        assert_eq!(bytes[18..], [2, 1]);
    }

    /// Records of every size around the one that fills a chunk to its last
    /// byte, where the end marks have to move into a chunk of their own.
    #[test]
    fn the_end_of_a_chunk_always_fits() {
        let size = SIZE as usize;
        let overhead = CHUNK_HEADER + 10;
        for payload in (size - overhead - 6)..(size - overhead) {
            let bytes = write(|file| file.record(10, &vec![7; payload]).unwrap());
            let used = overhead + payload;
            if used + 2 <= size {
                assert_eq!(bytes.len(), used + 2);
                assert_eq!(bytes[used..], [2, 1]);
            } else {
                assert_eq!(bytes.len(), size + 20);
                assert_eq!(bytes[used..size], [0]);
                assert_eq!(
                    (number(&bytes, size + 2), number(&bytes, size + 10)),
                    (2, 1)
                );
            }
        }
    }

    #[test]
    fn a_record_larger_than_a_chunk_is_refused() {
        write(|file| {
            let error = file.record(10, &vec![7; SIZE as usize - CHUNK_HEADER - 10]);
            assert!(matches!(
                error,
                Err(WriteError::RecordTooLarge { code: 10, .. })
            ));
        });
    }

    #[test]
    fn chunks_number_their_records_without_gaps() {
        let bytes = write(|file| {
            for _ in 0..3000 {
                file.record(12, &[1; 200]).unwrap();
            }
        });
        let mut next = 1;
        for chunk in bytes.chunks(SIZE as usize) {
            assert_eq!(number(chunk, 2), next);
            next = number(chunk, 10) + 1;
        }
        assert_eq!(next, 3001);
        assert_eq!(bytes.chunks(SIZE as usize).count(), 3);
    }

    #[test]
    fn lengths_from_255_take_the_long_form() {
        let mut buffer = [0; FRAME_SIZE];
        assert_eq!(frame(&mut buffer, 9, 254), [9, 254]);
        assert_eq!(
            frame(&mut buffer, 9, 255),
            [9, 255, 255, 0, 0, 0, 0, 0, 0, 0]
        );
    }

    #[test]
    fn sizes_no_reader_accepts_are_refused() {
        assert!(check_size(0x3_FFFF).is_err());
        assert!(check_size(0x100_0001).is_err());
        assert!(check_size(0x100_0000).is_ok());
    }
}
