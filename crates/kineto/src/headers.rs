//! Statements of a file of itself: of the rank that wrote it, or of each whose profile was put
//! into it.

use std::collections::BTreeMap;

use crate::header::Header;
use crate::profile::Track;

/// The headers of a file.
#[derive(Debug, Default)]
pub(crate) struct Headers {
    pub(crate) of_file: Header,
    /// The headers of the profiles of ranks, by the label of each.
    pub(crate) of_ranks: BTreeMap<String, Header>,
}

impl Headers {
    /// The headers of a file with these tracks. A file of one rank alone is that rank's.
    pub(crate) fn of(
        of_file: Header,
        mut of_ranks: BTreeMap<String, Header>,
        tracks: &[Track],
    ) -> Self {
        let label = tracks.first().and_then(|it| it.label.clone());
        let is_of_one = tracks.iter().all(|it| it.label == label);
        let Some(label) = label.filter(|_| is_of_one && of_file.rank.is_none()) else {
            return Self { of_file, of_ranks };
        };
        let (base, rank) = (of_file.base, label.parse().ok());
        // Who says no header of its own has that of the file.
        let own = of_ranks.remove(&label).unwrap_or(of_file);
        Self {
            of_file: Header { base, rank, ..own },
            of_ranks: BTreeMap::new(),
        }
    }

    /// The header that holds for each track; that of the file where its rank has none.
    pub(crate) fn of_tracks(&self, tracks: &[Track]) -> Vec<&Header> {
        let of_track = |it: &Track| {
            let own = it.label.as_ref().and_then(|it| self.of_ranks.get(it));
            own.unwrap_or(&self.of_file)
        };
        tracks.iter().map(of_track).collect()
    }
}
