//! The numbers of the fields that are read or written, by message, from the files that define them
//! in <https://github.com/google/perfetto>, below `protos/perfetto/trace`.

/// `trace.proto`
pub mod trace {
    pub const PACKET: u32 = 1;
}

/// `trace_packet.proto`
pub mod trace_packet {
    pub const FTRACE_EVENTS: u32 = 1;
    pub const PROCESS_TREE: u32 = 2;
    pub const CHROME_EVENTS: u32 = 5;
    pub const CLOCK_SNAPSHOT: u32 = 6;
    pub const SYS_STATS: u32 = 7;
    pub const TIMESTAMP: u32 = 8;
    pub const PROCESS_STATS: u32 = 9;
    pub const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED_DATA: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const PROFILE_PACKET: u32 = 37;
    pub const ANDROID_LOG: u32 = 39;
    pub const POWER_RAILS: u32 = 40;
    pub const INCREMENTAL_STATE_CLEARED_OLD: u32 = 41;
    pub const PREVIOUS_PACKET_DROPPED: u32 = 42;
    pub const PROCESS_DESCRIPTOR: u32 = 43;
    pub const THREAD_DESCRIPTOR: u32 = 44;
    pub const SYSTEM_INFO: u32 = 45;
    pub const COMPRESSED_PACKETS: u32 = 50;
    pub const GPU_RENDER_STAGE_EVENT: u32 = 53;
    pub const STREAMING_PROFILE_PACKET: u32 = 54;
    pub const TIMESTAMP_CLOCK_ID: u32 = 58;
    pub const TRACE_PACKET_DEFAULTS: u32 = 59;
    pub const TRACK_DESCRIPTOR: u32 = 60;
    pub const VULKAN_MEMORY_EVENT: u32 = 62;
    pub const STREAMING_ALLOCATION: u32 = 74;
    pub const STREAMING_FREE: u32 = 75;
    pub const UI_STATE: u32 = 78;
    pub const TRUSTED_PID: u32 = 79;
    pub const STATSD_ATOM: u32 = 84;
    pub const TRACK_EVENT_RANGE_OF_INTEREST: u32 = 90;
    pub const ENTITY_STATE_RESIDENCY: u32 = 91;
    pub const SURFACEFLINGER_LAYERS_SNAPSHOT: u32 = 93;
    pub const SURFACEFLINGER_TRANSACTIONS: u32 = 94;
    pub const ETW_EVENTS: u32 = 95;
    pub const SHELL_TRANSITION: u32 = 96;
    pub const MACHINE_ID: u32 = 98;
    pub const PROTOLOG_MESSAGE: u32 = 104;
    pub const REMOTE_CLOCK_SYNC: u32 = 107;
    pub const PIXEL_MODEM_EVENTS: u32 = 110;
    pub const WINSCOPE_EXTENSIONS: u32 = 112;
    pub const EVDEV_EVENT: u32 = 121;
    pub const PROTOVMS: u32 = 125;
    pub const ZSTD_COMPRESSED_PACKETS: u32 = 133;

    /// A value of `SequenceFlags`: nothing said before counts, and what was said since does.
    pub const INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub const NEEDS_INCREMENTAL_STATE: u64 = 2;
}

/// `trace_packet_defaults.proto`
pub mod trace_packet_defaults {
    pub const TRACK_EVENT_DEFAULTS: u32 = 11;
    pub const TIMESTAMP_CLOCK_ID: u32 = 58;
}

/// `ps/process_tree.proto`
pub mod process_tree {
    pub const PROCESSES: u32 = 1;
    pub const THREADS: u32 = 2;
    pub const COLLECTION_END_TIMESTAMP: u32 = 3;
}

/// `ps/process_stats.proto`
pub mod process_stats {
    pub const COLLECTION_END_TIMESTAMP: u32 = 2;
}

/// `sys_stats/sys_stats.proto`
pub mod sys_stats {
    pub const COLLECTION_END_TIMESTAMP: u32 = 9;
}

/// `android/android_log.proto`
pub mod android_log {
    pub const EVENTS: u32 = 1;
    pub const EVENT_TIMESTAMP: u32 = 5;
}

/// `ui_state.proto`
pub mod ui_state {
    pub const TIMELINE_START_TS: u32 = 1;
    pub const TIMELINE_END_TS: u32 = 2;
}

/// `FtraceEventBundle` of `ftrace/ftrace_event_bundle.proto`, and what is in it
pub mod ftrace {
    pub const EVENT: u32 = 2;
    pub const COMPACT_SCHED: u32 = 4;
    pub const CLOCK: u32 = 5;
    pub const ERROR: u32 = 8;
    pub const LAST_READ_EVENT_TIMESTAMP: u32 = 9;
    pub const PREVIOUS_BUNDLE_END_TIMESTAMP: u32 = 10;

