//! Locks whose records lie in the calls that lock and unlock.

use retime_otf2::RegionRef;

use super::{
    Events, LOCK, UNLOCK, WAIT, WORK, acquire, concluded, enter, leave, recorded, release,
};

/// What a thread records of a call, at times from 1 to 9 after its entry at `from`.
fn call(from: u64, region: RegionRef, inside: Events) -> Events {
    let inside = inside.into_iter().map(|(time, event)| (from + time, event));
    let mut events = vec![(from, enter(region))];
    events.extend(inside);
    events.push((from + 10, leave(region)));
    events
}

#[test]
fn wherever_in_the_calls_it_is_recorded_the_entry_precedes_the_exit() {
    for (released, acquired) in [(1, 1), (9, 9), (9, 1)] {
        // The lock is free at 25, whatever the recorder says.
        let holder = [
            call(0, LOCK, vec![(2, acquire(1, 1))]),
            call(20, UNLOCK, vec![(released, release(1, 1))]),
        ];
        let next = call(16, LOCK, vec![(acquired, acquire(1, 2))]);
        assert_eq!(concluded(&[holder.concat(), next]), [(20, 26)]);
    }
}

#[test]
fn what_lies_in_no_such_call_counts_itself() {
    let holder = call(10, WORK, vec![(1, acquire(1, 1)), (9, release(1, 1))]);
    let next = call(15, WORK, vec![(6, acquire(1, 2))]);
    assert_eq!(concluded(&[holder, next]), [(19, 21)]);
    // Neither does a call that is left already, or that does the contrary.
    let holder = [
        call(0, UNLOCK, vec![]),
        vec![(11, acquire(1, 1)), (12, release(1, 1))],
    ];
    let next = call(10, UNLOCK, vec![(3, acquire(1, 2))]);
    assert_eq!(concluded(&[holder.concat(), next]), [(12, 13)]);
}

#[test]
fn who_waits_for_a_condition_releases_at_its_entry_and_acquires_at_its_exit() {
    let waits = [
        vec![(1, acquire(1, 1))],
        call(10, WAIT, vec![(1, release(1, 1)), (9, acquire(1, 3))]),
    ];
    let signals = vec![(13, acquire(1, 2)), (15, release(1, 2))];
    assert_eq!(concluded(&[waits.concat(), signals]), [(10, 13), (15, 20)]);
}

#[test]
fn what_a_call_calls_is_part_of_it() {
    let holder = call(
        20,
        UNLOCK,
        vec![(1, enter(WORK)), (2, leave(WORK)), (9, release(1, 1))],
    );
    let next = call(
        16,
        LOCK,
        vec![(1, enter(WORK)), (2, leave(WORK)), (3, acquire(1, 2))],
    );
    assert_eq!(concluded(&[holder, next]), [(20, 26)]);
}

#[test]
fn a_call_that_is_never_left_says_nothing_of_its_acquisition() {
    let next = vec![(21, enter(LOCK)), (22, acquire(1, 2))];
    let (_, causality) = recorded(&[vec![(10, acquire(1, 1)), (20, release(1, 1))], next]);
    assert_eq!(causality.messages(), 0);
}

#[test]
fn the_calls_alone_show_a_clock_that_is_behind() {
    // The next one leaves its call at 46 in truth, and the holder unlocks from 20 to 30.
    let holder = [
        call(0, LOCK, vec![(2, acquire(1, 1))]),
        call(20, UNLOCK, vec![(9, release(1, 1))]),
    ];
    let next = |behind: u64| call(36 - behind, LOCK, vec![(1, acquire(1, 2))]);
    let reversed = |behind| {
        let found = concluded(&[holder.concat(), next(behind)]);
        found
            .iter()
            .filter(|(cause, effect)| cause > effect)
            .count()
    };
    assert_eq!([0, 20, 30].map(reversed), [0, 0, 1]);
}
