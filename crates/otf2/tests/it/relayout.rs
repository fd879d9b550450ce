//! Generated archives under random maps, many of which tear events apart that
//! share a time record.
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use retime::{ClockMap, LocationIndex, MapBuilder, Point, Timestamp};
use retime_otf2::writer::{ArchiveWriter, LocationWriter, Message, WriteOptions};
use retime_otf2::{
    AttributeValue, EventData, GroupType, LocationGroupRef, LocationGroupType, LocationType,
    MarkerScope, MarkerSeverity, Paradigm, RegionRole, Type,
};
use retime_otf2::{EventReader, Trace};

use crate::common::{file, unpack};
use crate::judge::otf2_print;
use crate::rewriting::{correct_and_check, shift};

/// A small source of random numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// What an archive is made from.
#[derive(Clone, Debug)]
struct Recipe {
    seed: u64,
    /// Events of each location.
    events: Vec<u32>,
    /// One event in so many has a time of its own.
    coarseness: u64,
    /// Whether stamps may go back.
    disorder: bool,
    /// Whether locations have clock offsets.
    offsets: bool,
}

fn recipes(events: impl Strategy<Value = Vec<u32>>) -> impl Strategy<Value = Recipe> {
    (any::<u64>(), events, 1_u64..8, any::<bool>(), any::<bool>()).prop_map(
        |(seed, events, coarseness, disorder, offsets)| Recipe {
            seed: seed | 1,
            events,
            coarseness,
            disorder,
            offsets,
        },
    )
}

fn flush(stop: u64) -> EventData {
    EventData::BufferFlush {
        stop_time: retime_otf2::Timestamp(stop),
    }
}

fn write(dir: &Path, recipe: &Recipe) {
    let mut random = Random(recipe.seed);
    let options = WriteOptions {
        event_chunk: 0x4_0000,
        definition_chunk: 0x4_0000,
        allow_disorder: recipe.disorder,
        range: Some((random.below(200), 300 + random.below(1_000_000))),
        realtime: Some(1_700_000_000_000_000_000),
        ..WriteOptions::default()
    };
    let mut archive = ArchiveWriter::create(dir.join("t.otf2"), options).unwrap();
    let definitions = archive.definitions();
    let machine = definitions.system_tree_node("lab", "machine", None);
    for id in 0..recipe.events.len() as u64 {
        let process = definitions.location_group("p", LocationGroupType::PROCESS, Some(machine));
        definitions.location(id, "t", LocationType::CPU_THREAD, process);
    }
    let ids: Vec<u64> = (0..recipe.events.len() as u64).collect();
    definitions.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &ids);
    let world = definitions.group("", GroupType::COMM_GROUP, Paradigm::MPI, &ids);
    let comm = definitions.comm("world", world, None);
    let region = definitions.region("main", RegionRole::FUNCTION, Paradigm::USER);
    let attribute = definitions.attribute("a", "", Type::UINT64);
    let kind = archive.markers().define("g", "c", MarkerSeverity::LOW);
    for _ in 0..random.below(40) {
        let scope = [
            MarkerScope::Global,
            MarkerScope::Location(0),
            MarkerScope::LocationGroup(LocationGroupRef(0)),
        ];
        let scope = scope.into_iter().nth(random.below(3) as usize).unwrap();
        let (time, duration) = (random.below(70_000), random.below(300));
        archive.markers().mark(time, duration, kind, scope, "text");
    }
    let mut written = Vec::new();
    for (id, &events) in recipe.events.iter().enumerate() {
        let mut location = archive.location(id as u64).unwrap();
        if recipe.offsets {
            for point in 0..random.below(5) {
                // No smaller, or times near zero would wrap around.
                let offset = 200 + random.below(400) as i64;
                location
                    .local()
                    .clock_offset(100 + 5_000 * point, offset, 0.0);
            }
        }
        let event = |location: &mut LocationWriter, random: &mut Random, time: u64| {
            if random.below(9) == 0 {
                location
                    .attach(attribute, AttributeValue::U64(random.next()))
                    .unwrap();
            }
            let message = Message {
                peer: 0,
                comm,
                tag: random.below(400) as u32,
                length: random.next(),
            };
            match random.below(12) {
                0 => location.send(time, message),
                1 => location.event(time, &flush(time + random.below(3_000))),
                2 => location.event_raw(time, 200, &vec![7; random.below(300) as usize]),
                3..=7 => location.enter(time, region),
                _ => location.leave(time, region),
            }
            .unwrap();
        };
        let mut time = if random.below(4) == 0 { 0 } else { 400 };
        for _ in 0..events {
            if random.below(recipe.coarseness) == 0 {
                time += random.below(20);
            }
            if recipe.disorder && random.below(50) == 0 {
                time = time.saturating_sub(random.below(30));
            }
            event(&mut location, &mut random, time);
        }
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
}

