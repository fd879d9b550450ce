//! Pictures of a trace and of its correction.
//!
//! ```text
//! Subject --> lanes      which locations are shown
//!         --> pairs      who hears how late from whom, and the worst of each pair
//!         --> places     which stretches of time are shown in detail
//!         --> passage    one pass over all events, location by location:
//!               strip      what a location did most of the time, bucket by bucket
//!               slices     calls of the stretches, one by one
//!               around     in which call each message was sent or received
//!         --> arrows     messages and collectives of the stretches
//!         --> views      all of that, stretch by stretch
//!         --> curves     what was added to each clock, and how sure that is
//!         --> latencies  how long messages took
//!         --> waits      what an analysis would have said of waiting
//!         = Picture --> page  one HTML file
//! ```
//!
//! [`Live`] keeps all calls besides, as `levels`, and draws any stretch.
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
mod curves;
mod decades;
mod lanes;
mod latencies;
mod levels;
mod live;
mod page;
mod pairs;
mod passage;
mod places;
mod regions;
mod slices;
mod strip;
mod subject;
mod views;
mod waits;

pub use arrows::{Arrow, Arrows, Member, Operation};
pub use curves::{BandPoint, Curve, CurvePoint, Step, curves};
pub use decades::{Decade, Decades};
pub use lanes::{Lane, Lanes};
pub use latencies::{Bin, Latencies, LogBins, Middle};
pub use live::Live;
pub use page::{MARK, Page};
pub use pairs::{PairCell, Pairs};
pub use places::Place;
pub use slices::LaneSlices;
pub use strip::Strip;
pub use subject::{Corrected, Subject};
pub use views::View;
pub use waits::{LaneWaits, Wait, Waits};

use std::fs::File;
use std::io;

use rayon::prelude::*;
use retime::format::FormatError;
use retime::{LocationIndex, Monitor};
use serde::Serialize;

use crate::around::Calls;
use crate::passage::{Drawn, Passed, Wanted};
use crate::regions::Regions;

/// A trace reduced to what a page can show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// Ticks per second of all times.
    pub ticks_per_second: u64,
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
}

impl Picture {
    /// Draws a trace; reads all its events once.
    pub fn of(subject: &Subject<'_>, monitor: &dyn Monitor) -> Result<Self, FormatError> {
        Ok(drawn(subject, None, monitor)?.picture)
    }
}

/// A picture, and what is known of the events besides.
struct Seen {
    picture: Picture,
    regions: Regions,
    /// The drawing of each location; `None` for those that are not shown.
    drawn: Vec<Option<Drawn>>,
}

/// Draws a trace, and keeps all calls if there are files to keep them in.
fn drawn(
    subject: &Subject<'_>,
    file: Option<&(dyn Fn() -> io::Result<File> + Sync)>,
    monitor: &dyn Monitor,
) -> Result<Seen, FormatError> {
    let pairs = pairs::Tallies::of(subject);
    monitor.check()?;
    let lanes = Lanes::of(subject);
    let places = places::of(subject, &pairs, &lanes);
    let mut wanted = Wanted::new(subject, &places, &lanes);
    wanted.file = file;
    let locations = 0..subject.info.locations.len() as u32;
    let passed: Result<Vec<Passed>, FormatError> = locations
        .into_par_iter()
        .map(|location| passage::through(LocationIndex(location), subject, &wanted, monitor))
        .collect();
    let mut passed = passed?;
    let taken = |it: &mut Passed| std::mem::take(&mut it.calls);
    let calls = Calls::join(passed.iter_mut().map(taken));
    let regions = Regions::of(subject.trace, passed.iter().map(|it| &it.spent));
    let (waits, latencies) = rayon::join(
        || Waits::of(subject, &calls, &lanes),
        || Latencies::of(subject),
    );
    drop(calls);
    monitor.check()?;
    let drawn: Vec<Option<Drawn>> = passed.into_iter().map(|it| it.drawn).collect();
    let view_of = |pair| places.iter().position(|it| it.pair == Some(pair));
    let picture = Picture {
        ticks_per_second: subject.info.rate.get(),
        corrected: subject.corrected.is_some(),
        clocks: curves::of(subject, &lanes),
        views: views::of(subject, &places, &lanes, &drawn, &regions),
        latencies,
        pairs: pairs.shown(subject, &lanes, view_of),
        waits,
        regions: regions.names().to_vec(),
        lanes,
    };
    Ok(Seen {
        picture,
        regions,
        drawn,
    })
}
