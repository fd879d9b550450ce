//! The number of operations and messages of which it is known who waited in them.
//!
//! Times that contradict each other do not tell who came last. How many operations there are in which
//! somebody waits does not depend on times, and takes a small part of the work.

use rayon::prelude::*;

use retime_causality::merge::Merge;
use retime_causality::{Causality, Ids, Instance};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Clocks, LocationIndex, Monitor, TraceInfo};

use super::sums::WaitSums;
use super::{INSTANCES_PER_BLOCK, LatenessJudge, Stragglers};

impl Stragglers {
    /// Only the numbers of operations and messages, as [`find`](Self::find) counts them: nobody is certainly
    /// last. Fails only if `monitor` says to give up.
    pub fn counted(
        causality: &Causality,
        info: &TraceInfo,
        clocks: &Clocks,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let times = causality.nodes().timestamps();
        let judge = LatenessJudge::of(causality, info, clocks, times, None);
        let blocks: Vec<Ids<Instance>> = causality
            .collectives()
            .instances()
            .chunks(INSTANCES_PER_BLOCK)
            .collect();
        let operations = blocks
            .into_par_iter()
            .map(|it| judge.counted_operations(it, monitor));
        let locations = (0..causality.nodes().locations() as u32).map(LocationIndex);
        let locations: Vec<LocationIndex> = locations.collect();
        let messages = locations
            .into_par_iter()
            .map(|it| judge.counted_messages(it, monitor));
        let own = operations
            .chain(messages)
            .try_reduce(WaitSums::default, |mut a, b| {
                a.merge(b);
                Ok(a)
            })?;
        let sums = causality.whole().all_reduce(own);
        Ok(Self {
            operations: sums.operations,
            others: sums.others,
            partial: sums.partial,
            messages: sums.messages,
            ..Self::default()
        })
    }
}

impl LatenessJudge<'_> {
    fn counted_operations(
        &self,
        instances: Ids<Instance>,
        monitor: &dyn Monitor,
    ) -> Result<WaitSums, Cancelled> {
        let mut sums = WaitSums::default();
        let mut pace = Pace::of(monitor);
        for instance in instances {
            let participants = self.causality.collectives().participants(instance);
            pace.events(participants.len())?;
            if self.is_whole(instance) {
                sums.operations += 1;
            } else if self.is_partial(instance) {
                sums.partial += 1;
            } else {
                sums.others += 1;
            }
        }
        Ok(sums)
    }

    /// True if everybody waits for everybody in an operation, every begin is recorded, and two processes
    /// take part.
    fn is_whole(&self, instance: Instance) -> bool {
        if !self.waits_for_all(instance) {
            return false;
        }
        let nodes = self.causality.nodes();
        let participants = self.causality.collectives().participants(instance).iter();
        let mut process = participants.map(|it| Some(self.process(nodes.location(it.cause()?))));
        let Some(Some(first)) = process.next() else {
            return false;
        };
        let mut differ = false;
        process.all(|it| {
            differ |= it != Some(first);
            it.is_some()
        }) && differ
    }

    fn counted_messages(
        &self,
        location: LocationIndex,
        monitor: &dyn Monitor,
    ) -> Result<WaitSums, Cancelled> {
        let mut sums = WaitSums::default();
        let mut pace = Pace::of(monitor);
        for _ in self.causality.awaited_by(location) {
            pace.events(1)?;
            sums.messages += 1;
        }
        Ok(sums)
    }
}