    /// The time of an `FtraceEvent`, as in `ftrace/ftrace_event.proto`.
    pub const EVENT_TIMESTAMP: u32 = 1;
    pub const GPU_WORK_PERIOD: u32 = 488;
    pub const THERMAL_EXYNOS_ACPM_BULK: u32 = 506;
    pub const PARAM_SET_VALUE_CPM: u32 = 543;
    pub const FWTP_PERFETTO_COUNTER: u32 = 596;
    pub const FWTP_PERFETTO_SLICE: u32 = 600;

    /// The times of switches in `CompactSched`.
    pub const SWITCH_TIMESTAMP: u32 = 1;
    pub const WAKING_TIMESTAMP: u32 = 7;

    /// The time of an `FtraceError`.
    pub const ERROR_TIMESTAMP: u32 = 1;
}

/// `Process` of `ps/process_tree.proto`
pub mod listed_process {
    pub const PID: u32 = 1;
    pub const PPID: u32 = 2;
    pub const CMDLINE: u32 = 3;
    pub const PROCESS_START_FROM_BOOT: u32 = 7;
}

/// `Thread` of `ps/process_tree.proto`
pub mod listed_thread {
    pub const TID: u32 = 1;
    pub const TGID: u32 = 3;
}

/// `clock_snapshot.proto`
pub mod clock_snapshot {
    pub const CLOCKS: u32 = 1;
    pub const PRIMARY_TRACE_CLOCK: u32 = 2;
}

/// `Clock` of `clock_snapshot.proto`
pub mod clock {
    pub const CLOCK_ID: u32 = 1;
    pub const TIMESTAMP: u32 = 2;
    pub const IS_INCREMENTAL: u32 = 3;
    pub const UNIT_MULTIPLIER_NS: u32 = 4;
}

/// `remote_clock_sync.proto`
pub mod remote_clock_sync {
    pub const SYNCED_CLOCKS: u32 = 1;
}

/// `SyncedClocks` of `remote_clock_sync.proto`
pub mod synced_clocks {
    pub const CLIENT_CLOCKS: u32 = 2;
    pub const HOST_CLOCKS: u32 = 3;
}

/// `gpu/gpu_render_stage_event.proto`
pub mod gpu_render_stage_event {
    pub const EVENT_ID: u32 = 1;
    pub const DURATION: u32 = 2;
    pub const HW_QUEUE_ID: u32 = 3;
    pub const CONTEXT: u32 = 5;
    pub const EXTRA_DATA: u32 = 6;
    pub const SPECIFICATIONS: u32 = 7;
    pub const GPU_ID: u32 = 11;
    pub const HW_QUEUE_IID: u32 = 13;
    pub const STAGE_IID: u32 = 14;
    pub const NAME: u32 = 17;
    pub const EVENT_WAIT_IDS: u32 = 18;
    pub const KERNEL_IID: u32 = 19;
    pub const NAME_IID: u32 = 20;
    pub const LAUNCH: u32 = 21;
}

/// `ExtraData` of `gpu/gpu_render_stage_event.proto`
pub mod extra_data {
    pub const NAME: u32 = 1;
    pub const VALUE: u32 = 2;
}

/// `Specifications` and `Description` of `gpu/gpu_render_stage_event.proto`
pub mod specifications {
    pub const CONTEXT_SPEC: u32 = 1;
    pub const CONTEXT_PID: u32 = 2;
    pub const HW_QUEUE: u32 = 2;
    pub const DESCRIPTION_NAME: u32 = 1;
}

/// `ComputeKernelLaunch` of `gpu/gpu_render_stage_event.proto`
pub mod compute_kernel_launch {
    pub const GRID_SIZE: u32 = 1;
    pub const WORKGROUP_SIZE: u32 = 2;
    pub const ARGS: u32 = 3;
}

/// `ExtraComputeArg` of `gpu/gpu_render_stage_event.proto`
pub mod extra_compute_arg {
    pub const NAME_IID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const INT_VALUE: u32 = 3;
    pub const UINT_VALUE: u32 = 4;
    pub const DOUBLE_VALUE: u32 = 5;
    pub const STRING_VALUE: u32 = 6;
    pub const STRING_VALUE_IID: u32 = 7;
}

/// `InternedGraphicsContext` of `gpu/gpu_render_stage_event.proto`
pub mod interned_graphics_context {
    pub const PID: u32 = 2;
}

/// `gpu/gpu_track_event.proto`
pub mod gpu_track_event {
    pub const GPU_CORRELATION: u32 = 3000;
    pub const RENDER_STAGE_SUBMISSION_EVENT_IDS: u32 = 1;
}

/// `interned_data/interned_data.proto`
pub mod interned_data {
    pub const EVENT_CATEGORIES: u32 = 1;
    pub const EVENT_NAMES: u32 = 2;
    pub const DEBUG_ANNOTATION_NAMES: u32 = 3;
    pub const GRAPHICS_CONTEXTS: u32 = 23;
    pub const GPU_SPECIFICATIONS: u32 = 24;
    pub const DEBUG_ANNOTATION_STRING_VALUES: u32 = 29;
    pub const COMPUTE_KERNELS: u32 = 1000;
    pub const COMPUTE_ARG_NAMES: u32 = 1001;
}

