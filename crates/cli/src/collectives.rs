//! Every collective operation as a table: one row for each participant.
//!
//! ```text
//! arrival    the begin of the participant
//! wait       until the last has come, or the participant has left
//! exposed    of this, while the device of the participant did not compute
//! transfer   since then until the participant has left: what the operation itself takes
//! bandwidth  bytes / transfer, as the "algorithm bandwidth" of nccl-tests
//! ```
//!
//! Wait, transfer and who was last are said of operations in which all wait for all and of which
//! all begins are known. The walk is that of the tables of Python, too.

use std::io::{self, Write};
use std::path::Path;

use retime::causality::{Class, EventNode, Instance, Participant, Role};
use retime::format::{OperationFacts, Trace};
use retime::pipeline::{Analysis, Bounds, JudgedBy, Solution};
use retime::{LateBegin, LateBegins, LocationIndex, Timestamp, exposed};
use serde::Serialize;

use crate::analysed::Analysed;
use crate::args::TableArgs;
use crate::error::CliError;
use crate::progress::check_interrupt;
use crate::report::target::Place;

/// A participant of an operation. Times and spans are in ticks.
#[derive(Clone, Debug, Serialize)]
pub struct CollectiveRow {
    /// Its begin, where others depend on that.
    #[serde(skip)]
    pub begun: Option<EventNode>,
    /// Its end, where that depends on others.
    #[serde(skip)]
    pub ended: Option<EventNode>,
    /// The number of the operation.
    pub operation: u32,
    /// Its group, as the files call it.
    pub group: Option<String>,
    /// Its number in the group.
    pub sequence: Option<u64>,
    /// Its kind, as the files call it.
    pub kind: Option<String>,
    /// The class of the operation, which decides what it proves.
    pub class: Class,
    /// The number of participants that were recorded.
    pub members: usize,
    /// The bytes that the participant gives or gets, whichever is more.
    pub bytes: Option<u64>,
    /// True if members are on several hosts; unknown if a host is.
    pub between_hosts: Option<bool>,
    /// The process.
    pub process: String,
    /// The id of the location.
    pub location: u64,
    /// The time of its arrival, as the files count.
    pub arrival: Option<i128>,
    /// The time at which it left.
    pub end: Option<i128>,
    /// Its wait for the last to arrive, in ticks.
    pub wait: Option<u64>,
    /// The ticks of its wait in which its device stood still, where it is known when that computed.
    pub exposed: Option<u64>,
    /// The ticks from the last arrival to its end.
    pub transfer: Option<u64>,
    /// Bytes per second while it was transferred.
    pub bandwidth: Option<f64>,
    /// True of the participant that came last.
    pub is_last: Option<bool>,
    /// True if it is certain who came last.
    pub is_certain: Option<bool>,
}

/// The operations of a trace at certain times.
pub struct CollectiveRows<'a> {
    trace: &'a dyn Trace,
    analysis: &'a Analysis,
    times: &'a [Timestamp],
    judged_by: JudgedBy<'a>,
    facts: &'a CollectiveFacts,
}

/// The facts that the files of a trace state about its operations.
pub struct CollectiveFacts {
    /// The facts about the operation of each event, by rising event.
    by_event: Vec<(EventNode, OperationFacts)>,
}

impl<'a> CollectiveRows<'a> {
    /// At the times of a solution, or else as recorded.
    pub fn of(
        trace: &'a dyn Trace,
        facts: &'a CollectiveFacts,
        analysis: &'a Analysis,
        solution: Option<&'a Solution>,
        bounds: Option<&'a Bounds>,
    ) -> Self {
        let recorded = analysis.causality().nodes().timestamps();
        Self {
            trace,
            analysis,
            times: solution.map_or(recorded, |it| &it.times),
            judged_by: analysis.judged_by(solution, bounds),
            facts,
        }
    }

    /// The number of operations.
    pub fn operations(&self) -> u32 {
        let collectives = self.analysis.causality().collectives();
        collectives.instances().len() as u32
    }

