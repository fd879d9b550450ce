//! A job has the same clocks, whichever of its profiles is read.

use std::fs;
use std::path::Path;

use retime::format::{Format, Trace};
use retime::pipeline::{Analysis, AnalysisOptions, Method, Solution};
use retime_kineto::Kineto;
use retime_perfetto::Perfetto;
use retime_testing::kineto::{Devices, KinetoRun, Style};
use retime_testing::perfetto::{Shape, packets};

pub(crate) const SHAPES: [Shape; 3] = [Shape::PyTorch, Shape::Stages, Shape::Rocprof];

/// A job in which each rank has a clock of its own.
pub(crate) fn job() -> KinetoRun {
    KinetoRun {
        ranks: 4,
        ranks_per_host: 1,
        iterations: 4,
        filler: 1,
        ..KinetoRun::training(Style::Nccl)
    }
}

/// Writes the profiles of a job as JSON into one directory and as packets into another.
pub(crate) fn write(run: &KinetoRun, shape: Shape, json: &Path, packed: &Path) {
    run.write(json).unwrap();
    fs::remove_file(json.join("truth.json")).unwrap();
    fs::create_dir_all(packed).unwrap();
    for rank in 0..run.ranks {
        let profile = fs::read(json.join(format!("rank{rank}.pt.trace.json"))).unwrap();
        let file = packets(&profile, shape).unwrap();
        fs::write(packed.join(format!("rank{rank}.pftrace")), file).unwrap();
    }
}

fn solved(trace: &dyn Trace) -> (Analysis, Solution) {
    let scan = trace.scan(&()).unwrap();
    let options = AnalysisOptions::default();
    let analysis = Analysis::new(scan.info, scan.logs, options, &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    (analysis, solution)
}

/// What the map of each rank puts some moments at.
fn offsets(trace: &dyn Trace) -> Vec<Vec<i64>> {
    let (analysis, solution) = solved(trace);
    assert!(analysis.recorded().violated() > 20);
    let info = trace.scan(&()).unwrap().info;
    let ranks = (0..4).map(|rank| {
        let name = format!("rank {rank}");
        let process = info
            .processes
            .iter()
            .position(|it| it.name == name)
            .unwrap();
        let location = info.locations.iter().position(|it| it.process == process);
        let clock = solution.correction.clocks().by_location()[location.unwrap()];
        let map = solution.correction.map(clock);
        let knots = map.knots().iter();
        knots
            .map(|it| it.arrive.0.wrapping_sub(it.raw.0) as i64)
            .collect()
    });
    ranks.collect()
}

#[test]
fn packets_give_the_offsets_of_json() {
    for shape in SHAPES {
        let scratch = tempfile::tempdir().unwrap();
        let (json, packed) = (scratch.path().join("json"), scratch.path().join("packed"));
        write(&job(), shape, &json, &packed);
        let of_json = offsets(&*Kineto.open(&json).unwrap());
        let of_packets = offsets(&*Perfetto.open(&packed).unwrap());
        assert_eq!(of_json, of_packets, "{shape:?}");
        assert!(of_json.iter().flatten().any(|it| it.abs() > 100_000));
    }
}

/// Kernels that begin before their launch are told of both kinds of files.
#[test]
fn early_kernels_are_told() {
    for shape in SHAPES {
        let scratch = tempfile::tempdir().unwrap();
        let (json, packed) = (scratch.path().join("json"), scratch.path().join("packed"));
        write(&job(), shape, &json, &packed);
        let early = |directory: &Path, from: &str, to: &[u8]| {
            let path = directory.join(from);
            fs::write(&path, to).unwrap();
        };
        let path = json.join("rank1.pt.trace.json");
        let text = fs::read_to_string(&path).unwrap();
        let mut profile: serde_json::Value = serde_json::from_str(&text).unwrap();
        for event in profile["traceEvents"].as_array_mut().unwrap() {
            if event["cat"] == "kernel" {
                event["ts"] = (event["ts"].as_f64().unwrap() - 900_000.0).into();
            }
        }
        let profile = serde_json::to_vec(&profile).unwrap();
        early(&packed, "rank1.pftrace", &packets(&profile, shape).unwrap());
        let trace = Perfetto.open(&packed).unwrap();
        let scan = trace.scan(&()).unwrap();
        let warnings = trace.warnings(&scan.contents).join("\n");
        let told = "kernels begin before the calls that launched them in ";
        assert!(warnings.contains(told), "{shape:?}: {warnings}");
        let of_rank = "rank1.pftrace (56 of 56, by 90";
        assert!(warnings.contains(of_rank), "{shape:?}: {warnings}");
    }
}

/// GPUs whose clocks are not those of their hosts: both kinds of files have as many clocks, and no
/// kernel of the copy is early. Undo gives the bytes back.
#[test]
fn gpus_with_clocks_of_their_own_are_put_right() {
    for shape in SHAPES {
        let scratch = tempfile::tempdir().unwrap();
        let [json, packed, copy, back] = ["json", "packed", "copy", "back"].map(|it| {
            let path = scratch.path().join(it);
            fs::create_dir(&path).unwrap();
            path
        });
        let run = KinetoRun {
            devices: Devices {
                offset: 200_000,
                drift: 2_000,
                awaited: false,
            },
            ..job()
        };
        write(&run, shape, &json, &packed);
        let trace = Perfetto.open(&packed).unwrap();
        let (analysis, solution) = solved(&*trace);
        let made = analysis.info().processes.iter();
        let devices = made.filter(|it| it.creator.is_some()).count();
        assert_eq!(devices, 4);
        let clocks = solution.correction.clocks().len();
        assert!((5..=8).contains(&clocks), "{shape:?}");
        let (of_json, _) = solved(&*Kineto.open(&json).unwrap());
        assert_eq!(of_json.clocks().len(), clocks, "{shape:?}");
        let writable = trace.rewriting().unwrap();
        let undo = writable.rewrite(&solution.correction, &copy, &()).unwrap();
        let corrected = Perfetto.open(&copy).unwrap();
        let scan = corrected.scan(&()).unwrap();
        let warnings = corrected.warnings(&scan.contents).concat();
        assert!(!warnings.contains("kernels begin"), "{shape:?}: {warnings}");
        let restorable = corrected.rewriting().unwrap();
        restorable
            .restore(&solution.correction, &undo, &back, &())
            .unwrap();
        for rank in 0..4 {
            let name = format!("rank{rank}.pftrace");
            let [is, was] = [&back, &packed].map(|it| fs::read(it.join(&name)).unwrap());
            assert!(is == was, "{shape:?}: {name}");
        }
    }
}
