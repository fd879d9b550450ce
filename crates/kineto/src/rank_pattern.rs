//! Ranks by a pattern over paths, for files that do not say theirs, or a wrong one.
//!
//! The pattern is a regular expression with one group, and what that matches is the rank:
//!
//! ```
//! use retime_kineto::RankPattern;
//!
//! let pattern: RankPattern = r"worker-(\d+)/".parse()?;
//! assert!(r"worker-\d+".parse::<RankPattern>().is_err());
//! # Ok::<(), retime_kineto::BadPattern>(())
//! ```
//!
//! It is looked for in the path within the directory that was given (`worker-3/trace.json`), or
//! of files that were given one by one in their paths as they were given.

use std::path::Path;
use std::str::FromStr;

use regex_lite::Regex;

/// A regular expression with a group for the rank.
#[derive(Clone, Debug)]
pub struct RankPattern(Regex);

/// Why a text is no pattern for ranks.
#[derive(Debug, thiserror::Error)]
pub enum BadPattern {
    /// It is no regular expression.
    #[error(transparent)]
    Syntax(#[from] regex_lite::Error),
    /// It has no group, or several.
    #[error("has {0} groups; put one pair of parentheses around the rank: 'rank(\\d+)'")]
    Groups(usize),
}

impl FromStr for RankPattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let pattern = Regex::new(text)?;
        // The whole match counts as one.
        match pattern.captures_len() {
            2 => Ok(Self(pattern)),
            groups => Err(BadPattern::Groups(groups.saturating_sub(1))),
        }
    }
}

impl RankPattern {
    /// The rank in a path, if the pattern matches.
    pub(crate) fn rank(&self, path: &Path) -> Option<u32> {
        let path = path.to_string_lossy();
        self.0.captures(&path)?.get(1)?.as_str().parse().ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_the_rank() {
        let pattern: RankPattern = r"node\d+/r(\d+)\.json$".parse().unwrap();
        let rank = |path: &str| pattern.rank(Path::new(path));
        assert_eq!(rank("node1/r12.json"), Some(12));
        assert_eq!(rank("node1/r12.json.gz"), None);
        assert_eq!(rank("node1/r99999999999.json"), None);
        for bad in ["(", r"r\d+", r"(\d+)-(\d+)"] {
            assert!(bad.parse::<RankPattern>().is_err(), "{bad}");
        }
    }
}