    /// Hands the participants of some operations to `take`, in order.
    pub fn each<E>(
        &self,
        operations: std::ops::Range<u32>,
        mut take: impl FnMut(CollectiveRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let causality = self.analysis.causality();
        let JudgedBy { clocks, errors } = &self.judged_by;
        let errors = errors.as_deref();
        let info = self.analysis.info();
        let late = LateBegins::of(causality, info, clocks, self.times, errors);
        for number in operations {
            let instance = Instance(number);
            let late = late.find(instance);
            let between_hosts = self.between_hosts(instance);
            for participant in causality.collectives().participants(instance) {
                if let Some(row) = self.row(instance, participant, late.as_ref()) {
                    take(CollectiveRow {
                        between_hosts,
                        ..row
                    })?;
                }
            }
        }
        Ok(())
    }

    fn row(
        &self,
        instance: Instance,
        participant: &Participant,
        late: Option<&LateBegin>,
    ) -> Option<CollectiveRow> {
        let (begin, end) = (participant.cause(), participant.effect());
        let either = begin.or(end)?;
        let location = self.analysis.causality().nodes().location(either);
        let info = self.analysis.info();
        let place = info.locations.get(location.as_usize())?;
        let said = [begin, end]
            .into_iter()
            .flatten()
            .find_map(|it| self.said(it));
        let facts = said.cloned().unwrap_or_default();
        let came = late.map(|it| self.last(instance, it));
        let at = |node: Option<EventNode>| node.map(|it| self.at(it));
        let (arrival, left) = (at(begin), at(end));
        let wait = came.zip(arrival).map(|(came, arrival)| {
            let until = left.map_or(came, |it| it.min(came));
            until.saturating_sub(arrival)
        });
        let exposed = begin.zip(wait).and_then(|it| self.exposed(it.0, it.1));
        let transfer = came.zip(left).map(|(came, left)| left.saturating_sub(came));
        let rate = info.rate.get() as f64;
        let some = |it: &u64| *it > 0;
        let bandwidth = facts.bytes.filter(some).zip(transfer.filter(some));
        let collectives = self.analysis.causality().collectives();
        Some(CollectiveRow {
            begun: begin,
            ended: end,
            operation: instance.index() as u32,
            group: facts.group,
            sequence: facts.sequence,
            kind: facts.kind,
            class: collectives.operation(instance).class,
            members: collectives.participants(instance).len(),
            bytes: facts.bytes,
            between_hosts: None,
            process: info.processes.get(info.family(place.process))?.name.clone(),
            location: place.id,
            arrival: arrival.map(|it| self.told(it)),
            end: left.map(|it| self.told(it)),
            wait,
            exposed,
            transfer,
            bandwidth: bandwidth.map(|(bytes, ticks)| bytes as f64 / (ticks as f64 / rate)),
            is_last: late.map(|it| it.last.location == location),
            is_certain: late.map(|it| it.beyond.is_some()),
        })
    }

    /// The ticks of a wait since a begin in which the device did not compute.
    fn exposed(&self, begin: EventNode, wait: u64) -> Option<u64> {
        let causality = self.analysis.causality();
        let location = causality.nodes().location(begin);
        let wait = i64::try_from(wait).unwrap_or(i64::MAX);
        causality
            .knows_work(location)
            .then(|| exposed(causality, begin, 0, wait))
    }

    /// The facts that the files state about the operation of an event.
    fn said(&self, node: EventNode) -> Option<&OperationFacts> {
        let all = &self.facts.by_event;
        let place = all.binary_search_by_key(&node, |it| it.0).ok()?;
        let (_, facts) = all.get(place)?;
        (*facts != OperationFacts::default()).then_some(facts)
    }

    /// The time at which the last participant came.
    fn last(&self, instance: Instance, late: &LateBegin) -> u64 {
        let causality = self.analysis.causality();
        let participants = causality.collectives().participants(instance).iter();
        let mut begins = participants.filter_map(Participant::cause);
        let last = begins.find(|it| causality.nodes().place(*it) == late.last);
        last.map_or(0, |it| self.at(it))
    }

    fn at(&self, node: EventNode) -> u64 {
        self.times.get(node.index()).map_or(0, |it| it.0)
    }

    /// A stamp as the files count.
    fn told(&self, stamp: u64) -> i128 {
        i128::from(stamp) - i128::from(self.trace.zero().0)
    }

    fn between_hosts(&self, instance: Instance) -> Option<bool> {
        let causality = self.analysis.causality();
        let info = self.analysis.info();
        let host = |it: &Participant| {
            let location = causality.nodes().location(it.cause().or(it.effect())?);
            let process = info.locations.get(location.as_usize())?.process;
            info.processes.get(process)?.node
        };
        let participants = causality.collectives().participants(instance);
        let hosts: Option<Vec<usize>> = participants.iter().map(host).collect();
        let hosts = hosts.filter(|it| !it.is_empty())?;
        Some(hosts.windows(2).any(|it| it[0] != it[1]))
    }
}

impl CollectiveFacts {
    /// Collects the facts from the files of a trace.
    pub fn of(trace: &dyn Trace, analysis: &Analysis) -> Self {
        let nodes = analysis.causality().nodes();
        let mut by_event = Vec::new();
        for location in 0..nodes.locations() {
            let of_operation = |it: &EventNode| {
                matches!(nodes.role(*it), Role::CollectiveBegin | Role::CollectiveEnd)
            };
            let own: Vec<EventNode> = nodes.of(location).filter(of_operation).collect();
            let events: Vec<u32> = own.iter().map(|it| nodes.event(*it) as u32).collect();
            let said = trace.operations(LocationIndex(location as u32), &events);
            by_event.extend(own.into_iter().zip(said));
        }
        Self { by_event }
    }
}

/// The kinds of files that a table can be.
#[derive(Clone, Copy)]
enum RowFormat {
    Csv,
    Jsonl,
}

impl RowFormat {
    fn of(path: &Path) -> Result<Self, CliError> {
        match path.extension().and_then(|it| it.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Jsonl),
            _ => Err(CliError::Usage(
                "--collectives takes a file that is called *.csv or *.jsonl; for Parquet use the \
                 Python package: trace.collectives().to_parquet(FILE)"
                    .into(),
            )),
        }
    }
}

