//! Explanations of events that communicate. `retime explain`, the viewer and Python explain the event
//! they are asked about; a page, which nobody answers questions of, holds those of the effects of its
//! arrows.

pub(crate) mod words;

use retime::causality::{Fates, Place, Records};
use retime::pipeline::Solution;
use retime_picture::Picture;

use crate::analysed::Analysed;
use crate::error::CliError;
use crate::progress::{Progress, Stage};

/// Reads again what is let go once dependencies are known. Where matching takes times, it takes
/// those of the solution.
pub(crate) fn records(
    analysed: &Analysed,
    solution: Option<&Solution>,
    quiet: bool,
) -> Result<Records, CliError> {
    let trace = &*analysed.opened.trace;
    let progress = Progress::new(Stage::Reading, trace.bytes(), quiet);
    let mut scan = trace.scan(&progress)?;
    if let Some(solution) = solution
        && let Some(again) = trace.rematch(&solution.correction, &progress)?
    {
        scan = again;
    }
    Ok(Records::of(scan.logs))
}

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
