//! Methods that have no solution, or none that is any good.

use super::Case;
use super::files::{archive, trace, with};
use crate::common::traces;

pub(super) fn methods() -> Vec<Case> {
    let offsets = |text: &str| with(trace(), "offsets.txt", text);
    let interpolation = "correct trace -o out --method interpolation --offsets offsets.txt";
    let sound = || archive(&traces::sound());
    vec![
        (
            "method-one-way",
            "correct trace -o out --method regression",
            archive(&traces::one_way(5)),
        ),
        (
            "method-infeasible",
            "correct trace -o out --method convex-hull",
            archive(&traces::bent(3)),
        ),
        (
            "method-no-offsets",
            "correct trace -o out --method interpolation",
            trace(),
        ),
        (
            "method-unmeasured",
            interpolation,
            offsets("0 0 1us\n0 1us 1us\n"),
        ),
        (
            "method-steep",
            "correct trace -o out --method interpolation --offsets offsets.txt --repair off",
            offsets("0 0 0\n1 100 2us\n1 1800 0ticks\n"),
        ),
        (
            "method-worse",
            "correct trace -o out --always --method interpolation --offsets offsets.txt --repair off",
            with(sound(), "offsets.txt", "0 0 0\n1 0 1ms\n2 0 0\n"),
        ),
        (
            "method-rates",
            "correct trace -o out --always --method interpolation --offsets offsets.txt",
            with(sound(), "offsets.txt", "0 0 0\n1 0 0\n1 60us 5us\n2 0 0\n"),
        ),
        (
            "method-other-option",
            "correct trace -o out --controller abcd",
            trace(),
        ),
        (
            "reference-unknown",
            "correct trace -o out --reference 17",
            trace(),
        ),
        ("offsets-missing", interpolation, trace()),
        ("offsets-bad-line", interpolation, offsets("0 0\n")),
        ("drift-bound", "check trace --drift-bound fast", trace()),
    ]
}
