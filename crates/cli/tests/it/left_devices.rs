//! GPUs that stay with their hosts, though others have clocks of their own.

use retime_testing::kineto::{Devices, KinetoRun, Style, Version};

use crate::common::Scratch;
use crate::simulated_jobs::{read_report, simulate};

/// GPUs that contradict nothing stay with their hosts, though others have clocks of their own. Then the summary
/// says that bounds rest on it; they need not hold.
#[test]
fn bounds_say_that_they_rest_on_gpus_that_stay_with_their_hosts() {
    let run = KinetoRun {
        ranks_per_host: 2,
        devices: Devices {
            offset: 50_000,
            drift: 0,
            awaited: true,
        },
        version: Version::Computing,
        sequence_numbers: false,
        seed: 94,
        ..KinetoRun::training(Style::Nccl)
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let text = scratch.succeed("correct run -o out --truth true --json report.json");
    let report = read_report(&scratch);
    assert!(
        report["bounds"]["truth"]["share"].as_f64() < Some(1.0),
        "{text}"
    );
    assert_eq!(report["bounds"]["if_with_host"], 2);
    assert!(
        text.contains(", and if 2 other devices read the clocks of their hosts)"),
        "{text}"
    );
}
