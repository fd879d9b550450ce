//! Which options have a part in which methods.

use retime::pipeline::{Choice, LogicalClock, Method};

use crate::error::CliError;
use crate::given::Given;

/// Options with a part in some methods only, each with the choice that it makes: methods
/// say which of these they heed.
const CHOICES: [(&str, Choice); 23] = [
    ("controller", Choice::Control),
    ("gamma-max", Choice::Control),
    ("amortization", Choice::Control),
    ("amortization-method", Choice::Control),
    ("start-clock-difference", Choice::Control),
    ("max-advance", Choice::Control),
    ("gamma-min", Choice::Control),
    ("q-init", Choice::Control),
    ("q-min", Choice::Control),
    ("q-factor", Choice::Control),
    ("gamma-degress", Choice::Control),
    ("l-upper", Choice::Control),
    ("l-lower", Choice::Control),
    ("min-distance", Choice::Distance),
    ("steps", Choice::Control),
    ("backward", Choice::Direction),
    ("repair", Choice::Repair),
    ("reference", Choice::Reference),
    ("max-rate-difference", Choice::Reference),
    ("intervals", Choice::Intervals),
    ("one-way-factor", Choice::OneWay),
    ("pairs", Choice::Pairs),
    ("offsets", Choice::Offsets),
];

/// Refuses an option that was given and does nothing with any of several methods.
pub(crate) fn fits_one_of<'a>(
    given: &Given,
    methods: impl IntoIterator<Item = &'a Method>,
) -> Result<(), CliError> {
    let tried = methods.into_iter().map(|it| fits(given, it));
    tried.reduce(Result::or).unwrap_or(Ok(()))
}

/// Refuses an option that was given and does nothing with this method.
pub(super) fn fits(given: &Given, method: &Method) -> Result<(), CliError> {
    let stranger = CHOICES
        .iter()
        .find(|(option, choice)| given.has(option) && !method.heeds(*choice));
    let Some((option, choice)) = stranger else {
        return Ok(());
    };
    let repaired = method.clone().repaired_by(Some(LogicalClock::default()));
    let without = if repaired.heeds(*choice) {
        " --repair off"
    } else {
        ""
    };
    let method = method.name();
    Err(CliError::Usage(format!(
        "--{option} has no part in --method {method}{without}; leave it out or choose another method"
    )))
}
