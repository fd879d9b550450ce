//! Between what receives were posted, by the calls in which they were recorded.
//!
//! A record says that a receive is posted or complete, not when MPI took it into
//! line. That happens within the call: between the enter and the leave of the region
//! for a request (recorders write it before or after MPI does its part), between the
//! enter and the record for a blocking receive or a matching probe. For one thread that receives alone
//! this makes no difference. It does if several threads share a channel, or if a
//! receive of a probed message is written like any other: its place in line is that
//! of the probe, and only the region, `MPI_Mrecv`, tells it from `MPI_Recv`.
//!
//! So the calls of a location are followed if others speak for the same rank. If none
//! do, but the trace defines regions of such receives, it is enough to know which
//! region was entered last. In a trace without regions of receives any blocking one
//! may have been probed.

use std::collections::HashSet;

use retime_model::{LocationIndex, LogBuilder, Timestamp, TraceInfo};
use retime_otf2::schema::event_code as code;
use retime_otf2::{Definitions, EventData, Glance, MappingTable, RegionRef, WireError};

/// Calls that post the receives that are recorded in them.
pub(super) const POSTING: [&str; 9] = [
    "mpi_recv",
    "mpi_irecv",
    "mpi_recv_init",
    "mpi_start",
    "mpi_startall",
    "mpi_sendrecv",
    "mpi_sendrecv_replace",
    "mpi_isendrecv",
    "mpi_isendrecv_replace",
];

/// Calls that receive a message that was probed before.
const PROBED: [&str; 2] = ["mpi_mrecv", "mpi_imrecv"];

/// Calls that take a message out of the line, to be received later.
const PROBING: [&str; 2] = ["mpi_mprobe", "mpi_improbe"];

/// Calls that start synchronous sends.
const SYNCHRONOUS: [&str; 2] = ["mpi_ssend", "mpi_issend"];

/// A call that prepares them, ...
const PREPARING: &str = "mpi_ssend_init";

/// ... and calls that may start what was prepared.
const STARTING: [&str; 2] = ["mpi_start", "mpi_startall"];

/// The regions of calls that post receives, probe, or send synchronously, as the definitions name
/// them.
pub(crate) struct Regions {
    posting: Vec<RegionRef>,
    probing: Vec<RegionRef>,
    /// Calls that start synchronous sends, or may do so.
    synchronous: Vec<RegionRef>,
    has_probed: bool,
    /// Locations that share their rank with others.
    sharing: HashSet<LocationIndex>,
}

impl Regions {
    pub(crate) fn find(definitions: &Definitions, info: &TraceInfo) -> Self {
        let mut regions = Self {
            posting: Vec::new(),
            probing: Vec::new(),
            synchronous: Vec::new(),
            has_probed: false,
            sharing: sharing(info),
        };
        let named = definitions.regions.iter();
        let named = named.map(|it| (it.id, function_of(&definitions.text(it.name))));
        let named: Vec<_> = named.collect();
        let prepares = named.iter().any(|(_, name)| name == PREPARING);
        for (id, name) in &named {
            let name = name.as_str();
            if POSTING.contains(&name) {
                regions.posting.push(*id);
            }
            if PROBING.contains(&name) {
                regions.probing.push(*id);
            }
            if SYNCHRONOUS.contains(&name) || prepares && STARTING.contains(&name) {
                regions.synchronous.push(*id);
            }
            regions.has_probed |= PROBED.contains(&name);
        }
        regions
    }
}

/// The function of MPI that a region is named for, in small letters and without what
/// languages add.
pub(super) fn function_of(region: &str) -> String {
    let name = region.to_ascii_lowercase();
    let end = name.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let name = name[..end.unwrap_or(name.len())].trim_end_matches('_');
    // Counts of more than 32 bits.
    name.strip_suffix("_c").unwrap_or(name).to_owned()
}

/// Locations whose endpoint others have too.
fn sharing(info: &TraceInfo) -> HashSet<LocationIndex> {
    let endpoints = || info.locations.iter().map(|it| it.endpoint);
    let (mut once, mut again) = (HashSet::new(), HashSet::new());
    for endpoint in endpoints() {
        if !once.insert(endpoint) {
            again.insert(endpoint);
        }
    }
    let all = (0..).map(LocationIndex).zip(endpoints());
    all.filter(|(_, endpoint)| again.contains(endpoint))
        .map(|(location, _)| location)
        .collect()
}

/// True if a call that posts receives is over when an event with that code is recorded.
/// Other requests may share the call, and the rest stands for nothing in it.
const fn ends_posting(code: u8) -> bool {
    !matches!(
        code,
        code::MpiIrecvRequest
            | code::MpiIsend
            | code::Metric
            | code::ParameterInt
            | code::ParameterUnsignedInt
            | code::ParameterString
            | code::MeasurementOnOff
    )
}

