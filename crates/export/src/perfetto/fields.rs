//! The numbers of the fields that are written, by message, from the files that define them
//! in <https://github.com/google/perfetto>, below `protos/perfetto/trace`.

/// `trace.proto`
pub(super) mod trace {
    pub(in super::super) const PACKET: u32 = 1;
}

/// `trace_packet.proto`
pub(super) mod trace_packet {
    pub(in super::super) const TIMESTAMP: u32 = 8;
    pub(in super::super) const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    pub(in super::super) const TRACK_EVENT: u32 = 11;
    pub(in super::super) const INTERNED_DATA: u32 = 12;
    pub(in super::super) const SEQUENCE_FLAGS: u32 = 13;
    pub(in super::super) const TRACE_PACKET_DEFAULTS: u32 = 59;
    pub(in super::super) const TRACK_DESCRIPTOR: u32 = 60;

    /// A value of `SequenceFlags`: nothing said before counts, and what was said since does.
    pub(in super::super) const INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub(in super::super) const NEEDS_INCREMENTAL_STATE: u64 = 2;
}

/// `trace_packet_defaults.proto`
pub(super) mod trace_packet_defaults {
    pub(in super::super) const TRACK_EVENT_DEFAULTS: u32 = 11;
}

/// `interned_data/interned_data.proto`
pub(super) mod interned_data {
    pub(in super::super) const EVENT_NAMES: u32 = 2;
    pub(in super::super) const DEBUG_ANNOTATION_NAMES: u32 = 3;
}

/// `EventName` of `track_event/track_event.proto` and `DebugAnnotationName` of
/// `track_event/debug_annotation.proto`
pub(super) mod interned_name {
    pub(in super::super) const IID: u32 = 1;
    pub(in super::super) const NAME: u32 = 2;
}

/// `track_event/track_event.proto`
pub(super) mod track_event {
    pub(in super::super) const DEBUG_ANNOTATIONS: u32 = 4;
    pub(in super::super) const TYPE: u32 = 9;
    pub(in super::super) const NAME_IID: u32 = 10;
    /// Also that of `TrackEventDefaults`.
    pub(in super::super) const TRACK_UUID: u32 = 11;
    pub(in super::super) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(in super::super) const FLOW_IDS: u32 = 47;

    /// A value of `Type`.
    pub(in super::super) const SLICE_BEGIN: u64 = 1;
    pub(in super::super) const SLICE_END: u64 = 2;
    pub(in super::super) const INSTANT: u64 = 3;
    pub(in super::super) const COUNTER: u64 = 4;
}

/// `track_event/debug_annotation.proto`
pub(super) mod debug_annotation {
    pub(in super::super) const NAME_IID: u32 = 1;
    pub(in super::super) const UINT_VALUE: u32 = 3;
}

/// `track_event/track_descriptor.proto`
pub(super) mod track_descriptor {
    pub(in super::super) const UUID: u32 = 1;
    pub(in super::super) const NAME: u32 = 2;
    pub(in super::super) const PROCESS: u32 = 3;
    pub(in super::super) const THREAD: u32 = 4;
    pub(in super::super) const PARENT_UUID: u32 = 5;
    pub(in super::super) const COUNTER: u32 = 8;
}

/// `track_event/process_descriptor.proto`
pub(super) mod process_descriptor {
    pub(in super::super) const PID: u32 = 1;
    pub(in super::super) const LEGACY_SORT_INDEX: u32 = 3;
    pub(in super::super) const PROCESS_NAME: u32 = 6;
}

/// `track_event/thread_descriptor.proto`
pub(super) mod thread_descriptor {
    pub(in super::super) const PID: u32 = 1;
    pub(in super::super) const TID: u32 = 2;
    pub(in super::super) const LEGACY_SORT_INDEX: u32 = 3;
    pub(in super::super) const THREAD_NAME: u32 = 5;
}

/// `track_event/counter_descriptor.proto`
pub(super) mod counter_descriptor {
    pub(in super::super) const UNIT_NAME: u32 = 6;
}
