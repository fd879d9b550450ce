//! The words about the effects of the arrows of a page, which nobody answers questions of.

use retime::causality::{Fates, Place};
use retime::pipeline::Solution;
use retime_picture::Picture;

use super::{records, words};
use crate::analysed::Analysed;
use crate::error::CliError;

/// Puts on a picture what `retime explain` says of the effects of its arrows; reads all events once
/// more.
pub(crate) fn explain(
    picture: &mut Picture,
    analysed: &Analysed,
    solution: Option<&Solution>,
) -> Result<(), CliError> {
    let analysis = &analysed.analysis;
    let records = records(analysed, solution, true)?;
    let (info, options) = (analysis.info(), analysis.options().causality);
    let fates = Fates::of(info, analysis.causality(), &records, options);
    let said = |places: &[Place]| {
        let fates = fates.at_each(places).into_iter();
        fates
            .map(|it| it.map(|it| words::of_fate(info, &it)).unwrap_or_default())
            .collect()
    };
    picture.explain(said);
    Ok(())
}
