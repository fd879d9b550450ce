//! The dependencies that a [`Causality`] claims, as plain lists.

use retime::causality::Causality;

use super::trace::Edge;

/// Send and receive of every message, sorted.
pub fn messages(causality: &Causality) -> Vec<Edge> {
    let nodes = 0..causality.nodes().len() as u32;
    let mut found: Vec<Edge> = nodes
        .filter_map(|node| Some((causality.message_source(node)?, node)))
        .collect();
    found.sort_unstable();
    found
}

/// Begin and end of every dependency of every collective, sorted.
pub fn collectives(causality: &Causality) -> Vec<Edge> {
    let collectives = causality.collectives();
    let mut found = Vec::new();
    for instance in 0..collectives.instances().len() as u32 {
        let slots = collectives.slots(instance);
        collectives.each_dependency(instance, |from, to| {
            found.push((slots[from].cause().unwrap(), slots[to].effect().unwrap()));
        });
    }
    found.sort_unstable();
    found
}

pub fn all(causality: &Causality) -> Vec<Edge> {
    [messages(causality), collectives(causality)].concat()
}
