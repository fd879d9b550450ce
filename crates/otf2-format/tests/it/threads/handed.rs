//! Locks, threads that others make, and tasks.

use retime::causality::Defect;
use retime_otf2::{EventData, Paradigm};

use super::{
    Events, FORK, JOIN, TEAM, acquire, concluded, dependencies, recorded, release, task_complete,
    task_create, task_switch, team_begin, team_end,
};

/// A thread that holds lock 1 as acquisition `order` from then to then.
fn holds(order: u32, from: u64, to: u64) -> Events {
    vec![(from, acquire(1, order)), (to, release(1, order))]
}

#[test]
fn a_lock_is_released_before_the_next_has_it() {
    let found = concluded(&[
        [holds(1, 10, 20), holds(4, 50, 60)].concat(),
        [holds(2, 21, 30), holds(3, 31, 40)].concat(),
    ]);
    assert_eq!(found, [(20, 21), (40, 50)]);
}

#[test]
fn of_a_lock_within_a_lock_the_outermost_release_counts() {
    // Each acquisition has a number, or only that which took the lock.
    for (inner, releases) in [(2, [2, 1]), (2, [2, 2]), (1, [1, 1])] {
        let nested = vec![
            (10, acquire(1, 1)),
            (12, acquire(1, inner)),
            (14, release(1, releases[0])),
            (20, release(1, releases[1])),
        ];
        assert_eq!(concluded(&[nested, holds(inner + 1, 21, 30)]), [(20, 21)]);
    }
}

#[test]
fn a_lock_within_a_lock_waits_with_the_outermost_acquisition() {
    let nested = vec![
        (21, acquire(1, 2)),
        (22, acquire(1, 3)),
        (23, release(1, 3)),
        (24, release(1, 2)),
    ];
    assert_eq!(concluded(&[holds(1, 10, 20), nested]), [(20, 21)]);
}

#[test]
fn locks_have_numbers_of_their_own() {
    let of = |model, lock, acquisition_order| EventData::ThreadAcquireLock {
        model,
        lock,
        acquisition_order,
    };
    let second = vec![
        (5, of(Paradigm::OPENMP, 1, 2)),
        (6, of(Paradigm::PTHREAD, 2, 2)),
        (21, of(Paradigm::PTHREAD, 1, 2)),
    ];
    assert_eq!(concluded(&[holds(1, 10, 20), second]), [(20, 21)]);
}

#[test]
fn acquisitions_that_are_missing_hide_no_order() {
    // Numbers 2 to 4 were not recorded, nor was the release of 5.
    let found = concluded(&[
        holds(1, 10, 20),
        vec![(50, acquire(1, 5))],
        holds(6, 70, 80),
    ]);
    assert_eq!(found, [(20, 50)]);
}

#[test]
fn numbers_that_are_no_order_say_nothing() {
    let always_0 = [holds(0, 10, 20), holds(0, 50, 60)].concat();
    assert_eq!(concluded(&[always_0, holds(0, 30, 40)]), []);
    // Each thread counts its own: the second was first.
    assert_eq!(concluded(&[holds(1, 30, 40), holds(1, 10, 20)]), []);
    // Counted anew.
    let anew = [holds(3, 10, 20), holds(1, 50, 60)].concat();
    assert_eq!(concluded(&[anew, holds(2, 30, 40)]), []);
}

#[test]
fn records_before_otf2_1_2_mean_the_same() {
    let (lock, acquisition_order) = (7, 1);
    let found = concluded(&[
        vec![
            (10, EventData::OmpTaskCreate { task: 3 }),
            (
                20,
                EventData::OmpReleaseLock {
                    lock,
                    acquisition_order,
                },
            ),
        ],
        vec![
            (11, EventData::OmpTaskSwitch { task: 3 }),
            (12, EventData::OmpTaskComplete { task: 3 }),
            (
                21,
                EventData::OmpAcquireLock {
                    lock,
                    acquisition_order: 2,
                },
            ),
        ],
    ]);
    assert_eq!(found, [(10, 11), (20, 21)]);
}

const fn create(sequence_count: u64) -> EventData {
    EventData::ThreadCreate {
        thread_contingent: TEAM,
        sequence_count,
    }
}

const fn begin(sequence_count: u64) -> EventData {
    EventData::ThreadBegin {
        thread_contingent: TEAM,
        sequence_count,
    }
}

const fn end(sequence_count: u64) -> EventData {
    EventData::ThreadEnd {
        thread_contingent: TEAM,
        sequence_count,
    }
}

const fn wait(sequence_count: u64) -> EventData {
    EventData::ThreadWait {
        thread_contingent: TEAM,
        sequence_count,
    }
}

