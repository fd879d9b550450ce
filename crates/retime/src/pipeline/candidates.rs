//! Methods side by side: each of a table, in the forms worth comparing.

use super::algorithm::Algorithm;
use super::method::Method;

/// A method as it stands in a comparison.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The names of its parts.
    pub name: String,
    /// Options of the command that give it.
    pub options: String,
    /// The method.
    pub method: Method,
}

/// Every method of a table that keeps time, with its usual parameters: logical clocks
/// under each control, and each estimator alone and followed by the controlled logical
/// clock.
///
/// ```
/// use retime::pipeline::{Auto, ClockKind, GentlestCorrection, candidates};
/// let found = candidates(&[&Auto, &ClockKind::Simple, &ClockKind::Lamport, &GentlestCorrection]);
/// let options: Vec<&str> = found.iter().map(|it| &*it.options).collect();
/// assert_eq!(options, [
///     "--method auto",
///     "--method simple",
///     "--method gentlest --repair off",
///     "--method gentlest",
/// ]);
/// ```
pub fn candidates(methods: &[&'static dyn Algorithm]) -> Vec<Candidate> {
    let timed = methods.iter().filter(|it| it.keeps_time());
    let of = |algorithm: &&'static dyn Algorithm| {
        let algorithm = *algorithm;
        let variants = algorithm.variants().into_iter();
        variants.map(move |it| Candidate {
            name: it.name,
            options: it.words,
            method: Method::new(algorithm).with(it.options),
        })
    };
    timed.flat_map(of).collect()
}
