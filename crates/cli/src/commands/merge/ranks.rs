//! Ranks that files of several traces have, each of which one file may have.
//!
//! Files of one kind are one trace, which refuses a rank that it has twice. Chrome's JSON and
//! packets are two traces, whose ranks would be one process of the merged file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use retime::format::Document;
use retime::printable_path;
use retime_kineto::{is_of_missing_ranks, missing_ranks};
use serde_json::Value;

use crate::error::CliError;

/// A rank, and the file that is its.
pub(super) struct RankGiven {
    label: String,
    path: PathBuf,
}

/// The ranks of documents.
pub(super) fn of(documents: &[Document]) -> Vec<RankGiven> {
    let of_document = |it: &Document| {
        let own = it.rank.map(|rank| rank.to_string());
        let several = it.ranks.iter().map(|rank| rank.label.clone());
        let path = it.path.clone();
        let labels: Vec<String> = own.into_iter().chain(several).collect();
        labels.into_iter().map(move |label| RankGiven {
            label,
            path: path.clone(),
        })
    };
    documents.iter().flat_map(of_document).collect()
}

/// Refuses ranks of which files of another trace have one.
pub(super) fn refuse_twice(others: &[&RankGiven], ranks: &[RankGiven]) -> Result<(), CliError> {
    for own in ranks {
        if let Some(other) = others.iter().find(|it| it.label == own.label) {
            let message = format!(
                "is of rank {}, as {} is, which is of the other kind; give one file of each rank, \
                 be it JSON or packets, all of one job",
                own.label,
                printable_path(&other.path)
            );
            return Err(CliError::input(&own.path, message));
        }
    }
    Ok(())
}

/// The number of ranks that documents give their job, if they agree.
pub(super) fn job_size(documents: &[Document]) -> Option<u32> {
    let said = documents.iter().flat_map(|it| {
        let of_ranks = it.ranks.iter().filter_map(|rank| rank.said.as_deref());
        it.said.as_deref().into_iter().chain(of_ranks)
    });
    let mut sizes = said.filter_map(|it| {
        let said: Value = serde_json::from_str(it).ok()?;
        let size = said.get("distributedInfo")?.get("world_size")?.as_u64()?;
        u32::try_from(size).ok()
    });
    let first = sizes.next()?;
    sizes.all(|it| it == first).then_some(first)
}

/// The warnings of all traces. Ranks that one of them lacks may be in another, if all are of jobs
/// of one size.
pub(super) fn warnings(of_parts: &[(&[String], &[RankGiven], Option<u32>)]) -> Vec<String> {
    let all = || of_parts.iter().flat_map(|it| it.0).cloned();
    let mut sizes = of_parts.iter().filter_map(|it| it.2);
    let Some(size) = sizes.next().filter(|size| sizes.all(|it| it == *size)) else {
        return all().collect();
    };
    let ranks = of_parts.iter().flat_map(|it| it.1);
    let there: BTreeSet<u32> = ranks.filter_map(|it| it.label.parse().ok()).collect();
    let others = all().filter(|it| !is_of_missing_ranks(it));
    missing_ranks(size, &there)
        .into_iter()
        .chain(others)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_the_other_kind_are_there() {
        let rank = |label: &str| RankGiven {
            label: label.to_owned(),
            path: PathBuf::new(),
        };
        let lacks = |there: &[u32]| missing_ranks(4, &there.iter().copied().collect());
        let json = [lacks(&[0, 1]).unwrap_or_default(), "another".to_owned()];
        let packets = [lacks(&[2]).unwrap_or_default()];
        let of = |size| {
            warnings(&[
                (&json, &[rank("0"), rank("1")], Some(4)),
                (&packets, &[rank("2")], size),
            ])
        };
        let all = [
            "the job has 4 ranks, and 1 of them has no file here: 3",
            "another",
        ];
        assert_eq!(of(Some(4)), all);
        // Two jobs are told apart.
        assert_eq!(of(Some(8)).len(), 3);
    }
}
