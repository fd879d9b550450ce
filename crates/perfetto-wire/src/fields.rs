//! The numbers of the fields that are written, by message, from the files that define them
//! in <https://github.com/google/perfetto>, below `protos/perfetto/trace`.

/// `trace.proto`
pub mod trace {
    pub const PACKET: u32 = 1;
}

/// `trace_packet.proto`
pub mod trace_packet {
    pub const TIMESTAMP: u32 = 8;
    pub const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED_DATA: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const TRACE_PACKET_DEFAULTS: u32 = 59;
    pub const TRACK_DESCRIPTOR: u32 = 60;
    pub const MACHINE_ID: u32 = 98;

    /// A value of `SequenceFlags`: nothing said before counts, and what was said since does.
    pub const INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub const NEEDS_INCREMENTAL_STATE: u64 = 2;
}

/// `trace_packet_defaults.proto`
pub mod trace_packet_defaults {
    pub const TRACK_EVENT_DEFAULTS: u32 = 11;
}

/// `interned_data/interned_data.proto`
pub mod interned_data {
    pub const EVENT_CATEGORIES: u32 = 1;
    pub const EVENT_NAMES: u32 = 2;
    pub const DEBUG_ANNOTATION_NAMES: u32 = 3;
}

/// `EventName` of `track_event/track_event.proto` and `DebugAnnotationName` of
/// `track_event/debug_annotation.proto`
pub mod interned_name {
    pub const IID: u32 = 1;
    pub const NAME: u32 = 2;
}

/// `track_event/track_event.proto`
pub mod track_event {
    pub const CATEGORY_IIDS: u32 = 3;
    pub const DEBUG_ANNOTATIONS: u32 = 4;
    pub const TYPE: u32 = 9;
    pub const NAME_IID: u32 = 10;
    /// Also that of `TrackEventDefaults`.
    pub const TRACK_UUID: u32 = 11;
    pub const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub const FLOW_IDS: u32 = 47;

    /// A value of `Type`.
    pub const SLICE_BEGIN: u64 = 1;
    pub const SLICE_END: u64 = 2;
    pub const INSTANT: u64 = 3;
    pub const COUNTER: u64 = 4;
}

/// `track_event/debug_annotation.proto`
pub mod debug_annotation {
    pub const NAME_IID: u32 = 1;
    pub const BOOL_VALUE: u32 = 2;
    pub const UINT_VALUE: u32 = 3;
    pub const INT_VALUE: u32 = 4;
    pub const DOUBLE_VALUE: u32 = 5;
    pub const STRING_VALUE: u32 = 6;
    /// JSON, which readers take apart.
    pub const LEGACY_JSON_VALUE: u32 = 9;
}

/// `track_event/track_descriptor.proto`
pub mod track_descriptor {
    pub const UUID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PROCESS: u32 = 3;
    pub const THREAD: u32 = 4;
    pub const PARENT_UUID: u32 = 5;
    pub const COUNTER: u32 = 8;
    pub const CHILD_ORDERING: u32 = 11;
    pub const SIBLING_ORDER_RANK: u32 = 12;
    /// Of the track that has the number 0: how processes are ordered.
    pub const PROCESS_ORDERING: u32 = 19;

    /// Values of `ChildTracksOrdering` and of `ProcessOrdering`: by the rank among siblings.
    pub const CHILDREN_EXPLICIT: u64 = 3;
    pub const PROCESSES_EXPLICIT: u64 = 1;
}

/// `track_event/process_descriptor.proto`
pub mod process_descriptor {
    pub const PID: u32 = 1;
    pub const LEGACY_SORT_INDEX: u32 = 3;
    pub const PROCESS_NAME: u32 = 6;
    pub const PROCESS_LABELS: u32 = 8;
}

/// `track_event/thread_descriptor.proto`
pub mod thread_descriptor {
    pub const PID: u32 = 1;
    pub const TID: u32 = 2;
    pub const LEGACY_SORT_INDEX: u32 = 3;
    pub const THREAD_NAME: u32 = 5;
}

/// `track_event/counter_descriptor.proto`
pub mod counter_descriptor {
    pub const UNIT_NAME: u32 = 6;
}
