//! Since when a location waited for a message, by the calls in which it was recorded.
//!
//! The record of a receive says that it is complete. It was waited for since the call was entered
//! that is left only when it is, or, of one that was probed for before, since that call was. A send
//! that is not left before it is complete waits for its receiver, if the message is too long to
//! be sent on:
//!
//! ```text
//! | MPI_Recv    receive |     from entering to the receive         awaited
//! | MPI_Probe | MPI_Recv  receive |     from entering the first    awaited
//! | MPI_Send send       |     from the send to leaving             held
//! | MPI_Wait   complete |     from entering to the completion      held, since it was entered
//! ```
//!
//! A call that receives and sends waits for what it receives. Where a program asks again and again
//! whether a message has come (`MPI_Test`, `MPI_Iprobe`), or where calls are not recorded, nothing
//! tells since when it waited.

use rustc_hash::FxHashMap;

use retime_model::{LogBuilder, LogNode, Ticks, Timestamp};
use retime_otf2::{Definitions, MappingTable, RegionRef};

use super::postings::function_of;

/// The effect of a call on what is known of waiting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It is left when what it asks for has come, or what it sends is under way.
    Waits,
    /// It is left when there is a message to receive.
    Probes,
    /// It may be one of many that ask whether there is one.
    Asks,
}

/// The calls that wait for messages, by region.
pub(crate) struct WaitingCalls(FxHashMap<RegionRef, Effect>);

impl WaitingCalls {
    pub(crate) fn find(definitions: &Definitions) -> Self {
        let effect = |name: &str| match name {
            "mpi_recv"
            | "mpi_mrecv"
            | "mpi_sendrecv"
            | "mpi_sendrecv_replace"
            | "mpi_send"
            | "mpi_ssend"
            | "mpi_rsend"
            | "mpi_wait"
            | "mpi_waitall"
            | "mpi_waitany"
            | "mpi_waitsome" => Some(Effect::Waits),
            "mpi_probe" | "mpi_mprobe" => Some(Effect::Probes),
            "mpi_iprobe" | "mpi_improbe" => Some(Effect::Asks),
            _ => None,
        };
        let regions = definitions.regions.iter();
        let named = regions.map(|it| (it.id, function_of(&definitions.text(it.name))));
        Self(
            named
                .filter_map(|(id, name)| Some((id, effect(&name)?)))
                .collect(),
        )
    }
}

/// A call that was entered.
#[derive(Clone, Copy)]
struct EnteredCall {
    /// The number of its region.
    region: u32,
    since: u64,
}

/// A send for which a call waits.
struct Held {
    send: LogNode,
    /// The time at which it is complete, if that is recorded; else it is when the call is left.
    until: Option<Timestamp>,
}

/// The calls of one location.
pub(super) struct Waiting<'a> {
    calls: &'a WaitingCalls,
    table: Option<&'a MappingTable>,
    /// The call that was entered last, at `last`, and the last one before that was left without
    /// entering another one.
    entered: [Option<EnteredCall>; 2],
    last: usize,
    /// True if nothing was left since.
    is_open: bool,
    /// True if it is known since when the messages were waited for that have been received in the one
    /// that was entered last; nothing if there are none.
    received: Option<bool>,
    /// The sends that the open one waits for.
    held: Vec<Held>,
}

impl<'a> Waiting<'a> {
    pub(super) const fn new(calls: &'a WaitingCalls, table: Option<&'a MappingTable>) -> Self {
        Self {
            calls,
            table,
            entered: [None; 2],
            last: 0,
            is_open: false,
            received: None,
            held: Vec::new(),
        }
    }

    /// A region is entered, or left.
    #[expect(
        clippy::inline_always,
        reason = "a call for each of most events of a trace takes some of the time"
    )]
    #[inline(always)]
    pub(super) fn passed(&mut self, region: u32, is_left: bool, time: u64, log: &mut LogBuilder) {
        if !self.held.is_empty() {
            self.settle(Timestamp(time), log);
        }
        if is_left {
            self.is_open = false;
            return;
        }
        self.last ^= usize::from(!self.is_open);
        self.entered[self.last & 1] = Some(EnteredCall {
            region,
            since: time,
        });
        self.is_open = true;
        self.received = None;
    }

    /// Events are not recorded from here on, or were not so far.
    pub(super) fn missed(&mut self) {
        (self.entered, self.is_open) = ([None; 2], false);
        self.held.clear();
    }

    /// A message left in a call that was reported to `log`.
    pub(super) fn sent(&mut self, log: &LogBuilder) {
        if let (Some(send), Some(_)) = (log.last(), self.waits()) {
            self.held.push(Held { send, until: None });
        }
    }

    /// A send is complete.
    pub(super) fn completed(&mut self, send: LogNode, time: Timestamp) {
        if self.received.is_none() && self.waits().is_some() {
            let until = Some(time);
            self.held.push(Held { send, until });
        }
    }

    /// A receive is complete that was reported to `log`.
    pub(super) fn received(&mut self, time: Timestamp, log: &mut LogBuilder) {
        match self.received {
            Some(true) => log.awaited_too(),
            Some(false) => {}
            None => {
                let since = self.since();
                self.received = Some(since.is_some());
                if let Some(since) = since {
                    let lasted = i64::try_from(time.0.saturating_sub(since)).unwrap_or(i64::MAX);
                    log.awaited(Ticks(lasted));
                }
            }
        }
    }

    /// The time since when the open call has waited for what it receives, if that is known.
    fn since(&self) -> Option<u64> {
        let call = self.waits()?;
        let before = self.entered[(self.last ^ 1) & 1].map(|it| (self.effect(it), it.since));
        match before {
            Some((Some(Effect::Asks), _)) => None,
            Some((Some(Effect::Probes), since)) => Some(since),
            Some((Some(Effect::Waits) | None, _)) | None => Some(call.since),
        }
    }

    fn effect(&self, of: EnteredCall) -> Option<Effect> {
        let region = match self.table {
            Some(table) => table.get(of.region.into()) as u32,
            None => of.region,
        };
        self.calls.0.get(&RegionRef(region)).copied()
    }

    /// The call that was entered last, if nothing was left since.
    fn open(&self) -> Option<EnteredCall> {
        self.entered[self.last & 1].filter(|_| self.is_open)
    }

    /// The open call, if it waits.
    fn waits(&self) -> Option<EnteredCall> {
        let waits = |it: &EnteredCall| self.effect(*it) == Some(Effect::Waits);
        self.open().filter(waits)
    }

    /// The open call is left.
    fn settle(&mut self, time: Timestamp, log: &mut LogBuilder) {
        let since = self.open().map_or(time, |it| Timestamp(it.since));
        for Held { send, until } in self.held.drain(..) {
            if self.received.is_none() {
                log.held_between(send, since, until.unwrap_or(time));
            }
        }
    }
}
