//! Pictures of a trace and of its correction.
//!
//! ```text
//! Subject --> lanes      which locations are shown
//!         --> pairs      who hears how late from whom, and the worst of each pair
//!         --> places     which stretches of time are shown in detail
//!         --> arrows     messages and collectives of the stretches
//!         --> passage    one pass over all events, location by location:
//!               strip      what a location did most of the time, bucket by bucket
//!               slices     calls of the stretches, one by one
//!               around     in which call each message was sent or received
//!               facts      what files say of the ends of arrows
//!         --> views      all of that, stretch by stretch
//!         --> curves     what was added to each clock, and how sure that is
//!         --> latencies  how long messages took
//!         --> waits      what an analysis would have said of waiting
//!         --> contradictions  where there are how many, and the worst of them
//!         --> explained  what became of the effects of arrows
//!         = Picture --> page  one HTML file
//! ```
//!
//! [`Live`] keeps all calls besides, as `levels`, and draws any stretch of any lanes;
//! [`FirstLook`] draws those of recorded times before any event is read again, without calls.
//!
//! However large the trace, a [`Picture`] is small: everything in it is limited by a
//! number of pixels, not of events, and says what was left out. Times are ticks since
//! the smallest recorded stamp of the trace, so that recorded and corrected times have
//! one axis. What was recorded is kept beside what was added to it, since the page shows
//! both and everything between them.
//!
//! Nothing here depends on the number of threads.

mod around;
mod arrows;
mod call;
mod contradictions;
mod curves;
mod decades;
mod explained;
mod facts;
mod first_look;
mod lanes;
mod latencies;
mod levels;
mod live;
mod page;
mod pairs;
mod passage;
mod places;
mod regions;
mod seen;
mod slices;
mod strip;
mod subject;
mod views;
mod waits;

pub use arrows::{Arrow, ArrowFacts, Arrows, At, End, Member, Operation};
pub use contradictions::{Contradiction, Contradictions};
pub use curves::{BandPoint, Curve, CurvePoint, Step, curves};
pub use decades::{Decade, Decades};
pub use explained::{Explained, Explanation};
pub use first_look::FirstLook;
pub use lanes::{Lane, Lanes};
pub use latencies::{Bin, Latencies, LogBins, Middle};
pub use live::{Live, Looked};
pub use page::{MARK, Page};
pub use pairs::{PairCell, Pairs};
pub use places::Place;
pub use slices::LaneSlices;
pub use strip::Strip;
pub use subject::{Corrected, Subject};
pub use views::View;
pub use waits::{LaneWaits, Wait, Waits};

use rayon::prelude::*;
use retime::Monitor;
use retime::causality::Place as EventPlace;
use retime::format::FormatError;
use serde::Serialize;

use crate::around::Calls;
use crate::arrows::ChosenArrows;
use crate::facts::FactsWanted;
use crate::passage::Wanted;
use crate::seen::Seen;

/// A trace reduced to what a page can show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// Ticks per second of all times.
    pub ticks_per_second: u64,
    /// The smallest recorded stamp, from which times count; as text, since readers of JSON may round
    /// numbers of 64 bits.
    pub base: String,
    /// True if there are corrected times beside the recorded ones.
    pub corrected: bool,
    /// The locations that are shown.
    pub lanes: Lanes,
    /// Names of the regions that slices and strips refer to, those in which most time
    /// is spent first.
    pub regions: Vec<String>,
    /// The clocks of these locations.
    pub clocks: Vec<Curve>,
    /// The whole trace, and then the places that are worth a look.
    pub views: Vec<View>,
    /// How long messages took.
    pub latencies: Latencies,
    /// Who hears how late from whom.
    pub pairs: Pairs,
    /// The waiting that an analysis of wait states would have found.
    pub waits: Waits,
    /// Where it contradicts itself.
    pub contradictions: Contradictions,
    /// The ticks that any dependency between two locations takes at least, if they are the same for
    /// all.
    pub least: Option<i64>,
    /// All locations, of which a reader chooses those that are drawn; only of what is [`Live`].
    pub rows: Option<Rows>,
    /// The explanations of the effects of its arrows, if somebody has [said](Picture::explain) it.
    pub explained: Option<Explained>,
}

