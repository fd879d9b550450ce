//! When files recorded what they have in common, which bounds how their clocks differ.

use std::collections::BTreeMap;

use retime_model::OperationId;
use rustc_hash::FxHashMap;

use super::alignment::Known;
use super::item::Item;

/// A file, as far as messages are told by it.
pub(super) struct FileMoments {
    /// From when to when it has events.
    pub(super) window: (i64, i64),
    /// Its joined operations in which nobody ends before all have begun.
    pub(super) mutual: BTreeMap<OperationId, Item>,
}

/// The clocks of pairs of files, as far as they are known.
#[derive(Default)]
pub(super) struct KnownClocks<'a> {
    recorded: &'a [FileMoments],
    of_pairs: FxHashMap<(usize, usize), Known>,
}

impl<'a> KnownClocks<'a> {
    /// Knows of clocks what the operations tell by which files were joined so far.
    pub(super) fn of(recorded: &'a [FileMoments]) -> Self {
        Self {
            recorded,
            of_pairs: FxHashMap::default(),
        }
    }

    pub(super) fn of_pair(&mut self, first: usize, second: usize) -> &mut Known {
        let recorded = self.recorded;
        let of_both = || {
            let both = recorded.get(first).zip(recorded.get(second));
            both.and_then(|(first, second)| Known::of_both(first, second))
        };
        let known = self.of_pairs.entry((first, second));
        known.or_insert_with(|| of_both().unwrap_or_default())
    }
}

impl Known {
    /// Bounds of two clocks by the operations that both files took part in.
    pub(super) fn of_both(first: &FileMoments, second: &FileMoments) -> Option<Self> {
        let both = first.mutual.iter();
        let both = both.filter_map(|(id, a)| Some((*a, *second.mutual.get(id)?)));
        let both: Vec<(Item, Item)> = both.collect();
        (!both.is_empty()).then(|| Self::from_pairs(&both))
    }
}