#[test]
fn a_thread_lives_between_its_creation_and_its_wait() {
    // The third is detached, and began where the second had ended.
    let main = vec![
        (1, begin(0)),
        (10, create(1)),
        (20, create(2)),
        (50, wait(2)),
        (51, create(3)),
        (60, wait(1)),
    ];
    let first = vec![(12, begin(1)), (58, end(1))];
    let second = vec![(22, begin(2)), (44, end(2)), (53, begin(3)), (70, end(3))];
    let found = concluded(&[main, first, second]);
    assert_eq!(found, [(10, 12), (20, 22), (44, 50), (51, 53), (58, 60)]);
}

#[test]
fn a_thread_that_begins_where_its_maker_was_waits_for_nobody() {
    assert_eq!(concluded(&[vec![(10, create(1)), (11, begin(1))]]), []);
}

#[test]
fn a_thread_that_never_began_and_a_wait_for_nobody_are_defects() {
    let (_, causality) = recorded(&[vec![(10, create(1)), (20, wait(2))], vec![]]);
    assert_eq!(causality.defects().count(Defect::SendWithoutReceive), 1);
    assert_eq!(causality.defects().count(Defect::ReceiveWithoutSend), 1);
    assert_eq!(causality.usage().message_ends.recorded, 2);
}

#[test]
fn numbers_that_stand_for_several_threads_say_nothing() {
    let twice = vec![(10, create(1)), (30, create(1))];
    let (_, causality) = recorded(&[twice, vec![(35, begin(1))], vec![(12, begin(1))]]);
    assert_eq!(dependencies(&causality), []);
}

/// A use of the team by the root with its tasks, and by another thread.
fn uses(start: u64, inside: Events) -> Events {
    let mut events = vec![(start, FORK), (start + 1, team_begin(TEAM))];
    events.extend(inside);
    events.extend([(start + 90, team_end(TEAM)), (start + 91, JOIN)]);
    events
}

fn takes_part(start: u64, inside: Events) -> Events {
    let mut events = vec![(start + 2, team_begin(TEAM))];
    events.extend(inside);
    events.push((start + 89, team_end(TEAM)));
    events
}

/// What is concluded of tasks, without forks and joins.
fn of_tasks(threads: &[Events]) -> Vec<(u64, u64)> {
    let mut found = concluded(threads);
    found.retain(|(cause, _)| cause % 100 / 10 == 1);
    found
}

#[test]
fn a_task_is_made_before_it_is_begun_and_may_wander() {
    let makes = uses(
        100,
        vec![(110, task_create(0, 1)), (111, task_create(0, 2))],
    );
    // Thread 1 comes back to it, thread 2 ends it; the second is done by its maker.
    let begins = vec![
        (120, task_switch(0, 1)),
        (130, task_switch(1, 0)),
        (140, task_switch(0, 1)),
    ];
    let ends = vec![(150, task_switch(0, 1)), (160, task_complete(0, 1))];
    let found = of_tasks(&[makes, takes_part(100, begins), takes_part(100, ends)]);
    assert_eq!(found, [(110, 120), (110, 150)]);
}

#[test]
fn tasks_that_are_counted_anew_are_told_apart_by_the_use_of_the_team() {
    let makes = |start| uses(start, vec![(start + 10, task_create(0, 1))]);
    let works = |start| {
        let task = vec![
            (start + 20, task_switch(0, 1)),
            (start + 30, task_complete(0, 1)),
        ];
        takes_part(start, task)
    };
    let makes = [makes(100), makes(200)].concat();
    let both = [works(100), takes_part(200, vec![])].concat();
    let found = of_tasks(&[makes.clone(), both]);
    assert_eq!(found, [(110, 120)]);
    // Who was in one use only may have been in either.
    assert_eq!(of_tasks(&[makes.clone(), works(100)]), []);
    assert_eq!(of_tasks(&[makes, works(200)]), []);
}

#[test]
fn threads_that_took_turns_do_not_share_their_uses() {
    // Threads 1 and 2 were in two of three uses each, and together in the second only.
    let root = [100, 200, 300].map(|start| uses(start, vec![])).concat();
    let task = |start: u64, inside: Events| takes_part(start, inside);
    let makes = [
        task(200, vec![(210, task_create(1, 1))]),
        task(300, vec![(310, task_create(1, 1))]),
    ];
    let works = [
        task(100, vec![]),
        task(
            200,
            vec![(220, task_switch(1, 1)), (225, task_complete(1, 1))],
        ),
    ];
    assert_eq!(of_tasks(&[root, makes.concat(), works.concat()]), []);
}
