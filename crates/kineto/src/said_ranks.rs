//! Ranks as events say them, where all ranks are in one file.
//!
//! A script that puts profiles together may tell the rank of each event by an argument `rank`, and by
//! nothing else. Such ranks are taken where all tracks say it by their first event, all calls that
//! communicate say the same as their tracks, and no process is of two ranks.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::profile::Track;

/// The ranks that events of tracks say by their arguments.
#[derive(Debug, Default)]
pub(crate) struct SaidRanks {
    /// The rank that the first event of a track says, unless a call there says another.
    of_track: FxHashMap<u32, Option<u32>>,
    /// True if calls that communicate say it, too.
    is_of_calls: bool,
}

impl SaidRanks {
    /// Takes the rank that the first event of a track says.
    pub(crate) fn begin(&mut self, track: u32, rank: u32) {
        self.of_track.insert(track, Some(rank));
    }

    /// True if it is to be asked of calls on a track.
    pub(crate) fn matter_on(&self, track: u32) -> bool {
        self.of_track.contains_key(&track)
    }

    /// Takes what a call on a track says.
    pub(crate) fn of_call(&mut self, track: u32, rank: Option<u32>) {
        self.is_of_calls = true;
        if let Some(said) = self.of_track.get_mut(&track)
            && *said != rank
        {
            *said = None;
        }
    }

    /// The rank of each track, if all are told so.
    pub(crate) fn of(&self, tracks: &[Track]) -> Option<Vec<u32>> {
        if !self.is_of_calls || self.of_track.len() != tracks.len() {
            return None;
        }
        let numbers = 0..tracks.len() as u32;
        let ranks: Option<Vec<u32>> = numbers
            .map(|it| self.of_track.get(&it).copied().flatten())
            .collect();
        let ranks = ranks?;
        let pids: BTreeSet<&str> = tracks.iter().map(|it| &*it.pid).collect();
        let owners = tracks.iter().map(|it| &*it.pid).zip(&ranks);
        let owners: BTreeSet<(&str, &u32)> = owners.collect();
        (owners.len() == pids.len()).then_some(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_told_where_tracks_and_calls_agree() {
        let track = |pid: &str| Track {
            pid: pid.to_owned(),
            ..Track::default()
        };
        let tracks = ["7", "7", "8"].map(track);
        let said = |ranks: [u32; 3], calls: &[(u32, Option<u32>)]| {
            let mut said = SaidRanks::default();
            (0..)
                .zip(ranks)
                .for_each(|(track, rank)| said.begin(track, rank));
            for &(track, rank) in calls {
                said.of_call(track, rank);
            }
            said.of(&tracks)
        };
        let call = (2, Some(1));
        assert_eq!(said([0, 0, 1], &[call]), Some(vec![0, 0, 1]));
        // No call says it, one says another rank, or none; a process is of two ranks.
        assert_eq!(said([0, 0, 1], &[]), None);
        assert_eq!(said([0, 0, 1], &[call, (2, Some(0))]), None);
        assert_eq!(said([0, 0, 1], &[(2, None)]), None);
        assert_eq!(said([0, 1, 1], &[call]), None);
        // A track does not say it.
        let mut said = SaidRanks::default();
        said.begin(0, 0);
        said.of_call(0, Some(0));
        assert_eq!(said.of(&tracks), None);
    }
}
