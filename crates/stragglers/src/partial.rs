//! Operations in which some wait for some: all for the root, it for all, or in an exchange in which parts
//! are empty those who get something for those who send it.
//!
//! ```text
//! waited(m) = min(t(a), e(m)) - since(m)     for a, the last of those that are waited for
//! ```
//!
//! Who does not wait is not held up, however late it comes. Since when one waits that nobody else waits
//! for, its begin does not say, which is no cause; so only operations are judged of which that is
//! [recorded](retime_causality::Causality::taken_part) of everybody who waits. That the last is *certainly* so takes that it
//! is later than everybody that it held up, and than all others that were waited for.

use retime_causality::{Class, Instance, Participant, Place};
use retime_model::Ticks;

use super::LatenessJudge;
use super::sums::{Begun, WaitSums};
use super::visits::{Late, WaitedBy};

/// A participant that waits, or that is waited for.
struct Part {
    begun: Begun,
    is_cause: bool,
    is_effect: bool,
}

impl LatenessJudge<'_> {
    /// A participant since it took part; `None` if it waits and nothing says since when.
    fn part(&self, class: Class, participant: &Participant) -> Option<Part> {
        let (cause, effect) = (participant.cause(), participant.effect());
        // A root may have a begin where traces keep it, and not wait since then.
        let own = cause.filter(|_| class == Class::AllToAll || effect.is_none());
        let end = effect.map(|it| self.at(it).time);
        let since = |(node, end): (_, i64)| {
            let Ticks(lasted) = self.causality.taken_part(node)?;
            Some(Begun {
                time: end.saturating_sub(lasted.max(0)),
                ..self.at(node)
            })
        };
        let begun = match own {
            Some(own) => self.at(own),
            None => effect.zip(end).and_then(since)?,
        };
        Some(Part {
            begun: Begun { end, ..begun },
            is_cause: cause.is_some(),
            is_effect: effect.is_some(),
        })
    }

    /// Those who take part, if it is known since when each of them waited.
    fn parts(&self, instance: Instance) -> Option<Vec<Part>> {
        let collectives = self.causality.collectives();
        let operation = collectives.operation(instance);
        if operation.across_sides {
            return None;
        }
        let participants = collectives.participants(instance).iter();
        participants
            .map(|it| self.part(operation.class, it))
            .collect()
    }

    /// True if it is known who waited for whom in an operation in which not all wait for all, and two
    /// processes take part.
    pub(super) fn is_partial(&self, instance: Instance) -> bool {
        let Some(parts) = self.parts(instance) else {
            return false;
        };
        let mut processes = parts.iter().map(|it| it.begun.process);
        let first = processes.next();
        parts.iter().any(|it| it.is_cause) && processes.any(|it| Some(it) != first)
    }

    /// Notes who waited for whom in an operation in which not all wait for all; false if nothing says
    /// since when.
    pub(super) fn partial(&self, sums: &mut WaitSums, instance: Instance) -> bool {
        let Some(parts) = self.parts(instance) else {
            return false;
        };
        let causes = || parts.iter().filter(|it| it.is_cause).map(|it| &it.begun);
        let Some(last) = causes().rev().max_by_key(|it| it.time) else {
            return false;
        };
        if parts.iter().all(|it| it.begun.process == last.process) {
            return false;
        }
        let is_held_up = |it: &&Part| {
            it.is_effect
                && it.begun.process != last.process
                && it.begun.until(last.time) > it.begun.time
        };
        let held_up = parts.iter().filter(is_held_up).map(|it| &it.begun);
        let others = causes().filter(|it| it.process != last.process);
        let others: Vec<&Begun> = held_up.chain(others).collect();
        let next = others.iter().copied().max_by_key(|it| it.time);
        let beyond = next.map(|next| self.beyond(last, next, others.iter().copied().copied()));
        let place = Place {
            location: last.location,
            event: self.causality.nodes().event(last.node),
        };
        let late = Late {
            process: last.process as u32,
            is_certain: beyond.is_some_and(|it| it > 0.0),
            waited_by: WaitedBy::Some,
        };
        let stays = parts.iter().map(|it| {
            let waits = if it.is_effect {
                last.time
            } else {
                it.begun.time
            };
            it.begun.stay(waits)
        });
        sums.visits.add(place, late, self.causality, stays);
        for it in &parts {
            if let Some(own) = sums.locations.get_mut(it.begun.location.as_usize()) {
                own.operations += 1;
            }
        }
        sums.partial += 1;
        true
    }
}
