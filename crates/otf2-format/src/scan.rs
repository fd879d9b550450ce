//! Reading what the events of a location say about causality.
//!
//! Of the ninety-odd kinds of events, some forty have a role in
//! happened-before: point-to-point messages and collective operations of MPI, and what
//! threads do with each other. Others have one by what
//! [streams of accelerators](accelerators) carried out.
//! Only those are decoded, so the speed of a scan is that of walking over the
//! rest. Each is handed to the [`LogBuilder`] of the location, with ranks
//! resolved to locations and communicators to handles.
//!
//! Should an event be stamped earlier than the one before it, which no location
//! can have lived through, it is taken to be as late as that one; the log counts
//! it.

mod accelerators;
mod calls;
mod epochs;
mod exposures;
mod handovers;
mod life_cycles;
mod locking;
mod moment;
mod one_sided;
mod partners;
mod postings;
mod roles;
mod scanned;
mod threads;
mod twice;
mod unrecorded;
mod waiting;
mod windows;

use retime_model::{LocationIndex, LogBuilder, Monitor, Timestamp};
use retime_otf2::schema::{self, Class, event_code as code};
use retime_otf2::{FileKind, Glance, LocalDefinitions, LocationType, Trace, WireError};

pub(crate) use self::accelerators::Accelerators;
use self::accelerators::Parts;
pub(crate) use self::calls::Calls;
use self::calls::Followed;
pub(crate) use self::handovers::name as name_handovers;
pub(crate) use self::life_cycles::LifeCycles;
use self::life_cycles::Watched;
use self::partners::Partners;
use self::postings::Postings;
pub(crate) use self::postings::Regions;
pub(crate) use self::scanned::Scanned;
pub(crate) use self::threads::Teams;
use self::threads::Threads;
pub(crate) use self::twice::Twice;
use self::unrecorded::Silence;
pub(crate) use self::unrecorded::{SilentCalls, UnrecordedCalls};
use self::waiting::Waiting;
pub(crate) use self::waiting::WaitingCalls;
use crate::describe::Description;
use crate::error::TraceError;

/// Facts about a trace that are looked up before its locations are read.
#[derive(Clone, Copy)]
pub(crate) struct LookedUp<'a> {
    pub(crate) regions: &'a Regions,
    pub(crate) waiting_calls: &'a WaitingCalls,
    pub(crate) teams: &'a Teams,
    pub(crate) accelerators: &'a Accelerators,
    pub(crate) silent: &'a SilentCalls,
    /// To be followed, if it is known that something comes of it.
    pub(crate) calls: Option<&'a Calls>,
}

/// Reads the events of a location of the described trace.
pub(crate) fn read(
    trace: &Trace,
    description: &Description,
    looked_up: LookedUp<'_>,
    location: LocationIndex,
    monitor: &dyn Monitor,
) -> Result<Scanned, TraceError> {
    let local = trace.local(location)?;
    let LookedUp {
        regions,
        waiting_calls,
        teams,
        accelerators,
        silent,
        calls,
    } = looked_up;
    let table = local.mappings.table(Class::Region);
    let mut partners = Partners::new(description, local, location);
    let postings = Postings::new(regions, table, location);
    let mut log = LogBuilder::expecting(location, expected(trace, local));
    if is_thread(trace, local) {
        log.is_thread();
    }
    if postings.shares {
        partners.windows.missed();
    }
    let followed =
        calls.map(|it| Followed::new(it, description, local, partners.own, !postings.shares));
    let threads = Threads::new(teams, table, location);
    let mut scan = Pass {
        heeded: Heeded::by(&postings, &threads),
        partners,
        postings,
        waiting: Waiting::new(waiting_calls, table),
        threads,
        accelerators: accelerators.of(location),
        followed,
        silence: Silence::new(silent, local),
        twice: Twice::default(),
        watched: Watched::new(local),
        log,
        first: None,
        latest: 0,
    };
    // Two loops, so that the common one stays small.
    let counts = if scan.is_ordinary() {
        trace.glance(location, monitor, |event| scan.event(event))
    } else {
        trace.glance(location, monitor, |event| scan.event_with_more(event))
    }?;
    let (first, last) = (scan.first.unwrap_or(0), scan.latest);
    scan.postings.settle(Timestamp(last), &mut scan.log);
    let handovers = scan.threads.finish(&mut scan.log);
    let clock = trace.definitions().clock.as_ref();
    scan.twice.finish(&counts, first, last, clock);
    scan.twice.open_sends = scan.log.open_sends() as u64;
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
        handovers,
        twice: scan.twice,
        cycles: scan.watched.found,
        unrecorded: scan
            .silence
            .map_or_else(UnrecordedCalls::default, |it| it.found),
        epochs: scan.followed.map(Followed::finish).unwrap_or_default(),
        wants_calls: scan.postings.has_synchronous || scan.partners.windows.has_groups,
    })
}

/// True of a thread of a processor.
fn is_thread(trace: &Trace, local: &LocalDefinitions) -> bool {
    let defined = trace.definitions().locations.get(local.location);
    defined.is_some_and(|it| it.kind == LocationType::CPU_THREAD)
}

