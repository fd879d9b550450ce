//! Random programs, as damaged as a recording can be: both kinds of files show the same, all
//! slices are nested, and from each cause to each effect there is an arrow that leaves and
//! arrives when they are.

use std::collections::BTreeMap;

use proptest::prelude::*;
use retime::causality::EventNode;
use retime::{Causality, ClockMap, Clocks, Correction, Knot, LocationIndex, Ticks, Timestamp};
use retime_export::{Exported, Kind, Shown, Summary, Times, export};

use crate::picture::{Arrow, Picture, Step};
use crate::program::{Program, What};

pub(crate) const LOCATIONS: usize = 3;

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        4 => (0_u32..4).prop_map(What::Enter),
        4 => (0_u32..4).prop_map(What::Leave),
        2 => (0_u32..LOCATIONS as u32).prop_map(What::Send),
        2 => (0_u32..LOCATIONS as u32).prop_map(What::Receive),
        2 => Just(What::Arrive),
        2 => Just(What::Depart),
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

pub(crate) fn programs() -> impl Strategy<Value = Program> {
    prop::collection::vec(events(), LOCATIONS).prop_map(Program)
}

/// Each clock set off and slowed down or sped up.
pub(crate) fn correction(offsets: [u64; LOCATIONS]) -> Correction {
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

/// A thread and nanoseconds.
type Place = (u64, u64);

/// An arrow that can be expected.
struct Expected {
    /// Of which causes it can come, all of one time.
    causes: Vec<Place>,
    effect: Place,
    /// All of these causes are shown; else it depends on which of them is taken.
    is_certain: bool,
}

/// The arrows by number, which is that of the effect.
fn expected_arrows(exported: &Exported<'_>, shown: &Shown) -> BTreeMap<u64, Expected> {
    let corrected = exported
        .causality
        .retimed(exported.correction.unwrap(), &())
        .unwrap();
    let groups = match shown.times {
        Times::Recorded => vec![exported.causality],
        Times::Corrected => vec![&corrected],
        Times::Both => vec![exported.causality, &corrected],
    };
    let firsts = groups.iter().flat_map(|it| {
        let nodes = it.nodes();
        (0..LOCATIONS).filter_map(|at| Some(nodes.extent(at)?.first.0))
    });
    let origin = firsts.min().unwrap_or_default();
    let mut arrows = BTreeMap::new();
    for (group, causality) in groups.into_iter().enumerate() {
        let nodes = causality.nodes();
        let place = |node| {
            let ticks = u128::from(nodes.timestamp(node).0 - origin);
            let at = ticks * 1_000_000_000 / u128::from(exported.info.rate.get());
            let thread = 1 + group * LOCATIONS + nodes.location(node).as_usize();
            (thread as u64, at as u64)
        };
        let is_shown = |node: EventNode| {
            let after = nodes.timestamp(node).0.cast_signed() - origin.cast_signed();
            shown.locations.contains(&nodes.location(node))
                && shown.from.is_none_or(|from| after >= from.0)
                && shown.to.is_none_or(|to| after <= to.0)
        };
        let mut add = |causes: Vec<EventNode>, effect: EventNode| {
            if is_shown(effect) && causes.iter().any(|&it| is_shown(it)) {
                let number = (1 + group * nodes.len() + effect.index()) as u64;
                let expected = Expected {
                    is_certain: causes.iter().all(|&it| is_shown(it)),
                    causes: causes.into_iter().map(place).collect(),
                    effect: place(effect),
                };
                arrows.insert(number, expected);
            }
        };
        for node in nodes.all() {
            if let Some(send) = causality.message_source(node) {
                add(vec![send], node);
            }
        }
        let collectives = causality.collectives();
        for instance in collectives.instances() {
            let all = collectives.participants(instance);
            for (place, one) in all.iter().enumerate() {
                let others = all.iter().enumerate().filter(|it| it.0 != place);
                let begins: Vec<_> = others.filter_map(|it| it.1.cause()).collect();
                let latest = begins.iter().map(|&it| nodes.timestamp(it)).max();
                let last = begins
                    .into_iter()
                    .filter(|&it| Some(nodes.timestamp(it)) == latest);
                let last: Vec<_> = last.collect();
                if let Some(end) = one.effect().filter(|_| !last.is_empty()) {
                    add(last, end);
                }
            }
        }
    }
    arrows
}

/// How many dependencies the recording has in reverse.
fn expected_contradictions(causality: &Causality) -> usize {
    let nodes = causality.nodes();
    let time = |node: EventNode| nodes.timestamp(node);
    let received = nodes.all().filter(|&node| {
        let send = causality.message_source(node);
        send.is_some_and(|it| time(it) > time(node))
    });
    let mut count = received.count();
    let collectives = causality.collectives();
    for instance in collectives.instances() {
        let all = collectives.participants(instance);
        for (place, one) in all.iter().enumerate() {
            let others = all.iter().enumerate().filter(|it| it.0 != place);
            let latest = others.filter_map(|it| it.1.cause()).map(time).max();
            let both = latest.zip(one.effect());
            count += usize::from(both.is_some_and(|(latest, end)| latest > time(end)));
        }
    }
    count
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
        prop_assert_eq!(slices.len() as u64, summary.slices + summary.points);
        let groups = if times == Times::Both { 2 } else { 1 };
        prop_assert_eq!(packets.threads.len(), groups * chosen.len());
        prop_assert_eq!(summary.threads as usize, groups * chosen.len());
        prop_assert_eq!(packets.arrows.len() as u64, summary.arrows);
        let expected = expected_arrows(&exported, &shown);
        let (mut found, mut reversed) = (0, 0);
        for (number, Expected { causes, effect, is_certain }) in expected {
            let Some(&Arrow { from, to }) = packets.arrows.get(&number) else {
                prop_assert!(!is_certain, "{number}");
                continue;
            };
            found += 1;
            prop_assert_eq!(from.begin, from.end, "an arrow leaves at the end of a slice");
            let cause = if causes[0].1 > effect.1 {
                reversed += 1;
                prop_assert_eq!((from.thread, from.begin), effect);
                to
            } else {
                prop_assert_eq!((to.thread, to.begin), effect);
                from
            };
            prop_assert!(causes.contains(&(cause.thread, cause.begin)), "{causes:?}, {cause:?}");
        }
        prop_assert_eq!(packets.arrows.len(), found, "no arrow but those expected");
        let steps = packets.steps.values().flatten();
        let said: u64 = steps.map(Step::reversed).sum();
        prop_assert_eq!(said, 2 * reversed);
        if window.is_none() && chosen.len() == LOCATIONS {
            let contradictions = expected_contradictions(&causality);
            let listed = packets.contradictions.values().map(|it| it.len() / 2);
            let groups = if contradictions == 0 { 0 } else { groups };
            prop_assert_eq!(listed.collect::<Vec<_>>(), vec![contradictions; groups]);
        }
        if window.is_none() && chosen.len() == LOCATIONS {
            let enters = program.0.iter().flatten();
            let enters = enters.filter(|it| matches!(it.1, What::Enter(_))).count();
            prop_assert_eq!(summary.slices, (groups * enters) as u64);
        }
    }
}
