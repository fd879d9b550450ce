//! Rabenseifner 2000, figure 7.1: clocks that are set every second.

use retime_experiments::set_clocks::run;

#[test]
fn clocks_are_as_wrong_as_in_the_figure_and_no_message_stays_reversed() {
    let outcome = run().unwrap();
    assert!((1_100..1_200).contains(&outcome.way), "{outcome:?}");
    assert!((1_800..=2_375).contains(&outcome.difference), "{outcome:?}");
    assert!((600..=1_075).contains(&outcome.jump), "{outcome:?}");
    let [recorded, _, controlled] = outcome.reversed;
    assert!(recorded.unwrap() > 1_000, "{outcome:?}");
    assert_eq!(controlled, Some(0));
}
