//! `retime merge` of files that it has written: ranks, hosts and jobs are what they were.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::common::Scratch;
use crate::merge::{checked, job};

/// The names of processes and the headers of ranks in a merged file of JSON.
fn told(scratch: &Scratch, name: &str) -> (BTreeSet<String>, Vec<String>) {
    let mut text = Vec::new();
    let file = fs::File::open(scratch.join(name)).unwrap();
    let mut file: Box<dyn Read> = match Path::new(name).extension() {
        Some(end) if end == "gz" => Box::new(GzDecoder::new(file)),
        _ => Box::new(file),
    };
    file.read_to_end(&mut text).unwrap();
    let all: Value = serde_json::from_slice(&text).unwrap();
    let of = |kind: &'static str| {
        let events = all["traceEvents"].as_array().unwrap().iter();
        events.filter(move |it| it["name"] == kind)
    };
    let names = of("process_name").map(|it| it["args"]["name"].as_str().unwrap().to_owned());
    let mut headers: Vec<String> = of("profile_header")
        .map(|it| it["args"].to_string())
        .collect();
    headers.sort();
    (names.collect(), headers)
}

/// The messages and collectives that a check finds.
fn matched(scratch: &Scratch, name: &str) -> String {
    let check = scratch.retime(&format!("check {name}"));
    let line = check.stdout.lines().find(|it| it.starts_with("matched "));
    line.unwrap().to_owned()
}

#[test]
fn a_merged_file_becomes_another_without_losing_its_ranks() {
    let scratch = job();
    scratch.retime("correct run -o corrected -q").expect_code(0);
    let expected = checked(&scratch, "corrected");
    assert!(!expected.contains(" 0 collectives"), "{expected}");
    for end in ["pftrace", "json.gz"] {
        let merge = format!("merge run -o once.{end} -q");
        scratch.retime(&merge).expect_code(0);
    }
    let (names, headers) = told(&scratch, "once.json.gz");
    assert!(names.iter().all(|it| it.starts_with("rank ")), "{names:?}");
    assert_eq!(headers.len(), 4);
    for from in ["pftrace", "json.gz"] {
        for to in ["pftrace", "json"] {
            let again = format!("{}-again.{to}", &from[..2]);
            let merge = format!("merge once.{from} -o {again}");
            let told = scratch.retime(&merge).expect_code(0).stdout;
            assert!(told.contains("1 profile (shown as "), "{told}");
            let is_spoken = (from, to) == ("pftrace", "json");
            if is_spoken {
                // Arrows of packets without a direction count as of no use there.
                assert_eq!(matched(&scratch, &again), matched(&scratch, "corrected"));
            } else {
                assert_eq!(checked(&scratch, &again), expected, "{from} to {to}");
            }
        }
        // By way of one format or the other all is there that was there at first.
        let again = format!("{}-again.json", &from[..2]);
        assert_eq!(told(&scratch, &again), (names.clone(), headers.clone()));
        let merge = format!(
            "merge {}-again.pftrace -o thrice-{}.json -q",
            &from[..2],
            &from[..2]
        );
        scratch.retime(&merge).expect_code(0);
        let thrice = told(&scratch, &format!("thrice-{}.json", &from[..2]));
        assert_eq!(thrice, (names.clone(), headers.clone()));
    }
    // Arrows that the file draws are not drawn a second time.
    let length = |name: &str| fs::read(scratch.join(name)).unwrap().len();
    let again = "merge js-again.json -o four.json -q";
    scratch.retime(again).expect_code(0);
    assert_eq!(length("four.json"), length("js-again.json"));
}

#[test]
fn a_merged_file_is_joined_with_the_profiles_of_other_ranks() {
    let scratch = job();
    scratch.shell("mkdir a b; cp run/*0.* run/*1.* a/; cp run/*2.* run/*3.* b/");
    for name in ["a.pftrace", "a.json.gz", "b.pftrace"] {
        let merge = format!("merge {} -o {name} -q", &name[..1]);
        scratch.retime(&merge).expect_code(0);
    }
    let once = scratch.retime("merge run -o run.json").expect_code(0);
    let found = |text: &str| {
        let line = text
            .lines()
            .find(|it| it.contains(" dependencies, of which "));
        line.unwrap().split(',').next().unwrap().to_owned()
    };
    let expected = matched(&scratch, "run.json");
    let (names, headers) = told(&scratch, "run.json");
    for (runs, out) in [
        ("a.pftrace b.pftrace", "one.pftrace"),
        ("a.json.gz b", "two.pftrace"),
        ("b a.json.gz", "two.json"),
    ] {
        let merged = scratch.retime(&format!("merge {runs} -o {out}"));
        let merged = merged.expect_code(0).stdout;
        assert_eq!(found(&merged), found(&once.stdout), "{runs}");
        assert_eq!(matched(&scratch, out), expected, "{runs} to {out}");
    }
    assert_eq!(told(&scratch, "two.json"), (names, headers));
    // A rank that is in both is refused, whichever has it for itself.
    let refused = scratch.retime("merge a.json.gz run -o twice.json");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("of rank "), "{}", refused.stderr);
}

