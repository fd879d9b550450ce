//! Locations that move with others, as they have no dependencies of their own, in words.

use retime::plural;

use super::model::UntiedPart;

/// Locations that are named one by one.
const NAMED: usize = 4;

/// Lines of the summary.
pub(super) fn lines(untied: &UntiedPart) -> Vec<String> {
    moving(untied).into_iter().chain(staying(untied)).collect()
}

/// Who moves with whom: the first of the rights on a line of its own.
fn moving(untied: &UntiedPart) -> Vec<String> {
    let with = [
        (untied.of_process, "their process", "its process"),
        (
            untied.of_creator,
            "the process that made theirs",
            "the process that made its own",
        ),
        (untied.of_node, "their node", "its node"),
        (
            untied.of_nearest,
            "the next process of their node, which has several clocks",
            "the next process of its node, which has several clocks",
        ),
    ];
    let some = with.into_iter().filter(|(count, ..)| *count > 0);
    let part = |(number, (count, several, one)): (usize, (usize, &str, &str))| {
        let whose = if count == 1 { one } else { several };
        match (number, count) {
            (0, 1) => {
                format!("1 location that no dependency ties to another clock moves with {whose}")
            }
            (0, _) => format!(
                "{} that no dependency ties to another clock move with {whose}",
                plural(count as u64, "location")
            ),
            _ => format!("{count} with {whose}"),
        }
    };
    let mut parts = some.enumerate().map(part);
    let Some(first) = parts.next() else {
        return Vec::new();
    };
    let others: Vec<String> = parts.collect();
    if others.is_empty() {
        vec![first]
    } else {
        vec![format!("{first},"), others.join(", ")]
    }
}

/// Who keeps the recorded times.
fn staying(untied: &UntiedPart) -> Option<String> {
    let unknown = &untied.unknown;
    let named = unknown.iter().take(NAMED).map(u64::to_string);
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match unknown.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match unknown.len() {
        0 => None,
        1 => Some(format!(
            "nothing tells the clock of location {named}, which keeps its times"
        )),
        _ => Some(format!(
            "nothing tells the clocks of locations {named}{more}, which keep their times"
        )),
    }
}
