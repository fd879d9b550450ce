//! Values on their way to another process.

use serde::{Deserialize, Serialize};

/// Values for another process. Their places are those of the lists that both have of what they
/// [exchange](crate::part::Part); as they are sent, each is the distance from the one before.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// How far after their recorded times events lie.
    pub(crate) leads: Vec<(u32, i64)>,
    /// The earliest times of ends with their places, if there are any.
    pub(crate) bounds: Vec<(u32, Option<i64>)>,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.leads.is_empty() && self.bounds.is_empty()
    }

    /// The batch as it is sent.
    pub(crate) fn packed(mut self) -> Self {
        distances(&mut self.leads);
        distances(&mut self.bounds);
        self
    }

    /// The batch as it was before it was packed, in the order of places. Places that are none come
    /// out as the last that there can be.
    pub(crate) fn unpacked(mut self) -> Self {
        places(&mut self.leads);
        places(&mut self.bounds);
        self
    }
}

fn distances<T: Ord>(values: &mut [(u32, T)]) {
    values.sort_unstable();
    let mut before = 0;
    for (place, _) in values {
        (before, *place) = (*place, *place - before);
    }
}

fn places<T>(values: &mut [(u32, T)]) {
    let mut at = 0_u32;
    for (place, _) in values {
        at = at.saturating_add(*place);
        *place = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_in_order() {
        let batch = Batch {
            leads: vec![(7, -3), (2, 5), (8, 0)],
            bounds: vec![(4, None)],
        };
        let packed = batch.packed();
        assert_eq!(packed.leads, [(2, 5), (5, -3), (1, 0)]);
        let unpacked = packed.unpacked();
        assert_eq!(unpacked.leads, [(2, 5), (7, -3), (8, 0)]);
        assert_eq!(unpacked.bounds, [(4, None)]);
    }
}
