//! Counts the things of a file for which Chrome's format has no place.

use retime_perfetto_wire::fields::{
    gpu_render_stage_event, gpu_track_event, trace_packet, track_event,
};
use retime_perfetto_wire::read::Fields;

use crate::packet::Packet;
use crate::seen::Seen;

/// Fields of packets that frame events, or describe them.
const OF_PACKETS: [u32; 15] = [
    trace_packet::TIMESTAMP,
    trace_packet::TIMESTAMP_CLOCK_ID,
    trace_packet::TRUSTED_PACKET_SEQUENCE_ID,
    trace_packet::TRUSTED_PID,
    trace_packet::MACHINE_ID,
    trace_packet::SEQUENCE_FLAGS,
    trace_packet::INCREMENTAL_STATE_CLEARED_OLD,
    trace_packet::PREVIOUS_PACKET_DROPPED,
    trace_packet::INTERNED_DATA,
    trace_packet::TRACE_PACKET_DEFAULTS,
    trace_packet::TRACK_DESCRIPTOR,
    trace_packet::TRACK_EVENT,
    trace_packet::GPU_RENDER_STAGE_EVENT,
    trace_packet::CLOCK_SNAPSHOT,
    trace_packet::REMOTE_CLOCK_SYNC,
];

const OF_EVENTS: [u32; 15] = [
    track_event::TYPE,
    track_event::NAME,
    track_event::NAME_IID,
    track_event::TRACK_UUID,
    track_event::CATEGORIES,
    track_event::CATEGORY_IIDS,
    track_event::FLOW_IDS,
    track_event::FLOW_IDS_OLD,
    track_event::TERMINATING_FLOW_IDS,
    track_event::TERMINATING_FLOW_IDS_OLD,
    track_event::DEBUG_ANNOTATIONS,
    track_event::COUNTER_VALUE,
    track_event::DOUBLE_COUNTER_VALUE,
    track_event::LEGACY_EVENT,
    gpu_track_event::GPU_CORRELATION,
];

const OF_STAGES: [u32; 13] = [
    gpu_render_stage_event::EVENT_ID,
    gpu_render_stage_event::DURATION,
    gpu_render_stage_event::HW_QUEUE_ID,
    gpu_render_stage_event::CONTEXT,
    gpu_render_stage_event::EXTRA_DATA,
    gpu_render_stage_event::SPECIFICATIONS,
    gpu_render_stage_event::GPU_ID,
    gpu_render_stage_event::HW_QUEUE_IID,
    gpu_render_stage_event::STAGE_IID,
    gpu_render_stage_event::NAME,
    gpu_render_stage_event::KERNEL_IID,
    gpu_render_stage_event::NAME_IID,
    gpu_render_stage_event::LAUNCH,
];

/// The things that no event holds, by how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Untold {
    /// Packets with an event or a stage.
    with_events: u64,
    /// Packets whose event or stage was understood.
    understood: u64,
    /// Fields of events for which there is no place.
    more: u64,
    clocks: u64,
    others: u64,
    arrows_at_ends: u64,
}

/// The number of fields that are none of these.
fn others(message: &[u8], known: &[u32]) -> u64 {
    let fields = Fields::of(message).map_while(Result::ok);
    fields.filter(|it| !known.contains(&it.number)).count() as u64
}

impl Untold {
    /// Takes something of the file.
    pub(crate) fn take(&mut self, seen: &Seen<'_>) {
        match seen {
            Seen::Packet(packet) => self.packet(packet),
            Seen::Event(_, arguments) => {
                self.understood += 1;
                self.more += others(arguments.event, &OF_EVENTS);
            }
            Seen::End(event, arguments) => {
                self.understood += 1;
                self.more += others(arguments.event, &OF_EVENTS);
                self.arrows_at_ends += event.flows.len() as u64;
            }
            Seen::Stage(_, arguments) => {
                self.understood += 1;
                self.more += others(arguments.message, &OF_STAGES);
            }
            Seen::LoneEnd | Seen::Beside => {}
        }
    }

    fn packet(&mut self, packet: &Packet<'_>) {
        // A stage without a number only describes others.
        let is_stage = packet.render_stage.is_some_and(|it| {
            let mut fields = Fields::of(it).map_while(Result::ok);
            fields.any(|it| it.number == gpu_render_stage_event::EVENT_ID)
        });
        let has_event = packet.track_event.is_some() || is_stage;
        let has_clocks = packet.snapshot.is_some() || packet.remote_sync.is_some();
        self.with_events += u64::from(has_event);
        self.clocks += u64::from(has_clocks);
        self.others += others(packet.bytes, &OF_PACKETS).min(1);
    }

    /// The things in words that take a plural.
    pub(crate) fn counted(self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            (
                "unreadable event",
                self.with_events.saturating_sub(self.understood),
            ),
            ("further event field", self.more),
            ("slice-end arrow", self.arrows_at_ends),
            ("clock reading", self.clocks),
            ("other packet", self.others),
        ];
        all.into_iter().filter(|it| it.1 > 0)
    }
}
