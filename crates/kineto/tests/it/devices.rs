//! Devices whose clocks are not those of their hosts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use retime::format::{Format, Scan, Trace};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime::{Correction, Grouping};
use retime_kineto::Kineto;
use retime_testing::kineto::{Devices, KinetoRun, Style};

/// An event of a profile: category, name, process, thread, begin and length in microseconds, and
/// the number that a call and what it started have in common.
type Said = (&'static str, &'static str, u32, u32, f64, f64, u64);

fn launch(ts: f64, number: u64) -> Said {
    (
        "cuda_runtime",
        "cudaLaunchKernel",
        900,
        901,
        ts,
        5.0,
        number,
    )
}

fn kernel(stream: u32, ts: f64, dur: f64, number: u64) -> Said {
    ("kernel", "add", 0, stream, ts, dur, number)
}

fn profile(events: &[Said]) -> String {
    let mut text = String::from(
        "{\"distributedInfo\": {\"rank\": 3, \"world_size\": 4}, \"host_name\": \"a\",\n\
         \"traceEvents\": [",
    );
    for (cat, name, pid, tid, ts, dur, number) in events {
        let comma = if text.ends_with('[') { "" } else { "," };
        write!(
            text,
            "{comma}\n{{\"ph\": \"X\", \"cat\": \"{cat}\", \"name\": \"{name}\", \"pid\": {pid}, \
             \"tid\": {tid}, \"ts\": {ts}, \"dur\": {dur}, \"args\": {{\"correlation\": {number}}}}}"
        )
        .unwrap();
    }
    text + "\n]}\n"
}

fn scan(events: &[Said]) -> (Scan, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rank3.json");
    fs::write(&path, profile(events)).unwrap();
    let trace = Kineto.open(&path).unwrap();
    let scan = trace.scan(&()).unwrap();
    let warnings = trace.warnings(&scan.contents).join("\n");
    (scan, warnings)
}

/// How many dependencies are found, and how many are violated; and the names of processes.
fn found(events: &[Said]) -> (u64, u64, Vec<String>) {
    let (scan, _) = scan(events);
    let names = scan.info.processes.iter().map(|it| it.name.clone());
    let names = names.collect();
    let options = AnalysisOptions::default();
    let analysis = Analysis::new(scan.info, scan.logs, options, &()).unwrap();
    let recorded = analysis.recorded();
    let total = recorded.messages.total + recorded.collectives.total;
    (total, recorded.violated(), names)
}

/// The clock of the device is 30 us behind: of three kernels two begin before their launch.
fn three() -> Vec<Said> {
    vec![
        launch(100.0, 1),
        launch(200.0, 2),
        launch(300.0, 3),
        kernel(7, 80.0, 50.0, 1),
        kernel(7, 175.0, 50.0, 2),
        kernel(9, 320.0, 50.0, 3),
    ]
}

#[test]
fn a_device_that_contradicts_its_launches_is_a_process_of_its_own() {
    let (scan, warnings) = scan(&three());
    let names: Vec<&str> = scan.info.processes.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["rank 3", "rank 3 device 0"]);
    assert_eq!(scan.info.processes[1].creator, Some(0));
    assert_eq!(scan.info.processes[1].node, scan.info.processes[0].node);
    let own: Vec<usize> = scan.info.locations.iter().map(|it| it.process).collect();
    assert_eq!(own, [0, 1, 1]);
    assert!(
        warnings.contains("(2 of 3, by 25 us at most): GPU and host read two"),
        "{warnings}"
    );
    assert_eq!(found(&three()).0, 3);
    assert_eq!(found(&three()).1, 2);
}

#[test]
fn what_does_not_contradict_is_as_it_was() {
    let mut sound = three();
    for it in &mut sound[3..5] {
        it.4 += 25.0;
    }
    let (total, _, names) = found(&sound);
    assert_eq!((total, names), (0, vec!["rank 3".to_owned()]));
    assert_eq!(scan(&sound).1.matches("kernels begin").count(), 0);
}

#[test]
fn numbers_that_say_nothing_prove_nothing() {
    let nothing = (0, 0, vec!["rank 3".to_owned()]);
    // A launch without a kernel, a kernel without a launch, two launches of one number, and 0.
    let lone = [launch(100.0, 1), kernel(7, 80.0, 50.0, 2)];
    assert_eq!(found(&lone), nothing);
    let twice = [launch(100.0, 1), launch(200.0, 1), kernel(7, 80.0, 50.0, 1)];
    assert_eq!(found(&twice), nothing);
    assert_eq!(
        found(&[launch(100.0, 0), kernel(7, 80.0, 50.0, 0)]),
        nothing
    );
    // On one track nothing can be told apart; a warning says so.
    let same = [launch(100.0, 1), ("kernel", "add", 900, 901, 80.0, 50.0, 1)];
    assert_eq!(found(&same), nothing);
    assert!(scan(&same).1.contains("both stand on one track"));
}

#[test]
fn one_launch_starts_several_kernels() {
    // Of each stream the first follows the launch; that proves all of them.
    let graph = [
        ("cuda_runtime", "cudaGraphLaunch", 900, 901, 100.0, 5.0, 1),
        kernel(7, 80.0, 10.0, 1),
        kernel(7, 95.0, 10.0, 1),
        kernel(9, 90.0, 10.0, 1),
    ];
    let (total, violated, _) = found(&graph);
    assert_eq!((total, violated), (2, 2));
}

fn wait(name: &'static str, thread: u32, ts: f64, dur: f64) -> Said {
    ("cuda_runtime", name, 900, thread, ts, dur, 0)
}

