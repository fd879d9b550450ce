//! The maps that a part of a trace needs, as plain data.
//!
//! A part keeps the maps of the clocks that its locations read; all other maps are the identity,
//! which nothing there has use for.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::clocks::{ClockId, Clocks};
use crate::correction::Correction;
use crate::distance::MinimalDistance;
use crate::map::{ClockMap, Knot, MapError, Step};
use crate::trace::LocationIndex;

/// Part of a correction.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartCorrection {
    /// The clocks of all locations.
    clocks: Vec<ClockId>,
    maps: Vec<(ClockId, Vec<Knot>, Vec<Step>)>,
    /// How far events of all locations stay apart.
    distance: MinimalDistance,
}

impl PartCorrection {
    /// The maps that these locations need of a correction.
    pub fn of(correction: &Correction, part: &[LocationIndex]) -> Self {
        let clocks = correction.clocks();
        let mut needed: Vec<ClockId> = part.iter().map(|&it| clocks.of(it)).collect();
        needed.sort_unstable();
        needed.dedup();
        let maps = needed.into_iter().map(|clock| {
            let map = correction.map(clock);
            (clock, map.knots().to_vec(), map.steps().to_vec())
        });
        Self {
            clocks: clocks.by_location().to_vec(),
            maps: maps.collect(),
            distance: correction.distance().clone(),
        }
    }

    /// The correction, as far as the part needs it.
    ///
    /// # Errors
    ///
    /// Where what was sent makes no maps.
    pub fn unpack(self) -> Result<Correction, MapError> {
        let mut sent: HashMap<ClockId, ClockMap> = HashMap::new();
        for (clock, knots, steps) in self.maps {
            sent.insert(clock, ClockMap::new(knots, steps)?);
        }
        // Clocks are numbered as locations name them; what was sent may have other numbers.
        let (clocks, order) = Clocks::from_owners(&self.clocks);
        let map = |clock: &ClockId| sent.remove(clock).unwrap_or_default();
        let maps = order.iter().map(map).collect();
        Ok(Correction::new(clocks, maps).keeping(self.distance))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;
    use crate::time::{Ticks, Timestamp};

    #[test]
    fn a_part_gets_the_maps_that_it_reads() {
        let (clocks, _) = Clocks::from_owners(&['a', 'b', 'a', 'c']);
        let later = |by| {
            let knot = Knot::at(Timestamp(0), Timestamp(by));
            ClockMap::new(vec![knot], vec![]).unwrap()
        };
        let distance = MinimalDistance::Uniform(Ticks(7));
        let correction = Correction::new(clocks, [1, 2, 3].map(later).into()).keeping(distance);
        let part = [LocationIndex(2), LocationIndex(3)];
        let sent = PartCorrection::of(&correction, &part);
        let bytes = serde_json::to_vec(&sent).unwrap();
        let received: PartCorrection = serde_json::from_slice(&bytes).unwrap();
        let unpacked = received.unpack().unwrap();
        assert_eq!(unpacked.clocks(), correction.clocks());
        assert_eq!(unpacked.distance(), correction.distance());
        for location in part {
            assert_eq!(unpacked.map_of(location), correction.map_of(location));
        }
        assert!(unpacked.map_of(LocationIndex(1)).is_identity());
    }
}
