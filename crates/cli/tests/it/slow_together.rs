//! Several slow ranks of one job, as the summary and reports name them.

use serde_json::Value;

use crate::common::Scratch;

const ITERATIONS: u64 = 40;

/// Six data parallel ranks on one host that meet in each iteration, of which these work longer, by so many
/// microseconds of 1,000.
fn job(slow: &[(u64, u64)]) -> Scratch {
    let mut events = [const { Vec::new() }; 6];
    for number in 0..ITERATIONS {
        let start = 10_000 * (number + 1);
        let longer = |rank: u64| slow.iter().find(|it| it.0 == rank).map_or(0, |it| it.1);
        let jitter = |rank: u64| (number * 7 + rank * 13) % 17;
        let begins = |rank: u64| start + 1_000 + longer(rank) + jitter(rank);
        let end = (0..6).map(begins).max().unwrap() + 60;
        for (rank, events) in (0..).zip(&mut events) {
            let from = begins(rank);
            events.push(format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                  "ts": {start}, "dur": {}}},
                {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 20,
                  "ts": {from}, "dur": {}, "args": {{"Collective name": "allreduce",
                  "Seq": {number}, "In msg nelems": 1024, "Out msg nelems": 1024,
                  "dtype": "Float", "Group size": 6, "Process Group Name": "0",
                  "Process Group Ranks": "[0, 1, 2, 3, 4, 5]"}}}}"#,
                from - start - 1,
                end - from,
            ));
        }
    }
    Scratch::with_profiles(&events)
}

fn first_line(job: &Scratch) -> String {
    let text = job.succeed("check run --json report.json");
    text.lines().next().unwrap_or_default().to_owned()
}

fn several(job: &Scratch) -> Value {
    let report = std::fs::read(job.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    report["stragglers"]["several"].clone()
}

#[test]
fn ranks_that_are_slow_alike_are_named_together() {
    let both = job(&[(1, 400), (4, 400)]);
    let line = first_line(&both);
    // Each of four others waited 400 us in each of 40 iterations.
    assert!(
        line.starts_with("stragglers rank 1 and rank 4 held up 4 others for 6")
            && line.contains("; each waited at least 1"),
        "{line}"
    );
    let found = several(&both);
    assert_eq!(found["processes"], serde_json::json!([1, 4]));
    assert_eq!(found["name"], "rank 1 and rank 4");
}

#[test]
fn one_that_is_much_slower_than_another_is_named_alone() {
    let job = job(&[(1, 900), (4, 300)]);
    let line = first_line(&job);
    assert!(
        line.starts_with("stragglers rank 1 held up 5 others for "),
        "{line}"
    );
}

#[test]
fn of_ranks_that_are_slow_by_chance_none_is_named() {
    let job = job(&[]);
    let line = first_line(&job);
    assert!(!line.contains("held up"), "{line}");
    assert!(several(&job).is_null());
}
