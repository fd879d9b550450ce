//! In which order to eliminate.

use super::graph::Graph;

/// The unknowns in an order of little fill: approximate minimum degree.
pub(super) fn minimum_degree(graph: &Graph<'_>) -> Option<Vec<u32>> {
    let mut starts = vec![0_i32];
    let mut list = Vec::new();
    for node in 0..graph.size() {
        // The crate wants the diagonal too.
        list.push(i32::try_from(node).ok()?);
        list.extend(graph.of(node).map(|(other, _)| other as i32));
        starts.push(i32::try_from(list.len()).ok()?);
    }
    let size = graph.size() as i32;
    let (order, _, _) = amd::order(size, &starts, &list, &amd::Control::default()).ok()?;
    Some(order.iter().map(|&it| it as u32).collect())
}
