//! A trace of which any stretch of any lanes can be drawn at once.

use std::fs::File;
use std::io;

use rayon::prelude::*;
use retime::Monitor;
use retime::format::FormatError;

use crate::arrows::ChosenArrows;
use crate::curves;
use crate::facts::{FactsFile, FactsWanted};
use crate::levels::{CallFile, Levels, Stretch};
use crate::passage::Wanted;
use crate::places::Place;
use crate::seen::Seen;
use crate::{Contradictions, Lanes, Picture, Rows, Sketch, Subject, View};

/// Calls that are drawn of a stretch.
const CALLS: usize = 30_000;
/// Its arrows may take as much room as all of a page with so many views.
pub(crate) const VIEWS: usize = 2;
/// Contradictions that are listed.
pub(crate) const CONTRADICTIONS: usize = 10_000;

/// A picture, and all that it was made of.
pub struct Live {
    picture: Picture,
    seen: Seen,
    calls: CallFile,
    /// All lanes that can be drawn.
    all: Lanes,
}

/// A stretch of time of some lanes, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// From here
    pub from: i64,
    /// to here, in ticks since the smallest recorded stamp.
    pub to: i64,
    /// The lanes whose calls are drawn.
    pub rows: Vec<usize>,
    /// The lanes of which arrows are drawn alone.
    pub folded: Vec<usize>,
}

impl Looked {
    pub(crate) fn place(&self) -> Place {
        Place {
            title: String::new(),
            from: self.from,
            to: self.to,
            pair: None,
            dependency: None,
        }
    }

    /// All lanes of which anything is drawn.
    pub(crate) fn both(&self) -> Vec<usize> {
        [&*self.rows, &self.folded].concat()
    }
}

impl Live {
    /// Draws a trace; reads all its events once and keeps them in files that `file` makes.
    pub fn new(
        subject: &Subject<'_>,
        file: &dyn Fn() -> io::Result<File>,
        monitor: &dyn Monitor,
    ) -> Result<Self, FormatError> {
        let all = Lanes::all(subject);
        let sketch = Sketch::of(subject, &all, monitor)?;
        let file = || file().map_err(FormatError::failed);
        let (calls, facts) = (CallFile::new(file()?), FactsFile::new(file()?));
        let wanted = Wanted {
            file: Some(&calls),
            // They are drawn as they are looked at.
            ..Wanted::new(subject, &[], &all, FactsWanted::All(facts))
        };
        let (seen, around) = Seen::of(subject, wanted, monitor)?;
        let views = sketch.places.iter().map(View::undrawn).collect();
        let whole = &sketch.places[0];
        let contradictions = Contradictions::of(subject, whole, &all, CONTRADICTIONS);
        let lanes = Lanes::of(subject);
        let rows = Rows::of(&all, &lanes);
        let picture = sketch.picture(subject, lanes, &seen, &around, views, contradictions);
        Ok(Self {
            picture: Picture {
                rows: Some(rows),
                clocks: curves::of(subject, &all),
                ..picture
            },
            seen,
            calls,
            all,
        })
    }

    /// The picture with which the page begins.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// Draws what is looked at.
    pub fn view(&self, subject: &Subject<'_>, looked: &Looked) -> io::Result<View> {
        let place = looked.place();
        let lanes = self.all.only(&looked.rows);
        let most = CALLS / lanes.len().max(1);
        let drawn = lanes.shown.par_iter().map(|lane| {
            let drawn = self.seen.drawn.get(lane.location.as_usize());
            let levels = drawn.and_then(|it| it.as_ref()?.levels.as_ref());
            let regions = &self.seen.regions;
            let draw = |it: &Levels| it.draw(&self.calls, &place, lane, most, subject, regions);
            levels.map(draw).transpose()
        });
        let drawn: io::Result<Vec<Option<Stretch>>> = drawn.collect();
        let (mut slices, mut strips) = (Vec::new(), Vec::new());
        for lane in drawn? {
            let (calls, strip) = match lane {
                Some(Stretch::Calls(calls)) => (Some(calls), None),
                Some(Stretch::Strip(strip)) => (None, Some(strip)),
                None => (None, None),
            };
            slices.push(calls);
            strips.push(strip);
        }
        let ends = self.all.only(&looked.both());
        let chosen = ChosenArrows::of(subject, &place, &ends, VIEWS);
        Ok(View {
            arrows: chosen.arrows(subject, &place, &ends, &self.seen.facts)?,
            rows: self.all.numbers_of(&lanes),
            place,
            slices,
            strips,
        })
    }
}
