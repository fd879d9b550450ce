//! The last line of `retime correct` and its exit code.

use retime::pipeline::Verdict;
use retime::{group_digits, plural, printable_path};

use super::fresh::Fresh;
use crate::args::CorrectArgs;
use crate::error::VIOLATIONS;
use crate::report::{examined, model};

/// The last line and the exit code for a sound trace, which was copied.
pub(super) fn outcome_of_copy(args: &CorrectArgs, part: &model::ExaminedPart) -> (String, u8) {
    let copy = format!("{} is a plain copy.", printable_path(&args.output.output));
    let text = match (part.verdict, examined::instead_of_sound(part)) {
        (_, None) => format!("No contradiction, so nothing was changed: {copy}"),
        (Verdict::NothingRecorded, Some(found)) => {
            format!("{found}, so nothing was changed: {copy}")
        }
        (_, Some(found)) => format!("{found}. Nothing was changed: {copy}"),
    };
    (text, examined::exit_code(part))
}

/// How many dependencies are shorter than the minimal delay, and whether that was given.
#[derive(Clone, Copy)]
pub(super) struct Short {
    pub(super) count: u64,
    pub(super) is_given: bool,
}

/// The last line and the exit code: what the written trace says of itself, and how many
/// dependencies are shorter than the minimal delay. Where that was asked for, it is not met
/// then; where it was learned, the trace contradicts an estimate, and not itself.
pub(super) fn outcome(args: &CorrectArgs, short: Short, fresh: &Fresh) -> (String, u8) {
    let output = printable_path(&args.output.output);
    let caveat = examined::caveat(&fresh.examined).unwrap_or_default();
    let left = fresh.check.violated();
    let Short {
        count: short,
        is_given,
    } = short;
    if left == 0 && (short == 0 || !is_given) {
        let shorter = match short {
            0 => String::new(),
            _ => format!(
                "; {} shorter than the minimal delay that was learned",
                group_digits(short)
            ),
        };
        let stretch = fresh.examined.stretch.as_ref();
        let stretch = stretch.map_or_else(String::new, |it| format!(" {}", examined::when(it)));
        let text = format!(
            "Wrote {output}: no contradiction left{stretch}, checked over {} of the written trace{shorter}.{caveat}",
            plural(fresh.checked(), "dependency")
        );
        return (text, fresh.exit_code(args.model.strict));
    }
    let text = format!(
        "Wrote {output}, with {} still reversed ({} of them within one clock) and {} shorter than the minimal delay.{caveat}",
        plural(left, "dependency"),
        group_digits(fresh.check.violated_within_clock()),
        group_digits(short),
    );
    (text, VIOLATIONS)
}
