//! Random small programs: what is matched, corrected and written holds together.
//!
//! Three bytes are an event: who does what, with whom, and how much later than the one
//! before. So any bytes are a program, mostly one whose messages have lost an end, whose
//! requests are not open and whose clocks contradict each other.

use std::fs;

use retime::format::Format;
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime_otf2_format::Otf2;
use retime_sim::{Layout, Program, from, to};
use tempfile::TempDir;

const RANKS: u32 = 3;
/// Searches for what contradicts take longer than linear time.
const MOST_EVENTS: usize = 200;

pub(super) fn programs() -> Vec<Vec<u8>> {
    let ping_pong = [[0, 0, 10], [1, 1, 9], [1, 0, 20], [0, 1, 19]];
    let barriers = [[0, 4, 10], [1, 4, 12], [2, 4, 30], [0, 4, 50]];
    let requests = [[0, 2, 5], [1, 0, 7], [0, 3, 9], [0, 3, 9]];
    vec![ping_pong.concat(), barriers.concat(), requests.concat()]
}

fn program(input: &[u8]) -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(RANKS));
    let mut times = [1_000_u64; RANKS as usize];
    for event in input.chunks_exact(3).take(MOST_EVENTS) {
        let &[who, what, later] = event else { continue };
        let rank = u32::from(who) % RANKS;
        let peer = (rank + 1 + u32::from(who) / RANKS % (RANKS - 1)) % RANKS;
        let tag = u32::from(what) / 8 % 2;
        let time = &mut times[rank as usize];
        *time += u64::from(later);
        let (time, request) = (*time, u64::from(what) / 16);
        let mut thread = program.on(rank);
        match what % 8 {
            0 => thread.send(time, to(peer).tag(tag)),
            1 => thread.recv(time, from(peer).tag(tag)),
            2 => thread.irecv_request(time, request),
            3 => thread.irecv(time, from(peer).tag(tag), request),
            4 => thread.barrier(time, time + u64::from(later)),
            5 => thread.isend(time, to(peer).tag(tag), request),
            6 => thread.isend_complete(time, request),
            _ => thread.enter(time, "work"),
        };
        if what % 8 == 4 {
            times[rank as usize] += u64::from(later);
        }
    }
    program
}

pub(super) fn check(input: &[u8]) -> String {
    let directory = TempDir::new().unwrap();
    let there = directory.path().join("in");
    fs::create_dir(&there).unwrap();
    program(input).write(&there.join("t.otf2")).unwrap();
    let trace = Otf2.open(&there).unwrap();
    let scan = trace.scan(&()).unwrap();
    let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &());
    let mut analysis = analysis.unwrap();
    let defects: Vec<_> = analysis
        .causality()
        .defects()
        .iter()
        .map(|it| it.0)
        .collect();
    if analysis.is_sound() {
        return format!("sound, {defects:?}");
    }
    let method = analysis.suitable(Method::default());
    let solution = match analysis.solve(&method, &()) {
        Ok(solution) => solution,
        Err(reason) => return format!("refused: {}", reason.message),
    };
    analysis.adopt(&solution, &()).unwrap();
    let left = &solution.left;
    assert_eq!(
        left.violated(),
        left.violated_within_clock(),
        "none is left between clocks"
    );
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    trace
        .rewriting()
        .unwrap()
        .rewrite(&solution.correction, &out, &())
        .unwrap();
    let nodes = analysis.causality().nodes();
    let events: Vec<&[u32]> = (0..nodes.locations())
        .map(|it| nodes.events(&nodes.of(it)))
        .collect();
    let written = Otf2.open(&out).unwrap().timelines(&events, &()).unwrap();
    let times: Vec<_> = written.into_iter().flat_map(|it| it.times).collect();
    assert_eq!(
        times, solution.times,
        "what was computed is what was written"
    );
    format!("corrected, {defects:?}")
}
