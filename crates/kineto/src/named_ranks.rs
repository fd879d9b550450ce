//! Ranks by the names of files.
//!
//! A program that does not tell the profiler of its process group, or began it later, writes
//! files without a rank, and calls them `trace_rank3.json`. If none of several files says its
//! rank, and the names of all give different ones, those are taken: then all of a file, threads
//! and devices, is one process. So they are of those files that say none among others that do, where
//! names are right of all that can be checked. A file that stands alone is left as it is, and so are
//! those of other tools, in which nothing communicates as PyTorch records it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use retime_model::printable_path;

use crate::few::few;

/// The rank of each file by its name, if all have one of their own, and none another than it says.
pub(crate) fn by_names(paths: &[PathBuf], said: &[Option<u32>]) -> Option<Vec<u32>> {
    let ranks: Option<Vec<u32>> = paths.iter().map(|path| by_name(path)).collect();
    let ranks = ranks.filter(|it| it.len() > 1)?;
    let different: BTreeSet<u32> = ranks.iter().copied().collect();
    let mut both = ranks.iter().zip(said);
    let are_right = both.all(|(named, said)| said.is_none_or(|it| it == *named));
    (different.len() == ranks.len() && are_right).then_some(ranks)
}

/// The number behind the last "rank" in the name of a file or directory.
pub(crate) fn by_name(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (_, behind) = name.rsplit_once("rank")?;
    let digits = behind.trim_start_matches(['-', '_', '=']);
    let end = digits.find(|it: char| !it.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

/// Files whose ranks are those of names.
#[derive(Debug)]
pub(crate) enum RanksOfNames {
    None,
    All,
    /// These files, among others that say their ranks.
    Some(Vec<PathBuf>),
}

/// Files that are named in the warning.
const NAMED: usize = 8;

impl RanksOfNames {
    /// A warning that ranks are those of names, if they are.
    pub(crate) fn warning(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::All => Some(
                "no file says its rank; those in the names of the files, or of their directories, \
                 are taken"
                    .to_owned(),
            ),
            Self::Some(files) => {
                let names = files.iter().map(printable_path);
                let named = few(names, NAMED)?;
                Some(format!(
                    "{named} does not say its rank; that of its name is taken, as names are right \
                     of all others"
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_ranks_if_all_do() {
        let ranks = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|it| Path::new("rank7").join(it)).collect();
            by_names(&paths, &vec![None; paths.len()])
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

    #[test]
    fn names_give_the_ranks_that_are_missing_if_they_are_right_elsewhere() {
        let paths = ["rank0.json", "rank1.json", "rank2.json"].map(PathBuf::from);
        let of = |said: [Option<u32>; 3]| by_names(&paths, &said);
        assert_eq!(of([Some(0), None, Some(2)]), Some(vec![0, 1, 2]));
        assert_eq!(of([Some(0), None, Some(1)]), None);
    }
}
