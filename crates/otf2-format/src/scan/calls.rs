//! Calls that others wait for, and calls that wait for others, where the records in them
//! do not say when.
//!
//! A record of a synchronous send shows when the send was started; that it is complete
//! shows where its call is left, or in the record of its completion. The record of a
//! receive shows that it is posted or complete; since when it can have been posted shows
//! where its call is entered. So entries and exits of such calls are events with a role.
//!
//! What `MPI_Start` starts is a synchronous send if `MPI_Ssend_init` made its request, which no
//! record says. But where a location has made requests for no other sends so far, is all that
//! speaks for its rank and was recorded throughout, any send that it starts is one.
//!
//! The same is true of one-sided communication between groups; see [`exposures`] and
//! [`epochs`].
//!
//! Most traces have no use for them. So a first pass only notices whether there is a
//! synchronous send or such a group, and a second pass is made if there is one.
//!
//! [`epochs`]: super::epochs
//! [`exposures`]: super::exposures

use std::collections::HashMap;

use retime_model::{
    LocationIndex, LogBuilder, LogNode, MessageId, NamedMessage, Role, Timestamp, TraceInfo,
};
use retime_otf2::schema::{Class, event_code as code};
use retime_otf2::{
    Definitions, EventData, Glance, GroupRef, LocalDefinitions, MappingTable, RegionRef,
    RmaSyncLevel, RmaWinRef, WireError,
};

use super::epochs::{Epochs, Fetches};
use super::exposures::{ExposurePart, Exposures, Groups};
use super::postings::{POSTING, function_of};
use crate::describe::Description;

/// The effect of a call on what its entry and exit prove.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallKind {
    /// It posts receives.
    Posts,
    /// It is left when its synchronous send is complete.
    Sends,
    /// It starts a synchronous send.
    Starts,
    /// It makes a request by which synchronous sends are started, ...
    Prepares,
    /// ... or others.
    PreparesOthers,
    /// It starts what was prepared: it posts receives, or sends.
    StartsPrepared,
    /// It exposes memory to others.
    Exposes,
    /// Accesses to memory of others begin.
    Accesses,
    /// Others wait until it is entered: it ends accesses to their memory.
    Completes,
    /// It is left when others have done so.
    Waits,
}

/// The calls that a trace defines, by region.
pub(crate) struct Calls {
    kinds: HashMap<RegionRef, CallKind>,
    groups: Groups,
}

impl Calls {
    pub(crate) fn find(definitions: &Definitions, info: &TraceInfo) -> Self {
        let kind = |name: &str| match name {
            "mpi_ssend" => Some(CallKind::Sends),
            "mpi_issend" => Some(CallKind::Starts),
            "mpi_ssend_init" => Some(CallKind::Prepares),
            "mpi_send_init" | "mpi_bsend_init" | "mpi_rsend_init" => Some(CallKind::PreparesOthers),
            "mpi_start" | "mpi_startall" => Some(CallKind::StartsPrepared),
            "mpi_win_post" => Some(CallKind::Exposes),
            "mpi_win_start" => Some(CallKind::Accesses),
            "mpi_win_complete" => Some(CallKind::Completes),
            "mpi_win_wait" | "mpi_win_test" => Some(CallKind::Waits),
            _ => POSTING.contains(&name).then_some(CallKind::Posts),
        };
        let regions = definitions.regions.iter();
        let named = regions.map(|it| (it.id, function_of(&definitions.text(it.name))));
        let kinds = named.filter_map(|(id, name)| Some((id, kind(&name)?)));
        Self {
            kinds: kinds.collect(),
            groups: Groups::find(definitions, info),
        }
    }
}

/// A region that was entered.
struct Open {
    kind: Option<CallKind>,
    /// The event by which it was entered, if that may be waited for.
    entered: Option<LogNode>,
    /// The synchronous send that it completes.
    send: Option<LogNode>,
    /// The completions that the call waited for.
    waited: Vec<MessageId>,
    /// The exposures that the call proves, as something was fetched in them.
    fetched: Vec<MessageId>,
}

