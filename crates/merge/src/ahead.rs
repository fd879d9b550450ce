//! Documents that are read once before they are written: the next one while one is written.
//!
//! ```text
//! prepare 0   prepare 1   prepare 2
//!             write 0     write 1     write 2
//! ```
//!
//! What is written depends on the order alone, and only two documents are held at a time.

use retime_model::format::Document;

use crate::error::MergeError;

/// Prepares each document, and hands it on to be written in order. Of several errors the one
/// that comes first in the file is told.
pub(crate) fn each_prepared<T: Send>(
    documents: &[Document],
    prepare: impl Fn(u32, &Document) -> Result<T, MergeError> + Sync,
    mut write: impl FnMut(u32, &Document, T) -> Result<(), MergeError> + Send,
) -> Result<(), MergeError> {
    let prepared = |number: u32| {
        let document = documents.get(number as usize)?;
        Some(prepare(number, document))
    };
    let mut next = prepared(0);
    for (number, document) in (0..).zip(documents) {
        let Some(this) = next.take().transpose()? else {
            break;
        };
        let (written, after) = rayon::join(
            || write(number, document, this),
            || prepared(number.saturating_add(1)),
        );
        written?;
        next = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use retime_model::LocationIndex;
    use retime_model::format::{DocumentKind, FileError, FormatError};

    use super::*;

    fn documents(count: u32) -> Vec<Document> {
        let document = |number: u32| Document {
            kind: DocumentKind::Chrome,
            path: format!("{number}.json").into(),
            base: 0,
            extent: None,
            rank: None,
            host: None,
            groups: Vec::new(),
            tracks: Vec::new(),
            first: LocationIndex(0),
            drawn: Vec::new(),
            said: None,
            ranks: Vec::new(),
        };
        (0..count).map(document).collect()
    }

    fn failed(number: u32) -> MergeError {
        let source = std::io::Error::other("broken");
        FormatError::from(FileError::io(format!("{number}.json").as_ref(), source)).into()
    }

    #[test]
    fn all_are_written_in_order() {
        let mut order = Vec::new();
        let write = |number: u32, _: &Document, prepared: u32| {
            assert_eq!(prepared, 7 * number);
            order.push(number);
            Ok(())
        };
        each_prepared(&documents(20), |number, _| Ok(7 * number), write).unwrap();
        assert_eq!(order, (0..20).collect::<Vec<_>>());
        each_prepared(&[], |_, _| Ok(()), |_, _, ()| Err(failed(0))).unwrap();
    }

    #[test]
    fn the_first_error_is_told_and_nothing_goes_on() {
        let written = AtomicU32::new(0);
        let prepare = |number: u32, _: &Document| {
            if number == 3 {
                return Err(failed(number));
            }
            Ok(())
        };
        let write = |number: u32, _: &Document, ()| {
            written.store(number + 1, Ordering::Relaxed);
            if number == 2 {
                return Err(failed(number));
            }
            Ok(())
        };
        let error = each_prepared(&documents(9), prepare, write).unwrap_err();
        assert!(error.to_string().starts_with("2.json"), "{error}");
        assert_eq!(written.load(Ordering::Relaxed), 3);
    }
}
