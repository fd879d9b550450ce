//! Calls of a thread and activities of a stream, in order.

use std::collections::HashMap;

use retime_model::LocationIndex;
use retime_otf2::schema::{Class, event_code as code};
use retime_otf2::{
    EventData, Glance, LocalDefinitions, MappingTable, ParameterRef, RegionRef, WireError,
};

use super::calls::{AcceleratorCall, LaunchCalls};
use super::references::{Named, Reference};

/// The kind of an activity: only a call of the same kind can have launched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Site {
    /// A kernel, with the call site if it is recorded.
    Kernel(Option<u64>),
    /// A copy of memory.
    Copy,
}

/// A call that gives a stream something to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch {
    /// Its enter.
    pub(super) event: u64,
    pub(super) site: Site,
}

/// The thing that a call waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Awaited {
    /// The device of the last kernel that was launched on it.
    Device(Option<usize>),
    Stream(LocationIndex),
    /// An event that was recorded in a stream.
    Event(LocationIndex),
}

/// A call that waits for a device, a stream or an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// Its leave.
    pub(super) event: u64,
    /// How many launches came before it, or before the event was recorded.
    pub(super) launched: usize,
    pub(super) on: Awaited,
}

/// A thread that launches activities and waits for them.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) location: LocationIndex,
    pub(super) launches: Vec<Launch>,
    pub(super) waits: Vec<Wait>,
    /// True if it records events.
    pub(super) records_events: bool,
    /// True if other processes may record its events.
    pub(super) shares_events: bool,
    /// True if each kernel was launched by a call of its own that is recorded.
    pub(super) is_complete: bool,
}

/// A kernel or a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    pub(super) begin: u64,
    pub(super) end: Option<u64>,
    pub(super) site: Site,
}

/// A stream and the activities that it carried out.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) location: LocationIndex,
    /// The process that it is taken for; those of one are of one device.
    pub(super) context: usize,
    pub(super) activities: Vec<Activity>,
    pub(super) is_complete: bool,
}

/// The ids of a location in those of the trace.
struct LocalIds<'a> {
    regions: Option<&'a MappingTable>,
    parameters: Option<&'a MappingTable>,
}

impl<'a> LocalIds<'a> {
    fn of(local: &'a LocalDefinitions) -> Self {
        Self {
            regions: local.mappings.table(Class::Region),
            parameters: local.mappings.table(Class::Parameter),
        }
    }

    fn region(&self, local: RegionRef) -> RegionRef {
        self.regions
            .map_or(local, |table| RegionRef(table.get(local.into()) as u32))
    }

    /// The call site, if an event says it.
    fn call_site(&self, calls: &LaunchCalls, event: Glance<'_>) -> Result<Option<u64>, WireError> {
        let data = event.data_of::<{ code::ParameterUnsignedInt }>()?;
        let EventData::ParameterUnsignedInt { parameter, value } = data else {
            return Ok(None);
        };
        let parameter = self.parameters.map_or(parameter, |table| {
            ParameterRef(table.get(parameter.into()) as u32)
        });
        Ok(calls.is_call_site(parameter).then_some(value))
    }
}

/// A pass over the events of a thread.
pub(super) struct HostPass<'a> {
    calls: &'a LaunchCalls,
    names: LocalIds<'a>,
    /// The outermost call that is open, and how many regions are in it. What it
    /// calls itself, say the runtime the driver, belongs to it.
    open: Option<(AcceleratorCall, u32)>,
    /// If that waits for a device.
    waiting: Option<Wait>,
    /// The last kernel that was launched on the chosen device.
    on_device: Option<usize>,
    named: Named,
    /// Where each event was recorded last: after so many launches, in which stream.
    recorded: HashMap<u64, (usize, LocationIndex)>,
    host: Host,
}

impl<'a> HostPass<'a> {
    pub(super) fn new(
        calls: &'a LaunchCalls,
        local: &'a LocalDefinitions,
        location: LocationIndex,
        named: Named,
    ) -> Self {
        Self {
            calls,
            names: LocalIds::of(local),
            open: None,
            waiting: None,
            on_device: None,
            named,
            recorded: HashMap::new(),
            host: Host {
                location,
                launches: Vec::new(),
                waits: Vec::new(),
                records_events: false,
                shares_events: false,
                is_complete: true,
            },
        }
    }

