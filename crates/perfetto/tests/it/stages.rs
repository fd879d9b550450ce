//! Stages of GPUs that last while their clock is set.

use std::fs;

use retime::format::Format;
use retime::{ClockMap, Clocks, Correction, Knot, Timestamp};
use retime_perfetto::Perfetto;
use retime_perfetto_wire::fields::{gpu_render_stage_event as stage, trace, trace_packet};
use retime_perfetto_wire::read::Fields;
use retime_perfetto_wire::write::{bytes, uint};

/// A stage; one without a length does not say it, and one of 77 us says it in more bytes than needed.
fn staged(out: &mut Vec<u8>, id: u64, at: u64, lasts: u64) {
    let mut own = Vec::new();
    uint(&mut own, stage::EVENT_ID, id);
    if lasts == 77_000 {
        // A tag of a varint, and 77,000 in five bytes.
        own.extend_from_slice(&[(stage::DURATION << 3) as u8, 0xc8, 0xd9, 0x84, 0x80, 0]);
    } else if lasts > 0 {
        uint(&mut own, stage::DURATION, lasts);
    }
    uint(&mut own, stage::GPU_ID, 0);
    let mut packet = Vec::new();
    bytes(&mut packet, trace_packet::GPU_RENDER_STAGE_EVENT, &own);
    uint(&mut packet, trace_packet::TIMESTAMP, at);
    bytes(out, trace::PACKET, &packet);
}

/// The begins and ends of all stages.
fn stretches(file: &[u8]) -> Vec<(u64, u64)> {
    let number = |message: &[u8], wanted: u32| {
        let fields = Fields::of(message).map(Result::unwrap);
        let found = fields.filter(|it| it.number == wanted).last();
        found.and_then(|it| it.value.number()).unwrap_or_default()
    };
    let packets = Fields::of(file).map(Result::unwrap);
    let stretch = |packet: &[u8]| {
        let mut fields = Fields::of(packet).map(Result::unwrap);
        let stage = fields.find(|it| it.number == trace_packet::GPU_RENDER_STAGE_EVENT)?;
        let at = number(packet, trace_packet::TIMESTAMP);
        let length = number(stage.value.bytes()?, stage::DURATION);
        Some((at, at + length))
    };
    packets
        .filter_map(|it| stretch(it.value.bytes()?))
        .collect()
}

#[test]
fn a_stage_that_lasts_while_its_clock_is_set_has_both_ends() {
    let us = 1_000;
    let mut file = Vec::new();
    for (id, at, lasts) in [
        (1, 1_000, 100),
        (2, 1_150, 77),
        (3, 1_300, 0),
        (4, 1_400, 500),
    ] {
        staged(&mut file, id, at * us, lasts * us);
    }
    // Set back by 50 us between 1,160 and 1,220 us, and ahead by 300 between 1,500 and 1,600.
    let knots = [
        (0, 0),
        (1_160, 1_160),
        (1_220, 1_170),
        (1_500, 1_450),
        (1_600, 1_850),
    ];
    let knots = knots.map(|(raw, to)| Knot::at(Timestamp(raw * us), Timestamp(to * us)));
    let map = ClockMap::new(knots.to_vec(), vec![]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("t.pftrace"), &file).unwrap();
    let trace = Perfetto.open(&at("t.pftrace")).unwrap();
    let scan = trace.scan(&()).unwrap();
    let clocks = Clocks::from_owners(&vec![(); scan.info.locations.len()]).0;
    let correction = Correction::new(clocks, vec![map]);
    let undo = trace.rewriting().unwrap();
    let undo = undo.rewrite(&correction, &at("new.pftrace"), &()).unwrap();

    let new = stretches(&fs::read(at("new.pftrace")).unwrap());
    let expected = [
        (1_000, 1_100),
        (1_150, 1_177),
        (1_250, 1_250),
        (1_350, 2_150),
    ];
    assert_eq!(new, expected.map(|(from, to)| (from * us, to * us)));
    // Nothing but times and lengths is another.
    let written = Perfetto.open(&at("new.pftrace")).unwrap();
    let kept: Vec<_> = written
        .scan(&())
        .unwrap()
        .contents
        .iter()
        .map(|it| it.rest.clone())
        .collect();
    let was: Vec<_> = scan.contents.iter().map(|it| it.rest.clone()).collect();
    assert_eq!(kept, was);
    let restoring = written.rewriting().unwrap();
    restoring
        .restore(&correction, &undo, &at("back.pftrace"), &())
        .unwrap();
    assert!(fs::read(at("back.pftrace")).unwrap() == file);
}
