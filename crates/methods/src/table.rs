//! The methods that commands, comparisons and experiments choose from.

use retime::pipeline::{Algorithm, Auto, ClockKind, GentlestCorrection, MiddleOfBounds};

/// All methods, the default first. Help and comparisons list them in this order.
pub static METHODS: &[&dyn Algorithm] = &[
    &Auto,
    &ClockKind::Controlled,
    &ClockKind::Simple,
    &ClockKind::Lamport,
    &crate::Interpolation,
    &crate::Regression,
    &crate::ConvexHull,
    &crate::SpanningTree,
    &crate::MinMax,
    &crate::HofmannHilgers,
    &crate::Extended::DEFAULT,
    &crate::PseudoSync { closure: false },
    &crate::PseudoSync { closure: true },
    &GentlestCorrection,
    &MiddleOfBounds,
];

/// The method of that name.
///
/// ```
/// use retime::pipeline::Method;
/// let method = retime_methods::named("min-max").map(Method::new);
/// assert_eq!(method.unwrap().to_string(), "min/max, then controlled logical clock");
/// assert!(retime_methods::named("min-max ").is_none());
/// ```
pub fn named(name: &str) -> Option<&'static dyn Algorithm> {
    METHODS.iter().copied().find(|it| it.name() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use retime::pipeline::candidates;

    use super::*;

    #[test]
    fn methods_have_names_of_their_own() {
        let names: BTreeSet<&str> = METHODS.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), METHODS.len());
        for method in METHODS {
            assert_eq!(named(method.name()).unwrap().name(), method.name());
        }
    }

    #[test]
    fn so_have_candidates() {
        let all = candidates(METHODS);
        let names: BTreeSet<&str> = all.iter().map(|it| &*it.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.len() > METHODS.len());
    }
}
