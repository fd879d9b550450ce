//! The dependencies that a [`Causality`] claims, as plain lists.

use retime::causality::Causality;

use super::trace::Edge;

/// Send and receive of every message, sorted.
pub fn messages(causality: &Causality) -> Vec<Edge> {
    let nodes = causality.nodes().all();
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
    for instance in collectives.instances() {
        let participants = collectives.participants(instance);
        collectives.each_dependency(instance, |from, to| {
            found.push((
                participants[from].cause().unwrap(),
                participants[to].effect().unwrap(),
            ));
        });
    }
    found.sort_unstable();
    found
}

pub fn all(causality: &Causality) -> Vec<Edge> {
    [messages(causality), collectives(causality)].concat()
}

/// By the numbers of nodes.
pub fn numbers(edges: &[Edge]) -> Vec<(u32, u32)> {
    edges.iter().map(|edge| (edge.0.0, edge.1.0)).collect()
}