/// Which sends a location has prepared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prepared {
    Nothing,
    /// None but synchronous ones.
    Synchronous,
    /// Others as well, or it may have.
    Any,
}

/// The calls of one location, in a pass that follows them.
pub(super) struct Followed<'a> {
    calls: &'a Calls,
    table: Option<&'a MappingTable>,
    exposures: Exposures<'a>,
    fetches: Fetches<'a>,
    epochs: Epochs,
    open: Vec<Open>,
    /// Synchronous sends that were started, by request.
    started: HashMap<u64, LogNode>,
    prepared: Prepared,
    /// How many events had a role before the one that is looked at.
    known: usize,
}

impl<'a> Followed<'a> {
    /// Follows the calls of a location that speaks for `endpoint`; `alone` if no other location
    /// does.
    pub(super) fn new(
        calls: &'a Calls,
        description: &'a Description,
        local: &'a LocalDefinitions,
        endpoint: LocationIndex,
        alone: bool,
    ) -> Self {
        Self {
            calls,
            table: local.mappings.table(Class::Region),
            exposures: Exposures::new(&calls.groups, local, endpoint, alone),
            fetches: Fetches::new(description, local),
            epochs: Epochs::default(),
            open: Vec::new(),
            started: HashMap::new(),
            prepared: if alone {
                Prepared::Nothing
            } else {
                Prepared::Any
            },
            known: 0,
        }
    }

    /// To be called before what the event itself says is reported.
    pub(super) fn before(
        &mut self,
        event: Glance<'_>,
        time: Timestamp,
        log: &mut LogBuilder,
    ) -> Result<(), WireError> {
        match event.data_of_calls()? {
            Some(EventData::Enter { region }) => self.enter(event.number, time, region, log),
            Some(EventData::Leave { .. }) => {
                if let Some(call) = self.open.pop() {
                    self.leave(&call, event.number, time, log);
                }
            }
            Some(EventData::MpiIsendComplete { request }) => {
                if let Some(send) = self.started.remove(&request) {
                    log.send_accepted(event.number, time, send);
                }
            }
            Some(EventData::MpiRequestCancelled { request }) => {
                self.started.remove(&request);
            }
            Some(data @ (EventData::RmaGet { .. } | EventData::RmaAtomic { .. })) => {
                self.fetches.access(&data);
            }
            // What is entered and left meanwhile is not known.
            Some(EventData::MeasurementOnOff { .. }) => {
                self.open.clear();
                self.exposures.missed();
                self.prepared = Prepared::Any;
            }
            _ => {}
        }
        self.known = log.len();
        Ok(())
    }

    fn enter(&mut self, event: u64, time: Timestamp, region: RegionRef, log: &mut LogBuilder) {
        let region = match self.table {
            Some(table) => RegionRef(table.get(region.into()) as u32),
            None => region,
        };
        let kind = self.calls.kinds.get(&region).copied();
        self.prepared = match (kind, self.prepared) {
            (Some(CallKind::PreparesOthers), _) => Prepared::Any,
            (Some(CallKind::Prepares), Prepared::Nothing) => Prepared::Synchronous,
            (_, before) => before,
        };
        let is_cause = matches!(
            kind,
            Some(
                CallKind::Posts
                    | CallKind::StartsPrepared
                    | CallKind::Exposes
                    | CallKind::Completes
            )
        );
        let entered = is_cause.then(|| log.call_entered(event, time));
        self.open.push(Open {
            kind,
            entered,
            send: None,
            waited: Vec::new(),
            fetched: Vec::new(),
        });
    }

