//! Ranks by the names of files.
//!
//! A program that does not tell the profiler of its process group, or began it later, writes
//! files without a rank, and calls them `trace_rank3.json`. If none of several files says its
//! rank, and the names of all give different ones, those are taken: then all of a file, threads
//! and devices, is one process. A file that stands alone is left as it is, and so are those of
//! other tools, in which nothing communicates as PyTorch records it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rank of each file by its name, if all have one of their own.
pub(crate) fn by_names(paths: &[PathBuf]) -> Option<Vec<u32>> {
    let ranks: Option<Vec<u32>> = paths.iter().map(|path| by_name(path)).collect();
    let ranks = ranks.filter(|it| it.len() > 1)?;
    let different: BTreeSet<u32> = ranks.iter().copied().collect();
    (different.len() == ranks.len()).then_some(ranks)
}

/// The number behind the last "rank" in the name of a file or directory.
pub(crate) fn by_name(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (_, behind) = name.rsplit_once("rank")?;
    let digits = behind.trim_start_matches(['-', '_', '=']);
    let end = digits.find(|it: char| !it.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

/// That ranks are those of names.
pub(crate) const WARNING: &str =
    "no file says its rank; those in the names of the files, or of their directories, are taken";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_ranks_if_all_do() {
        let ranks = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|it| Path::new("rank7").join(it)).collect();
            by_names(&paths)
        };
        let names = [
            "trace_rank0.json",
            "Rank-12.pt.json.gz",
            "low_rank_rank=3_step5.json",
        ];
        assert_eq!(ranks(&names), Some(vec![0, 12, 3]));
        for names in [
            &["rank0.json"][..],
            &["rank0.json", "host1.json"],
            &["rank0.json", "rank0.again.json"],
            &["rank0.json", "rank.json"],
            &["rank0.json", "rank99999999999.json"],
            &[],
        ] {
            assert_eq!(ranks(names), None, "{names:?}");
        }
    }
}
