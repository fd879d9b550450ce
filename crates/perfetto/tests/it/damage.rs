//! Damaged files are refused with the place of the damage, or read; nothing worse happens.

use std::fs;

use proptest::prelude::*;
use retime::format::{Format, FormatError};
use retime_perfetto::Perfetto;
use retime_testing::perfetto::packets;

use crate::same_job::SHAPES;

const PROFILE: &[u8] = br#"{"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7,
     "ts": 10.5, "dur": 2, "args": {"grid": [24, 1, 1], "correlation": 5}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 3, "tid": 3,
     "ts": 9, "dur": 1, "args": {"correlation": 5}}]}"#;

fn read(file: &[u8]) -> Result<(), FormatError> {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a.pftrace");
    fs::write(&path, file).unwrap();
    let trace = Perfetto.open(&path)?;
    let scan = trace.scan(&())?;
    for location in (0..scan.info.locations.len() as u32).map(retime::LocationIndex) {
        let mut rows = trace.rows(location)?;
        while rows.next_row()?.is_some() {}
    }
    Ok(())
}

#[test]
fn a_file_that_is_cut_off_says_where() {
    for shape in SHAPES {
        let file = packets(PROFILE, shape).unwrap();
        read(&file).unwrap();
        for cut in 0..file.len() {
            if let Err(error) = read(&file[..cut]) {
                let text = error.to_string();
                assert!(text.contains(": byte "), "{cut}: {text}");
                assert!(text.contains("cut off by a copy"), "{cut}: {text}");
            }
        }
    }
}

#[test]
fn other_things_are_no_packets() {
    for (file, told) in [
        (
            &b"{\"traceEvents\": []}"[..],
            "no packet of Perfetto begins here",
        ),
        (b"\x0a\x02\x40", "the file ends within this packet"),
        (
            b"\x0a\x02\x40\x80",
            "a packet ends within a field (byte 0 of it)",
        ),
        (b"\x0a\x05\xaa\x08\x02\x00\x00", "compressed by Zstandard"),
        (
            b"\x0a\x04\x92\x03\x01\x00",
            "its compressed packets are damaged",
        ),
        (b"\x08\x01", "there is no packet of Perfetto in it"),
    ] {
        let error = read(file).unwrap_err().to_string();
        assert!(error.contains(told), "{file:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn changed_bytes_do_no_harm(
        shape in 0..3_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut file = packets(PROFILE, SHAPES[shape]).unwrap();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        drop(read(&file));
    }
}
