//! What the events of a location say about causality.
//!
//! Of the ninety-odd kinds of events, two dozen have a role in
//! happened-before: point-to-point messages and collective operations of MPI.
//! Only those are decoded, so the speed of a scan is that of walking over the
//! rest. Each is handed to the [`LogBuilder`] of the location, with ranks
//! resolved to locations and communicators to handles.
//!
//! Should an event be stamped earlier than the one before it, which no location
//! can have lived through, it is taken to be as late as that one; the log counts
//! it.

mod calls;
mod exposures;
mod partners;
mod postings;
mod roles;
mod windows;

use retime_model::{LocationIndex, LocationLog, LogBuilder, Monitor, Timestamp};
use retime_otf2::schema::Class;
use retime_otf2::{EventCounts, Glance, Trace, WireError};

pub(crate) use self::calls::Calls;
use self::calls::Followed;
use self::partners::Partners;
use self::postings::Postings;
pub(crate) use self::postings::Regions;
use self::roles::report;
use crate::describe::Description;
use crate::error::TraceError;

/// What a location did.
pub(crate) struct Scanned {
    /// The events with a role in happened-before.
    pub(crate) log: LocationLog,
    /// All events.
    pub(crate) counts: EventCounts,
    /// Whether more would be found if calls were followed.
    pub(crate) wants_calls: bool,
}

/// Reads the events of a location of the described trace; with `calls`, follows them.
pub(crate) fn read(
    trace: &Trace,
    description: &Description,
    (regions, calls): (&Regions, Option<&Calls>),
    location: LocationIndex,
    monitor: &dyn Monitor,
) -> Result<Scanned, TraceError> {
    let local = trace.local(location)?;
    let mut partners = Partners::new(description, local, location);
    let postings = Postings::new(regions, local.mappings.table(Class::Region), location);
    if postings.shares {
        partners.windows.missed();
    }
    let followed = calls.map(|it| Followed::new(it, local, partners.own, !postings.shares));
    let mut scan = Pass {
        partners,
        postings,
        followed,
        log: LogBuilder::new(location),
        first: None,
        latest: 0,
    };
    // Two loops, so that the common one stays small.
    let counts = if scan.followed.is_some() {
        trace.glance(location, monitor, |event| scan.event_of_calls(event))
    } else {
        trace.glance(location, monitor, |event| scan.event(event))
    }?;
    let (first, last) = (scan.first.unwrap_or(0), scan.latest);
    scan.postings.settle(Timestamp(last), &mut scan.log);
    let log = scan
        .log
        .finish(counts.total(), Timestamp(first), Timestamp(last));
    let log = log.map_err(|source| TraceError::Log {
        path: trace.archive().events_path(local.location),
        source,
    })?;
    Ok(Scanned {
        log,
        counts,
        wants_calls: scan.postings.has_synchronous || scan.partners.windows.has_groups,
    })
}

/// A pass over the events of a location.
struct Pass<'a> {
    partners: Partners<'a>,
    postings: Postings<'a>,
    followed: Option<Followed<'a>>,
    log: LogBuilder,
    /// Time of the first event.
    first: Option<u64>,
    /// Greatest time so far.
    latest: u64,
}

impl Pass<'_> {
    /// An event of a location whose calls are followed.
    fn event_of_calls(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        let time = Timestamp(self.latest.max(event.time));
        if let Some(followed) = &mut self.followed {
            followed.before(event, time, &mut self.log)?;
        }
        self.event(event)?;
        if let Some(followed) = &mut self.followed {
            followed.after(event, !self.postings.shares, &mut self.log)?;
        }
        Ok(())
    }

    #[inline]
    fn event(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        if event.number == 0 {
            self.first = Some(event.time);
        }
        if event.time < self.latest {
            self.log.stamped_backwards(event.number);
        } else {
            self.latest = event.time;
        }
        let time = Timestamp(self.latest);
        if self.postings.follows {
            self.postings.follow(event, time, &mut self.log)?;
        }
        report(
            event,
            time,
            &mut self.partners,
            &mut self.postings,
            &mut self.log,
        )
    }
}
