//! How far clocks are from satisfying all dependencies.

use rayon::prelude::*;

use retime_causality::merge::Sum;
use retime_causality::{Causality, EventNode, Instance, MinimalDelay};
use retime_model::{Clocks, Ticks};
use retime_numerics::parallel;

/// Sums the ticks by which effects on another clock are stamped before their causes; an end of a
/// collective counts from the latest begin that it waits for.
pub(super) fn violated_by(causality: &Causality, clocks: &Clocks) -> u128 {
    let nodes = causality.nodes();
    let time = |node: EventNode| nodes.time(node).0;
    let early = |latency: i64| u128::from(latency.min(0).unsigned_abs());
    let message = |receive: EventNode| -> u128 {
        let Some(send) = causality.message_source(receive) else {
            return 0;
        };
        let clock = |node: EventNode| clocks.of(nodes.location(node));
        if clock(send) == clock(receive) {
            return 0;
        }
        early(time(receive) - time(send))
    };
    let of_location = |location: usize| nodes.of(location).map(message).sum::<u128>();
    let by_location = parallel::numbers(nodes.locations(), of_location);
    let messages: u128 = by_location.into_iter().sum();
    let collective = |instance: Instance| {
        let mut sum = 0;
        let none = MinimalDelay::Uniform(Ticks(0));
        let add = |_, _, slack| sum += early(slack);
        causality.tightest_causes(instance, |it| clocks.of(it), &none, time, add);
        sum
    };
    let instances = causality.collectives().instances();
    let collectives: u128 = instances.into_par_iter().map(collective).sum();
    causality.whole().all_reduce(Sum(messages + collectives)).0
}
