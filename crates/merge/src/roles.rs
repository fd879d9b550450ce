//! The place of a rank in the ways in which a job is parallel, from what its groups are for.
//!
//! Programs call the groups of processes that they make by words of their own: Megatron's
//! `TENSOR_MODEL_PARALLEL_GROUP`, the `mesh_dp` of PyTorch's device meshes, `ep:0` of serving
//! engines. The words of a name that stand alone decide; a group of several kinds, as
//! `TENSOR_AND_DATA_PARALLEL_GROUP`, says nothing of either, and of several groups of a kind
//! the first counts.
//!
//! ```
//! use retime_merge::roles;
//! use retime_model::format::DocumentGroup;
//!
//! let group = |name: &str, place| DocumentGroup { name: name.into(), place, size: 4 };
//! let all = [
//!     group("default_pg", 6),
//!     group("TENSOR_MODEL_PARALLEL_GROUP", 2),
//!     group("TENSOR_AND_DATA_PARALLEL_GROUP", 5),
//!     group("mesh_dp", 1),
//! ];
//! assert_eq!(roles(&all), ["tp 2", "dp 1"]);
//! ```

use retime_model::format::DocumentGroup;

/// Kinds of parallelism, and the words that name them.
const KINDS: [(&str, [&str; 2]); 4] = [
    ("tp", ["tp", "tensor"]),
    ("dp", ["dp", "data"]),
    ("pp", ["pp", "pipeline"]),
    ("ep", ["ep", "expert"]),
];

/// The places of a rank, in words.
pub fn roles(groups: &[DocumentGroup]) -> Vec<String> {
    let found = KINDS.iter().enumerate().filter_map(|(kind, (short, _))| {
        let own = groups.iter().find(|it| only_kind(&it.name) == Some(kind))?;
        Some(format!("{short} {}", own.place))
    });
    found.collect()
}

/// The kind that the words of a name say, if they say one alone.
fn only_kind(name: &str) -> Option<usize> {
    let words: Vec<String> = name
        .split(|it: char| !it.is_ascii_alphabetic())
        .map(str::to_ascii_lowercase)
        .collect();
    let is_said = |kind: &usize| {
        let (_, names) = KINDS.get(*kind).copied().unwrap_or_default();
        words.iter().any(|word| names.contains(&word.as_str()))
    };
    let mut said = (0..KINDS.len()).filter(is_said);
    said.next().filter(|_| said.next().is_none())
}