    /// Reports the synchronisation of a group by the innermost call: it begins or ends at the entry
    /// of a call that posts or completes, and at the exit of one that waits.
    fn grouped(
        &mut self,
        kind: CallKind,
        window: RmaWinRef,
        group: GroupRef,
        log: &mut LogBuilder,
    ) {
        let Some(call) = self.open.last_mut() else {
            return;
        };
        let mut names = |part| self.exposures.names(part, window, group).into_iter();
        match (kind, call.entered) {
            (CallKind::Exposes, Some(entered)) => {
                let node = entered;
                let posted = names(ExposurePart::Posts).map(|(_, id)| NamedMessage { id, node });
                self.epochs.posted.extend(posted);
            }
            (CallKind::Accesses, _) => self.fetches.start(window),
            (CallKind::Completes, Some(entered)) => {
                for (_, id) in names(ExposurePart::Completes) {
                    log.also_named(entered, id);
                }
                let from = self.fetches.complete(window);
                let fetched =
                    names(ExposurePart::Accesses).filter(|(target, _)| from.contains(target));
                call.fetched = fetched.map(|(_, id)| id).collect();
            }
            (CallKind::Waits, _) => {
                call.waited = names(ExposurePart::Waits).map(|(_, id)| id).collect();
            }
            _ => return,
        }
        self.epochs.looked_at += u64::from(self.exposures.are_counted());
    }

    fn leave(&mut self, call: &Open, event: u64, time: Timestamp, log: &mut LogBuilder) {
        if let Some(send) = call.send {
            log.send_accepted(event, time, send);
        }
        if let Some((&first, others)) = call.waited.split_first() {
            log.named_receive(event, time, first);
            if let Some(node) = log.last() {
                for &it in others {
                    log.also_named(node, it);
                }
            }
        }
        if !call.fetched.is_empty() {
            let node = log.takes_part(event, time, Role::Receive);
            let fetched = call.fetched.iter().map(|&id| NamedMessage { id, node });
            self.epochs.fetched.extend(fetched);
        }
    }

    /// All events are reported.
    pub(super) fn finish(self) -> Epochs {
        self.epochs
    }

    /// To be called after it; `posts` says whether a request for a receive counts as
    /// posted at once.
    pub(super) fn after(
        &mut self,
        event: Glance<'_>,
        posts: bool,
        log: &mut LogBuilder,
    ) -> Result<(), WireError> {
        let prepared = self.prepared;
        let Some(call) = self.open.last_mut() else {
            return Ok(());
        };
        let reported = if log.len() > self.known {
            log.last()
        } else {
            None
        };
        match (event.code, call.kind) {
            (code::MpiSend, Some(CallKind::Sends)) => call.send = reported,
            (code::MpiIsend, Some(kind @ (CallKind::Starts | CallKind::StartsPrepared)))
                if kind == CallKind::Starts || prepared == Prepared::Synchronous =>
            {
                if let (Some(send), EventData::MpiIsend { request, .. }) =
                    (reported, event.data_of::<{ code::MpiIsend }>()?)
                {
                    self.started.insert(request, send);
                }
            }
            (code::MpiRecv, Some(CallKind::Posts)) if reported.is_some() => posted(call, log),
            (code::MpiIrecvRequest, Some(CallKind::Posts | CallKind::StartsPrepared)) if posts => {
                posted(call, log);
            }
            (code::RmaGroupSync, Some(kind)) => {
                if let EventData::RmaGroupSync {
                    win,
                    group,
                    sync_level,
                } = event.data_of::<{ code::RmaGroupSync }>()?
                    // Score-P records a test that found accesses under way like this.
                    && sync_level != RmaSyncLevel::NONE
                {
                    self.grouped(kind, win, group, log);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn posted(call: &Open, log: &mut LogBuilder) {
    if let Some(entered) = call.entered {
        log.posted_in(entered);
    }
}

/// Decodes what calls are followed by.
trait OfCalls {
    fn data_of_calls(&self) -> Result<Option<EventData>, WireError>;
}

impl OfCalls for Glance<'_> {
    fn data_of_calls(&self) -> Result<Option<EventData>, WireError> {
        let followed = matches!(
            self.code,
            code::Enter
                | code::Leave
                | code::MpiIsendComplete
                | code::MpiRequestCancelled
                | code::RmaGet
                | code::RmaAtomic
                | code::MeasurementOnOff
        );
        followed.then(|| self.data()).transpose()
    }
}
