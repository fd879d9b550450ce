//! Statements of a file of itself: of the rank that wrote it, or of each whose profile was put
//! into it.

use std::collections::BTreeMap;

use crate::header::Header;
use crate::profile::Track;

/// The headers of a file.
#[derive(Debug, Default)]
pub(crate) struct Headers {
    pub(crate) of_file: Header,
    /// Those of the profiles of ranks, by the label of each.
    pub(crate) of_ranks: BTreeMap<String, Header>,
}

impl Headers {
    /// The headers of a file with these tracks. A file of one rank alone is that rank's.
    pub(crate) fn of(
        of_file: Header,
        of_ranks: BTreeMap<String, Header>,
        tracks: &[Track],
    ) -> Self {
        let is_of = |label: &String| tracks.iter().all(|it| it.label.as_ref() == Some(label));
        let alone = of_ranks.iter().next().filter(|it| is_of(it.0));
        let Some((_, alone)) = alone.filter(|_| of_file.rank.is_none()) else {
            return Self { of_file, of_ranks };
        };
        Self {
            of_file: Header {
                base: of_file.base,
                ..alone.clone()
            },
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
