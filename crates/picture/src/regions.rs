//! The regions that are shown, by how much time is spent in them.

use retime::format::Trace;
use rustc_hash::FxHashMap;

use crate::lanes::short;

/// So many are told apart; the rest is one.
const MOST: usize = 200;

/// Numbers and names of regions.
pub(crate) struct Regions {
    numbers: FxHashMap<u32, i32>,
    names: Vec<String>,
}

impl Regions {
    /// The regions of a trace, the ones in which most time is spent first, by what locations
    /// have spent in each.
    pub(crate) fn of<'a>(
        trace: &dyn Trace,
        by_location: impl Iterator<Item = &'a FxHashMap<u32, u64>>,
    ) -> Self {
        let mut spent: FxHashMap<u32, u128> = FxHashMap::default();
        for (&region, &ticks) in by_location.flatten() {
            *spent.entry(region).or_default() += u128::from(ticks);
        }
        let mut order: Vec<(u32, u128)> = spent.into_iter().collect();
        order.sort_by_key(|&(region, ticks)| (std::cmp::Reverse(ticks), region));
        let mut all = Self::numbered(order.iter().map(|it| it.0));
        let name = |region: &(u32, u128)| {
            let name = trace.region(region.0);
            name.map_or_else(|| format!("region {}", region.0), |it| short(&it))
        };
        all.names = order.iter().take(MOST).map(name).collect();
        if order.len() > MOST {
            all.names
                .push(format!("one of {} other regions", order.len() - MOST));
        }
        all
    }

    pub(crate) fn numbered(regions: impl Iterator<Item = u32>) -> Self {
        let number = |(at, region): (usize, u32)| (region, at.min(MOST) as i32);
        Self {
            numbers: regions.enumerate().map(number).collect(),
            names: Vec::new(),
        }
    }

    /// Its place among the names; -1 for one in which no time is spent.
    pub(crate) fn number(&self, region: u32) -> i32 {
        self.numbers.get(&region).copied().unwrap_or(-1)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}