/// `EventName` of `track_event/track_event.proto` and `DebugAnnotationName` of
/// `track_event/debug_annotation.proto`
pub mod interned_name {
    pub const IID: u32 = 1;
    pub const NAME: u32 = 2;
}

/// `track_event/track_event.proto`
pub mod track_event {
    pub const TIMESTAMP_DELTA_US: u32 = 1;
    pub const CATEGORY_IIDS: u32 = 3;
    pub const DEBUG_ANNOTATIONS: u32 = 4;
    pub const LEGACY_EVENT: u32 = 6;
    pub const TYPE: u32 = 9;
    pub const NAME_IID: u32 = 10;
    /// Also that of `TrackEventDefaults`.
    pub const TRACK_UUID: u32 = 11;
    pub const TIMESTAMP_ABSOLUTE_US: u32 = 16;
    pub const CATEGORIES: u32 = 22;
    pub const NAME: u32 = 23;
    pub const COUNTER_VALUE: u32 = 30;
    /// Also that of `TrackEventDefaults`.
    pub const EXTRA_COUNTER_TRACK_UUIDS: u32 = 31;
    pub const FLOW_IDS_OLD: u32 = 36;
    pub const TERMINATING_FLOW_IDS_OLD: u32 = 42;
    pub const DOUBLE_COUNTER_VALUE: u32 = 44;
    /// Also that of `TrackEventDefaults`.
    pub const EXTRA_DOUBLE_COUNTER_TRACK_UUIDS: u32 = 45;
    pub const FLOW_IDS: u32 = 47;
    pub const TERMINATING_FLOW_IDS: u32 = 48;

    /// A value of `Type`.
    pub const SLICE_BEGIN: u64 = 1;
    pub const SLICE_END: u64 = 2;
    pub const INSTANT: u64 = 3;
    pub const COUNTER: u64 = 4;
}

/// `LegacyEvent` of `track_event/track_event.proto`
pub mod legacy_event {
    pub const NAME_IID: u32 = 1;
    pub const PHASE: u32 = 2;
    pub const DURATION_US: u32 = 3;
    pub const UNSCOPED_ID: u32 = 6;
    pub const BIND_ID: u32 = 8;
    pub const LOCAL_ID: u32 = 10;
    pub const GLOBAL_ID: u32 = 11;
    pub const PID_OVERRIDE: u32 = 18;
    pub const TID_OVERRIDE: u32 = 19;
}

/// `track_event/debug_annotation.proto`
pub mod debug_annotation {
    pub const NAME_IID: u32 = 1;
    pub const BOOL_VALUE: u32 = 2;
    pub const UINT_VALUE: u32 = 3;
    pub const INT_VALUE: u32 = 4;
    pub const DOUBLE_VALUE: u32 = 5;
    pub const STRING_VALUE: u32 = 6;
    pub const POINTER_VALUE: u32 = 7;
    pub const LEGACY_JSON_VALUE: u32 = 9;
    pub const NAME: u32 = 10;
    pub const DICT_ENTRIES: u32 = 11;
    pub const ARRAY_VALUES: u32 = 12;
    pub const STRING_VALUE_IID: u32 = 17;
}

/// `track_event/track_descriptor.proto`
pub mod track_descriptor {
    pub const UUID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PROCESS: u32 = 3;
    pub const THREAD: u32 = 4;
    pub const PARENT_UUID: u32 = 5;
    pub const COUNTER: u32 = 8;
    pub const STATIC_NAME: u32 = 10;
    pub const CHILD_ORDERING: u32 = 11;
    pub const SIBLING_ORDER_RANK: u32 = 12;
    pub const DESCRIPTION: u32 = 14;
    /// The order of processes, said by the track that has the number 0.
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
    pub const START_TIMESTAMP_NS: u32 = 7;
    pub const PROCESS_LABELS: u32 = 8;
}

/// `track_event/thread_descriptor.proto`
pub mod thread_descriptor {
    pub const PID: u32 = 1;
    pub const TID: u32 = 2;
    pub const LEGACY_SORT_INDEX: u32 = 3;
    pub const THREAD_NAME: u32 = 5;
    pub const REFERENCE_TIMESTAMP_US: u32 = 6;
}

/// `track_event/counter_descriptor.proto`
pub mod counter_descriptor {
    pub const UNIT: u32 = 3;
    pub const UNIT_MULTIPLIER: u32 = 4;
    pub const IS_INCREMENTAL: u32 = 5;
    pub const UNIT_NAME: u32 = 6;

    /// A value of `Unit`.
    pub const UNIT_TIME_NS: u64 = 1;
}
