//! Processes that others have made, as hosts make the contexts of their accelerators.

use retime_model::{LocationIndex, TraceInfo};

/// The process that made one, unless it ran on another node.
pub(super) fn creator(info: &TraceInfo, process: usize) -> Option<usize> {
    let creator = info.processes.get(process)?.creator?;
    let nodes = [process, creator].map(|it| info.processes.get(it).map(|it| it.node));
    match nodes {
        [_, None] => None,
        [Some(Some(own)), Some(Some(other))] if own != other => None,
        _ => Some(creator),
    }
}

/// The processes of two locations that the other's has made, or that one process has
/// made both; none if they are not related like that.
pub(super) fn made_of(info: &TraceInfo, pair: [LocationIndex; 2]) -> [Option<usize>; 2] {
    let process = |it: LocationIndex| info.locations.get(it.as_usize()).map(|it| it.process);
    let [Some(a), Some(b)] = pair.map(process) else {
        return [None; 2];
    };
    if a == b {
        return [None; 2];
    }
    match [a, b].map(|it| creator(info, it)) {
        [Some(of_a), Some(of_b)] if of_a == of_b => [Some(a), Some(b)],
        [Some(of_a), _] if of_a == b => [Some(a), None],
        [_, Some(of_b)] if of_b == a => [Some(b), None],
        _ => [None; 2],
    }
}