/// A map that wobbles, stands still, jumps, and has steps.
fn wild_map(trace: &Trace, location: LocationIndex, random: &mut Random) -> ClockMap {
    if random.below(6) == 0 {
        return shift(random.below(1 << 40));
    }
    let local = trace.local(location).unwrap();
    let mut events = EventReader::mapped(trace.archive(), local).unwrap();
    let mut builder = MapBuilder::default();
    let (mut latest, mut number, mut previous, mut lead) = (0, 0, 0, 1_000);
    let (often, size) = (1 + random.below(40), 1 + random.below(30));
    while let Some(event) = events.next().unwrap() {
        latest = latest.max(event.time);
        if random.below(often) == 0 {
            lead = (lead + random.below(2 * size)).saturating_sub(size);
            previous = (latest + lead).max(previous);
            builder
                .add(Point {
                    raw: Timestamp(latest),
                    corrected: Timestamp(previous),
                    event: Some((location, number)),
                })
                .unwrap();
        }
        number += 1;
    }
    builder.finish().unwrap()
}

/// Corrects an archive; whether a file was laid out anew.
fn check(recipe: &Recipe) -> bool {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), recipe);
    let trace = Trace::open(dir.path()).unwrap();
    let mut random = Random(recipe.seed.rotate_left(17) | 1);
    let corrected = correct_and_check(dir.path(), |location| {
        wild_map(&trace, location, &mut random)
    });
    for location in trace.locations() {
        let timeline = corrected.trace.times(location, &[], &()).unwrap();
        if corrected.rewritten.range.is_some() {
            assert_eq!(timeline.backwards, 0);
        }
    }
    otf2_print(&corrected.dir.path().join("t.otf2"), &["-A"]);
    !corrected.rewritten.laid_out.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn small_archives_survive_any_map(recipe in recipes(proptest::collection::vec(0_u32..60, 1..4))) {
        check(&recipe);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn many_chunks_survive_any_map(recipe in recipes(Just(vec![40_000, 25_000]))) {
        check(&recipe);
    }
}

#[test]
fn many_chunks_are_laid_out_anew() {
    let recipe = Recipe {
        seed: 42,
        events: vec![60_000],
        coarseness: 3,
        disorder: false,
        offsets: false,
    };
    assert!(check(&recipe));
}

/// Real archives: all types of records, big endian, odd encodings, clock
/// offsets, events at time 0 with doubled time records.
#[test]
fn real_archives_survive_wild_maps() {
    let names = [
        ("alltypes", ""),
        ("variants", "be"),
        ("variants", "all"),
        ("t0a", ""),
        ("t0b", ""),
        ("ping-pong-otf2", ""),
        ("ezr1", "ring_trace"),
        ("colls4.otf2d", ""),
    ];
    let mut random = Random(7);
    let mut laid_out = 0;
    for (name, sub) in names {
        let Some((_dir, path)) = unpack(name) else {
            return;
        };
        let path = path.join(sub);
        let trace = Trace::open(&path).unwrap();
        let corrected = correct_and_check(&path, |location| {
            let range = trace.times(location, &[], &()).unwrap().range;
            match range {
                // Too close to the end of 64 bits to be moved at all.
                Some((_, last)) if last.0 > u64::MAX / 2 => ClockMap::default(),
                _ => wild_map(&trace, location, &mut random),
            }
        });
        laid_out += corrected.rewritten.laid_out.len();
    }
    assert!(laid_out > 4, "{laid_out}");
}

/// libotf2 writes two time records in a row where a chunk starts at time 0,
/// and cannot read that. Laid out anew, it can.
#[test]
fn doubled_time_records_go_and_come_back() {
    let Some((_dir, path)) = unpack("t0a") else {
        return;
    };
    let corrected = correct_and_check(&path, |location| {
        let mut builder = MapBuilder::default();
        for event in 0..40_000 {
            builder
                .add(Point {
                    raw: Timestamp(0),
                    corrected: Timestamp(5 + event),
                    event: Some((location, event)),
                })
                .unwrap();
        }
        builder.finish().unwrap()
    });
    assert_eq!(corrected.rewritten.laid_out.len(), 1);
    // The tool complains about the lack of one.
    let local = corrected.dir.path().join("traces/0.def");
    fs::write(local, file(1, 0, &[])).unwrap();
    if let Some(text) = otf2_print(corrected.trace.archive().anchor_path(), &[]) {
        let time = |line: &str| line.split_whitespace().nth(2)?.parse::<u64>().ok();
        let times: Vec<u64> = text.lines().filter_map(time).collect();
        assert_eq!(times, (5..40_005).collect::<Vec<u64>>());
    }
}
