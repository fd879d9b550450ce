//! A method as a type: its name, its options, and how it solves a trace.
//!
//! ```text
//!  Algorithm    from a trace to a correction     Auto, the logical clocks, each Estimator
//!  Estimator    from dependencies to an estimate, from which the pipeline goes on
//!  Method       an Algorithm with its Options
//! ```
//!
//! A list of `&'static dyn Algorithm` is all that a command, a comparison or an
//! experiment knows of methods.

use std::any::Any;
use std::fmt::Debug;

use super::options::{Choice, Options};
use super::problem::{Found, Problem};
use super::unsolved::Unsolved;

/// A way to correct a trace. Whoever only estimates how clocks differ implements
/// [`Estimator`](super::Estimator) instead, and is an algorithm by that.
pub trait Algorithm: Any + Debug + Send + Sync {
    /// Its name on a command line, which no other method has.
    fn name(&self) -> &'static str;

    /// One line of help.
    fn help(&self) -> &'static str;

    /// Its name in a sentence of a report.
    fn describe(&self, options: &Options) -> String;

    /// Which options have a part in it, given the others.
    fn choices(&self, options: &Options) -> Vec<Choice>;

    /// Corrects a trace. The result is checked by whoever asks for it.
    fn solve(&self, problem: &Problem<'_>, options: &Options) -> Result<Found, Unsolved>;

    /// False if corrected stamps are no times.
    fn keeps_time(&self) -> bool {
        true
    }

    /// The method that takes its place where no clock contradicts another.
    fn where_clocks_agree(&self) -> Option<&'static dyn Algorithm> {
        None
    }

    /// The forms in which it stands in a comparison of methods.
    fn variants(&self) -> Vec<Variant> {
        vec![Variant {
            name: self.name().into(),
            words: format!("--method {}", self.name()),
            options: Options::default(),
        }]
    }
}

/// An algorithm with certain options.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The names of its parts.
    pub name: String,
    /// Words of the command line that give it.
    pub words: String,
    /// The options.
    pub options: Options,
}
