//! Forks, joins and barriers.

use retime::causality::Defect;
use retime_otf2::MeasurementMode;

use super::{
    BARRIER, Events, FORK, INNER, JOIN, MPI_BARRIER, TEAM, WORK, concluded, dependencies, enter,
    leave, recorded, recording, task_complete, task_create, task_switch, team_begin, team_end,
};

/// The thread that forks, from `start` on.
fn root(start: u64) -> Events {
    vec![
        (start, FORK),
        (start + 1, team_begin(TEAM)),
        (start + 50, team_end(TEAM)),
        (start + 60, JOIN),
    ]
}

/// Another thread of the team.
fn other(start: u64) -> Events {
    vec![(start + 5, team_begin(TEAM)), (start + 40, team_end(TEAM))]
}

#[test]
fn a_fork_precedes_the_team_and_that_the_join() {
    let found = concluded(&[root(100), other(100), other(102)]);
    assert_eq!(found, [(100, 105), (100, 107), (140, 160), (142, 160)]);
}

#[test]
fn what_is_stamped_before_its_fork_shows() {
    let found = concluded(&[root(100), other(50)]);
    assert_eq!(found, [(90, 160), (100, 55)]);
}

#[test]
fn whoever_was_in_one_of_two_teams_proves_what_holds_for_both() {
    // Threads 1 and 2 take turns; nothing says which was first.
    let twice = [root(100), root(200)].concat();
    let found = concluded(&[twice, other(100), other(200)]);
    assert_eq!(found, [(100, 105), (100, 205), (140, 260), (240, 260)]);
}

#[test]
fn a_thread_of_a_team_forks_one_of_its_own() {
    let mut forks = other(100);
    let inside = [
        (110, FORK),
        (111, team_begin(INNER)),
        (112, enter(BARRIER)),
        (117, leave(BARRIER)),
        (118, team_end(INNER)),
        (119, JOIN),
    ];
    forks.splice(1..1, inside);
    let inner = vec![
        (113, team_begin(INNER)),
        (114, enter(BARRIER)),
        (116, leave(BARRIER)),
        (117, team_end(INNER)),
    ];
    let found = concluded(&[root(100), forks, inner]);
    let outer = [(100, 105), (140, 160)];
    let mut expected = [outer, [(110, 113), (117, 119)], [(112, 116), (114, 117)]].concat();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// A thread in a barrier.
fn in_barrier(mut events: Events, region: retime_otf2::RegionRef, at: [u64; 2]) -> Events {
    let place = events.partition_point(|(time, _)| *time < at[0]);
    events.splice(
        place..place,
        [(at[0], enter(region)), (at[1], leave(region))],
    );
    events
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_entered_it() {
    let waits = in_barrier(root(100), BARRIER, [110, 131]);
    let found = concluded(&[waits, in_barrier(other(100), BARRIER, [120, 130])]);
    assert_eq!(found, [(100, 105), (110, 130), (120, 131), (140, 160)]);
}

#[test]
fn other_regions_are_none() {
    for region in [MPI_BARRIER, WORK] {
        let alone = in_barrier(root(100), region, [110, 112]);
        let found = concluded(&[alone, in_barrier(other(100), region, [120, 130])]);
        assert_eq!(found, [(100, 105), (140, 160)]);
    }
}

#[test]
fn a_barrier_waits_for_the_tasks_that_are_done_in_it() {
    let mut makes = in_barrier(root(100), BARRIER, [110, 131]);
    makes.insert(2, (108, task_create(0, 1)));
    let mut works = in_barrier(other(100), BARRIER, [109, 132]);
    works.splice(2..2, [(115, task_switch(0, 1)), (128, task_complete(0, 1))]);
    let found = concluded(&[makes, works]);
    let expected = [(100, 105), (108, 115), (110, 132), (128, 131), (140, 160)];
    assert_eq!(found, expected);
}

#[test]
fn a_barrier_waits_for_no_task_that_is_made_behind_it() {
    // Who forks has left the barrier; the other thread has not seen yet that it may.
    let mut makes = in_barrier(root(100), BARRIER, [110, 115]);
    makes.insert(4, (120, task_create(0, 1)));
    let mut works = in_barrier(other(100), BARRIER, [109, 132]);
    works.splice(2..2, [(125, task_switch(0, 1)), (128, task_complete(0, 1))]);
    let found = concluded(&[makes, works]);
    let expected = [(100, 105), (109, 115), (110, 132), (120, 125), (140, 160)];
    assert_eq!(found, expected);
}

#[test]
fn a_barrier_belongs_to_the_only_team_if_no_team_is_recorded() {
    let found = concluded(&[
        in_barrier(vec![], BARRIER, [10, 21]),
        in_barrier(vec![], BARRIER, [20, 22]),
    ]);
    assert_eq!(found, [(10, 22), (20, 21)]);
}

#[test]
fn a_barrier_outside_of_all_teams_is_for_one_thread() {
    let outside = [root(100), in_barrier(vec![], BARRIER, [300, 301])].concat();
    assert_eq!(concluded(&[outside, other(100)]), [(100, 105), (140, 160)]);
}

#[test]
fn where_recording_was_off_teams_are_not_told_apart() {
    // The first use is recorded by thread 1 alone, and its second by nobody.
    let off = [
        (90, recording(MeasurementMode::OFF)),
        (190, recording(MeasurementMode::ON)),
    ];
    let events = [off.to_vec(), root(200)].concat();
    let (_, causality) = recorded(&[events, other(100)]);
    assert_eq!(dependencies(&causality), []);
    assert_eq!(causality.defects().count(Defect::PlaceUnknown), 4);
}

#[test]
fn a_team_that_several_threads_fork_says_nothing() {
    let (_, causality) = recorded(&[
        [root(100), other(200)].concat(),
        [other(100), root(200)].concat(),
    ]);
    assert_eq!(dependencies(&causality), []);
    assert_eq!(causality.defects().count(Defect::CollectiveMismatch), 1);
}

#[test]
fn a_trace_that_ends_early_keeps_what_came_before() {
    // The root is cut off in its second use, before the join; so is the other thread.
    let mut cut = [root(100), root(200)].concat();
    cut.truncate(6);
    let mut other_cut = [other(100), other(200)].concat();
    other_cut.truncate(3);
    let found = concluded(&[cut, other_cut]);
    assert_eq!(found, [(100, 105), (200, 205)]);
}
