//! Whatever stamps and delays are, nothing panics: what does not fit is an error.

use proptest::prelude::*;

use crate::common::stretched::{stretched, ticks};
use crate::common::{cases, gammas};
use retime::causality::{EventNode, check};
use retime::clock::{
    AmortizationRate, ClockError, Control, DegressiveConstants, LogicalTimes, Regulation, Steps,
    amortize, controlled, regulated, simple, unamortized,
};
use retime::repair::repair_with;
use retime::{
    Causality, Clocks, Correction, CorrectionError, DelayTable, MinimalDelay, Ticks, Timestamp,
};

/// The times of a run, in which no message is faster than the delay, unless they are
/// too far to compute with.
fn sound(
    run: Result<LogicalTimes, ClockError>,
    (causality, clocks): (&Causality, &Clocks),
    delay: Ticks,
) -> Option<LogicalTimes> {
    let times = match run {
        Ok(times) => times,
        Err(ClockError::Correction(CorrectionError::TooFar { .. })) => return None,
        Err(other) => panic!("{other}"),
    };
    let clock = |node: EventNode| clocks.of(causality.nodes().location(node));
    let at = |node: EventNode| i128::from(times.get(node).0);
    for receive in causality.nodes().all() {
        assert!(at(receive) >= i128::from(causality.nodes().time(receive).0));
        if let Some(send) = causality.message_source(receive)
            && clock(send) != clock(receive)
        {
            assert!(at(receive) >= at(send) + i128::from(delay.0));
        }
    }
    Some(times)
}

/// A correction keeps the delay, unless its times are too far to compute with.
fn keeps(
    found: Result<Correction, CorrectionError>,
    (causality, clocks): (&Causality, &Clocks),
    delay: &MinimalDelay,
) {
    match found {
        Ok(correction) => {
            if let Ok(times) = causality.retimed(&correction, &()) {
                let times: &[Timestamp] = times.nodes().timestamps();
                assert_eq!(
                    check(causality, clocks, delay, times, &()).unwrap().short(),
                    0
                );
            }
        }
        Err(CorrectionError::TooFar { .. }) => {}
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn clocks_keep_any_delay_or_refuse_it(
        (spec, trace) in stretched(),
        delay in ticks(),
        distance in ticks(),
        gamma in gammas(),
        per_pair: bool,
    ) {
        let causality = trace.causality();
        let clocks = spec.clocks(&trace.info);
        let it = (&causality, &clocks);
        let mut least = MinimalDelay::Uniform(delay);
        if per_pair {
            let mut table = DelayTable::default();
            table.set(None, None, delay);
            least = MinimalDelay::PerPair(table);
        }
        check(&causality, &clocks, &least, causality.nodes().timestamps(), &()).unwrap();
        sound(simple(&causality, &clocks, &least, &distance.into(), &()), it, delay);
        let control = Control::Degressive(DegressiveConstants::default());
        let regulation = Regulation { delay: least.clone(), distance: distance.into(), control, steps: Steps::default() };
        let rate = trace.info.rate;
        sound(regulated(&causality, &clocks, rate, &regulation, &()), it, delay);
        if let Some(times) = sound(controlled(&causality, &clocks, &least, gamma, &()), it, delay) {
            let rate = AmortizationRate::default();
            keeps(amortize(&causality, &clocks, &least, rate, &times, &()), it, &least);
            keeps(unamortized(&causality, &clocks, &times, &()), it, &least);
        }
        match repair_with(&causality, &clocks, &least, gamma, &()) {
            Ok(repaired) => keeps(Ok(repaired.correction), it, &least),
            Err(ClockError::Correction(error)) => keeps(Err(error), it, &least),
            Err(other) => panic!("{other}"),
        }
    }
}