#[test]
fn calls_wait_for_what_was_launched_before() {
    let with = |more: &[Said]| {
        let all: Vec<Said> = three().into_iter().chain(more.iter().copied()).collect();
        let (total, violated, _) = found(&all);
        (total, violated)
    };
    // Kernel 2 ends at 225, and kernel 3 is not launched yet.
    assert_eq!(
        with(&[wait("cudaDeviceSynchronize", 901, 210.0, 20.0)]),
        (4, 2)
    );
    assert_eq!(
        with(&[wait("cudaDeviceSynchronize", 901, 210.0, 10.0)]),
        (4, 3)
    );
    // Both streams, once; the second call waits for nothing new.
    let both = wait("hipDeviceSynchronize", 901, 310.0, 80.0);
    assert_eq!(
        with(&[both, wait("cudaDeviceSynchronize", 901, 400.0, 5.0)]),
        (4, 2)
    );
    // It was called after kernel 3 was launched, as numbers tell: the clock was set back meanwhile.
    let numbered = |number| {
        (
            "cuda_runtime",
            "cudaDeviceSynchronize",
            900,
            901,
            210.0,
            20.0,
            number,
        )
    };
    assert_eq!(with(&[launch(310.0, 4), numbered(5)]), (3, 2));
    assert_eq!(with(&[launch(310.0, 6), numbered(2)]), (4, 2));
    // Of these nobody knows which stream they wait for, or which device.
    assert_eq!(
        with(&[wait("cudaStreamSynchronize", 901, 310.0, 80.0)]),
        (3, 2)
    );
    assert_eq!(
        with(&[wait("cudaDeviceSynchronize", 902, 310.0, 80.0)]),
        (3, 2)
    );
    let elsewhere = [
        wait("cudaDeviceSynchronize", 901, 410.0, 80.0),
        launch(400.0, 4),
        ("kernel", "add", 1, 7, 420.0, 5.0, 4),
    ];
    // The launch on the other device is one more.
    assert_eq!(with(&elsewhere), (4, 2));
}

#[test]
fn copies_to_the_host_are_over_when_their_call_returns() {
    let copy = |name: &'static str| {
        let mut all = three();
        all.push(("cuda_runtime", "cudaMemcpy", 900, 901, 400.0, 60.0, 8));
        all.push(("gpu_memcpy", name, 0, 7, 420.0, 30.0, 8));
        found(&all).0
    };
    assert_eq!(copy("Memcpy DtoH (Device -> Pageable)"), 5);
    assert_eq!(copy("Memcpy HtoD (Pageable -> Device)"), 3);
}

/// Corrects a run, by its clocks as they are grouped; the copy as a trace, with the correction.
fn corrected(run: &Path, to: &Path, grouping: Grouping) -> (Box<dyn Trace>, Correction) {
    let trace = Kineto.open(run).unwrap();
    let scan = trace.scan(&()).unwrap();
    let options = AnalysisOptions {
        grouping,
        ..AnalysisOptions::default()
    };
    let analysis = Analysis::new(scan.info, scan.logs, options, &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    fs::create_dir(to).unwrap();
    let writable = trace.rewriting().unwrap();
    let undo = writable.rewrite(&solution.correction, to, &()).unwrap();
    let copy = Kineto.open(to).unwrap();
    let back = to.with_extension("back");
    fs::create_dir(&back).unwrap();
    let restorable = copy.rewriting().unwrap();
    restorable
        .restore(&solution.correction, &undo, &back, &())
        .unwrap();
    for entry in fs::read_dir(run).unwrap() {
        let path = entry.unwrap().path();
        let again = back.join(path.file_name().unwrap());
        assert!(
            fs::read(&path).unwrap() == fs::read(again).unwrap(),
            "{}",
            path.display()
        );
    }
    let verified = writable.open_copy(to, &()).unwrap().unwrap();
    let scan = verified.scan(&()).unwrap();
    let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &()).unwrap();
    assert_eq!(analysis.recorded().violated(), 0);
    (copy, solution.correction)
}

fn job(seed: u64) -> KinetoRun {
    KinetoRun {
        ranks: 4,
        ranks_per_host: 2,
        iterations: 10,
        devices: Devices {
            offset: 200_000,
            drift: 2_000,
            awaited: true,
        },
        seed,
        ..KinetoRun::training(Style::Nccl)
    }
}

/// In simulated jobs with devices up to 200 us off that of their host: what was early is not
/// any more, and hosts keep one clock for all their ranks.
#[test]
fn no_kernel_of_a_corrected_job_is_early() {
    for seed in [1, 3] {
        let scratch = tempfile::tempdir().unwrap();
        let (run, to) = (scratch.path().join("run"), scratch.path().join("out"));
        job(seed).write(&run).unwrap();
        fs::remove_file(run.join("truth.json")).unwrap();
        let trace = Kineto.open(&run).unwrap();
        let scan = trace.scan(&()).unwrap();
        assert_eq!(scan.info.nodes, ["node0", "node1"]);
        let (copy, correction) = corrected(&run, &to, Grouping::Auto);
        let scan = copy.scan(&()).unwrap();
        let warnings = copy.warnings(&scan.contents).concat();
        assert!(!warnings.contains("kernels begin"), "{warnings}");
        // Hosts, and the devices that contradict.
        assert!((3..=6).contains(&correction.clocks().len()));
    }
}

/// The order in which calls and kernels of a job come is the same whatever its devices show.
#[test]
fn a_job_with_good_clocks_has_no_devices_of_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let run = scratch.path().join("run");
    let sound = KinetoRun {
        devices: Devices::default(),
        ..job(1)
    };
    sound.write(&run).unwrap();
    fs::remove_file(run.join("truth.json")).unwrap();
    let scan = Kineto.open(&run).unwrap().scan(&()).unwrap();
    assert_eq!(scan.info.processes.len(), 4);
    assert!(scan.info.processes.iter().all(|it| it.creator.is_none()));
}
