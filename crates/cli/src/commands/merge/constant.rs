//! One constant offset for each file, for a manifest of files that are not rewritten.
//!
//! The constant is the middle of the least and the most that the correction adds to the clock
//! of the file, so what it leaves is half of what these differ. A file whose events are of
//! several clocks, as those of a device beside its host, has that of its first; the others are
//! wrong by what they differ besides.

use std::collections::BTreeMap;

use retime::{Monitor, format_seconds, plural, printable};
use retime_merge::{Member, MergeError, member_names};

use super::part::Part;

/// The members of an archive, and what is left.
pub(super) struct Constant {
    pub(super) members: Vec<Member>,
    /// The most by which times of each host are wrong, in nanoseconds, by falling error.
    left: Vec<(String, f64)>,
}

/// The most hosts that are named.
const NAMED: usize = 3;

/// The members that the files of all traces are, as they lie there.
pub(super) fn members(parts: &[Part], monitor: &dyn Monitor) -> Result<Constant, MergeError> {
    let documents = || parts.iter().flat_map(|it| &it.shown.documents);
    let mut names = member_names(documents()).into_iter();
    let mut members = Vec::new();
    let mut left: BTreeMap<String, f64> = BTreeMap::new();
    for part in parts {
        let clock_of: BTreeMap<u64, usize> = part
            .offsets
            .clocks
            .iter()
            .enumerate()
            .flat_map(|(clock, it)| it.locations.iter().map(move |id| (*id, clock)))
            .collect();
        let told = |id: &u64| part.offsets.clocks.get(*clock_of.get(id)?);
        for (document, locations) in part.shown.documents.iter().zip(&part.locations) {
            let own = || locations.iter().filter_map(told);
            let constant = own().next().map_or(0.0, |it| it.offset_ns);
            let error = own().map(|it| (it.offset_ns - constant).abs() + it.offset_error_ns);
            let error = error.fold(0.0, f64::max);
            let name = names.next().unwrap_or_default();
            let whose = document.host.clone().unwrap_or_else(|| name.clone());
            let most = left.entry(whose).or_default();
            *most = most.max(error);
            members.push(Member::of(
                document,
                name,
                constant.round() as i64,
                monitor,
            )?);
        }
    }
    let mut left: Vec<(String, f64)> = left.into_iter().collect();
    left.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(Constant { members, left })
}

impl Constant {
    /// A sentence on what a manifest of these says, and on what it cannot.
    pub(super) fn in_words(&self) -> String {
        let files = plural(self.members.len() as u64, "file");
        let left = self.left.iter().filter(|it| it.1 >= 1.0);
        let named: Vec<String> = left
            .clone()
            .take(NAMED)
            .map(|(host, error)| {
                format!(
                    "{} by up to {}",
                    printable(host),
                    format_seconds(error / 1e9)
                )
            })
            .collect();
        let more = match left.count().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let remains = if named.is_empty() {
            "that is all the correction there is".to_owned()
        } else {
            format!(
                "what clocks drift within the run is left in: times are off of {}{more}",
                named.join(", ")
            )
        };
        format!("one constant offset for each of {files}; {remains}.")
    }
}
