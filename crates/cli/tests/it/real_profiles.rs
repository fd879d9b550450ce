//! Profiles of real training jobs, where they lie beside the repository.

use std::fs;
use std::process::Command;

use crate::archives;
use crate::common::Scratch;
use crate::common::directory::assert_same;
use crate::simulated_jobs::read_report;

/// A directory with a shared run; `None`, and a note, if it is not there.
fn unpacked(name: &str) -> Option<Scratch> {
    let Some(traces) = archives::shared() else {
        eprintln!("skipped: no shared traces beside the repository, needed {name}");
        return None;
    };
    let scratch = Scratch::new();
    let mut tar = Command::new("tar");
    tar.arg("--zstd").arg("-xf");
    tar.arg(traces.join(format!("{name}.tar.zst")));
    let status = tar.arg("-C").arg(scratch.path()).status().unwrap();
    assert!(status.success(), "tar unpacks {name}");
    Some(scratch)
}

#[test]
fn a_real_run_on_one_host_is_left_alone() {
    let Some(scratch) = unpacked("gloo8_samehost") else {
        return;
    };
    let correct = "correct gloo8_samehost -o out --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    assert_same(&scratch.join("out"), &scratch.join("gloo8_samehost"));
    let report = read_report(&scratch);
    assert_eq!(report["matching"]["collectives"], 440);
    assert_eq!(
        (&report["clocks"]["count"], &report["before"]["reversed"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn kernels_of_a_real_run_without_metadata_are_joined_by_their_launches() {
    let Some(scratch) = unpacked("gpu/param_dlrm8") else {
        return;
    };
    let correct = "correct param_dlrm8/dlrm_kineto -o out --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    let report = read_report(&scratch);
    // Eight operations of eight ranks; one exchanges unequal sizes.
    assert_eq!(report["matching"]["collectives"], 7);
    assert_eq!(report["before"]["reversed"], 0);
    let unused = serde_json::json!({
        "kind": "unordered collective call",
        "records": 8,
        "within_clock": 0,
        "is_ordered": true,
    });
    assert_eq!(report["examined"]["unused"], serde_json::json!([unused]));
}

/// Ranks 4 to 7 of a run of 23 ms are shifted by 3 and by 20 ms: the number of its only iteration says
/// that all ranks recorded the same calls.
#[test]
fn a_real_run_whose_halves_are_apart_is_joined_by_its_iteration() {
    let Some(scratch) = unpacked("gpu/param_dlrm8") else {
        return;
    };
    let run = scratch.join("param_dlrm8/dlrm_kineto");
    for (later, apart) in [(3_000, 3e6), (17_000, 2e7)] {
        for file in fs::read_dir(&run).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if !matches!(name.as_bytes()[6], b'4'..=b'7') {
                continue;
            }
            let mut document: serde_json::Value =
                serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            for event in document["traceEvents"].as_array_mut().unwrap() {
                if let Some(ts) = event["ts"].as_i64() {
                    event["ts"] = (ts + later).into();
                }
            }
            fs::write(&path, document.to_string()).unwrap();
        }
        let correct = "correct param_dlrm8/dlrm_kineto -o out --json report.json --quiet --force";
        scratch.retime(correct).expect_code(0);
        let report = read_report(&scratch);
        assert_eq!(report["matching"]["collectives"], 7);
        assert_eq!(report["before"]["reversed"], 28);
        assert_eq!(report["after"]["reversed"], 0);
        let latency = report["before"]["worst"][0]["latency_ticks"].as_f64();
        assert!((latency.unwrap() + apart).abs() < 50_000.0, "{latency:?}");
    }
}

/// Two ranks of 128 do not say which group their kernels are of, so none is guessed.
#[test]
fn where_no_group_is_known_it_is_said_what_to_record() {
    let Some(traces) = archives::shared() else {
        eprintln!("skipped: no shared traces beside the repository, needed gpu/sampled_rank");
        return;
    };
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("run")).unwrap();
    for rank in 0..2 {
        let name = format!("sampled_rank-{rank}.json.gz");
        let from = traces.join("gpu").join(&name);
        fs::copy(from, scratch.join("run").join(name)).unwrap();
    }
    let outcome = scratch.retime("check run");
    assert_eq!(outcome.code, Some(3), "{outcome:#?}");
    assert!(
        outcome
            .stdout
            .contains("20 ungrouped communication kernels")
    );
    let advice = "what helps: PyTorch 2.3 or newer writes operation and group";
    assert!(outcome.stdout.contains(advice), "{}", outcome.stdout);
}

/// Four stages of a pipeline, the later two 1.7 ms ahead: their few collectives leave that
/// open, their messages do not.
#[test]
fn messages_of_a_real_pipeline_show_how_hosts_differ() {
    let Some(scratch) = unpacked("gpu/gloo_pp4") else {
        return;
    };
    scratch
        .retime("check pp4 --json report.json --quiet")
        .expect_code(0);
    let report = read_report(&scratch);
    assert_eq!(report["matching"]["messages"], 144);
    assert_eq!(report["matching"]["collectives"], 6);
    assert_eq!(report["examined"]["unused"], serde_json::json!([]));
    assert_eq!(report["before"]["reversed"], 0);
    let ahead = 1_700_000;
    for rank in [2, 3] {
        let path = scratch.join(&format!("pp4/rank{rank}.json"));
        let text = fs::read_to_string(&path).unwrap();
        let base = "\"baseTimeNanoseconds\": 1790857026000000000";
        let (base, moved) = (base, base.replace("000000000", &format!("{ahead:09}")));
        assert!(text.contains(base));
        let text = text.replace(base, &moved).replace("\"vm\"", "\"other\"");
        fs::write(path, text).unwrap();
    }
    let correct = "correct pp4 -o out --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    let report = read_report(&scratch);
    assert_eq!(report["matching"]["messages"], 144);
    assert!(report["before"]["reversed"].as_u64() > Some(0));
    assert_eq!(report["after"]["reversed"], 0);
    let host = &report["hosts"][1];
    let error = host["ahead_ticks"].as_f64().unwrap() - f64::from(ahead);
    let known = host["ahead_within_ticks"][0].as_f64().unwrap();
    assert!(error.abs() < known && known < 1e6, "{error} of {known}");
}

#[test]
fn a_real_run_with_known_offset_is_put_right() {
    let Some(scratch) = unpacked("gloo8_offset") else {
        return;
    };
    let correct = "correct gloo8_offset -o out --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    let report = read_report(&scratch);
    assert_eq!(report["matching"]["collectives"], 440);
    assert_eq!(report["after"]["reversed"], 0);
    // Ranks 4 to 7 are 3.5 ms ahead; half the width of what is possible is some 0.4 ms.
    let hosts = report["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 2);
    let error = (hosts[1]["ahead_ticks"].as_f64().unwrap() - 3.5e6).abs();
    let clock = &report["bounds"]["clocks"][1];
    assert!(
        error <= clock["mean_half_width"].as_f64().unwrap() / 2.0,
        "{error}"
    );
    scratch.retime("undo out -o back").expect_code(0);
    assert_same(&scratch.join("back"), &scratch.join("gloo8_offset"));
}

/// The clock of one of two processes is set by 5 ms after the first of ten collectives. That one lasts longer, so
/// its dependencies allow it, and nothing tells that the clock was set: then the report must not say more than
/// holds if it was not.
#[test]
fn nothing_is_likely_where_no_dependency_shows_that_a_clock_was_set() {
    for by in [5_000.0, -5_000.0] {
        let Some(scratch) = unpacked("gpu/jax_cpu_2proc") else {
            return;
        };
        for host in 0..2 {
            let name = format!("jx2/host{host}.trace.json");
            let path = scratch.join(&format!("{name}.gz"));
            let packed = flate2::read::GzDecoder::new(fs::File::open(&path).unwrap());
            let mut document: serde_json::Value = serde_json::from_reader(packed).unwrap();
            for event in document["traceEvents"].as_array_mut().unwrap() {
                let ts = event["ts"].as_f64().unwrap_or_default();
                if host == 1 && ts > 66_000.0 {
                    event["ts"] = (((ts + by) * 1e3).round() / 1e3).into();
                }
            }
            fs::write(scratch.join(&name), document.to_string()).unwrap();
            fs::remove_file(path).unwrap();
        }
        let printed = scratch.succeed("correct jx2 -o out");
        assert!(printed.contains("0 messages, 10 collectives"), "{printed}");
        assert!(printed.contains("(certain if clocks were not set and "));
        assert!(!printed.contains("likely"), "{printed}");
    }
}
