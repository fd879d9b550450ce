//! A logical clock over a part of a trace, in one pass.
//!
//! The values of [ghosts](crate::causality::Whole) are computed in other parts, and those of
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
//! Events of one clock that [wait for each other](super::tied) are told before anything runs. If
//! all parts wait and nothing is under way, the events they wait for form a cycle. How parts
//! tell each other, and come to know that, is up to [`Rest::replay`](crate::causality::Rest).
//!
//! Source: Linford 2007, section 4 (parallel replay), where a value is sent along with each
//! message of the program; sent together when the sender has to wait, they are as many at most.

use super::error::ClockError;
use super::law::Law;
use super::operations::{BoundsOfEnds, parts};
use super::run::Run;
use super::tied::wait_for_each_other;
use super::times::{Jumped, LogicalTimes, UNKNOWN};
use crate::causality::{EventNode, Ghosts, NeedsWhole, Progress, Replay, Role, Slot, Stage, Told};
use crate::merge::{All, Any};
use retime_model::{Cancelled, Clocks, Monitor};

/// So many events a part computes before it tells others of them, who may wait.
const STRIDE: usize = 1 << 12;

/// Runs clocks in any order, in all parts of the trace together.
pub(super) fn in_any_order<L: Law>(
    mut run: Run<'_, L>,
    monitor: &dyn Monitor,
) -> Result<(LogicalTimes, L), ClockError> {
    let whole = run.causality().whole();
    let Some(rest) = whole.rest() else {
        run.in_any_order(|_| false)?;
        return run.finish();
    };
    let (causality, clocks) = (run.causality(), run.clocks());
    if clocks.len() < causality.nodes().locations() {
        let waits = wait_for_each_other(causality, clocks, monitor)?;
        if whole.all_reduce(Any(waits)).0 {
            whole.give_up(NeedsWhole::Contradiction);
            return Err(Cancelled.into());
        }
        rest.check()?;
    }
    let parts = parts(causality);
    let mut part = OnePass::new(run, &parts, monitor);
    rest.replay(&mut part)?;
    let found = part.run.finish();
    let jumped = found.as_ref().map_or(Jumped::default(), |it| it.0.jumped);
    let (All(fits), jumped) = whole.all_reduce((All(found.is_ok()), jumped));
    if !fits {
        whole.give_up(NeedsWhole::TooFar);
    }
    rest.check()?;
    found.map(|(times, law)| (LogicalTimes { jumped, ..times }, law))
}

/// A run over the clocks of a part.
struct OnePass<'a, L> {
    run: Run<'a, L>,
    bounds: BoundsOfEnds<'a>,
    monitor: &'a dyn Monitor,
    /// Own events that are not computed yet, and ghosts that have not arrived.
    own: usize,
    ghosts: usize,
    computed: Vec<EventNode>,
    told: Vec<Told>,
    told_bounds: Vec<(Slot, Option<i64>)>,
}

impl<'a, L: Law> OnePass<'a, L> {
    fn new(run: Run<'a, L>, parts: &'a Clocks, monitor: &'a dyn Monitor) -> Self {
        let causality = run.causality();
        let nodes = causality.nodes();
        let own = nodes.own().count();
        Self {
            bounds: BoundsOfEnds::new(causality, run.delay(), parts, run.values()),
            run,
            monitor,
            own,
            ghosts: nodes.len() - own,
            computed: Vec::new(),
            told: Vec::new(),
            told_bounds: Vec::new(),
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

    /// What others are told of an own event.
    fn tell(&self, node: EventNode) -> Told {
        let nodes = self.run.causality().nodes();
        Told {
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

impl<L: Law> Replay for OnePass<'_, L> {
    fn advance(&mut self, arrived: &Ghosts) -> Result<Progress<'_>, Cancelled> {
        self.hear(arrived);
        let mut computed = std::mem::take(&mut self.computed);
        computed.clear();
        self.run.in_any_order(|node| {
            computed.push(node);
            computed.len() >= STRIDE
        })?;
        self.own -= computed.len();
        self.told.clear();
        for &node in &computed {
            self.begun(node);
            self.told.push(self.tell(node));
        }
        self.computed = computed;
        self.bounds.take(&mut self.told_bounds);
        Ok(Progress {
            events: &self.told,
            bounds: &self.told_bounds,
            stage: self.stage(),
        })
    }

    fn check(&self) -> Result<(), Cancelled> {
        self.monitor.check()
    }
}
