//! Random programs, as damaged as a recording can be: both kinds of files show the same, all
//! slices are nested, and there is an arrow for each message.

use proptest::prelude::*;
use retime::{ClockMap, Clocks, Correction, Knot, LocationIndex, Ticks, Timestamp};
use retime_export::{Exported, Kind, Shown, Summary, Times, export};

use crate::picture::Picture;
use crate::program::{Program, What};

const LOCATIONS: usize = 3;

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        4 => (0_u32..4).prop_map(What::Enter),
        4 => (0_u32..4).prop_map(What::Leave),
        2 => (0_u32..LOCATIONS as u32).prop_map(What::Send),
        2 => (0_u32..LOCATIONS as u32).prop_map(What::Receive),
        1 => Just(What::Nothing),
    ]
}

/// Events a few ticks apart, now and then stamped before their predecessor.
fn events() -> impl Strategy<Value = Vec<(u64, What)>> {
    let steps = prop::collection::vec((-3_i64..20, what()), 0..60);
    steps.prop_map(|steps| {
        let mut now = 1000_u64;
        let mut at = |step| {
            now = now.saturating_add_signed(step);
            now
        };
        steps
            .into_iter()
            .map(|(step, what)| (at(step), what))
            .collect()
    })
}

fn programs() -> impl Strategy<Value = Program> {
    prop::collection::vec(events(), LOCATIONS).prop_map(Program)
}

/// Each clock set off and slowed down or sped up.
fn correction(offsets: [u64; LOCATIONS]) -> Correction {
    let map = |offset: u64| {
        let at = |raw, corrected| Knot::at(Timestamp(raw), Timestamp(corrected));
        let knots = vec![at(1000, 900 + offset), at(1300, 1190 + 2 * offset)];
        ClockMap::new(knots, Vec::new()).unwrap()
    };
    Correction::new(
        Clocks::each_location(LOCATIONS),
        offsets.into_iter().map(map).collect(),
    )
}

/// What both kinds of files show, and what is said of them.
fn pictures(exported: &Exported<'_>, shown: &Shown) -> [(Picture, Summary); 2] {
    [Kind::Perfetto, Kind::Chrome].map(|kind| {
        let mut file = Vec::new();
        let shown = Shown {
            kind,
            ..shown.clone()
        };
        let summary = export(exported, &shown, &mut file, &()).unwrap();
        assert_eq!(summary.bytes, file.len() as u64);
        let picture = match kind {
            Kind::Perfetto => Picture::of_packets(&file),
            Kind::Chrome => Picture::of_json(&file),
        };
        (picture, summary)
    })
}

proptest! {
    #[test]
    fn both_kinds_show_the_same_nested_slices(
        program in programs(),
        offsets in [0_u64..300, 0..300, 0..300],
        (rate, times) in (
            prop_oneof![Just(1_000_000_000), Just(2_095_197_216), Just(1_000_000)],
            prop_oneof![Just(Times::Recorded), Just(Times::Corrected), Just(Times::Both)],
        ),
        window in prop::option::of((0_i64..400, 0_i64..400)),
        chosen in prop::sample::subsequence(vec![0_u32, 1, 2], 0..=LOCATIONS),
    ) {
        let info = program.info(rate);
        let causality = program.causality(&info);
        let clocks = Clocks::each_location(LOCATIONS);
        let correction = correction(offsets);
        let exported = Exported {
            trace: &program,
            info: &info,
            causality: &causality,
            clocks: &clocks,
            correction: Some(&correction),
            bounds: None,
        };
        let shown = Shown {
            kind: Kind::Perfetto,
            times,
            from: window.map(|it| Ticks(it.0)),
            to: window.map(|it| Ticks(it.0 + it.1)),
            locations: chosen.iter().copied().map(LocationIndex).collect(),
            gzip: false,
        };
        let [(packets, summary), (json, of_json)] = pictures(&exported, &shown);
        prop_assert_eq!(&packets, &json);
        prop_assert_eq!(summary.slices, of_json.slices);

        let slices = packets.slices();
        prop_assert_eq!(slices.len() as u64, summary.slices + summary.instants);
        let groups = if times == Times::Both { 2 } else { 1 };
        prop_assert_eq!(packets.threads.len(), groups * chosen.len());
        prop_assert_eq!(summary.threads as usize, groups * chosen.len());
        prop_assert_eq!(packets.arrows.len() as u64, summary.arrows);
        prop_assert!(packets.arrows.values().all(|ends| *ends == 2), "{:?}", packets.arrows);
        if window.is_none() && chosen.len() == LOCATIONS {
            let arrows = causality.messages() * groups as u64;
            prop_assert_eq!(summary.arrows, arrows);
            let enters = program.0.iter().flatten();
            let enters = enters.filter(|it| matches!(it.1, What::Enter(_))).count();
            prop_assert_eq!(summary.slices, (groups * enters) as u64);
        }
    }
}
