//! A logical clock over a part of a trace, in one pass.
//!
//! The values of [ghosts](retime_causality::Whole) are computed in other parts, and those of
//! own events may follow from them. A clock needs nothing of another but what it is told, and
//! it does not matter to it where the other one runs:
//!
//! ```text
//!  advance(values that arrived) -> values that others may wait for,  runs | waits | done
//! ```
//!
//! So each part goes on until all of its clocks wait, tells the others what it has come to, and
//! goes on when something arrives. Each event is computed once, and by the same rules as if the
//! trace were in one piece: only maxima are taken, so that it does not matter what came first.
//! Values are told as how long after its recorded time an event lies, since that is mostly nothing;
//! both parts know that time.
//!
//! Events of one clock that [wait for each other](crate::tied) are told before anything runs. If
//! all parts wait and nothing is under way, the events they wait for form a cycle. How parts
//! tell each other, and come to know that, is up to [`Rest::replay`](retime_causality::Rest).
//!
//! Where clocks are aligned hardly any event moves, and none has to be waited for: it can be guessed
//! that ghosts are where they were recorded, and then where the last guess has put them. A guess
//! that comes to itself is the solution, as what follows from what has no cycles.
//!
//! Source: Linford 2007, section 4 (parallel replay), where a value is sent along with each
//! message of the program; sent together when the sender has to wait, they are as many at most.

use crate::error::ClockError;
use crate::law::Law;
use crate::operations::{BoundsOfEnds, parts};
use crate::run::Run;
use crate::tied::wait_for_each_other;
use crate::times::{Jumped, LogicalTimes, UNKNOWN};
use retime_causality::merge::{All, Any};
use retime_causality::{
    ComputedEvent, EventNode, Ghosts, NeedsWhole, Progress, Replay, Role, Slot, Stage,
};
use retime_model::{Cancelled, Clocks, Monitor};

/// So many events a part computes before it tells others of them, who may wait.
const STRIDE: usize = 1 << 12;

/// Runs clocks in any order, in all parts of the trace together. What others come to may be
/// guessed so many times first, each time with a `fresh` run.
pub(super) fn in_any_order<'a, L: Law>(
    fresh: impl Fn() -> Run<'a, L>,
    guesses: u32,
    monitor: &dyn Monitor,
) -> Result<(LogicalTimes, L), ClockError> {
    let mut run = fresh();
    let (causality, clocks) = (run.causality(), run.clocks());
    let whole = causality.whole();
    let Some(rest) = whole.rest() else {
        run.in_any_order(|_| false)?;
        return run.finish();
    };
    if clocks.len() < causality.nodes().locations() {
        let waits = wait_for_each_other(causality, clocks, monitor)?;
        if whole.all_reduce(Any(waits)).0 {
            whole.give_up(NeedsWhole::Contradiction);
            return Err(Cancelled.into());
        }
        rest.check()?;
    }
    let parts = parts(causality);
    let mut pass = OnePass {
        parts: &parts,
        monitor,
        pass: Pass::new(run, &parts),
        fresh,
        computed: Vec::new(),
        told: Vec::new(),
        told_bounds: Vec::new(),
    };
    rest.replay(&mut pass, guesses)?;
    let found = pass.pass.run.finish();
    let jumped = found.as_ref().map_or(Jumped::default(), |it| it.0.jumped);
    let (All(fits), jumped) = whole.all_reduce((All(found.is_ok()), jumped));
    if !fits {
        whole.give_up(NeedsWhole::TooFar);
    }
    rest.check()?;
    found.map(|(times, law)| (LogicalTimes { jumped, ..times }, law))
}

/// A run over the clocks of a part, as others drive it.
struct OnePass<'p, 'a, L, F> {
    fresh: F,
    parts: &'p Clocks,
    monitor: &'p dyn Monitor,
    pass: Pass<'p, 'a, L>,
    computed: Vec<EventNode>,
    told: Vec<ComputedEvent>,
    told_bounds: Vec<(Slot, Option<i64>)>,
}

/// How far a run over the clocks of a part has come.
struct Pass<'p, 'a, L> {
    run: Run<'a, L>,
    bounds: BoundsOfEnds<'p>,
    /// Own events that are not computed yet, and ghosts that have not arrived.
    own: usize,
    ghosts: usize,
}

impl<'p, 'a: 'p, L: Law> Pass<'p, 'a, L> {
    fn new(run: Run<'a, L>, parts: &'p Clocks) -> Self {
        let causality = run.causality();
        let nodes = causality.nodes();
        let own = nodes.own().count();
        Self {
            bounds: BoundsOfEnds::new(causality, run.delay(), parts, run.values()),
            run,
            own,
            ghosts: nodes.len() - own,
        }
    }

    /// Takes up what other parts have computed.
    fn hear(&mut self, arrived: &Ghosts) {
        let nodes = self.run.causality().nodes();
        for &(node, lead) in &arrived.leads {
            if self.run.values()[node.index()] != UNKNOWN {
                continue;
            }
            self.run.hear(node, nodes.time(node).0.saturating_add(lead));
            self.ghosts -= 1;
            self.begun(node);
        }
        for &(slot, bound) in &arrived.bounds {
            let participant = self.run.causality().collectives().participant(slot);
            // No time is below 0.
            let end = participant.effect().map_or(0, |it| nodes.time(it).0);
            let bound = bound.map_or(0, |it| end.saturating_add(it));
            self.run.hear_bound(slot, bound);
        }
    }

    /// If `node` begins an operation, others may come to know when they can end it.
    fn begun(&mut self, node: EventNode) {
        if self.run.causality().nodes().role(node) == Role::CollectiveBegin {
            self.bounds.begun(self.run.values(), node);
        }
    }

    /// The value of an own event, as others are told it.
    fn tell(&self, node: EventNode) -> ComputedEvent {
        let nodes = self.run.causality().nodes();
        ComputedEvent {
            node,
            lead: self.run.values()[node.index()] - nodes.time(node).0,
            is_cause: matches!(nodes.role(node), Role::Send | Role::CollectiveBegin),
        }
    }

    fn stage(&self) -> Stage {
        if !self.run.is_waiting() {
            Stage::Runs
        } else if self.own > 0 || !self.bounds.are_known() {
            Stage::Waits
        } else if self.ghosts > 0 {
            Stage::Listens
        } else {
            Stage::Done
        }
    }
}

impl<'p, 'a: 'p, L: Law, F: Fn() -> Run<'a, L>> Replay for OnePass<'p, 'a, L, F> {
    fn advance(&mut self, arrived: &Ghosts) -> Result<Progress<'_>, Cancelled> {
        let (pass, computed) = (&mut self.pass, &mut self.computed);
        pass.hear(arrived);
        computed.clear();
        pass.run.in_any_order(|node| {
            computed.push(node);
            computed.len() >= STRIDE
        })?;
        pass.own -= computed.len();
        self.told.clear();
        for &node in &*computed {
            pass.begun(node);
            self.told.push(pass.tell(node));
        }
        pass.bounds.take(&mut self.told_bounds);
        Ok(Progress {
            events: &self.told,
            bounds: &self.told_bounds,
            stage: pass.stage(),
        })
    }

    fn restart(&mut self) {
        self.pass = Pass::new((self.fresh)(), self.parts);
    }

    fn check(&self) -> Result<(), Cancelled> {
        self.monitor.check()
    }
}
