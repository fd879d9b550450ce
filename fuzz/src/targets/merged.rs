//! Traces of Perfetto put together: what is accepted becomes one file that can be read, in which
//! each event of each file is.

use std::fs;

use retime::format::{Format, FormatError};
use retime_merge::{Arrow, ArrowEnd, Job, MergedKind, merge};
use retime_perfetto::Perfetto;
use retime_perfetto_wire::fields::{trace, trace_packet};
use retime_perfetto_wire::read::Fields;
use tempfile::TempDir;

use crate::targets::packets::mergeable;

pub(super) fn check(input: &[u8]) -> String {
    let directory = TempDir::new().unwrap();
    let run = directory.path().join("run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("rank0.pftrace"), input).unwrap();
    for (rank, sound) in (1..).zip(mergeable()) {
        fs::write(run.join(format!("rank{rank}.pftrace")), sound).unwrap();
    }
    let refused = |error: &dyn std::error::Error| {
        let words = format!("refused: {error}");
        words.replace(&*directory.path().to_string_lossy(), "")
    };
    let opened = Perfetto.open(&run);
    let trace = match opened.and_then(|trace| trace.scan(&()).map(|_| trace)) {
        Ok(trace) => trace,
        Err(error) => return refused(&error),
    };
    let documents = trace.documents();
    let extents = documents.iter().filter_map(|it| it.extent);
    let origin = extents.map(|it| it.first).min().unwrap_or_default();
    // Arrows from each file to the next, where both have tracks.
    let ends = (0..documents.len() as u32).map(|document| ArrowEnd {
        document,
        track: 0,
        at: origin.saturating_add(i64::from(document)),
    });
    let has_tracks = |it: &ArrowEnd| {
        let document = documents.get(it.document as usize);
        document.is_some_and(|it| !it.tracks.is_empty())
    };
    let ends: Vec<ArrowEnd> = ends.filter(has_tracks).collect();
    let arrows = ends.windows(2).map(|it| Arrow {
        from: it[0],
        to: it[1],
    });
    let job = Job {
        arrows: arrows.collect(),
        documents,
        origin,
        packets: Vec::new(),
    };
    let mut out = Vec::new();
    let told = match merge(&job, MergedKind::Perfetto, None, &mut out, &()) {
        Ok(told) => told,
        Err(error) => return refused(&error),
    };
    assert_eq!(told.bytes, out.len() as u64);
    assert!(events(&out) >= told.events, "an event is lost");
    let path = directory.path().join("merged.pftrace");
    fs::write(&path, &out).unwrap();
    let read = || -> Result<(), FormatError> { Perfetto.open(&path)?.scan(&()).map(drop) };
    match read() {
        Ok(()) => "merged and read".into(),
        Err(error) => panic!("what was merged cannot be read: {error}"),
    }
}

/// The packets that are events of a sequence, as those without are left out by readers.
fn events(file: &[u8]) -> u64 {
    let packets = Fields::of(file).map(Result::unwrap);
    let packets = packets.filter(|it| it.number == trace::PACKET);
    let is_event = |packet: &[u8]| {
        let has = |wanted: u32| {
            let mut fields = Fields::of(packet).map_while(Result::ok);
            fields.any(|it| it.number == wanted)
        };
        let is_event = has(trace_packet::TRACK_EVENT) || has(trace_packet::GPU_RENDER_STAGE_EVENT);
        assert!(
            !is_event || has(trace_packet::TRUSTED_PACKET_SEQUENCE_ID),
            "an event has no sequence"
        );
        is_event
    };
    let events = packets.filter(|it| it.value.bytes().is_some_and(is_event));
    events.count() as u64
}
