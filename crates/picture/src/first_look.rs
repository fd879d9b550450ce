//! A picture of recorded times alone, drawn before anybody reads events a second time.
//!
//! The causality of a trace knows when each event that communicates was recorded, so messages,
//! collectives and contradictions can be drawn as soon as a trace is analysed. Calls, and what
//! files say of the ends of arrows, take a pass over all events, and corrected times a method:
//! a [`Live`](crate::Live) picture has them later. Until then calls are absent, waits are none
//! because nothing is known of them, and whoever shows it has to say so.

use std::io;

use retime::Monitor;
use retime::format::FormatError;
use rustc_hash::FxHashMap;

use crate::arrows::ChosenArrows;
use crate::curves;
use crate::facts::FactsFound;
use crate::live::{CONTRADICTIONS, Looked, VIEWS};
use crate::{Contradictions, Lanes, Latencies, Picture, Rows, Sketch, Subject, View, Waits};

/// A picture, and all that stretches of it are drawn of.
pub struct FirstLook {
    picture: Picture,
    /// All lanes that can be drawn.
    all: Lanes,
    /// Nothing is known of what files say.
    facts: FactsFound,
}

impl FirstLook {
    /// Draws a trace at its recorded times; fails only if `monitor` says to give up.
    pub fn new(subject: &Subject<'_>, monitor: &dyn Monitor) -> Result<Self, FormatError> {
        let all = Lanes::all(subject);
        let sketch = Sketch::of(subject, &all, monitor)?;
        let whole = &sketch.places[0];
        let contradictions = Contradictions::of(subject, whole, &all, CONTRADICTIONS);
        monitor.check()?;
        let lanes = Lanes::of(subject);
        let rows = Rows::of(&all, &lanes);
        let view_of = |pair| sketch.places.iter().position(|it| it.pair == Some(pair));
        let picture = Picture {
            ticks_per_second: subject.info.rate.get(),
            base: subject.nodes().base().0.to_string(),
            corrected: false,
            regions: Vec::new(),
            clocks: curves::of(subject, &all),
            views: sketch.places.iter().map(View::undrawn).collect(),
            latencies: Latencies::of(subject),
            pairs: sketch.pairs.shown(subject, &lanes, view_of),
            waits: Waits::unknown(&lanes),
            contradictions,
            least: subject.delay.of_any_pair().map(|it| it.0),
            lanes,
            rows: Some(rows),
            explained: None,
        };
        Ok(Self {
            picture,
            all,
            facts: FactsFound::Some(FxHashMap::default()),
        })
    }

    /// The picture with which the page begins.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// Draws the arrows of what is looked at.
    pub fn view(&self, subject: &Subject<'_>, looked: &Looked) -> io::Result<View> {
        let place = looked.place();
        let rows = self.all.only(&looked.rows);
        let ends = self.all.only(&looked.both());
        let chosen = ChosenArrows::of(subject, &place, &ends, VIEWS);
        Ok(View {
            arrows: chosen.arrows(subject, &place, &ends, &self.facts)?,
            rows: self.all.numbers_of(&rows),
            slices: vec![None; rows.len()],
            strips: vec![None; rows.len()],
            place,
        })
    }
}
