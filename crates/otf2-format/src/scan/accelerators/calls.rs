//! Calls of CUDA and HIP, told apart by their names.

use std::collections::{HashMap, HashSet};

use retime_otf2::{Definitions, ParameterRef, RegionRef, RegionRole};

/// Beginnings of the names of calls that launch one kernel each.
const LAUNCH: [&str; 7] = [
    "cudalaunch",
    "culaunch",
    "hiplaunch",
    "hipmodulelaunch",
    "hipextlaunch",
    "hipextmodulelaunch",
    "hiphccmodulelaunch",
];

/// Beginnings of the names of calls that launch any number of kernels.
const LAUNCH_MANY: [&str; 3] = ["cudagraphlaunch", "cugraphlaunch", "hipgraphlaunch"];

/// Beginnings of the names of calls that start a copy of memory.
const COPY: [&str; 3] = ["cudamemcpy", "cumemcpy", "hipmemcpy"];

/// Calls that wait for all that the thread's device has to do.
const WAIT: [&str; 5] = [
    "cudadevicesynchronize",
    "cudathreadsynchronize",
    "cuctxsynchronize",
    "hipdevicesynchronize",
    "hipctxsynchronize",
];

/// Beginnings of the names of calls that record an event in a stream, ...
const RECORD_EVENT: &str = "cueventrecord";

/// ... that make and destroy events, ...
const CHANGE_EVENT: [&str; 2] = ["cueventcreate", "cueventdestroy"];

/// ... and that share them with other processes.
const SHARE_EVENT: [&str; 2] = ["cuipcgetevent", "cuipcopenevent"];

/// Beginnings of the names of calls that may choose another device for the thread.
const CHOOSE: [&str; 11] = [
    "cudasetdevice",
    "cudainitdevice",
    "hipsetdevice",
    "cuctxset",
    "cuctxpush",
    "cuctxpop",
    "cuctxcreate",
    "hipctxset",
    "hipctxpush",
    "hipctxpop",
    "hipctxcreate",
];

/// Score-P's name of the parameter that launches and kernels have in common.
const CALL_SITE: &str = "callsite id";

/// The effect of a call on streams, events and the choice of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AcceleratorCall {
    Launch,
    LaunchMany,
    Copy,
    Wait,
    WaitForStream,
    WaitForEvent,
    RecordEvent,
    ChangeEvent,
    ShareEvent,
    Choose,
}

impl AcceleratorCall {
    fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let end = name.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let name = &name[..end.unwrap_or(name.len())];
        let begins = |with: &[&str]| with.iter().any(|it| name.starts_with(it));
        if begins(&LAUNCH_MANY) || begins(&LAUNCH) && name.contains("multidevice") {
            Some(Self::LaunchMany)
        } else if begins(&LAUNCH) && !name.contains("hostfunc") {
            Some(Self::Launch)
        } else if begins(&COPY) {
            Some(Self::Copy)
        } else if WAIT.contains(&name) {
            Some(Self::Wait)
        } else if name == "custreamsynchronize" {
            Some(Self::WaitForStream)
        } else if name == "cueventsynchronize" {
            Some(Self::WaitForEvent)
        } else if begins(&[RECORD_EVENT]) {
            Some(Self::RecordEvent)
        } else if begins(&CHANGE_EVENT) {
            Some(Self::ChangeEvent)
        } else if begins(&SHARE_EVENT) {
            Some(Self::ShareEvent)
        } else if begins(&CHOOSE) {
            Some(Self::Choose)
        } else {
            None
        }
    }
}

/// The calls that the definitions name, by region.
pub(super) struct LaunchCalls {
    by_region: HashMap<RegionRef, AcceleratorCall>,
    /// Regions that stand for no activity, say that the device has nothing to do.
    artificial: HashSet<RegionRef>,
    call_site: Option<ParameterRef>,
}

impl LaunchCalls {
    pub(super) fn find(definitions: &Definitions) -> Self {
        let regions = &definitions.regions;
        let call = |name| AcceleratorCall::named(&definitions.text(name));
        let calls = regions
            .iter()
            .filter_map(|it| Some((it.id, call(it.name)?)));
        let artificial = regions
            .iter()
            .filter(|it| it.role == RegionRole::ARTIFICIAL);
        let mut parameters = definitions.parameters.iter();
        let call_site = parameters.find(|it| definitions.text(it.name) == CALL_SITE);
        Self {
            by_region: calls.collect(),
            artificial: artificial.map(|it| it.id).collect(),
            call_site: call_site.map(|it| it.id),
        }
    }

    /// True if there are calls that give streams something to do.
    pub(super) fn launch_anything(&self) -> bool {
        let mut calls = self.by_region.values();
        calls.any(|it| matches!(it, AcceleratorCall::Launch | AcceleratorCall::Copy))
    }

    pub(super) fn of(&self, region: RegionRef) -> Option<AcceleratorCall> {
        self.by_region.get(&region).copied()
    }

    pub(super) fn is_activity(&self, region: RegionRef) -> bool {
        !self.artificial.contains(&region)
    }

    pub(super) fn is_call_site(&self, parameter: ParameterRef) -> bool {
        self.call_site == Some(parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::AcceleratorCall;

    #[test]
    fn names_with_versions_and_arguments_are_known() {
        let named = |name| AcceleratorCall::named(name);
        assert_eq!(
            named("cudaLaunchKernel_ptsz"),
            Some(AcceleratorCall::Launch)
        );
        assert_eq!(named("hipLaunchKernel(int)"), Some(AcceleratorCall::Launch));
        assert_eq!(named("cuMemcpyHtoD_v2"), Some(AcceleratorCall::Copy));
        assert_eq!(named("cudaGraphLaunch"), Some(AcceleratorCall::LaunchMany));
        assert_eq!(
            named("hipExtLaunchMultiKernelMultiDevice"),
            Some(AcceleratorCall::LaunchMany)
        );
        assert_eq!(named("cuCtxPushCurrent_v2"), Some(AcceleratorCall::Choose));
        assert_eq!(named("cuCtxSynchronize"), Some(AcceleratorCall::Wait));
        // This one names the context that it waits for.
        assert_eq!(named("cuCtxSynchronize_v2"), None);
        // Only calls of the driver say which stream they are for.
        assert_eq!(named("cudaStreamSynchronize"), None);
        assert_eq!(
            named("cuStreamSynchronize"),
            Some(AcceleratorCall::WaitForStream)
        );
        assert_eq!(
            named("cuEventRecord_ptsz"),
            Some(AcceleratorCall::RecordEvent)
        );
        assert_eq!(named("cudaLaunchHostFunc"), None);
        assert_eq!(named("heavy_kernel(float*)"), None);
    }
}
