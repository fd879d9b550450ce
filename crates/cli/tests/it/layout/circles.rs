//! Files of a crate that use each other in a circle. None may.

use std::collections::{BTreeMap, BTreeSet};

/// The sets of nodes of a graph each of which can be reached from all others of its set, with
/// two nodes and more, in order.
pub(super) fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut left: BTreeSet<&str> = uses.keys().map(String::as_str).collect();
    let mut used_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (user, used) in uses {
        for used in used {
            used_by.entry(used).or_default().push(user);
        }
    }
    let down = |at: &str| -> Vec<&str> { uses[at].iter().map(String::as_str).collect() };
    let up = |at: &str| used_by.get(at).cloned().unwrap_or_default();
    let mut found = Vec::new();
    while let Some(&first) = left.first() {
        let below = reached(first, down);
        let both = reached(first, up).intersection(&below).copied().collect();
        if BTreeSet::len(&both) > 1 {
            found.push(both.iter().map(|&it| it.to_owned()).collect());
        }
        left.retain(|it| !both.contains(it));
    }
    found
}

/// What can be reached from a node, itself among it.
fn reached<'a>(from: &'a str, next: impl Fn(&str) -> Vec<&'a str>) -> BTreeSet<&'a str> {
    let mut found: BTreeSet<&str> = [from].into();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        let new = next(at).into_iter().filter(|&it| found.insert(it));
        let new: Vec<&str> = new.collect();
        open.extend(new);
    }
    found
}

#[test]
fn circles_are_told_apart() {
    let uses = |of: &str| of.split_whitespace().map(str::to_owned).collect();
    let graph = [
        ("a", uses("b")),
        ("b", uses("c e")),
        ("c", uses("b")),
        ("d", uses("")),
        ("e", uses("f")),
        ("f", uses("e d")),
    ];
    let found = circles(&graph.map(|(name, uses)| (name.to_owned(), uses)).into());
    assert_eq!(found, [["b", "c"], ["e", "f"]]);
}
