//! The clocks inside an application, beside those over the recording of what it did.

use std::collections::BTreeSet;

use crate::common::case::Case;
use crate::common::papers::Printed;
use crate::common::{Sharing, Spec, cases, specs};
use proptest::prelude::*;
use retime::causality::{Class, EventNode, Instance, Participant, Role};
use retime::clock::{
    Control, DegressiveConstants, PiggybackClock, PiggybackStamp, PiggybackStamps, Regulation,
    Steps, TakingPart, regulated, simple,
};
use retime::{MinimalDelay, TickRate, Ticks};

/// A program with a clock for each location, which knows the class of each operation, and of
/// others what they sent.
struct Application<'a> {
    case: &'a Case,
    clocks: Vec<PiggybackClock>,
    /// By node, what its event gave to others.
    given: Vec<PiggybackStamp>,
    /// By node, the logical time.
    times: Vec<i64>,
    /// The classes of operations that somebody waited in.
    waited: BTreeSet<&'static str>,
}

impl<'a> Application<'a> {
    fn run(case: &'a Case, clock: &PiggybackClock) -> Self {
        let printed = Printed::of(&case.plain, &case.delay, 0);
        let count = case.plain.raw.len();
        let mut application = Self {
            case,
            clocks: vec![clock.clone(); printed.clocks()],
            given: vec![PiggybackStamp::NOTHING; count],
            times: vec![0; count],
            waited: BTreeSet::new(),
        };
        printed.each(|node, _, causes| application.event(node, causes));
        application
    }

    fn event(&mut self, node: usize, causes: &[(usize, i64)]) {
        let heard = causes.iter().map(|cause| self.given[cause.0]);
        let heard = heard.reduce(PiggybackStamp::merged);
        let raw = self.case.plain.raw[node];
        let clock = self.case.plain.clock[node];
        let part = self.part(node);
        let role = self.case.causality.nodes().role(EventNode(node as u32));
        match role {
            Role::CollectiveBegin => {
                self.given[node] = self.clocks[clock].enter(raw, part);
                self.times[node] = self.clocks[clock].now(raw);
            }
            Role::CollectiveEnd => {
                let others = self.others(node);
                assert_eq!(others, heard.unwrap_or(PiggybackStamp::NOTHING));
                self.times[node] = self.clocks[clock].leave(raw, part, others);
            }
            _ if heard.is_some() => {
                let heard = heard.unwrap_or(PiggybackStamp::NOTHING);
                self.times[node] = self.clocks[clock].receive(raw, heard);
            }
            _ => {
                self.given[node] = self.clocks[clock].send(raw);
                self.times[node] = self.given[node].controlled;
            }
        }
    }

    /// The part that an event has in its operation; none in one that proves nothing.
    fn part(&self, node: usize) -> TakingPart {
        let Some((instance, place)) = self.place(node) else {
            return TakingPart::of(Class::None, false);
        };
        let collectives = self.case.causality.collectives();
        let participant = collectives.participants(instance)[place];
        let class = collectives.operation(instance).class;
        // Who has no bytes to give or to get takes less part than its class says.
        let (gave, got) = (
            participant.cause().is_some(),
            participant.effect().is_some(),
        );
        let is_root = if class == Class::OneToAll { gave } else { got };
        let part = TakingPart::of(class, is_root);
        TakingPart {
            gives: part.gives && gave,
            gets: part.gets && got,
        }
    }

    fn place(&self, node: usize) -> Option<(Instance, usize)> {
        let causality = &self.case.causality;
        let slot = causality.slot(EventNode(node as u32))?;
        Some(causality.collectives().locate(slot))
    }

    /// The merged stamps of those for which an end waits, as a program gets them.
    fn others(&mut self, node: usize) -> PiggybackStamp {
        let Some((instance, place)) = self.place(node) else {
            return PiggybackStamp::NOTHING;
        };
        let collectives = self.case.causality.collectives();
        let operation = collectives.operation(instance);
        let participants = collectives.participants(instance);
        let given = |it: &Participant| {
            let cause = it.cause();
            cause.map_or(PiggybackStamp::NOTHING, |it| self.given[it.index()])
        };
        if !self.part(node).gets {
            return PiggybackStamp::NOTHING;
        }
        let merged = |some: &[Participant]| {
            let some = some.iter().map(given);
            some.fold(PiggybackStamp::NOTHING, PiggybackStamp::merged)
        };
        let (word, others) = match operation.class {
            Class::Prefix => ("prefix", merged(&participants[..place])),
            Class::OneToAll | Class::AllToOne | Class::AllToAll if operation.across_sides => {
                let own = participants[place].side;
                let across = participants.iter().filter(|it| it.side != own);
                let across: Vec<_> = across.copied().collect();
                ("across", merged(&across))
            }
            Class::OneToAll => ("1-to-n", merged(participants)),
            Class::AllToOne => ("n-to-1", merged(participants)),
            Class::AllToAll => {
                let all = participants.iter().map(|it| PiggybackStamps::of(given(it)));
                let all = all.fold(PiggybackStamps::NOTHING, PiggybackStamps::merged);
                ("n-to-n", all.besides(given(&participants[place])))
            }
            Class::None => ("none", PiggybackStamp::NOTHING),
        };
        if others != PiggybackStamp::NOTHING {
            self.waited.insert(word);
        }
        others
    }
}

/// With a clock for each location, as in the papers, and one delay for all.
fn case(spec: &Spec, delay: i64) -> Case {
    let mut case = Case::new(&Spec {
        sharing: Sharing::Location,
        ..spec.clone()
    });
    case.delay = MinimalDelay::Uniform(Ticks(delay));
    case
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn the_controlled_clock_is_that_of_1997(
        spec in specs(200), delay in 0..2_000_i64, rate in 1_000_000_u64..10_000_000_000
    ) {
        let case = case(&spec, delay);
        let rate = TickRate::per_second(rate).unwrap();
        let regulation = Regulation {
            delay: case.delay.clone(),
            distance: Ticks(0).into(),
            control: Control::Degressive(DegressiveConstants::default()),
            steps: Steps::default(),
        };
        let times = regulated(&case.causality, &case.clocks, rate, &regulation, &()).unwrap();
        let inside = Application::run(&case, &PiggybackClock::new(rate, delay));
        for node in case.causality.nodes().all() {
            prop_assert_eq!(inside.times[node.index()], times.get(node).0);
        }
    }

    #[test]
    fn the_simple_clock_is_the_simple_clock(spec in specs(300), delay in 0..2_000_i64) {
        let case = case(&spec, delay);
        let times = simple(&case.causality, &case.clocks, &case.delay, &Ticks(0).into(), &()).unwrap();
        let inside = Application::run(&case, &PiggybackClock::simple(delay));
        for node in case.causality.nodes().all() {
            prop_assert_eq!(inside.times[node.index()], times.get(node).0);
        }
    }
}

/// The programs of the properties have operations of every class.
#[test]
fn every_class_is_waited_in() {
    let mut waited = BTreeSet::new();
    for seed in 0..40 {
        let spec = Spec {
            locations: 6,
            steps: 200,
            seed,
            threads: false,
            tick: 40,
            offset: 4_000,
            drift_ppm: 50,
            sharing: Sharing::Location,
        };
        let case = case(&spec, 10);
        waited.extend(Application::run(&case, &PiggybackClock::simple(10)).waited);
    }
    let all = ["1-to-n", "across", "n-to-1", "n-to-n", "prefix"];
    assert_eq!(waited.into_iter().collect::<Vec<_>>(), all);
}
