//! Calls that lock and unlock.
//!
//! A lock is free at some time within the call that unlocks it, and the next holder has it
//! at some time within the call that locks. The records of release and acquisition lie
//! somewhere in these calls, as the recorder likes it; what holds for any is
//!
//! ```text
//!  A   Enter(unlock)  ..release..  Leave
//!              \_____________________________
//!                                            \
//!  B          Enter(lock)   ..acquire..   Leave
//! ```
//!
//! So of a release in such a call it is the entry that counts, and of an acquisition the
//! exit. A condition variable releases and acquires in one call. Records in no such call, as
//! those of critical sections, count themselves.
//!
//! That leaves recorders that learn of the release when the lock is free already, as from
//! `OpenMP`'s tool interface (5.2, section 18.9: the event of a release occurs after the lock is
//! released): then the entry is as late as the record.
//! Score-P, the only one known to write such records, keeps a mutex of its own from before the
//! record of an acquisition until after that of the release, so these are in order all the
//! same.
//!
//! Source: Score-P 9.0, `src/adapters/pthread/scorep_pthread_event.c`,
//! `src/adapters/opari2/openmp/SCOREP_Opari2_Openmp.c` and, for the tool interface,
//! `src/adapters/ompt/scorep_ompt_events_host.inc.c` (`in_release_operation`).

use retime_model::{LogBuilder, LogNode};
use retime_otf2::{Definitions, RegionRef};
use rustc_hash::FxHashMap;

use super::handovers::{Handovers, LockUse};
use super::moment::Moment;
use super::postings::function_of;

/// The effect of a call on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockCall {
    Locks,
    Unlocks,
    /// It unlocks, waits, and locks again.
    Waits,
}

impl LockCall {
    fn named(name: &str) -> Option<Self> {
        match name {
            "omp_set_lock"
            | "omp_set_nest_lock"
            | "omp_test_lock"
            | "omp_test_nest_lock"
            | "pthread_mutex_lock"
            | "pthread_mutex_trylock"
            | "pthread_mutex_timedlock" => Some(Self::Locks),
            "omp_unset_lock" | "omp_unset_nest_lock" | "pthread_mutex_unlock" => {
                Some(Self::Unlocks)
            }
            "pthread_cond_wait" | "pthread_cond_timedwait" => Some(Self::Waits),
            _ => None,
        }
    }
}

/// The calls that a trace defines, by region.
pub(super) struct LockCalls(FxHashMap<RegionRef, LockCall>);

impl LockCalls {
    pub(super) fn find(definitions: &Definitions) -> Self {
        let regions = definitions.regions.iter();
        let calls = regions.filter_map(|it| {
            let name = function_of(&definitions.text(it.name));
            Some((it.id, LockCall::named(&name)?))
        });
        Self(calls.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A call that is entered and not left.
struct OpenLockCall {
    call: LockCall,
    /// How many regions are open within it.
    inside: u32,
    /// Its entry, until a release is known by it.
    entered: Option<LogNode>,
    acquired: Option<LockUse>,
}

/// The calls of one location.
pub(super) struct Locking<'a> {
    calls: &'a LockCalls,
    open: Option<OpenLockCall>,
}

impl<'a> Locking<'a> {
    pub(super) const fn new(calls: &'a LockCalls) -> Self {
        Self { calls, open: None }
    }

    pub(super) fn enter(&mut self, region: RegionRef, at: Moment, log: &mut LogBuilder) {
        if let Some(open) = &mut self.open {
            open.inside += 1;
        } else if let Some(&call) = self.calls.0.get(&region) {
            let unlocks = call != LockCall::Locks;
            self.open = Some(OpenLockCall {
                call,
                inside: 0,
                entered: unlocks.then(|| log.call_entered(at.event, at.time)),
                acquired: None,
            });
        }
    }

    pub(super) fn leave(&mut self, at: Moment, handovers: &mut Handovers, log: &mut LogBuilder) {
        let left = self.open.take_if(|it| it.inside == 0);
        if let Some(of) = left.and_then(|it| it.acquired) {
            handovers.acquires(of, at.receive(log));
        } else if let Some(open) = &mut self.open {
            open.inside -= 1;
        }
    }

    pub(super) fn acquires(
        &mut self,
        of: LockUse,
        at: Moment,
        handovers: &mut Handovers,
        log: &mut LogBuilder,
    ) {
        match &mut self.open {
            Some(open) if open.call != LockCall::Unlocks && open.acquired.is_none() => {
                open.acquired = Some(of);
            }
            _ => handovers.acquires(of, at.receive(log)),
        }
    }

    pub(super) fn releases(
        &mut self,
        of: LockUse,
        at: Moment,
        handovers: &mut Handovers,
        log: &mut LogBuilder,
    ) {
        let entered = self.open.as_mut().and_then(|it| it.entered.take());
        let node = entered.unwrap_or_else(|| at.send(log));
        handovers.releases(of, node);
    }
}
