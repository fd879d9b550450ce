//! Every method by its name: the one list that commands, comparisons,
//! experiments and tests read.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::logical_clock::{ClockControl, LogicalClock};
use super::method::Method;
use crate::clock::{CombinedConstants, Control, DegressiveConstants, MultiPass};

/// A method by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// Clocks aligned by all dependencies, then the little that is left repaired
    /// where it is.
    #[default]
    Auto,
    /// The controlled logical clock.
    Clc,
    /// The simple logical clock: a clock that is ahead stands still.
    Simple,
    /// Lamport's clock: counters instead of times.
    Lamport,
    /// Lines between offsets that were measured during the run.
    Interpolation,
    /// Duda: a line through the messages with the reference.
    Regression,
    /// Duda: a line between the messages there and back.
    ConvexHull,
    /// Jézéquel: lines along the best-determined pairs of clocks.
    SpanningTree,
    /// Hofmann: a line through the middles of sub-intervals.
    MinMax,
    /// Hofmann and Hilgers: sub-intervals of all clocks, by shortest paths.
    HofmannHilgers,
    /// The same extended for clocks of variable rate.
    Extended,
    /// Liu: clocks shifted by the fastest messages, adjusted once.
    PseudoSync,
    /// The same, adjusted until no message is violated.
    PseudoSyncClosure,
    /// The correction that changes local intervals as little as can be.
    Gentlest,
    /// The middle of the error bounds.
    Optimal,
}

/// What a name stands for.
struct Entry {
    method: MethodName,
    name: &'static str,
    help: &'static str,
}

const fn entry(method: MethodName, name: &'static str, help: &'static str) -> Entry {
    Entry { method, name, help }
}

const REGISTRY: [Entry; 15] = {
    use MethodName as M;
    [
        entry(
            M::Auto,
            "auto",
            "What suits most traces: clocks aligned by all dependencies, then the little that \
             is left repaired where it is",
        ),
        entry(
            M::Clc,
            "clc",
            "Controlled logical clock: local intervals stay nearly exact",
        ),
        entry(
            M::Simple,
            "simple",
            "Simple logical clock: a clock that is ahead stands still",
        ),
        entry(
            M::Lamport,
            "lamport",
            "Lamport's clock: times become counters, for the order of events alone",
        ),
        entry(
            M::Interpolation,
            "interpolation",
            "Linear interpolation between offsets that were measured during the run",
        ),
        entry(
            M::Regression,
            "regression",
            "Duda's regression: a line through the messages with the reference",
        ),
        entry(
            M::ConvexHull,
            "convex-hull",
            "Duda's convex hulls: a line between the messages there and back",
        ),
        entry(
            M::SpanningTree,
            "spanning-tree",
            "Jézéquel's spanning tree: lines along the best-determined pairs of clocks",
        ),
        entry(
            M::MinMax,
            "min-max",
            "Hofmann's min/max: a line through the middles of sub-intervals",
        ),
        entry(
            M::HofmannHilgers,
            "hofmann-hilgers",
            "Hofmann and Hilgers: sub-intervals of all clocks, by shortest paths",
        ),
        entry(
            M::Extended,
            "extended",
            "The same extended for clocks of variable rate: piecewise lines, and messages in \
             one direction",
        ),
        entry(
            M::PseudoSync,
            "pseudo-sync",
            "Liu's pseudo-synchronisation: clocks shifted by the fastest messages from the \
             reference, adjusted once",
        ),
        entry(
            M::PseudoSyncClosure,
            "pseudo-sync-closure",
            "The same, adjusted until no message is violated",
        ),
        entry(
            M::Gentlest,
            "gentlest",
            "The correction that changes local intervals as little as can be",
        ),
        entry(
            M::Optimal,
            "optimal",
            "The middle of what clocks that wander within --drift-bound leave open",
        ),
    ]
};

/// No method has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no method is called \"{0}\"")]
pub struct NoSuchMethod(pub String);

impl MethodName {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        REGISTRY.iter().map(|it| it.method)
    }

    fn entry(self) -> &'static Entry {
        // Declared in one order, here and above; a test holds them together.
        &REGISTRY[self as usize]
    }

    /// As it is written on a command line.
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// What it is, in a line.
    pub fn help(self) -> &'static str {
        self.entry().help
    }

    /// Whether it estimates how clocks differ, and may be followed by a logical
    /// clock.
    pub const fn is_estimator(self) -> bool {
        !matches!(self, Self::Auto | Self::Clc | Self::Simple | Self::Lamport)
    }

    /// Whether corrected stamps are times.
    pub const fn keeps_time(self) -> bool {
        !matches!(self, Self::Lamport)
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MethodName {
    type Err = NoSuchMethod;

    fn from_str(name: &str) -> Result<Self, NoSuchMethod> {
        let found = REGISTRY.iter().find(|it| it.name == name);
        found
            .map(|it| it.method)
            .ok_or_else(|| NoSuchMethod(name.into()))
    }
}

/// A method as it stands in a comparison.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is called: the names of its parts.
    pub name: String,
    /// Options of the command that give it.
    pub options: String,
    /// The method.
    pub method: Method,
}

/// Every method that keeps time, with its usual parameters: the default, logical clocks
/// under each control, and each estimator alone and followed by the controlled
/// logical clock.
pub fn candidates() -> Vec<Candidate> {
    let clocks = logical_clocks().into_iter().map(|(name, options, method)| {
        let option = method.name();
        Candidate {
            name: name.into(),
            options: format!("--method {option}{options}"),
            method,
        }
    });
    let estimators = MethodName::all().filter(|name| name.is_estimator());
    let estimators = estimators.flat_map(|name| {
        [
            Candidate {
                name: name.to_string(),
                options: format!("--method {name} --repair off"),
                method: Method::new(name).repaired_by(None),
            },
            Candidate {
                name: format!("{name}, clc"),
                options: format!("--method {name}"),
                method: Method::new(name),
            },
        ]
    });
    clocks.chain(estimators).collect()
}

/// The default method and the logical clocks, and the options that give them
/// besides their names.
fn logical_clocks() -> [(&'static str, &'static str, Method); 7] {
    let clc = |change: &dyn Fn(&mut LogicalClock)| {
        let mut clock = LogicalClock::default();
        change(&mut clock);
        Method::clock(clock)
    };
    let control = |control: ClockControl| clc(&|clock| clock.control = control);
    let by_event = |it: Control| control(ClockControl::ByEvent(it));
    [
        ("auto", "", Method::new(MethodName::Auto)),
        ("clc", "", Method::new(MethodName::Clc)),
        (
            "clc, backward",
            " --backward",
            clc(&|clock| clock.backward = true),
        ),
        (
            "clc, 1997",
            " --controller 1997",
            by_event(Control::Degressive(DegressiveConstants::default())),
        ),
        (
            "clc, abcd",
            " --controller abcd",
            by_event(Control::Combined(CombinedConstants::default())),
        ),
        (
            "clc, passes",
            " --controller passes",
            control(ClockControl::Passes(MultiPass::default())),
        ),
        ("simple", "", Method::new(MethodName::Simple)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_entries_stand_in_one_order() {
        for (position, name) in MethodName::all().enumerate() {
            assert_eq!(name as usize, position, "{name}");
            assert_eq!(name.as_str().parse(), Ok(name));
        }
        assert!("auto ".parse::<MethodName>().is_err());
    }

    #[test]
    fn candidates_have_names_of_their_own() {
        let mut names: Vec<String> = candidates().into_iter().map(|it| it.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count > 20);
    }
}
