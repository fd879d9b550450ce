//! Only the digits of `ts` change: against documents that are put together twice, as they
//! are and as they have to be.

use std::fs;

use proptest::prelude::*;
use retime::format::{Format, Trace};
use retime::{ClockMap, Clocks, Correction, Knot, Timestamp};
use retime_kineto::Kineto;

/// A document, and what it has to be once all times are shifted.
#[derive(Clone, Debug, Default)]
struct Twice {
    is: String,
    shifted: String,
}

impl Twice {
    fn same(&mut self, text: &str) {
        self.is.push_str(text);
        self.shifted.push_str(text);
    }
}

/// Nanoseconds as so many decimals of microseconds; no fewer than they need.
fn micros(nanoseconds: u64, decimals: usize) -> String {
    let mut text = format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
    for _ in decimals..3 {
        if !text.ends_with('0') {
            break;
        }
        text.pop();
    }
    text.trim_end_matches('.').to_owned()
}

/// How a time is written.
#[derive(Clone, Debug)]
enum Written {
    Decimals(usize),
    /// With digits beyond nanoseconds.
    Beyond(&'static str),
    Exponent,
}

#[derive(Clone, Debug)]
enum Member {
    Ts(u64, Written),
    /// A key that is `ts` in an escaped form, which counts as well.
    Escaped(u64),
    Other(&'static str),
}

/// Members with anything that could be taken for a time, or for the end of something.
const OTHERS: [&str; 14] = [
    r#""args":{"ts":1.5,"Input Dims":[[1,2],[]],"s":"}]\"{","deep":{"a":[{"ts":7}]}}"#,
    r#""id":18446744073709551615"#,
    r#""id":123456789012345678901234567890"#,
    r#""dur":1e-3"#,
    r#""dur":17.0500"#,
    r#""dur":0.1,"dur":00.2"#,
    r#""tts":99.999"#,
    r#""name":"ts\": 5, \\""#,
    r#""name":"größe \u0074\u0073 😀""#,
    r#""cat":"a,b","cat":"c""#,
    r#""pid":"Traces" , "tid" : "Trace PyTorch Profiler""#,
    r#""pid":-1,"tid":4294967297"#,
    r#""value":-1.7976931348623157e308"#,
    r#""flag":true,"nothing":null,"odd":Infinity"#,
];

fn member() -> impl Strategy<Value = Member> {
    let time = 5_000_000_u64..4_400_000_000_000_000_000;
    let written = prop_oneof![
        6 => (0..=3_usize).prop_map(Written::Decimals),
        1 => prop_oneof![Just("00"), Just("5"), Just("123456")].prop_map(Written::Beyond),
        1 => Just(Written::Exponent),
    ];
    prop_oneof![
        3 => (time.clone(), written).prop_map(|(time, written)| Member::Ts(time, written)),
        1 => time.prop_map(Member::Escaped),
        8 => prop::sample::select(OTHERS.to_vec()).prop_map(Member::Other),
    ]
}

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\n", "\r\n    ", "\t"])
}

/// An event: of several times only the last counts.
fn event(members: &[Member], space: &str, by: u64) -> Twice {
    let mut event = Twice::default();
    let last = members
        .iter()
        .rposition(|it| !matches!(it, Member::Other(_)));
    event.same("{");
    event.same(space);
    event.same(r#""ph":"i""#);
    for (place, member) in members.iter().enumerate() {
        event.same(",");
        event.same(space);
        let by = if Some(place) == last { by } else { 0 };
        match member {
            Member::Other(text) => event.same(text),
            Member::Escaped(time) => {
                event.same(r#""\u0074s":"#);
                event.is.push_str(&micros(*time, 3));
                event.shifted.push_str(&micros(time + by, 3));
            }
            Member::Ts(time, written) => {
                event.same(r#""ts""#);
                event.same(space);
                event.same(":");
                let write = |time: u64, decimals: usize| match written {
                    Written::Decimals(_) => micros(time, decimals),
                    Written::Beyond(digits) => micros(time, 3) + digits,
                    // What is shifted is written plainly.
                    Written::Exponent => micros(time, 0),
                };
                let is = match written {
                    Written::Exponent => format!("{time}e-3"),
                    Written::Decimals(decimals) => write(*time, *decimals),
                    Written::Beyond(_) => write(*time, 3),
                };
                // As many decimals as there were, unless more are needed.
                let decimals = is.split_once('.').map_or(0, |it| it.1.len());
                event.shifted.push_str(&if by == 0 {
                    is.clone()
                } else {
                    write(time + by, decimals)
                });
                event.is.push_str(&is);
            }
        }
        event.same(space);
    }
    event.same("}");
    event
}

fn document() -> impl Strategy<Value = (Twice, u64)> {
    let members = prop::collection::vec(member(), 0..7);
    let events = prop::collection::vec((members, space()), 0..30);
    let by = prop_oneof![Just(1_u64), Just(1000), 1..10_000_000_000_u64];
    (events, by, any::<bool>(), any::<bool>(), space()).prop_map(
        |(events, by, is_array, has_mark, space)| {
            let mut document = Twice::default();
            if has_mark {
                document.same("\u{feff}");
            }
            document.same(if is_array {
                "["
            } else {
                r#"{"schemaVersion": 1, "other": [{"ts": 3}, "traceEvents"], "traceEvents": ["#
            });
            for (place, (members, between)) in events.iter().enumerate() {
                if place > 0 {
                    document.same(",");
                }
                document.same(between);
                let event = event(members, space, by);
                document.is += &event.is;
                document.shifted += &event.shifted;
            }
            document.same(if is_array {
                "]"
            } else {
                r#"], "baseTimeNanoseconds": 1000, "ts": 4.5}"#
            });
            document.same(space);
            (document, by)
        },
    )
}

/// A correction that adds `by` to all clocks.
fn shift(trace: &dyn Trace, by: u64) -> Correction {
    let count = trace.scan(&()).unwrap().info.locations.len();
    let knot = Knot::at(Timestamp(1000), Timestamp(1000 + by));
    let map = ClockMap::new(vec![knot], vec![]).unwrap();
    let (clocks, _) = Clocks::from_owners(&vec![0; count]);
    Correction::new(clocks, vec![map])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn only_digits_of_times_change((document, by) in document()) {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("is.json"), &document.is).unwrap();
        let trace = Kineto.open(&at("is.json")).unwrap();
        let correction = shift(&*trace, by);
        let undo = trace.rewriting().unwrap().rewrite(&correction, &at("shifted.json"), &()).unwrap();
        let shifted = fs::read_to_string(at("shifted.json")).unwrap();
        // Without a track nothing says which clock a name would be moved with.
        if !correction.clocks().is_empty() {
            prop_assert_eq!(&shifted, &document.shifted);
        }
        let copy = Kineto.open(&at("shifted.json")).unwrap();
        copy.rewriting().unwrap().restore(&correction, &undo, &at("back.json"), &()).unwrap();
        prop_assert_eq!(fs::read_to_string(at("back.json")).unwrap(), document.is);
    }

    #[test]
    fn damage_is_an_error_that_says_where(
        (document, _) in document(), cut in 0.0..1.0, with in any::<u8>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("damaged.json");
        let mut bytes = document.is.into_bytes();
        let at = (cut * bytes.len() as f64) as usize;
        let damaged = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let trace = Kineto.open(&path).unwrap();
            trace.scan(&()).map(drop).map_err(|error| error.to_string())
        };
        if let Err(message) = damaged(&bytes[..at]) {
            prop_assert!(message.contains("damaged.json: line "), "{}", message);
        }
        if let Some(byte) = bytes.get_mut(at) {
            *byte = with;
        }
        if let Err(message) = damaged(&bytes) {
            prop_assert!(message.contains("damaged.json: "), "{}", message);
        }
    }
}