/// Fails early if the table that was asked for could not be written.
pub(crate) fn check(args: &TableArgs) -> Result<(), CliError> {
    args.collectives.as_deref().map_or(Ok(()), |path| {
        RowFormat::of(path)?;
        crate::report::target::check_file(path)
    })
}

/// Writes the table that was asked for.
pub(crate) fn write(
    analysed: &Analysed,
    solution: Option<&Solution>,
    bounds: Option<&Bounds>,
    args: &TableArgs,
) -> Result<(), CliError> {
    let Some(path) = &args.collectives else {
        return Ok(());
    };
    let kind = RowFormat::of(path)?;
    let trace = &*analysed.opened.trace;
    let facts = CollectiveFacts::of(trace, &analysed.analysis);
    let rows = CollectiveRows::of(trace, &facts, &analysed.analysis, solution, bounds);
    Place::prepare(path)?.write_by(|out| {
        if matches!(kind, RowFormat::Csv) {
            writeln!(out, "{HEADER}")?;
        }
        rows.each(0..rows.operations(), |row| match kind {
            RowFormat::Csv => csv(out, &row),
            RowFormat::Jsonl => {
                serde_json::to_writer(&mut *out, &row)?;
                out.write_all(b"\n")
            }
        })
    })?;
    check_interrupt()
}

/// The header of a table in CSV.
const HEADER: &str = "operation,group,sequence,kind,class,members,bytes,between_hosts,process,\
                      location,arrival,end,wait,exposed,transfer,bandwidth,is_last,is_certain";

fn csv(out: &mut impl Write, row: &CollectiveRow) -> io::Result<()> {
    let class = serde_json::to_value(row.class)?;
    let class = class.as_str().unwrap_or_default();
    write!(out, "{},", row.operation)?;
    text(out, row.group.as_deref())?;
    number(out, row.sequence)?;
    text(out, row.kind.as_deref())?;
    write!(out, "{class},{},", row.members)?;
    number(out, row.bytes)?;
    number(out, row.between_hosts)?;
    text(out, Some(&row.process))?;
    write!(out, "{},", row.location)?;
    number(out, row.arrival)?;
    number(out, row.end)?;
    number(out, row.wait)?;
    number(out, row.exposed)?;
    number(out, row.transfer)?;
    number(out, row.bandwidth.map(f64::round))?;
    number(out, row.is_last)?;
    match row.is_certain {
        Some(is_certain) => writeln!(out, "{is_certain}"),
        None => writeln!(out),
    }
}

fn number(out: &mut impl Write, value: Option<impl std::fmt::Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(out, "{value},"),
        None => out.write_all(b","),
    }
}

/// Text as RFC 4180 has it.
fn text(out: &mut impl Write, value: Option<&str>) -> io::Result<()> {
    let value = value.unwrap_or_default();
    if value.contains(['"', ',', '\n', '\r']) {
        write!(out, "\"{}\",", value.replace('"', "\"\""))
    } else {
        write!(out, "{value},")
    }
}
