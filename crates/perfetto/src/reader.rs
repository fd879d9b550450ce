//! A file as it is read, packet by packet.

use std::path::Path;

use retime_kineto::{FileRead, Gathering, Passed, Recorded, Stamp};
use retime_model::Monitor;
use retime_model::format::{Checksum, FormatError};
use retime_perfetto_wire::read::Damaged;

use crate::annotations::Annotations;
use crate::arrows::{Arrows, FlowEnd};
use crate::contents::Contents;
use crate::error::PerfettoError;
use crate::event::{Flow, Kind, TrackEvent};
use crate::interned::Sequence;
use crate::packet::Packet;
use crate::pass::{NESTED, Piece, compressed, pieces};
use crate::remote::Remote;
use crate::seen::{Seen, Watch};
use crate::slices::{Edge, join};
use crate::stage::{Queue, Stage, StageArguments, listed};
use crate::timing::Timing;
use crate::tracks::{Place, Tracks};

/// Numbers of stages of GPUs as launches have them, which others cannot be taken for.
const OF_STAGES: u64 = 1 << 63;

/// Ways to tell of what cannot be used, in words that take a plural.
const UNDIRECTED: &str = "undirected arrow end";
const UNTIMED: &str = "event counted from a time of its thread";

/// The message on a time that is too far from all that a trace can hold.
const BEYOND: &str = "a packet has a time more than 73 years before 0, or beyond what 64 bits of \
                      nanoseconds hold";

/// The state of reading a file.
pub(crate) struct Reader<'a> {
    path: &'a Path,
    gathering: Gathering,
    tracks: Tracks,
    stamps: Vec<Stamp>,
    edges: Vec<Vec<Edge>>,
    flows: Vec<FlowEnd>,
    /// Machines and events, by number, that came before all others of their machine.
    early: Vec<(u32, u32)>,
    remote: Remote,
    crc: Checksum,
    contents: Contents,
    watch: Option<&'a mut Watch<'a>>,
    packets: u64,
    /// The number of events that count from a time of their thread.
    untimed: u64,
}

/// Reads a file; `watch` is shown what is in it, in the order of the numbers of events.
pub(crate) fn read<'a>(
    path: &'a Path,
    monitor: &dyn Monitor,
    watch: Option<&'a mut Watch<'a>>,
) -> Result<FileRead, FormatError> {
    let mut reader = Reader {
        path,
        gathering: Gathering::default(),
        tracks: Tracks::default(),
        stamps: Vec::new(),
        edges: Vec::new(),
        flows: Vec::new(),
        early: Vec::new(),
        remote: Remote::default(),
        crc: Checksum::default(),
        contents: Contents::default(),
        watch,
        packets: 0,
        untimed: 0,
    };
    let mut timing = Timing::default();
    pieces(path, monitor, &mut |piece| reader.piece(&mut timing, piece))?;
    reader.finish()
}

