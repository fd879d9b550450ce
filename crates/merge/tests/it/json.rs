//! Chrome's JSON: every event is there as it was, but for its time, process and id.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proptest::prelude::*;
use retime_merge::{Job, MergedKind, merge};
use retime_model::format::Document;
use serde_json::Value;

use crate::document::{events, job, written};

fn merged(job: &Job) -> Value {
    let mut out = Vec::new();
    let found = merge(job, MergedKind::Chrome, None, &mut out, &()).unwrap();
    assert_eq!(found.bytes, out.len() as u64);
    serde_json::from_slice(&out).unwrap()
}

fn nanoseconds(event: &Value) -> i64 {
    (event["ts"].as_f64().unwrap() * 1e3).round() as i64
}

/// The number that an id says, as text or as one.
fn said_id(id: &Value) -> u64 {
    let text = id.as_str().and_then(|it| it.strip_prefix("0x"));
    text.map_or_else(
        || id.as_u64().unwrap(),
        |it| u64::from_str_radix(it, 16).unwrap(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_lost(ranks in prop::collection::vec(events(), 1..4)) {
        let directory = tempfile::tempdir().unwrap();
        let job = job(directory.path(), &ranks);
        let file = merged(&job);
        prop_assert_eq!(&file["baseTimeNanoseconds"], 1_000_000);
        let all = file["traceEvents"].as_array().unwrap();
        let is_own = |it: &&Value| it["cat"] != "retime" && it["name"] != "dependency";
        let mut found = all.iter().filter(|it| it["ph"] != "M").filter(is_own);
        let mut pids: Vec<BTreeMap<String, Value>> = Vec::new();
        let mut ids: BTreeSet<(usize, u64, String)> = BTreeSet::new();
        for (rank, events) in ranks.iter().enumerate() {
            let mut own = BTreeMap::new();
            for (number, made) in events.iter().enumerate() {
                let expected = written(made, number);
                let event = found.next().unwrap();
                prop_assert_eq!(nanoseconds(event), 5_000 * rank as i64 + made.at);
                let pid = own.entry(expected["pid"].to_string()).or_insert(event["pid"].clone());
                prop_assert_eq!(&event["pid"], &*pid);
                if !expected["id"].is_null() {
                    ids.insert((rank, said_id(&expected["id"]), event["id"].to_string()));
                }
                for (key, value) in expected.as_object().unwrap() {
                    if !["ts", "pid", "id"].contains(&key.as_str()) {
                        prop_assert_eq!(&event[key], value);
                    }
                }
            }
            pids.push(own);
        }
        prop_assert!(found.next().is_none());
        // No two processes of ranks have a number, nor do ids.
        let numbers: Vec<String> = pids.iter().flat_map(|it| it.values()).map(Value::to_string).collect();
        prop_assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len());
        let given: BTreeSet<&String> = ids.iter().map(|it| &it.2).collect();
        prop_assert_eq!(given.len(), ids.iter().map(|it| (it.0, it.1)).collect::<BTreeSet<_>>().len());
        // Names stand in the order of ranks; unused processes have none.
        let names: Vec<&str> = all.iter().filter(|it| it["name"] == "process_name")
            .map(|it| it["args"]["name"].as_str().unwrap()).collect();
        prop_assert_eq!(names.len(), numbers.len());
        let ranks_named: Vec<&str> = names.iter().map(|it| it.split(':').next().unwrap()).collect();
        prop_assert!(ranks_named.is_sorted());
        let host = |it: &&str| it.ends_with("(host0)") || it.ends_with("(host1)");
        prop_assert!(names.iter().all(host));
    }

    #[test]
    fn arrows_stand_on_slices_without_length(ranks in prop::collection::vec(events(), 2..4)) {
        let directory = tempfile::tempdir().unwrap();
        let job = job(directory.path(), &ranks);
        let file = merged(&job);
        let all = file["traceEvents"].as_array().unwrap();
        let points: Vec<&Value> = all.iter().filter(|it| it["cat"] == "retime").collect();
        let arrow: Vec<&Value> = all.iter().filter(|it| it["name"] == "dependency").collect();
        prop_assert_eq!((points.len(), arrow.len()), (2, 2));
        prop_assert_eq!((&arrow[0]["ph"], &arrow[1]["ph"]), (&"s".into(), &"f".into()));
        prop_assert_eq!(&arrow[0]["id"], &arrow[1]["id"]);
        prop_assert!(nanoseconds(arrow[0]) <= nanoseconds(arrow[1]));
        for end in arrow {
            let on = points.iter().find(|it| (&it["pid"], &it["tid"], &it["ts"])
                == (&end["pid"], &end["tid"], &end["ts"]));
            prop_assert_eq!(&on.unwrap()["dur"], 0);
        }
        let [from, to] = [job.arrows[0].from.at, job.arrows[0].to.at];
        let category = if from > to { "reversed" } else { "dependency" };
        prop_assert!(all.iter().filter(|it| it["name"] == "dependency").all(|it| it["cat"] == category));
    }
}

/// JAX writes an event that says nothing behind all others.
#[test]
fn an_empty_event_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let event = r#"{"ph":"X","name":"a","pid":1,"tid":2,"ts":1000,"dur":1}"#;
    for events in [
        format!("{{}},{event}"),
        format!("{event},{{ }}"),
        format!("{event},{{}},{event}"),
    ] {
        let path = directory.path().join("host.json");
        fs::write(&path, format!(r#"{{"traceEvents":[{events}]}}"#)).unwrap();
        let job = Job {
            documents: vec![Document {
                path,
                ..Document::default()
            }],
            ..Job::default()
        };
        let file = merged(&job);
        let all = file["traceEvents"].as_array().unwrap();
        let shown: Vec<&Value> = all.iter().filter(|it| it["ph"] != "M").collect();
        assert_eq!(shown.len(), events.matches("\"a\"").count(), "{events}");
        assert!(
            shown.iter().all(|it| it["name"] == "a" && it["tid"] == 2),
            "{file}"
        );
    }
}
