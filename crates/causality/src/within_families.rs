//! Usage within families of locations, such as those that are taken to share a clock: only what goes
//! between families tells how clocks differ.

use retime_model::{Clocks, LocationIndex};
use retime_numerics::parallel;

use crate::happened_before::Causality;
use crate::ids::EventNode;
use crate::merge::Sum;

/// How many of the records that dependencies rest on belong to messages and operations of
/// which all ends are in one of several families of locations, as of what a location sends itself.
pub fn used_within(causality: &Causality, families: &Clocks) -> u64 {
    if families.len() < 2 {
        return 0;
    }
    let nodes = causality.nodes();
    let family = |node: EventNode| families.of(nodes.location(node));
    let received = |location: usize| {
        let own = families.of(LocationIndex(location as u32));
        let sources = nodes
            .of(location)
            .filter_map(|it| causality.message_source(it));
        sources.filter(|&send| family(send) == own).count() as u64
    };
    let messages = parallel::numbers(nodes.locations(), received);
    let messages: u64 = messages.into_iter().sum();
    let collectives = causality.collectives();
    let calls = collectives.instances().map(|instance| {
        let participants = collectives.participants(instance).iter();
        let mut involved = participants.filter_map(|it| it.cause().or(it.effect()));
        let Some(first) = involved.next().map(family) else {
            return 0;
        };
        let others = involved.try_fold(0, |count, it| (family(it) == first).then_some(count + 1));
        // Nobody depends on himself.
        others
            .filter(|&count| count > 0)
            .map_or(0, |count| count + 1)
    });
    let own = 2 * messages + calls.sum::<u64>();
    nodes.whole().all_reduce(Sum(own)).0
}
