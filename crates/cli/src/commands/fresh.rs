//! Verdict on a written trace, which is scanned and matched like any other, and checked.
//!
//! The verdict on a corrected trace is that of `retime check` on the copy. So it rests on
//! nothing that is known from the input: neither on which events belonged together there
//! nor on which clocks they read.

use std::path::Path;

use retime::causality::{Check, Defect, EventNode, check};
use retime::format::{Scan, Trace};
use retime::pipeline::Examined;
use retime::{Causality, Clocks, Grouping, MinimalDelay, Ticks, TraceInfo};

use crate::analysed::Analysed;
use crate::args::ModelArgs;
use crate::error::{CliError, VIOLATIONS};
use crate::formats;
use crate::load::joined;
use crate::progress::{Interrupts, Progress, Stage};
use crate::report::{build, examined, model};

/// The verdict on a trace from its own records alone.
pub(super) struct Fresh {
    info: TraceInfo,
    clocks: Clocks,
    /// All dependencies at its times.
    pub(super) check: Check,
    /// Events stamped before their predecessor.
    pub(super) out_of_order: u64,
    /// True if anything in it does not match.
    pub(super) is_defective: bool,
    pub(super) examined: model::ExaminedPart,
}

impl Fresh {
    /// Judges a trace that was scanned and joined.
    pub(super) fn of(
        causality: &Causality,
        info: &TraceInfo,
        clocks: &Clocks,
        examined: Examined,
    ) -> Result<Self, CliError> {
        let each = Clocks::each_location(info.locations.len());
        let fits = clocks.by_location().len() == info.locations.len();
        let clocks = if fits { clocks } else { &each };
        let (times, none) = (
            causality.nodes().timestamps(),
            MinimalDelay::Uniform(Ticks(0)),
        );
        let defects = causality.defects();
        Ok(Self {
            info: info.clone(),
            clocks: clocks.clone(),
            check: check(causality, clocks, &none, times, &Interrupts)?,
            out_of_order: defects.count(Defect::TimeRunsBackwards),
            is_defective: !defects.is_empty(),
            examined: build::examined_part(examined, None),
        })
    }

    /// Judges a trace that was analysed, by its recorded times.
    pub(super) fn of_analysed(analysed: &Analysed) -> Self {
        let analysis = &analysed.analysis;
        Self {
            info: analysis.info().clone(),
            clocks: analysis.clocks().clone(),
            check: analysis.recorded().clone(),
            out_of_order: analysis.out_of_order(),
            is_defective: !analysis.causality().defects().is_empty(),
            examined: analysed.examined(),
        }
    }

    /// The dependencies at its times, for a report.
    pub(super) fn part(&self) -> model::CheckPart {
        build::check_part(&self.info, &self.clocks, &self.check, self.out_of_order)
    }

    /// Dependencies that were looked at.
    pub(super) fn checked(&self) -> u64 {
        self.check.messages.total + self.check.collectives.total
    }

    /// The exit code of `retime check`.
    pub(super) fn exit_code(&self, strict: bool) -> u8 {
        let contradicted = self.check.violated() > 0 || self.out_of_order > 0;
        if contradicted || strict && self.is_defective {
            return VIOLATIONS;
        }
        examined::exit_code(&self.examined)
    }
}

/// Joins what was scanned of a trace, without what is `outside` of what is asked for.
pub(super) fn matched(
    path: &Path,
    trace: &dyn Trace,
    scan: Scan,
    model: &ModelArgs,
    clocks: &Clocks,
    outside: Option<impl Fn(&Causality, EventNode) -> bool>,
) -> Result<Fresh, CliError> {
    let options = model.matching.options();
    let mut causality = joined(path, &scan.info, scan.logs, options)?;
    let unused = trace.unused(&scan.contents);
    let examined = Examined::new(&scan.info, &causality, &unused);
    let grouping: Grouping = model.clocks.into();
    let own = outside
        .is_none()
        .then(|| grouping.clocks(&scan.info, &causality));
    if let Some(outside) = outside {
        let whole = causality.clone();
        causality.leave_out(|node| outside(&whole, node));
    }
    let mut fresh = Fresh::of(&causality, &scan.info, clocks, examined)?;
    if let Some(own) = own {
        let (info, check) = (&scan.info, &fresh.check);
        fresh.examined.unrelated = build::unrelated_parts(info, &own, check, &unused);
    }
    Ok(fresh)
}

/// Reads a trace that nothing is known of.
pub(super) fn read(
    path: &Path,
    model: &ModelArgs,
    clocks: &Clocks,
    quiet: bool,
) -> Result<Fresh, CliError> {
    let trace = formats::open(path, formats::of(path, None)?, None, false)?;
    let scan = {
        let progress = Progress::new(Stage::Verifying, trace.bytes(), quiet);
        trace.scan(&progress)?
    };
    let all = None::<fn(&Causality, EventNode) -> bool>;
    matched(path, &*trace, scan, model, clocks, all)
}