/// The locations of which a reader chooses some.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rows {
    /// All of them, in their order in the trace.
    pub all: Vec<Lane>,
    /// The numbers of those that are drawn first.
    pub first: Vec<usize>,
}

impl Rows {
    /// All of these, of which others are drawn first.
    fn of(all: &Lanes, first: &Lanes) -> Self {
        Self {
            all: all.shown.clone(),
            first: all.numbers_of(first),
        }
    }
}

/// Contradictions that a page lists.
const CONTRADICTIONS: usize = 200;

impl Picture {
    /// Draws a trace; reads all its events once.
    pub fn of(subject: &Subject<'_>, monitor: &dyn Monitor) -> Result<Self, FormatError> {
        let lanes = Lanes::of(subject);
        let sketch = Sketch::of(subject, &lanes, monitor)?;
        let Sketch { places, .. } = &sketch;
        let arrows = |place: &Place| ChosenArrows::of(subject, place, &lanes, places.len());
        let arrows: Vec<ChosenArrows> = places.par_iter().map(arrows).collect();
        let ends = arrows.iter().flat_map(|it| it.events(subject, &lanes));
        let mut ends: Vec<_> = ends.collect();
        ends.sort_unstable();
        ends.dedup();
        let wanted = Wanted::new(subject, places, &lanes, FactsWanted::Some(ends));
        let (seen, calls) = Seen::of(subject, wanted, monitor)?;
        let views = views::of(subject, places, &arrows, &lanes, &seen);
        let views = views.map_err(FormatError::failed)?;
        let contradictions = Contradictions::of(subject, &places[0], &lanes, CONTRADICTIONS);
        Ok(sketch.picture(subject, lanes, &seen, &calls, views, contradictions))
    }

    /// Keeps what `said` says of the effects of all arrows, which it gets in their order.
    pub fn explain(&mut self, said: impl FnOnce(&[EventPlace]) -> Vec<Explanation>) {
        let effects = explained::effects(&self.views, &self.lanes);
        let places: Vec<_> = effects.iter().map(|it| it.0).collect();
        let mut explained = Explained::default();
        for ((place, lane), said) in effects.iter().zip(said(&places)) {
            explained.add(*lane, place.event, &said);
        }
        self.explained = Some(explained);
    }
}

/// The parts of a picture that take no events.
struct Sketch {
    pairs: pairs::Tallies,
    /// The whole trace, and then the places that are worth a look.
    places: Vec<Place>,
}

impl Sketch {
    fn of(
        subject: &Subject<'_>,
        lanes: &Lanes,
        monitor: &dyn Monitor,
    ) -> Result<Self, FormatError> {
        let pairs = pairs::Tallies::of(subject);
        monitor.check()?;
        let places = places::of(subject, &pairs, lanes);
        Ok(Self { pairs, places })
    }

    /// With what events say.
    fn picture(
        &self,
        subject: &Subject<'_>,
        lanes: Lanes,
        seen: &Seen,
        calls: &Calls,
        views: Vec<View>,
        contradictions: Contradictions,
    ) -> Picture {
        let view_of = |pair| self.places.iter().position(|it| it.pair == Some(pair));
        let (waits, latencies) = rayon::join(
            || Waits::of(subject, calls, &lanes),
            || Latencies::of(subject),
        );
        Picture {
            ticks_per_second: subject.info.rate.get(),
            base: subject.nodes().base().0.to_string(),
            corrected: subject.corrected.is_some(),
            clocks: curves::of(subject, &lanes),
            views,
            latencies,
            pairs: self.pairs.shown(subject, &lanes, view_of),
            waits,
            regions: seen.regions.names().to_vec(),
            contradictions,
            least: subject.delay.of_any_pair().map(|it| it.0),
            lanes,
            rows: None,
            explained: None,
        }
    }
}