/// How many events a location is said to have.
fn expected(trace: &Trace, local: &LocalDefinitions) -> u64 {
    let defined = trace.definitions().locations.get(local.location);
    defined.map_or(0, |it| it.events)
}

/// Who looks at events, by their codes. Most are of no concern, so one look decides.
struct Heeded([u8; 256]);

impl Heeded {
    const BY_POSTINGS: u8 = 1;
    const BY_THREADS: u8 = 2;
    const AS_ROLES: u8 = 4;
    /// Into a region, or out of it.
    const PASSAGE: u8 = 16;
    /// Heeded by nobody who would find out that the event cannot be read.
    const UNREAD: u8 = 8;
    const IN_CYCLES: u8 = 32;

    fn by(postings: &Postings<'_>, threads: &Threads<'_>) -> Self {
        let mut heeded = [0; 256];
        for code in postings.codes() {
            heeded[usize::from(code)] |= Self::BY_POSTINGS;
        }
        for code in threads.codes() {
            heeded[usize::from(code)] |= Self::BY_THREADS;
        }
        for code in 0..=u8::MAX {
            let is_known = schema::lookup(FileKind::Events, code).is_some();
            heeded[usize::from(code)] |= match code {
                code::Enter | code::Leave => Self::PASSAGE,
                _ if roles::CODES.contains(&code) => Self::AS_ROLES,
                _ if is_known => Self::UNREAD,
                _ => 0,
            };
        }
        for code in life_cycles::CODES {
            heeded[usize::from(code)] |= Self::IN_CYCLES;
        }
        Self(heeded)
    }
}

/// A pass over the events of a location.
struct Pass<'a> {
    heeded: Heeded,
    partners: Partners<'a>,
    postings: Postings<'a>,
    waiting: Waiting<'a>,
    threads: Threads<'a>,
    accelerators: Parts<'a>,
    followed: Option<Followed<'a>>,
    silence: Option<Silence<'a>>,
    twice: Twice,
    watched: Watched<'a>,
    log: LogBuilder,
    /// Time of the first event.
    first: Option<u64>,
    /// Greatest time so far.
    latest: u64,
}

impl Pass<'_> {
    /// True if each event is looked at by itself.
    fn is_ordinary(&self) -> bool {
        self.followed.is_none() && self.silence.is_none() && self.accelerators.are_all_reported()
    }

    /// An event of a location whose calls are followed, or of a host or stream of an
    /// accelerator.
    fn event_with_more(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        let time = Timestamp(self.latest.max(event.time));
        if let Some(silence) = &mut self.silence {
            silence.follow(event)?;
        }
        if let Some(followed) = &mut self.followed {
            followed.before(event, time, &mut self.log)?;
        }
        self.event_apart(event)?;
        self.accelerators.report(event.number, time, &mut self.log);
        if let Some(followed) = &mut self.followed {
            followed.after(event, !self.postings.shares, &mut self.log)?;
        }
        Ok(())
    }

    /// Reads an ordinary event; a function of its own, so that no other loop has a copy of it.
    #[inline(never)]
    fn event_apart(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        self.event(event)
    }

    #[expect(
        clippy::inline_always,
        reason = "a call for each event of a trace takes a tenth of the time"
    )]
    #[inline(always)]
    fn event(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        if event.number == 0 {
            self.first = Some(event.time);
        }
        if event.time < self.latest {
            self.log.stamped_backwards(event.number);
        } else {
            self.latest = event.time;
        }
        let heeded = self.heeded.0[usize::from(event.code)];
        if heeded == 0 {
            return Ok(());
        }
        if heeded & Heeded::PASSAGE != 0 {
            let region = event.payload.clone().c32()?;
            let is_left = event.code == code::Leave;
            self.twice.passed(region, is_left);
            self.waiting
                .passed(region, is_left, self.latest, &mut self.log);
            if heeded == Heeded::PASSAGE {
                return Ok(());
            }
        }
        self.heed(event, heeded)
    }

    /// An event that somebody looks at.
    #[inline]
    fn heed(&mut self, event: Glance<'_>, heeded: u8) -> Result<(), WireError> {
        if heeded & Heeded::UNREAD != 0 && event.check().is_err() {
            self.twice.unreadable += 1;
        }
        if heeded & Heeded::IN_CYCLES != 0
            && let Ok(data) = event.data()
        {
            self.watched.heed(&data, &mut self.partners);
        }
        let time = Timestamp(self.latest);
        if heeded & Heeded::BY_POSTINGS != 0 {
            self.postings.follow(event, time, &mut self.log)?;
        }
        if heeded & Heeded::BY_THREADS != 0 {
            self.threads
                .follow(event, time, &mut self.partners, &mut self.log)?;
        }
        if heeded & Heeded::AS_ROLES != 0 {
            roles::report(
                event,
                time,
                &mut self.partners,
                &mut self.postings,
                &mut self.waiting,
                &mut self.twice,
                &mut self.log,
            )?;
        }
        Ok(())
    }
}
