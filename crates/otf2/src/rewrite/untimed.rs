//! Definitions and markers with some records changed.
//!
//! A record that keeps its size is changed in place. If one grows or shrinks,
//! the rest of its chunk moves along, which the padding at the end of the
//! chunk makes up for. A chunk that overflows is split in two; the chunks
//! behind it stay as they are, since nothing refers to their positions.

use super::draft::Draft;
use super::output::Output;
use super::source::Source;
use crate::chunk::{CHUNK_HEADER, Chunk};
use crate::error::{Error, Result};
use crate::framing::{Record, Walker};
use crate::records::Entry;
use crate::undo::packed::Packed;

/// A record in its chunk and the bytes that take its place.
type Change = (Record, Vec<u8>);

/// Copies a file without time records; `change` gives new bytes for a record,
/// none at all to remove it, or `None` to keep it. Returns how to undo it.
pub(super) fn rewrite(
    source: &mut Source<'_>,
    output: &mut Output,
    mut change: impl FnMut(&Entry<'_>) -> Result<Option<Vec<u8>>>,
) -> Result<Packed> {
    let mut draft = Draft::new(output);
    let mut buffer = Vec::new();
    loop {
        let header = source.next(&mut buffer)?;
        let mut walker = Walker::new(source.kind(), &header);
        let chunk = Chunk::new(source.path(), source.kind(), header, &buffer);
        let changes = changes(&chunk, &mut walker, &mut change)?;
        if changes.is_empty() {
            draft.keep(&buffer);
        } else {
            repack(&mut draft, &chunk, &walker, &changes, source.chunk_size())?;
        }
        draft.flush()?;
        if walker.ended_file() {
            break;
        }
    }
    while source.rest(&mut buffer)? {
        draft.keep(&buffer);
        draft.flush()?;
    }
    draft.finish()
}

/// The changes in a chunk; the walker is at its end afterwards.
fn changes(
    chunk: &Chunk<'_>,
    walker: &mut Walker,
    change: &mut impl FnMut(&Entry<'_>) -> Result<Option<Vec<u8>>>,
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    while let Some(record) = walker.step(chunk.bytes()).map_err(|e| chunk.error(e))? {
        if let Some(new) = change(&Entry::new(*chunk, record))? {
            changes.push((record, new));
        }
    }
    Ok(changes)
}

/// Copies a chunk with changes; `walked` stands at its end.
fn repack(
    draft: &mut Draft<'_>,
    chunk: &Chunk<'_>,
    walked: &Walker,
    changes: &[Change],
    chunk_size: usize,
) -> Result<()> {
    let bytes = |range| chunk.bytes().get(range).unwrap_or_default();
    // The mark that ends the chunk, or the two that end the file.
    let limit = chunk_size - if walked.ended_file() { 2 } else { 1 };
    let mut changes = changes.iter().peekable();
    draft.keep(bytes(0..CHUNK_HEADER));
    for record in chunk.records() {
        let record = record.map_err(|e| chunk.error(e))?;
        let old = bytes(record.range());
        let new = match changes.next_if(|(changed, _)| changed.start == record.start) {
            Some((_, new)) => new,
            None => old,
        };
        if draft.len() + new.len() > limit {
            if CHUNK_HEADER + new.len() > limit {
                return Err(too_large(chunk, record));
            }
            draft.pad(chunk_size);
            draft.flush()?;
            draft.add(bytes(0..CHUNK_HEADER));
        }
        draft.exchange(old, new);
    }
    let behind = bytes(walked.position()..chunk.bytes().len());
    if walked.ended_file() {
        draft.keep(behind);
    } else {
        draft.exchange(behind, &vec![0; chunk_size - draft.len()]);
    }
    Ok(())
}

#[cold]
fn too_large(chunk: &Chunk<'_>, record: Record) -> Error {
    Error::Unsupported {
        path: chunk.path().to_owned(),
        what: format!(
            "the record at byte {} fills its chunk and cannot grow",
            chunk.header().offset + u64::from(record.start)
        ),
    }
}
