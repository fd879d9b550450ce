//! Lines that are derived from others, in profiles of XLA on GPUs.
//!
//! Its profiler shows twice what a GPU did: on its streams, and once more by instruction of the
//! program, put together from the kernels that belong to it.
//!
//! ```text
//! "Stream #13(Compute)"   ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)   hlo_op "all-reduce-start.1"
//! "XLA Ops"               all-reduce-start.1                             hlo_op "all-reduce-start.1"
//! ```
//!
//! Only the former is recorded. TPUs have no streams, and there the latter is what was recorded.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::profile::Track;

/// The line of instructions,
const INSTRUCTIONS: &str = "XLA Ops";
/// and how the names of streams begin.
const STREAM: &str = "Stream #";

/// True for each track that is derived from streams of its process, given the names of tracks by pid
/// and tid.
pub(crate) fn are_derived(
    tracks: &[Track],
    names: &FxHashMap<(String, String), String>,
) -> Vec<bool> {
    let has_streams = |((pid, _), name): (&(String, String), &String)| {
        name.starts_with(STREAM).then(|| pid.clone())
    };
    let with_streams: FxHashSet<String> = names.iter().filter_map(has_streams).collect();
    let is_derived = |track: &Track| {
        let name = names.get(&(track.pid.clone(), track.tid.clone()));
        name.is_some_and(|it| it == INSTRUCTIONS) && with_streams.contains(&track.pid)
    };
    tracks.iter().map(is_derived).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use crate::chrome::Chrome;
    use crate::document::Document;
    use crate::profile::FileRead;

    /// A device of these lines, with a collective on each.
    fn device(lines: [&str; 2]) -> FileRead {
        let line = |(tid, name): (u32, &str)| {
            format!(
                r#"{{"ph":"X","pid":1,"tid":{tid},"ts":5,"dur":3,"name":"all-reduce-start.1",
                "args":{{"hlo_op":"all-reduce-start.1","hlo_module":"jit_f"}}}},
                {{"ph":"X","pid":1,"tid":{tid},"ts":9,"dur":3,"name":"all-reduce",
                "args":{{"hlo_op":"all-reduce","hlo_module":"jit_f","run_id":"3"}}}},
                {{"ph":"M","pid":1,"tid":{tid},"name":"thread_name","args":{{"name":"{name}"}}}}"#
            )
        };
        let lines: Vec<String> = (0..).zip(lines).map(line).collect();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("host.trace.json");
        let text = format!(r#"{{"traceEvents":[{}]}}"#, lines.join(","));
        std::fs::write(&path, text).unwrap();
        Chrome.read(&path, &()).unwrap()
    }

    #[test]
    fn lines_of_instructions_count_only_where_no_streams_are() {
        let found = |lines| {
            let file = device(lines);
            let unused = file.unused.iter().map(|it| it.events).sum::<u64>();
            (unused, file.instructions.len())
        };
        assert_eq!(found(["Stream #13(Compute)", "XLA Ops"]), (1, 1));
        assert_eq!(found(["XLA Modules", "XLA Ops"]), (2, 2));
    }
}
