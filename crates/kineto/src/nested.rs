//! A directory for each rank.
//!
//! Jobs whose ranks each write into a directory of their own leave files of one name:
//!
//! ```text
//! run/rank0/trace.json
//! run/rank1/trace.json
//! ```
//!
//! They are one trace, if no profile lies beside these directories, and their names give at
//! least two that hold profiles, and give none twice: two directories of one rank
//! are of two jobs. Copies have the same directories.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use retime_model::presence::{self, kind_in_words};

use crate::document::Document;
use crate::found::{Found, in_order};
use crate::named_ranks::by_name;
use crate::rank_pattern::RankPattern;

/// Lists a directory, and says if its traces lie in directories of ranks, which a pattern may tell
/// instead of their names.
pub(crate) fn found(
    directory: &Path,
    document: &dyn Document,
    pattern: Option<&RankPattern>,
) -> io::Result<(Found, bool)> {
    let own = Found::in_one(directory, document)?;
    if own.holds_any() {
        return Ok((own, false));
    }
    Ok(match of_ranks(directory, document, pattern)? {
        Some(mut all) => {
            all.beside.extend(own.beside);
            all.others.extend(own.others);
            all.links.extend(own.links);
            let is_directory = |it: &Path| presence::is_directory(it).unwrap_or(false);
            let left_out = own.left_out.into_iter().filter(|it| !is_directory(&it.0));
            all.left_out.extend(left_out);
            (all, true)
        }
        None => (own, false),
    })
}

/// Lists the directories of ranks; `None` if there are none.
fn of_ranks(
    directory: &Path,
    document: &dyn Document,
    pattern: Option<&RankPattern>,
) -> io::Result<Option<Found>> {
    let entries = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    in_order(&mut paths);
    let mut ranks = BTreeSet::new();
    let mut all = Found::default();
    for path in paths {
        let Some(kind) = presence::kind_of_entry(&path)?.filter(fs::FileType::is_dir) else {
            continue;
        };
        let named = by_name(&path);
        let own = if pattern.is_some() || named.is_some() {
            Found::in_one(&path, document)?
        } else {
            Found::default()
        };
        let first = own
            .traces
            .first()
            .and_then(|it| it.strip_prefix(directory).ok());
        let by_pattern = pattern.zip(first).and_then(|(it, path)| it.rank(path));
        let own = by_pattern.or(named).map(|rank| (rank, own));
        match own.filter(|(_, own)| own.holds_any()) {
            Some((rank, own)) if ranks.insert(rank) => all.append(own),
            Some(_) => return Ok(None),
            None => all.left_out.push((path, kind_in_words(kind))),
        }
    }
    Ok((ranks.len() > 1).then_some(all))
}