#[test]
fn a_merged_file_of_one_rank_is_that_of_the_rank() {
    let scratch = job();
    scratch.shell("mkdir a; cp run/*1.* a/");
    // Nothing relates a rank alone to others.
    for end in ["pftrace", "json"] {
        let merge = format!("merge a -o one.{end} -q");
        scratch.retime(&merge).expect_code(3);
    }
    for end in ["pftrace", "json"] {
        let merge = format!("merge one.{end} -o {end}-again.json -q");
        scratch.retime(&merge).expect_code(3);
        let again = told(&scratch, &format!("{end}-again.json"));
        assert_eq!(again, told(&scratch, "one.json"), "{end}");
        assert_eq!(again.1.len(), 1);
    }
}

/// Nothing else holds the processes of such a profile together, or says which host they are from.
#[test]
fn all_processes_of_a_profile_without_a_rank_say_its_host() {
    let scratch = job();
    let path = scratch.join("run/rank3.pt.trace.json");
    let mut profile: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    profile.as_object_mut().unwrap().remove("distributedInfo");
    let host = &profile["host_name"];
    fs::remove_file(&path).unwrap();
    fs::write(scratch.join("run/other.json"), profile.to_string()).unwrap();
    scratch.retime("merge run -o job.json -q");
    let job: Value = serde_json::from_slice(&fs::read(scratch.join("job.json")).unwrap()).unwrap();
    let all = job["traceEvents"].as_array().unwrap();
    let of = |kind: &'static str| all.iter().filter(move |it| it["name"] == kind);
    let names = of("process_name").filter(|it| it["args"]["name"].to_string().contains("other: "));
    let own: BTreeSet<u64> = names.map(|it| it["pid"].as_u64().unwrap()).collect();
    assert!(own.len() > 1, "{own:?}");
    let said = of("profile_header").filter(|it| it["args"]["host_name"] == *host);
    let said: BTreeSet<u64> = said.map(|it| it["pid"].as_u64().unwrap()).collect();
    assert!(own.is_subset(&said), "{own:?} {said:?}");
}

/// Profiles as PyTorch 2.0 wrote them, in microseconds: kernels that say nothing are known by who
/// launched them, and are of a group of all, as an `all_gather` shows; and a mark that is over at
/// once follows what ends then, in the order of nothing.
fn of_version_2_0(rank: u32) -> String {
    let event = |cat: &str, name: &str, on: (u32, u32), at: u32, dur: u32, args: &str| {
        let (pid, tid) = on;
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{at},"dur":{dur},"args":{{{args}}}}}"#
        )
    };
    let mut events = Vec::new();
    let (host, stream) = ((40 + rank, 40), (rank, 7));
    for number in 1..6 {
        let at = 1_000 * number + 3 * rank + 7 * number * number;
        let dims = r#""Input Dims":[[8]],"Input type":["float"]"#;
        let both = r#""Input Dims":[[16],[8]]"#;
        let launch = format!(r#""correlation":{number}"#);
        let range = match number {
            3 => "nccl:_all_gather_base",
            _ => "nccl:all_reduce",
        };
        if number == 3 {
            events.push(event(
                "cpu_op",
                "c10d::_allgather_base_",
                host,
                at - 10,
                80,
                both,
            ));
        }
        events.push(event("user_annotation", range, host, at, 60, dims));
        events.push(event("cpu_op", "aten::mark", host, at + 10, 0, ""));
        events.push(event(
            "cuda_runtime",
            "cudaLaunchKernel",
            host,
            at + 20,
            10,
            &launch,
        ));
        let kernel = "ncclKernel_RING_LL";
        events.push(event(
            "kernel",
            kernel,
            stream,
            at + 30,
            200 - 3 * rank,
            &launch,
        ));
    }
    format!(
        r#"{{"distributedInfo":{{"rank":{rank},"world_size":2}},"host_name":"node1","traceEvents":[
{}
]}}"#,
        events.join(",\n")
    )
}

#[test]
fn a_merged_job_is_the_job_that_it_was() {
    let scratch = job();
    fs::create_dir(scratch.join("old")).unwrap();
    for rank in 0..2 {
        let path = scratch.join(&format!("old/rank{rank}.json"));
        fs::write(path, of_version_2_0(rank)).unwrap();
    }
    for run in ["run", "old"] {
        let correct = format!("correct {run} -o {run}-corrected -q");
        scratch.retime(&correct).expect_code(0);
        let expected = checked(&scratch, &format!("{run}-corrected"));
        assert!(!expected.contains(" 0 collectives"), "{expected}");
        for end in ["pftrace", "json"] {
            let merge = format!("merge {run} -o {run}.{end}");
            scratch.retime(&merge).expect_code(0);
            assert_eq!(
                checked(&scratch, &format!("{run}.{end}")),
                expected,
                "{end}"
            );
        }
    }
}
