//! Which launch an activity can have come from, as far as order tells.
//!
//! What one thread launches on one stream is carried out in the order in which it was
//! launched. So the call sites of a stream's activities are a subsequence of those of
//! the thread's launches. There may be many ways to find them there. The one that always
//! takes the first launch that is left gives each activity the earliest launch that it
//! can have come from; from the end, the one that takes the last gives the latest. With
//! `l` the place that is true,
//!
//! ```text
//! earliest(k) <= l(k) <= latest(k)     for each activity k
//! ```
//!
//! because the true places are one of the ways. Launches that nothing came of leave that
//! true, and make it weaker; one that is not recorded does not.
//!
//! ```text
//! launches  a b a a b        two streams carry them out
//! stream    a   a            earliest 0 2, latest 2 3
//! stream    b   a b          earliest 1 2 4, latest 1 3 4
//! ```

use std::collections::HashMap;
use std::hash::Hash;

/// The places of launches by call site.
pub(super) struct LaunchPlaces<S> {
    places: HashMap<S, Vec<usize>>,
}

impl<S: Copy + Eq + Hash> LaunchPlaces<S> {
    pub(super) fn of(launches: impl IntoIterator<Item = S>) -> Self {
        let mut places: HashMap<S, Vec<usize>> = HashMap::new();
        for (place, site) in launches.into_iter().enumerate() {
            places.entry(site).or_default().push(place);
        }
        Self { places }
    }

    /// For each activity the earliest and the latest launch that it can have come from;
    /// `None` if the launches do not contain them all in this order.
    pub(super) fn embed(&self, activities: &[S]) -> Option<Vec<(usize, usize)>> {
        let mut bounds = Vec::with_capacity(activities.len());
        let mut from = 0;
        for site in activities {
            let places = self.places.get(site)?;
            let place = *places.get(places.partition_point(|place| *place < from))?;
            bounds.push((place, place));
            from = place + 1;
        }
        let mut before = usize::MAX;
        for (site, (_, latest)) in activities.iter().zip(&mut bounds).rev() {
            let places = self.places.get(site)?;
            let after = places.partition_point(|place| *place < before);
            *latest = *places.get(after.checked_sub(1)?)?;
            before = *latest;
        }
        Some(bounds)
    }
}

#[cfg(test)]
mod tests {
    use super::LaunchPlaces;

    #[test]
    fn the_first_and_the_last_way_are_found() {
        let places = LaunchPlaces::of("abaab".chars());
        let embed = |stream: &str| places.embed(&stream.chars().collect::<Vec<_>>());
        assert_eq!(embed("aa"), Some(vec![(0, 2), (2, 3)]));
        assert_eq!(embed("bab"), Some(vec![(1, 1), (2, 3), (4, 4)]));
        assert_eq!(embed("abaab").unwrap(), [0, 1, 2, 3, 4].map(|it| (it, it)));
        assert_eq!(embed(""), Some(vec![]));
        // No such order, one too many, one that nobody launched.
        assert_eq!(embed("bba"), None);
        assert_eq!(embed("aaaa"), None);
        assert_eq!(embed("c"), None);
    }
}