    pub(super) fn event(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        match event.code {
            code::Enter => {
                if let EventData::Enter { region } = event.data_of::<{ code::Enter }>()? {
                    let call = self.calls.of(self.names.region(region));
                    self.enter(event.number, call);
                }
            }
            code::Leave => {
                if let EventData::Leave { region } = event.data_of::<{ code::Leave }>()? {
                    let call = self.calls.of(self.names.region(region));
                    self.leave(event.number);
                    self.leave_named(event.number, call);
                }
            }
            code::ParameterUnsignedInt
                if matches!(self.open, Some((AcceleratorCall::Launch, _))) =>
            {
                if let Some(value) = self.names.call_site(self.calls, event)?
                    && let Some(launch) = self.host.launches.last_mut()
                {
                    launch.site = Site::Kernel(Some(value));
                }
            }
            code::MeasurementOnOff => self.host.is_complete = false,
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, event: u64, call: Option<AcceleratorCall>) {
        match call {
            Some(AcceleratorCall::Choose) => self.on_device = None,
            Some(AcceleratorCall::LaunchMany) => self.host.is_complete = false,
            Some(AcceleratorCall::RecordEvent) => self.host.records_events = true,
            // Its address may be that of another from now on.
            Some(AcceleratorCall::ChangeEvent) => self.recorded.clear(),
            Some(AcceleratorCall::ShareEvent) => self.host.shares_events = true,
            _ => {}
        }
        if let Some((_, inside)) = &mut self.open {
            *inside += 1;
            return;
        }
        let site = match call {
            Some(AcceleratorCall::Launch) => Site::Kernel(None),
            Some(AcceleratorCall::Copy) => Site::Copy,
            Some(AcceleratorCall::Wait) => {
                self.waiting = Some(Wait {
                    event,
                    launched: self.host.launches.len(),
                    on: Awaited::Device(self.on_device),
                });
                self.open = Some((AcceleratorCall::Wait, 0));
                return;
            }
            _ => return,
        };
        if call == Some(AcceleratorCall::Launch) {
            self.on_device = Some(self.host.launches.len());
        }
        self.open = call.map(|call| (call, 0));
        self.host.launches.push(Launch { event, site });
    }

    fn leave(&mut self, event: u64) {
        match &mut self.open {
            Some((_, 0)) => {
                self.open = None;
                let waited = self.waiting.take();
                let waited = waited.map(|wait| Wait { event, ..wait });
                self.host.waits.extend(waited);
            }
            Some((_, inside)) => *inside -= 1,
            None => {}
        }
    }

    /// A call is left that may say what it waited for, or what is waited for later.
    fn leave_named(&mut self, event: u64, call: Option<AcceleratorCall>) {
        let Reference {
            stream,
            event: address,
        } = self.named.get(&event).copied().unwrap_or_default();
        let launched = self.launched();
        let wait = |launched, on| Wait {
            event,
            launched,
            on,
        };
        match (call, stream, address) {
            (Some(AcceleratorCall::WaitForStream), Some(stream), _) => {
                let on = Awaited::Stream(stream);
                self.host.waits.push(wait(launched, on));
            }
            (Some(AcceleratorCall::RecordEvent), Some(stream), Some(address)) => {
                self.recorded.insert(address, (launched, stream));
            }
            // Which one was recorded anew is not known.
            (Some(AcceleratorCall::RecordEvent), ..) => self.recorded.clear(),
            (Some(AcceleratorCall::WaitForEvent), _, Some(address)) => {
                let recorded = self.recorded.get(&address);
                let on = |&(launched, stream)| wait(launched, Awaited::Event(stream));
                self.host.waits.extend(recorded.map(on));
            }
            _ => {}
        }
    }

    /// How many launches are over. What the open one was for may still have to come.
    fn launched(&self) -> usize {
        let under_way = matches!(
            self.open,
            Some((AcceleratorCall::Launch | AcceleratorCall::Copy, _))
        );
        self.host.launches.len() - usize::from(under_way)
    }

    /// Ends the pass and returns the calls of the thread.
    pub(super) fn finish(self) -> Host {
        self.host
    }
}

/// A pass over the events of a stream.
pub(super) struct StreamPass<'a> {
    calls: &'a LaunchCalls,
    names: LocalIds<'a>,
    /// How many regions are open.
    depth: u32,
    /// The kernel and the copy that are under way.
    kernel: Option<usize>,
    copy: Option<usize>,
    pub(super) stream: Stream,
}

impl<'a> StreamPass<'a> {
    pub(super) fn new(
        calls: &'a LaunchCalls,
        local: &'a LocalDefinitions,
        location: LocationIndex,
        context: usize,
    ) -> Self {
        Self {
            calls,
            names: LocalIds::of(local),
            depth: 0,
            kernel: None,
            copy: None,
            stream: Stream {
                location,
                context,
                activities: Vec::new(),
                is_complete: true,
            },
        }
    }

    pub(super) fn event(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        match event.code {
            code::Enter => {
                if let EventData::Enter { region } = event.data_of::<{ code::Enter }>()?
                    && self.calls.is_activity(self.names.region(region))
                {
                    if self.depth == 0 {
                        self.kernel = Some(self.begin(event.number, Site::Kernel(None)));
                    }
                    self.depth += 1;
                }
            }
            code::Leave => {
                if let EventData::Leave { region } = event.data_of::<{ code::Leave }>()?
                    && self.calls.is_activity(self.names.region(region))
                {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        let kernel = self.kernel.take();
                        self.end(kernel, event.number);
                    }
                }
            }
            code::ParameterUnsignedInt => {
                let value = self.names.call_site(self.calls, event)?;
                if let (Some(value), Some(kernel)) = (value, self.kernel) {
                    self.stream.activities[kernel].site = Site::Kernel(Some(value));
                }
            }
            code::RmaPut | code::RmaGet => {
                self.copy = Some(self.begin(event.number, Site::Copy));
            }
            code::RmaOpCompleteBlocking => {
                let copy = self.copy.take();
                self.end(copy, event.number);
            }
            code::MeasurementOnOff => self.stream.is_complete = false,
            _ => {}
        }
        Ok(())
    }

    /// Its place among the activities.
    fn begin(&mut self, event: u64, site: Site) -> usize {
        self.stream.activities.push(Activity {
            begin: event,
            end: None,
            site,
        });
        self.stream.activities.len() - 1
    }

    fn end(&mut self, activity: Option<usize>, event: u64) {
        if let Some(activity) = activity.and_then(|it| self.stream.activities.get_mut(it)) {
            activity.end = Some(event);
        }
    }
}
