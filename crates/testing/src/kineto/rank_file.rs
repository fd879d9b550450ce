//! The file of one rank.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use super::{
    arguments,
    events::{Events, Lane, Placed},
    filler::{Filler, Launched, kernels},
    groups::{Group, Groups},
    happened::{Call, Happened, Instance, Item, RankLog, Role, Span, What},
    job::{Class, HostNames, KinetoRun, Style, Version, file_name},
    names::Names,
    simulation::{COMPUTING, THREADS},
    stamp::{HostClock, Stamps},
    window::recorded,
};
use retime_sim::Result;

/// The process of rank 0; others count on.
const FIRST_PROCESS: u32 = 23_907;
/// The first thread that works for a group, counted from the process.
const FIRST_THREAD: u32 = 500;
/// The streams of computations, and of the first group.
const STREAM: u32 = 7;
const FIRST_STREAM: u32 = 20;
/// A call launches its kernel from this part to that, of so many.
const LAUNCH: (u64, u64, u64) = (5, 8, 10);

/// Writes the file of a rank.
pub(super) struct RankFile<'a> {
    run: &'a KinetoRun,
    groups: &'a Groups,
    instances: &'a [Instance],
    log: &'a RankLog,
    rank: u32,
    stamps: Stamps,
    /// The stamps of its device.
    device: Stamps,
    window: Span,
}

/// The place of each call in the file of a rank, and how its times are written.
pub(super) struct Written {
    pub(super) stamps: Stamps,
    pub(super) device: Stamps,
    /// Where each call's operation is, of those that were recorded.
    pub(super) calls: Vec<Option<Placed>>,
}

/// The numbers by which a kernel leads to the call that launched it.
#[derive(Clone, Copy, Default)]
struct Launch {
    /// The number of the operator.
    external: u64,
    /// The number of the launch.
    correlation: u64,
}

impl<'a> RankFile<'a> {
    pub(super) fn new(
        run: &'a KinetoRun,
        groups: &'a Groups,
        happened: &'a Happened,
        [hosts, devices]: [&[HostClock]; 2],
        rank: u32,
    ) -> Self {
        let log = &happened.ranks[rank as usize];
        Self {
            run,
            groups,
            instances: &happened.instances,
            log,
            rank,
            stamps: Stamps::new(run, hosts[run.host(rank) as usize].clone(), rank),
            device: Stamps::new(run, devices[rank as usize].clone(), rank),
            window: recorded(run, rank, log),
        }
    }

    pub(super) fn write(&self, directory: &Path) -> Result<Written> {
        let mut to = BufWriter::new(File::create(directory.join(file_name(self.rank)))?);
        self.header(&mut to)?;
        let mut events = Events::new(&mut to, self.stamps.clone());
        self.lanes(&mut events)?;
        let mut calls = vec![None; self.log.calls.len()];
        let mut filler = Filler {
            layers: u64::from(self.run.filler),
            external: 0,
            correlation: 0,
            arrows: 0,
        };
        match self.run.style {
            Style::Gloo => self.with_gloo(&mut events, &mut filler, &mut calls)?,
            Style::Nccl => self.with_nccl(&mut events, &mut filler, &mut calls)?,
        }
        self.marks(&mut events)?;
        let name = file_name(self.rank);
        write!(to, "\n  ],\"traceName\": \"/runs/{name}\" }}")?;
        to.flush()?;
        Ok(Written {
            stamps: self.stamps.clone(),
            device: self.device.clone(),
            calls,
        })
    }

    fn process(&self) -> u32 {
        FIRST_PROCESS + self.rank
    }

    fn device(&self) -> u32 {
        self.rank % self.run.ranks_per_host
    }

    /// The thread that works for a group.
    fn thread(&self, group: usize, thread: usize) -> u32 {
        self.process() + FIRST_THREAD + (group * THREADS + thread) as u32
    }

    /// A stream on which kernels of a group run.
    fn stream(&self, group: usize, number: usize) -> u32 {
        FIRST_STREAM + (group + number * self.groups.count()) as u32
    }

