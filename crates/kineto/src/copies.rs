//! The second file that JAX writes of a profile.
//!
//! `jax.profiler.trace(..., create_perfetto_link=True)` writes a profile a second time, as
//! `perfetto_trace.json.gz` beside `HOST.trace.json.gz`. Read as one more process, it would take
//! part in all that its process does, so that no number of participants fits.
//!
//! The name decides, not the events: of a corrected copy the one file has other times than the
//! other.
//!
//! Source: `jax/_src/profiler.py`, `_write_perfetto_trace_file`.

use std::path::{Path, PathBuf};

use retime_model::printable_path;

/// The name of the second file,
const SECOND: &str = "perfetto_trace.json.gz";
/// and the end of that of the first.
const FIRST: &[u8] = b".trace.json.gz";

/// Takes the files out of others that are second files beside first ones, each with what it is in
/// words.
pub(crate) fn take_copies(files: &mut Vec<PathBuf>) -> Vec<(PathBuf, String)> {
    let first_beside = |second: &Path| {
        let is_first = |it: &&PathBuf| {
            let name = it.file_name().unwrap_or_default();
            it.parent() == second.parent() && name.as_encoded_bytes().ends_with(FIRST)
        };
        files.iter().find(is_first).cloned()
    };
    let is_second = |it: &&PathBuf| it.file_name().is_some_and(|name| name == SECOND);
    let mut copies = Vec::new();
    for second in files.iter().filter(is_second) {
        if let Some(first) = first_beside(second) {
            let name = printable_path(Path::new(first.file_name().unwrap_or_default()));
            copies.push((
                second.clone(),
                format!("what JAX writes again beside {name}"),
            ));
        }
    }
    files.retain(|it| copies.iter().all(|copy| copy.0 != *it));
    copies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_file_is_left_out_where_there_is_a_first() {
        let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
        let mut files = paths(&[
            "run/host0.trace.json.gz",
            "run/host1.trace.json.gz",
            "run/perfetto_trace.json.gz",
            "other/perfetto_trace.json.gz",
        ]);
        let copies = take_copies(&mut files);
        let what = "what JAX writes again beside host0.trace.json.gz".to_owned();
        assert_eq!(
            copies,
            [(PathBuf::from("run/perfetto_trace.json.gz"), what)]
        );
        assert_eq!(
            files,
            paths(&[
                "run/host0.trace.json.gz",
                "run/host1.trace.json.gz",
                "other/perfetto_trace.json.gz"
            ])
        );
    }
}
