//! Operations of HCCL, as the profiler of Ascend NPUs records them (`trace_view.json`, `msprof_*.json`).
//!
//! An operation of a group stands on the track of that group, without a category, and the tasks that do
//! it stand on others. Its name ends with the last three digits of the group, its number in the profile
//! of this rank, and a number of rounds:
//!
//! ```text
//! hcom_allReduce__606_0_1   rank_size 8, connection_id 2762, data_type "FP16", alg_type "HD-MESH", count 4096
//! ```
//!
//! Such are counted. Ranks number only what they recorded, so that numbers of two say nothing of each
//! other. A task of the device may have the name of its operation, and says its "Task Type".

use crate::recorded::Recorded;

/// The words under which operations are counted; they take a plural.
const UNUSED: &str = "HCCL operation";

/// The words under which an event that is named as an operation is counted, if it is one.
pub(crate) fn told(event: &Recorded<'_>) -> Option<&'static str> {
    let is_task = event.arguments.all().get("Task Type").is_some();
    (!is_task).then_some(UNUSED)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use crate::chrome::Chrome;
    use crate::document::Document;

    #[test]
    fn operations_are_counted_and_their_tasks_are_not() {
        let event = |name: &str, second: u32, args: &str| {
            format!(
                r#"{{"name":"{name}","pid":10327552,"tid":0,"ts":"171757596{second}213957.957",
                "dur":1000.0,"ph":"X","args":{args}}}"#
            )
        };
        let all_reduce = "hcom_allReduce__674_0_1";
        let events = [
            event(
                all_reduce,
                0,
                r#"{"connection_id":2762,"alg_type":"HD-MESH"}"#,
            ),
            event("hcom_send__674_1_1", 1, r#"{"connection_id":2763}"#),
            event("Notify_Wait", 2, r#"{"task type":"Notify_Wait"}"#),
            event(all_reduce, 3, r#"{"Task Type":"AI_CPU","Stream Id":5}"#),
        ];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace_view.json");
        std::fs::write(&path, format!("[{}]", events.join(","))).unwrap();
        let unused = Chrome.read(&path, &()).unwrap().unused;
        let unused: Vec<_> = unused.iter().map(|it| (it.kind, it.events)).collect();
        assert_eq!(unused, [("HCCL operation", 2)]);
    }
}
