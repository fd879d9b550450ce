//! Who likely held up others, where bounds of errors leave open who came last.

use retime_sim::Duration;
use retime_testing::kineto::{Among, Class, Element, KinetoRun, Step, Straggler};
use serde_json::Value;

use crate::common::Scratch;
use crate::simulated_jobs::{read_report, simulate};

/// All wait for rank 9, but for less than transfers take, which is what dependencies leave open: only
/// ends of kernels tell that it comes last.
#[test]
fn who_likely_holds_up_others_is_named_where_nothing_is_certain() {
    let late = Straggler {
        rank: 9,
        every: 1,
        late: 2_000_000,
    };
    let named = |stragglers: Vec<Straggler>| {
        let run = KinetoRun {
            ranks: 16,
            ranks_per_host: 4,
            steps: vec![
                Step::Compute(Duration::heavy(3_000_000, 100_000.0)),
                Step::Collective {
                    class: Class::AllReduce,
                    among: Among::World,
                    elements: 200_000_000,
                    element: Element::BFloat16,
                    asynchronous: false,
                },
            ],
            stragglers,
            seed: 11,
            ..KinetoRun::data_parallel()
        };
        let scratch = Scratch::new();
        simulate(&scratch, &run);
        let text = scratch.succeed("correct run -o out --json report.json");
        let first = text.lines().next().unwrap_or_default().to_owned();
        (first, read_report(&scratch))
    };
    let (first, report) = named(vec![late]);
    assert!(
        first.starts_with("stragglers rank 9 held up 15 others for ")
            && first.contains(", likely in ")
            && first.contains(", certainly in "),
        "{first}"
    );
    let own = &report["stragglers"]["processes"][0];
    let ticks = |at: &str| own.pointer(at).and_then(Value::as_u64);
    let (likely, certainly) = ("/likely/held_up_ticks", "/certainly_held_up_ticks");
    assert!(ticks(likely) > ticks(certainly), "{own}");
    assert!(ticks(likely) <= ticks("/held_up_ticks"), "{own}");
    let (first, _) = named(Vec::new());
    assert!(first.starts_with("verdict"), "{first}");
}