/// The postings of one location.
pub(super) struct Postings<'a> {
    regions: &'a Regions,
    table: Option<&'a MappingTable>,
    /// True if others speak for the same rank.
    pub(super) shares: bool,
    /// True if there is a send in a call that may start a synchronous one.
    pub(super) has_synchronous: bool,
    /// Regions that are not left, with their times; of a location that shares its rank
    /// with none, the one that was entered last.
    open: Vec<(Timestamp, RegionRef)>,
    /// Number and request of receives that are being posted, and since when.
    pending: Vec<(u64, u64, Option<Timestamp>)>,
}

impl<'a> Postings<'a> {
    pub(super) fn new(
        regions: &'a Regions,
        table: Option<&'a MappingTable>,
        location: LocationIndex,
    ) -> Self {
        let shares = regions.sharing.contains(&location);
        Self {
            regions,
            table,
            shares,
            has_synchronous: false,
            open: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// The codes of events that are followed.
    pub(super) fn codes(&self) -> impl Iterator<Item = u8> {
        // Where the rank is shared, any event can end a posting.
        let shares = self.shares;
        let follows = shares || self.regions.has_probed || !self.regions.synchronous.is_empty();
        let concerns = move |code: &u8| {
            shares || follows && [code::Enter, code::MeasurementOnOff].contains(code)
        };
        (0..=u8::MAX).filter(concerns)
    }

    /// Follows the calls, before an event with one of these [codes](Self::codes) is
    /// looked at.
    #[inline]
    pub(super) fn follow(
        &mut self,
        event: Glance<'_>,
        time: Timestamp,
        log: &mut LogBuilder,
    ) -> Result<(), WireError> {
        if !self.pending.is_empty() && ends_posting(event.code) {
            self.settle(time, log);
        }
        match event.code {
            code::Enter => {
                if !self.shares {
                    self.open.clear();
                }
                if let EventData::Enter { region } = event.data_of::<{ code::Enter }>()? {
                    self.open.push((time, region));
                }
            }
            code::Leave if self.shares => {
                self.open.pop();
            }
            // What is entered and left meanwhile is not known.
            code::MeasurementOnOff => self.open.clear(),
            _ => {}
        }
        Ok(())
    }

    /// The receives that are being posted are so by now.
    pub(super) fn settle(&mut self, time: Timestamp, log: &mut LogBuilder) {
        for (number, request, since) in self.pending.drain(..) {
            log.receive_posted(number, time, request);
            log.posted_since(since);
        }
    }

    /// A matching probe was reported to `log`.
    pub(super) fn probed(&self, log: &mut LogBuilder) {
        if self.shares {
            let since = self.since_call(&self.regions.probing);
            log.posted_since(Some(since.unwrap_or(Timestamp(0))));
        }
    }

    /// A request for a receive.
    pub(super) fn requested(
        &mut self,
        number: u64,
        time: Timestamp,
        request: u64,
        log: &mut LogBuilder,
    ) {
        if self.shares {
            self.pending.push((number, request, self.since()));
            return;
        }
        log.receive_posted(number, time, request);
        if self.tells_probed() && !self.open.is_empty() && self.since().is_none() {
            log.posted_since(None);
        }
    }

    /// A blocking receive was reported to `log`.
    pub(super) fn received(&self, log: &mut LogBuilder) {
        let since = if self.tells_probed() {
            self.since()
        } else {
            None
        };
        let any_time = self.tells_probed() || self.regions.posting.is_empty();
        // In one thread that receives alone calls follow each other as their records do.
        if self.shares || since.is_none() && any_time {
            log.posted_since(since);
        }
    }

    /// A message left.
    #[inline]
    pub(super) fn sent(&mut self) {
        if !self.has_synchronous && !self.regions.synchronous.is_empty() {
            let call = self.call();
            self.has_synchronous =
                call.is_some_and(|(_, region)| self.regions.synchronous.contains(&region));
        }
    }

    /// True if calls say which receives may have been probed.
    const fn tells_probed(&self) -> bool {
        self.regions.has_probed || self.shares
    }

    /// When the call that posts was entered; `None` if it does not show.
    fn since(&self) -> Option<Timestamp> {
        self.since_call(&self.regions.posting)
    }

    /// When the call was entered that is open, if it is one of these.
    fn since_call(&self, calls: &[RegionRef]) -> Option<Timestamp> {
        let (time, region) = self.call()?;
        calls.contains(&region).then_some(time)
    }

    /// The region that was entered last and is not known to be left.
    fn call(&self) -> Option<(Timestamp, RegionRef)> {
        let &(time, region) = self.open.last()?;
        let region = match self.table {
            Some(table) => RegionRef(table.get(region.into()) as u32),
            None => region,
        };
        Some((time, region))
    }
}
