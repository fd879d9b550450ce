//! Which true dependencies have to be found, because the records leave no doubt.

use retime_otf2::EventData;

use super::machine::{Place, Run};
use super::program::Proof;
use super::world::Comm;

/// Cause and effect, as they are recorded, if they have to be found.
pub(super) fn is_promised(
    run: &Run,
    cause: Place,
    effect: Place,
    proof: Proof,
) -> Option<(Place, Place)> {
    let process = |place: Place| run.world.locations[place.0].process;
    let is_whole = |process: usize| !run.gaps[process];
    let members = |comm| run.world.of(comm).processes(run.gaps.len());
    let all_whole = |comm| members(comm).into_iter().all(|(it, _)| is_whole(it));
    let both_whole = is_whole(process(cause)) && is_whole(process(effect));
    let is_promised = match proof {
        Proof::Unused | Proof::Launch => false,
        Proof::Message(channel) => run.channels[channel].is_exact && both_whole,
        Proof::Posting(channel) => {
            let channel = &run.channels[channel];
            let receives_alone = run.world.is_alone(process(cause));
            channel.is_exact && !channel.is_probed && both_whole && receives_alone
        }
        Proof::Collective(comm) => all_whole(comm),
        Proof::Fence(comm) => {
            let alone = |(it, _)| run.world.is_alone(it);
            all_whole(comm) && members(comm).into_iter().all(alone)
        }
        Proof::Team(comm) => both_whole && is_regular(run, comm),
        Proof::Handover => both_whole,
    };
    let cause = match proof {
        Proof::Posting(_) => entry(run, cause),
        _ => cause,
    };
    is_promised.then_some((cause, effect))
}

/// The entry of the call in which something happened.
fn entry(run: &Run, (location, event): Place) -> Place {
    let events = &run.locations[location][..=event];
    let is_entry = |it: &super::machine::Recorded| matches!(it.data, EventData::Enter { .. });
    (location, events.iter().rposition(is_entry).unwrap_or(event))
}

/// Whether one thread forks the team, and all others are in each use of it.
fn is_regular(run: &Run, team: retime_otf2::CommRef) -> bool {
    let Comm::Threads(_, threads) = run.world.of(team) else {
        return false;
    };
    let begins = |thread: &usize| {
        let events = run.locations[*thread].iter();
        events
            .filter(|it| it.data == EventData::ThreadTeamBegin { thread_team: team })
            .count()
    };
    let forks = |thread: &&usize| {
        let events = &run.locations[**thread];
        let mut pairs = events.iter().zip(events.iter().skip(1));
        pairs.any(|(fork, begin)| {
            matches!(fork.data, EventData::ThreadFork { .. })
                && begin.data == EventData::ThreadTeamBegin { thread_team: team }
        })
    };
    let uses = begins(&threads[0]);
    threads.iter().all(|it| begins(it) == uses) && threads.iter().filter(forks).count() == 1
}
