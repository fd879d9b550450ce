//! Methods that have no solution, or none that is any good.

use retime_sim::{Layout, Program, from, to};

use super::Case;
use super::files::{archive, trace, with};
use crate::common::traces;

/// Messages in one direction, received before they are sent.
fn one_way() -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    for round in 0..5 {
        program.on(0).send(10_000 + 1_000 * round, to(1));
        program.on(1).recv(9_500 + 1_000 * round, from(0));
    }
    program
}

/// Messages both ways to a clock that is set forward and back again.
fn bent() -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    for (round, ahead) in [(0, 0), (1, 5_000), (2, 0)] {
        let at = 100_000 + 100_000 * round;
        program.on(0).send(at, to(1)).recv(at + 200, from(1));
        program.on(1).recv(at + 50 + ahead, from(0));
        program.on(1).send(at + 100 + ahead, to(0));
    }
    program
}

pub(super) fn methods() -> Vec<Case> {
    let offsets = |text: &str| with(trace(), "offsets.txt", text);
    let interpolation = "correct trace -o out --method interpolation --offsets offsets.txt";
    let sound = archive(&traces::sound());
    vec![
        (
            "method-one-way",
            "correct trace -o out --method regression",
            archive(&one_way()),
        ),
        (
            "method-infeasible",
            "correct trace -o out --method convex-hull",
            archive(&bent()),
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
            with(sound, "offsets.txt", "0 0 0\n1 0 1ms\n2 0 0\n"),
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
