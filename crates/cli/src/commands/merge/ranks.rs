//! Ranks that files of several traces have, each of which one file may have.
//!
//! Files of one kind are one trace, which refuses a rank that it has twice. Chrome's JSON and
//! packets are two traces, whose ranks would be one process of the merged file.

use std::path::PathBuf;

use retime::format::Document;
use retime::printable_path;

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
