//! All events, gone over once.

use rayon::prelude::*;
use retime::format::FormatError;
use retime::{LocationIndex, Monitor};

use crate::Subject;
use crate::around::Calls;
use crate::facts::FactsFound;
use crate::passage::{self, Drawn, Passed, Wanted};
use crate::regions::Regions;

/// The findings of a pass over all events.
pub(crate) struct Seen {
    pub(crate) regions: Regions,
    /// The drawing of each location; `None` for those that are not shown.
    pub(crate) drawn: Vec<Option<Drawn>>,
    pub(crate) facts: FactsFound,
}

impl Seen {
    /// Reads all events once; says besides in which call each message was sent or received.
    pub(crate) fn of(
        subject: &Subject<'_>,
        wanted: Wanted<'_>,
        monitor: &dyn Monitor,
    ) -> Result<(Self, Calls), FormatError> {
        let locations = 0..subject.info.locations.len() as u32;
        let passed: Result<Vec<Passed>, FormatError> = locations
            .into_par_iter()
            .map(|location| passage::through(LocationIndex(location), subject, &wanted, monitor))
            .collect();
        let mut passed = passed?;
        let taken = |it: &mut Passed| std::mem::take(&mut it.calls);
        let calls = Calls::join(passed.iter_mut().map(taken));
        let noted = passed.iter_mut().map(|it| std::mem::take(&mut it.facts));
        let facts = FactsFound::of(wanted.facts, noted);
        let regions = Regions::of(subject.trace, passed.iter().map(|it| &it.spent));
        monitor.check()?;
        let seen = Self {
            regions,
            drawn: passed.into_iter().map(|it| it.drawn).collect(),
            facts,
        };
        Ok((seen, calls))
    }
}