    fn header(&self, to: &mut impl Write) -> io::Result<()> {
        let (backend, configured, version) = match self.run.style {
            Style::Gloo => ("gloo", "cpu:gloo,cuda:gloo", ""),
            Style::Nccl => ("nccl", "cuda:nccl", r#", "nccl_version": "2.27.5""#),
        };
        let groups: Vec<_> = self
            .groups
            .of(self.rank)
            .map(|(_, group)| {
                let Group { name, description, ranks } = group;
                let size = ranks.len();
                format!(
                    r#"{{"pg_name": "{name}", "pg_desc": "{description}", "backend_config": "{configured}", "pg_size": {size}, "ranks": {ranks:?}}}"#
                )
            })
            .collect();
        let (rank, world, count, groups) =
            (self.rank, self.run.ranks, groups.len(), groups.join(", "));
        write!(
            to,
            r#" {{
    "schemaVersion": 1,
    "deviceProperties": [],
    
      "trace_id": "{:032X}",
      "record_shapes": 1,
      "distributedInfo": {{"backend": "{backend}", "rank": {rank}, "world_size": {world}, "pg_count": {count}, "pg_config": [{groups}]{version}}},"#,
            u128::from(self.run.seed) << 32 | u128::from(self.rank)
        )?;
        let host = match self.run.host_names {
            HostNames::Own => Some(format!("node{}", self.run.host(self.rank))),
            HostNames::One => Some("localhost".to_owned()),
            HostNames::Absent => None,
        };
        if let Some(host) = host {
            write!(to, "\n      \"host_name\": \"{host}\",")?;
        }
        write!(to, "\n    \"displayTimeUnit\": \"ms\",")?;
        if let Some(base) = self.stamps.base {
            write!(to, "\n    \"baseTimeNanoseconds\": {base},")?;
        }
        write!(to, "\n    \"traceEvents\": [\n    ")
    }

    /// Names of processes, threads and streams.
    fn lanes<W: Write>(&self, events: &mut Events<'_, W>) -> io::Result<()> {
        let (pid, time) = (self.process(), self.window.begin);
        let process = Lane { pid: &pid, tid: &0 };
        events.about("process_name", process, time, r#""name": "python""#)?;
        events.about("process_labels", process, time, r#""labels": "CPU""#)?;
        let order = format!("\"sort_index\": {pid}");
        events.about("process_sort_index", process, time, &order)?;
        let mut thread = |pid: u32, tid: u32, name: String| {
            let name = format!("\"name\": \"{name}\"");
            let lane = Lane {
                pid: &pid,
                tid: &tid,
            };
            events.about("thread_name", lane, time, &name)?;
            let order = format!("\"sort_index\": {tid}");
            events.about("thread_sort_index", lane, time, &order)
        };
        thread(pid, pid, format!("thread {pid} (python)"))?;
        for (number, _) in self.groups.of(self.rank) {
            match self.run.style {
                Style::Gloo => {
                    for tid in (0..THREADS).map(|it| self.thread(number, it)) {
                        thread(pid, tid, format!("thread {tid} (pt_gloo_runloop)"))?;
                    }
                }
                Style::Nccl => {
                    for stream in (0..THREADS).map(|it| self.stream(number, it)) {
                        thread(self.device(), stream, format!("stream {stream} "))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The calls of which everything was recorded, with their numbers.
    fn calls(&self) -> impl Iterator<Item = (usize, &Call)> {
        let whole =
            |call: &Call| call.host.is_within(self.window) && call.event.is_within(self.window);
        self.log
            .calls
            .iter()
            .enumerate()
            .filter(move |(_, call)| whole(call))
    }

    fn names(&self, call: &Call) -> Names {
        let instance = &self.instances[call.instance];
        Names::new(instance.what, call.role, instance.payload.element)
    }

    /// Threads of groups first, then the main thread.
    fn with_gloo<W: Write>(
        &self,
        events: &mut Events<'_, W>,
        filler: &mut Filler,
        placed: &mut [Option<Placed>],
    ) -> io::Result<()> {
        for (group, _) in self.groups.of(self.rank) {
            for thread in 0..THREADS {
                for (number, call) in self.calls() {
                    let of = self.instances[call.instance].group;
                    if call.role == Role::Member && (of, call.thread) == (group, thread) {
                        let tid = self.thread(group, thread);
                        placed[number] = Some(self.annotation(events, filler, call, tid)?);
                    }
                }
            }
        }
        self.main(events, filler, |events, filler, number, call| {
            let asked = self.call(events, filler, call)?;
            if call.role != Role::Member && call.event.is_within(self.window) {
                let under_way = self.annotation(events, filler, call, self.process())?;
                placed[number] = Some(match call.role {
                    Role::Sender { .. } => asked,
                    _ => under_way,
                });
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The main thread first, then the streams.
    fn with_nccl<W: Write>(
        &self,
        events: &mut Events<'_, W>,
        filler: &mut Filler,
        placed: &mut [Option<Placed>],
    ) -> io::Result<()> {
        let mut launches = vec![Launch::default(); self.log.calls.len()];
        let mut graph = None;
        let launched = self.main(events, filler, |events, filler, number, call| {
            if self.is_nameless(call) {
                // One launch starts all kernels of a graph.
                let known = graph.filter(|(host, _)| *host == call.host);
                let correlation = match known {
                    Some((_, correlation)) => correlation,
                    None => filler.launch_graph(events, self.process(), call.host)?,
                };
                graph = Some((call.host, correlation));
                launches[number] = Launch {
                    external: correlation,
                    correlation,
                };
                return Ok(());
            }
            if self.run.says_requests {
                self.call(events, filler, call)?;
            }
            let external = filler.next_external();
            let arguments = arguments::of_operator(external, &self.requested(call));
            let pid = self.process();
            events.complete(
                "cpu_op",
                "record_param_comms",
                Lane::main(&pid),
                call.host,
                &arguments,
            )?;
            let range = match call.batch {
                None => call.host,
                Some(batch) if batch.last == number => batch.launch,
                Some(_) => return Ok(()),
            };
            if call.batch.is_some() || self.run.version == Version::Ranges {
                self.range(events, filler, call, range)?;
            }
            let (from, to, parts) = LAUNCH;
            let span = Span {
                begin: range.part(from, parts),
                end: range.part(to, parts),
            };
            let launch = Launch {
                external,
                correlation: filler.launch(events, pid, span, external)?,
            };
            let first = call.batch.map_or(number, |it| it.first);
            launches[first..=number].fill(launch);
            Ok(())
        })?;
        events.stamps = self.device.clone();
        kernels(events, self.device(), STREAM, &launched)?;
        for (group, _) in self.groups.of(self.rank) {
            for (number, call) in self.calls() {
                if self.instances[call.instance].group != group {
                    continue;
                }
                let before = call
                    .batch
                    .and_then(|it| placed[it.first..number].iter().flatten().next());
                placed[number] = match before {
                    Some(same) => Some(same.clone()),
                    None => Some(self.kernel(events, call, launches[number])?),
                };
            }
        }
        events.stamps = self.stamps.clone();
        Ok(())
    }

    /// Everything the main thread did, in order; what is written of a call, the
    /// caller says. Returns the kernels of computations.
    fn main<W: Write>(
        &self,
        events: &mut Events<'_, W>,
        filler: &mut Filler,
        mut on_call: impl FnMut(&mut Events<'_, W>, &mut Filler, usize, &Call) -> io::Result<()>,
    ) -> io::Result<Vec<Launched>> {
        let pid = self.process();
        let recorded = |span: Span| span.is_within(self.window);
        let mut launched = Vec::new();
        for item in &self.log.items {
            match *item {
                Item::Iteration { number, span } if recorded(span) => {
                    let external = filler.next_external();
                    let name = format!("ProfilerStep#{number}");
                    let arguments = arguments::of_operator(external, "");
                    events.complete(
                        "user_annotation",
                        &name,
                        Lane::main(&pid),
                        span,
                        &arguments,
                    )?;
                    if self.run.devices.awaited && self.run.style == Style::Nccl {
                        filler.synchronize(events, pid, span.end)?;
                    }
                }
                Item::Compute { host, device } if recorded(host) => {
                    let device = device.filter(|&span| recorded(span));
                    filler.host(events, pid, host, device, &mut launched)?;
                }
                Item::Call(number) if recorded(self.log.calls[number].host) => {
                    on_call(events, filler, number, &self.log.calls[number])?;
                }
                Item::Iteration { .. } | Item::Compute { .. } | Item::Call(_) => {}
            }
        }
        Ok(launched)
    }

    /// The call by which the program asks for an operation.
    fn call<W: Write>(
        &self,
        events: &mut Events<'_, W>,
        filler: &mut Filler,
        call: &Call,
    ) -> io::Result<Placed> {
        let (pid, external) = (self.process(), filler.next_external());
        let names = self.names(call);
        let arguments = arguments::of_operator(
            external,
            &arguments::call(&self.instances[call.instance], &names),
        );
        events.complete(
            "cpu_op",
            names.call,
            Lane::main(&pid),
            call.host,
            &arguments,
        )
    }

    /// The operation itself, as Gloo does it.
    fn annotation<W: Write>(
        &self,
        events: &mut Events<'_, W>,
        filler: &mut Filler,
        call: &Call,
        tid: u32,
    ) -> io::Result<Placed> {
        let tensor = arguments::annotation(&self.instances[call.instance]);
        let arguments = arguments::of_operator(filler.next_external(), &tensor);
        let lane = Lane {
            pid: &self.process(),
            tid: &tid,
        };
        let name = self.names(call).gloo;
        events.complete("user_annotation", name, lane, call.event, &arguments)
    }

    /// The arguments of the call that asks for an operation of NCCL.
    fn requested(&self, call: &Call) -> String {
        // Messages have the peer there.
        let about = match call.role {
            Role::Member => self.rank,
            Role::Sender { to: peer } | Role::Receiver { from: peer } => peer,
        };
        let group = self.groups.get(self.instances[call.instance].group);
        let place = group.place(about);
        let inputs = format!(r#""Concrete Inputs": ["", "", "", "{place}", "", "[]", "[]"]"#);
        match self.run.version {
            Version::Ranges => inputs,
            Version::Groups => format!("{}, {inputs}", self.described(call)),
            Version::Peers | Version::Computing => {
                format!("{}, \"Rank\": {place}", self.described(call))
            }
        }
    }

    /// The range around the launch of a kernel.
    fn range<W: Write>(
        &self,
        events: &mut Events<'_, W>,
        filler: &mut Filler,
        call: &Call,
        span: Span,
    ) -> io::Result<Placed> {
        let of_gloo = self.names(call).gloo;
        let name = match call.batch {
            Some(_) => "nccl:coalesced".to_owned(),
            None => of_gloo.replacen("gloo", "nccl", 1),
        };
        let tensor = match call.batch {
            Some(_) => String::new(),
            None => arguments::annotation(&self.instances[call.instance]),
        };
        let arguments = arguments::of_operator(filler.next_external(), &tensor);
        let pid = self.process();
        events.complete("user_annotation", &name, Lane::main(&pid), span, &arguments)
    }

    /// True if the kernel of a call says nothing of it.
    fn is_nameless(&self, call: &Call) -> bool {
        self.instances[call.instance].what == What::Collective(Class::Custom)
    }

    /// An operation as its kernel's arguments describe it.
    fn described(&self, call: &Call) -> String {
        let instance = &self.instances[call.instance];
        let group = self.groups.get(instance.group);
        let says_peers = matches!(self.run.version, Version::Peers | Version::Computing);
        let newer = self.run.sequence_numbers && says_peers;
        arguments::described(
            instance,
            group,
            call,
            group.place(self.rank),
            [newer, says_peers],
        )
    }

    fn kernel<W: Write>(
        &self,
        events: &mut Events<'_, W>,
        call: &Call,
        launch: Launch,
    ) -> io::Result<Placed> {
        let Launch {
            external,
            correlation,
        } = launch;
        let device = self.device();
        let stream = if self.is_nameless(call) || call.thread == COMPUTING {
            STREAM
        } else {
            self.stream(self.instances[call.instance].group, call.thread)
        };
        let says_nothing =
            self.is_nameless(call) || call.batch.is_some() || self.run.version == Version::Ranges;
        let described = if says_nothing {
            String::new()
        } else {
            format!(",{}", self.described(call))
        };
        let arguments = format!(
            r#""External id": {external},"queued": 0, "device": {device}, "context": 1, "stream": {stream}, "correlation": {correlation}, "registers per thread": 96, "shared memory": 82240, "blocks per SM": 0.181818, "warps per SM": 2.909091, "grid": [24, 1, 1], "block": [512, 1, 1], "est. achieved occupancy %": 0{described}"#,
        );
        let name = self.names(call).kernel;
        let lane = Lane {
            pid: &device,
            tid: &stream,
        };
        let placed = events.complete("kernel", &name, lane, call.event, &arguments)?;
        events.flow('f', correlation, "ac2g", lane, call.event.begin)?;
        Ok(placed)
    }

    /// Writes the events that end a recording.
    fn marks<W: Write>(&self, events: &mut Events<'_, W>) -> io::Result<()> {
        let Span { begin, end } = self.window;
        let spans = "\"Spans\"";
        let profiler = "PyTorch Profiler";
        let quoted = format!("\"{profiler}\"");
        let name = format!("{profiler} (0)");
        events.complete(
            "Trace",
            &name,
            Lane {
                pid: &spans,
                tid: &quoted,
            },
            self.window,
            "\"Op count\": 0",
        )?;
        events.about(
            "process_sort_index",
            Lane {
                pid: &spans,
                tid: &0,
            },
            begin,
            "\"sort_index\": 536870912",
        )?;
        let trace = format!("\"Trace {profiler}\"");
        let traces = Lane {
            pid: &"\"Traces\"",
            tid: &trace,
        };
        let nowhere = Lane {
            pid: &"\"\"",
            tid: &"\"\"",
        };
        let start = format!("Iteration Start: {profiler}");
        events.mark(&start, traces, begin)?;
        events.mark("Record Window End", nowhere, end)
    }
}
