//! Rabenseifner 2000, figure 3.1; Rabenseifner 1997, figure 1.

use retime_experiments::global_receive::run;

#[test]
fn lamports_clock_swaps_sends_that_nothing_orders() {
    let it = run().unwrap();
    assert!(it.physical.first_send < it.physical.second_send);
    // The paper of 1997 counts from 1: sends at 3 and 1.
    assert_eq!((it.counted.first_send, it.counted.second_send), (2, 0));
    assert!(it.counted.receives[0] > it.counted.first_send);
}

#[test]
fn the_controlled_clock_repairs_receives_and_keeps_the_order_of_sends() {
    let it = run().unwrap();
    assert!(it.recorded.receives[0] < it.recorded.first_send);
    assert_eq!(it.controlled.receives[0], it.controlled.first_send + 100);
    assert!(it.controlled.first_send < it.controlled.second_send);
    assert!(it.controlled.receives[0] < it.controlled.receives[1]);
}
