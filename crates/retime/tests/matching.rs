//! The dependencies found in a recording against those of the program that was
//! recorded.

mod common;

use common::{Edge, cases, specs};
use proptest::prelude::*;
use retime::causality::Causality;

fn found_messages(causality: &Causality) -> Vec<Edge> {
    let nodes = 0..causality.nodes().len() as u32;
    let mut found: Vec<Edge> = nodes
        .filter_map(|node| Some((causality.message_source(node)?, node)))
        .collect();
    found.sort_unstable();
    found
}

fn found_collectives(causality: &Causality) -> Vec<Edge> {
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

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn every_true_dependency_is_found_and_no_other(spec in specs(300)) {
        let trace = spec.trace();
        let causality = trace.causality();
        prop_assert_eq!(found_messages(&causality), trace.messages);
        prop_assert_eq!(found_collectives(&causality), trace.collectives);
        prop_assert!(causality.oddities().is_empty(), "{:?}", causality.oddities());
    }
}
