//! Why a call is not joined, in words that take a plural.

/// No other file has a counterpart.
pub(super) const ALONE: &str = "lone collective call";
/// It could belong to several operations.
pub(super) const AMBIGUOUS: &str = "ambiguous collective call";
/// Its number is that of another in its file, which may be of several ranks.
pub(super) const TWICE: &str = "doubly numbered collective call";
/// Several ranks were put into its file, and nothing tells which is its own.
pub(super) const MIXED: &str = "mixed call";
/// Other ranks have other sequences, or no clocks can differ as this would need.
pub(super) const CONTRADICTORY: &str = "contradictory collective call";
/// It may have been before its clock was set back, or after that.
pub(super) const DOUBTFUL: &str = "doubtful collective call";
/// The root of a rooted operation is not recorded.
pub(super) const NO_ROOT: &str = "rootless collective call";
/// Nobody waits for anybody for certain, as in an exchange of unequal sizes.
pub(super) const NO_ORDER: &str = "unordered collective call";
