//! `--method auto`: align, repair what is left, whatever the trace allows.

use retime::auto::{AutoError, AutoOptions, AutoSolution, NotAligned, Start, auto};
use retime::causality::Nodes;
use retime::estimate::Reference;
use retime::repair::repair;
use retime::{Causality, Correction};

use super::alignment::Aligned;
use super::compose::settled;
use super::repair::Repaired;
use super::{Enforced, Input, Solution, Unsolved};

/// Runs the default pipeline.
pub(super) fn run(reference: Reference, input: &Input<'_>) -> Result<Solution, Unsolved> {
    let options = AutoOptions {
        reference,
        delay: input.delay_is_known.then(|| input.delay.clone()),
        regroup: input.may_regroup,
    };
    let found = auto(input.causality, input.info, input.clocks, &options)?;
    let again = |causality: &Causality| {
        let repaired = repair(causality, found.correction.clocks(), &found.delay);
        let repaired = repaired.map_err(Unsolved::Cycle)?;
        Ok::<Correction, Unsolved>(repaired.correction)
    };
    let nodes = input.causality.nodes();
    let input = &Input {
        clocks: found.correction.clocks(),
        delay: &found.delay,
        ..*input
    };
    let correction = settled(input, found.correction.clone(), again)?;
    Ok(solution(found, correction, reference, nodes))
}

fn solution(
    found: AutoSolution,
    correction: Correction,
    reference: Reference,
    nodes: &Nodes,
) -> Solution {
    let (aligned, unaligned) = match found.start {
        Start::Aligned(alignment) => (Some(Aligned::of(&alignment, reference, nodes)), None),
        Start::Recorded(reason) => (None, Some(reason)),
    };
    Solution {
        correction,
        aligned,
        unaligned,
        repaired: Some(Repaired {
            jumps: found.repair.jumps,
            largest_jump: found.repair.largest_jump,
            direction: found.repair.direction,
            times: None,
        }),
        enforced: Some(Enforced {
            delay: found.delay,
            shortest: found.shortest,
        }),
    }
}

impl From<AutoError> for Unsolved {
    fn from(error: AutoError) -> Self {
        match error {
            AutoError::Cycle(cycle) => Self::Cycle(cycle),
            AutoError::UnrelatedReference => Self::UnrelatedReference,
            AutoError::TooFar => Self::TooFar,
        }
    }
}

/// Why a trace was repaired as it was recorded, in words.
pub(crate) fn describe_unaligned(reason: &NotAligned, input: &Input<'_>) -> String {
    let why = match reason {
        NotAligned::NoDependency => "no dependency relates any two of them".to_owned(),
        NotAligned::BadEstimate(bad) => bad.describe(input.info, input.clocks),
        NotAligned::TooFar => "aligned times would lie too far apart for a trace".to_owned(),
        NotAligned::Worse { .. } => {
            "dependencies would be reversed by more than they are as recorded".to_owned()
        }
    };
    format!("clocks were not aligned, and recorded times repaired as they are: {why}")
}