impl Reader<'_> {
    fn wrong(&self, at: u64, what: impl Into<String>) -> FormatError {
        PerfettoError::packet(self.path, at, what)
    }

    fn piece(&mut self, timing: &mut Timing, piece: Piece<'_>) -> Result<(), FormatError> {
        let Some(bytes) = piece.packet else {
            self.crc.add(piece.head);
            self.contents.add(piece.head);
            return Ok(());
        };
        let damaged = |it: Damaged| self.wrong(piece.at, format!("a packet {it}"));
        let packet = Packet::of(bytes).map_err(damaged)?;
        if packet.is_zstd {
            let what = "its packets are compressed by Zstandard, which is not read; record again \
                        without, or by deflate (compression_type in the configuration)";
            return Err(self.wrong(piece.at, what));
        }
        if let Some(field) = packet.compressed {
            let inner = field.value.bytes().unwrap_or_default();
            self.crc.add(piece.key());
            self.crc.add(bytes.get(..field.start).unwrap_or_default());
            self.crc.add(bytes.get(field.end..).unwrap_or_default());
            return compressed(self.path, piece.at, inner, &mut |piece| {
                self.inner(timing, piece)
            });
        }
        self.crc.add(piece.whole);
        self.contents.packet(&piece, &packet);
        self.packets += 1;
        self.packet(timing, &packet, piece.at)
    }

    /// A piece of compressed packets, which hold no others.
    fn inner(&mut self, timing: &mut Timing, piece: Piece<'_>) -> Result<(), FormatError> {
        let is_nested = piece.packet.map(Packet::of);
        if let Some(Ok(packet)) = is_nested
            && packet.compressed.is_some()
        {
            return Err(self.wrong(piece.at, NESTED));
        }
        self.piece(timing, piece)
    }

    fn packet(
        &mut self,
        timing: &mut Timing,
        packet: &Packet<'_>,
        at: u64,
    ) -> Result<(), FormatError> {
        let path = self.path;
        let damaged =
            |it: Damaged| PerfettoError::packet(path, at, format!("what is in a packet {it}"));
        let too_many = |what: String| PerfettoError::packet(path, at, what);
        let stamps = timing.take(packet).map_err(damaged)?;
        self.shown(0, Seen::Packet(packet)).map_err(too_many)?;
        if let Some(track) = packet.track {
            self.tracks
                .describe(packet.machine, track)
                .map_err(damaged)?;
        }
        if let Some(sync) = packet.remote_sync {
            self.remote.take(packet.machine, sync).map_err(damaged)?;
        }
        if let Some((_, Some(moment))) = &stamps.snapshot {
            self.beside(packet.machine, *moment).map_err(too_many)?;
        }
        for time in stamps.inner.iter().filter_map(|it| it.time) {
            self.beside(packet.machine, time).map_err(too_many)?;
        }
        let Some(time) = stamps.time else {
            self.untimed += u64::from(packet.track_event.is_some() && stamps.unwritten.is_some());
            return Ok(());
        };
        let taken = if stamps.is_understood {
            let sequence = timing.sequence();
            self.event(packet, sequence, time).map_err(damaged)?
        } else {
            Ok(false)
        };
        if !taken.map_err(too_many)? {
            self.beside(packet.machine, time).map_err(too_many)?;
        }
        Ok(())
    }

    /// Takes a packet that is an event; whether it is one. The outer error is damage, the inner
    /// one that there is too much.
    fn event(
        &mut self,
        packet: &Packet<'_>,
        sequence: Option<&Sequence>,
        time: i64,
    ) -> Result<Result<bool, String>, Damaged> {
        Ok(match (sequence, packet.track_event, packet.render_stage) {
            (Some(sequence), Some(message), _) => {
                let event = TrackEvent::of(message, sequence)?;
                let arguments = Annotations {
                    event: message,
                    sequence,
                    correlation: event.glance.correlation,
                };
                self.track_event(packet, &event, &arguments, time)
            }
            (Some(sequence), None, Some(message)) => {
                let stage = Stage::of(message, sequence)?;
                if let Some(it) = stage.specifications {
                    self.list_queues(packet.machine, &stage, it)?;
                }
                let arguments = StageArguments {
                    message,
                    sequence,
                    launch: stage.id.unwrap_or_default() | OF_STAGES,
                };
                self.stage(packet, &stage, &arguments, time)
            }
            _ => Ok(false),
        })
    }

    fn stamp(&mut self, stamp: Stamp) -> u32 {
        self.stamps.push(stamp);
        (self.stamps.len() - 1) as u32
    }

    fn shown(&mut self, number: u32, seen: Seen<'_>) -> Result<(), String> {
        match &mut self.watch {
            Some(watch) => watch(number, seen),
            None => Ok(()),
        }
    }

    /// Takes what is no event, but has a time.
    fn beside(&mut self, machine: u32, time: i64) -> Result<(), String> {
        let track = self.tracks.of_machine(machine);
        let number = self.gathering.beside(time, track.unwrap_or_default())?;
        if track.is_none() {
            self.early.push((machine, number));
        }
        self.stamp(Stamp::begin(number));
        self.shown(number, Seen::Beside)
    }

    fn track_event(
        &mut self,
        packet: &Packet<'_>,
        event: &TrackEvent<'_>,
        arguments: &Annotations<'_>,
        time: i64,
    ) -> Result<bool, String> {
        let place = match event.track {
            Some(uuid) => Place::Track(uuid),
            None => Place::Sequence(packet.sequence),
        };
        let track = self
            .tracks
            .number(packet.machine, place, &mut self.gathering)?;
        let number = match event.kind {
            Kind::End => {
                let stamp = self.stamp(Stamp::end(0));
                self.edge(track, time, stamp, None);
                self.shown(stamp, Seen::End(event, arguments))?;
                return Ok(true);
            }
            Kind::Begin => {
                let number = self.gathering.event(time, None, track, b'B')?;
                let stamp = self.stamp(Stamp::begin(number));
                self.edge(track, time, stamp, Some(number));
                number
            }
            Kind::Whole(length) => {
                // Such a length is in microseconds.
                self.gathering.only_begins(track, true);
                let number = self.gathering.event(time, Some(length), track, b'X')?;
                self.stamp(Stamp::begin(number));
                number
            }
            Kind::Moment(letter) => {
                let number = self.gathering.event(time, None, track, letter)?;
                self.stamp(Stamp::begin(number));
                number
            }
        };
        self.shown(number, Seen::Event(event, arguments))?;
        // An arrow from a launch to its kernel has their number, and says no more than that.
        let is_launch = |it: &&Flow| Some(it.id) == event.glance.correlation;
        let ends = event.flows.iter().filter(|it| !is_launch(it));
        self.flows.extend(ends.map(|&flow| FlowEnd {
            flow,
            event: number,
            track,
            is_launched: event.glance.correlation.is_some(),
        }));
        if !matches!(event.kind, Kind::Moment(_)) {
            for id in &event.submits {
                self.gathering.correlates(id | OF_STAGES, number, true);
            }
            let recorded = Recorded {
                name: event.name,
                category: category(event),
                arguments,
            };
            self.gathering.communicates(&recorded, number);
        }
        Ok(true)
    }

    fn edge(&mut self, track: u32, time: i64, stamp: u32, begins: Option<u32>) {
        let track = track as usize;
        if self.edges.len() <= track {
            self.edges.resize_with(track + 1, Vec::new);
        }
        if let Some(edges) = self.edges.get_mut(track) {
            edges.push(Edge {
                time,
                stamp,
                begins,
            });
        }
    }

    fn list_queues(
        &mut self,
        machine: u32,
        stage: &Stage<'_>,
        message: &[u8],
    ) -> Result<(), Damaged> {
        for (number, name) in (0..).zip(listed(message)?) {
            let place = Place::Queue(stage.gpu, Queue::Listed(number), 0);
            self.tracks.name_queue(machine, place, name);
        }
        Ok(())
    }

    fn stage(
        &mut self,
        packet: &Packet<'_>,
        stage: &Stage<'_>,
        arguments: &StageArguments<'_>,
        time: i64,
    ) -> Result<bool, String> {
        let Some(id) = stage.id else {
            return Ok(false);
        };
        let process = arguments.sequence.contexts.get(&stage.context);
        let place = Place::Queue(stage.gpu, stage.queue, process.copied().unwrap_or_default());
        if let Queue::Interned(iid) = stage.queue
            && !self.tracks.is_named(packet.machine, place)
        {
            let name = arguments.sequence.gpu_specifications.get(iid);
            let name = String::from_utf8_lossy(name).into_owned();
            self.tracks.name_queue(packet.machine, place, name);
        }
        let track = self
            .tracks
            .number(packet.machine, place, &mut self.gathering)?;
        self.gathering.only_begins(track, false);
        let number = self
            .gathering
            .event(time, Some(stage.length), track, b'X')?;
        self.stamp(Stamp::begin(number));
        self.shown(number, Seen::Stage(stage, arguments))?;
        self.gathering.correlates(id | OF_STAGES, number, false);
        let recorded = Recorded {
            name: stage.name,
            category: b"kernel",
            arguments,
        };
        self.gathering.communicates(&recorded, number);
        Ok(true)
    }

    /// Joins begins with ends and arrows with their other ends, once all of the file is known.
    fn finish(mut self) -> Result<FileRead, FormatError> {
        if self.packets == 0 {
            return Err(self.wrong(0, "there is no packet of Perfetto in it"));
        }
        let mut edges = std::mem::take(&mut self.edges);
        let lone = join(&mut edges, &mut self.stamps, &mut self.gathering);
        drop(edges);
        for (track, edge) in lone {
            let path = self.path;
            let too_many = |what: String| PerfettoError::packet(path, 0, what);
            let number = self.gathering.event(edge.time, None, track, b'E');
            let number = number.map_err(too_many)?;
            if let Some(stamp) = self.stamps.get_mut(edge.stamp as usize) {
                *stamp = Stamp::begin(number);
            }
            self.shown(number, Seen::LoneEnd).map_err(too_many)?;
        }
        for (machine, event) in std::mem::take(&mut self.early) {
            let path = self.path;
            let known = self.tracks.of_machine(machine).map_or_else(
                || {
                    self.tracks
                        .number(machine, Place::Beside, &mut self.gathering)
                },
                Ok,
            );
            let track = known.map_err(|what| PerfettoError::packet(path, 0, what))?;
            self.gathering.put_beside(event, track);
        }
        self.tracks.name_all(&mut self.gathering);
        self.take_flows();
        if self.untimed > 0 {
            self.gathering.unused(UNTIMED, self.untimed);
        }
        for (machine, ahead) in self.remote.ahead() {
            self.gathering.set_back(machine, ahead);
        }
        self.gathering.stamps(self.stamps);
        let name = self.path.file_name().unwrap_or_default();
        let within = self.path.parent().and_then(Path::file_name);
        let within = within.map(|it| format!("{}/", it.to_string_lossy()));
        let host = format!("{}{}", within.unwrap_or_default(), name.to_string_lossy());
        let passed = Passed::on_host(host, self.crc.crc(), self.contents.finish());
        let path = self.path;
        self.gathering
            .finish(passed, |_, _| PerfettoError::packet(path, 0, BEYOND))
    }

    /// Takes the arrows that can be used, and counts those that lead somewhere, nobody knows
    /// where.
    fn take_flows(&mut self) {
        let processes: Vec<Option<u32>> = (0..self.gathering.tracks() as u32)
            .map(|track| self.gathering.process_of(track))
            .collect();
        let arrows = Arrows::of(std::mem::take(&mut self.flows), &processes);
        for it in arrows.usable {
            let key = it.flow.id.to_le_bytes().into();
            self.gathering.flow(it.event, key, it.flow.is_last);
        }
        if arrows.undirected > 0 {
            self.gathering.unused(UNDIRECTED, arrows.undirected);
        }
    }
}

/// The category of an event as Kineto calls it. PyTorch's packets have none, and rocprof's have
/// names of their own.
fn category<'a>(event: &TrackEvent<'a>) -> &'a [u8] {
    match event.category {
        b"kernel_dispatch" => b"kernel",
        b"" if event.glance.is_kernel => b"kernel",
        b"" if event.name.starts_with(b"nccl:") => b"user_annotation",
        other => other,
    }
}
