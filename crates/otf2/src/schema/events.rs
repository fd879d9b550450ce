//! The records of event files.
//!
//! One table gives the schema, the typed form and how to read and write it; see
//! [`records`](super::typed).

use super::typed::records;
use crate::enums::{
    CollectiveOp, CollectiveRoot, IoAccessMode, IoCreationFlags, IoOperationFlags, IoOperationMode,
    IoSeekOption, IoStatusFlags, LockType, MeasurementMode, Paradigm, RmaAtomicType, RmaSyncLevel,
    RmaSyncType,
};
use crate::parts::MetricValue;
use crate::refs::{
    CallingContextRef, CommRef, GroupRef, InterruptGeneratorRef, IoFileRef, IoHandleRef,
    IoParadigmRef, MetricRef, ParameterRef, RegionRef, RmaWinRef, StringRef,
};
use retime_model::Timestamp;

records! {
    /// The content of an event. Partners in messages are ranks of the communicator.
    enum EventData in EVENTS, event_code {
        /// The recording tool wrote its buffer to disk until `stop_time`.
        10 BufferFlush {
            stop_time: Timestamp = "stopTime",
        },
        /// Recording is switched on or off.
        11 MeasurementOnOff {
            measurement_mode: MeasurementMode = "measurementMode",
        },
        /// A region is entered.
        12 Enter {
            region: RegionRef = "region",
        },
        /// A region is left.
        13 Leave {
            region: RegionRef = "region",
        },
        /// A blocking send.
        14 MpiSend {
            receiver: u32 = "receiver",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
        },
        /// A non-blocking send is started.
        15 MpiIsend {
            receiver: u32 = "receiver",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
            request: u64 = "requestID",
        },
        /// A non-blocking send is complete.
        16 MpiIsendComplete {
            request: u64 = "requestID",
        },
        /// A non-blocking receive is started.
        17 MpiIrecvRequest {
            request: u64 = "requestID",
        },
        /// A blocking receive.
        18 MpiRecv {
            sender: u32 = "sender",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
        },
        /// A non-blocking receive is complete.
        19 MpiIrecv {
            sender: u32 = "sender",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
            request: u64 = "requestID",
        },
        /// A request is tested and not yet complete.
        20 MpiRequestTest {
            request: u64 = "requestID",
        },
        /// A request is cancelled.
        21 MpiRequestCancelled {
            request: u64 = "requestID",
        },
        /// A collective operation begins.
        22 MpiCollectiveBegin,
        /// A collective operation ends.
        23 MpiCollectiveEnd {
            collective_op: CollectiveOp = "collectiveOp",
            communicator: CommRef = "communicator",
            root: CollectiveRoot = "root",
            size_sent: u64 = "sizeSent",
            size_received: u64 = "sizeReceived",
        },
        /// A team of threads is forked (before OTF2 1.2).
        24 OmpFork {
            threads: u32 = "numberOfRequestedThreads",
        },
        /// The team of threads has joined (before OTF2 1.2).
        25 OmpJoin,
        /// A lock is acquired (before OTF2 1.2).
        26 OmpAcquireLock {
            lock: u32 = "lockID",
            acquisition_order: u32 = "acquisitionOrder",
        },
        /// A lock is released (before OTF2 1.2).
        27 OmpReleaseLock {
            lock: u32 = "lockID",
            acquisition_order: u32 = "acquisitionOrder",
        },
        /// A task is created (before OTF2 1.2).
        28 OmpTaskCreate {
            task: u64 = "taskID",
        },
        /// Another task goes on (before OTF2 1.2).
        29 OmpTaskSwitch {
            task: u64 = "taskID",
        },
        /// A task is complete (before OTF2 1.2).
        30 OmpTaskComplete {
            task: u64 = "taskID",
        },
        /// The values of all members of a metric class.
        31 Metric {
            metric: MetricRef = "metric",
            values: Vec<MetricValue> = "numberOfMetrics" "typeIDs" "metricValues",
        },
        /// A parameter has this text as its value.
        32 ParameterString {
            parameter: ParameterRef = "parameter",
            string: StringRef = "string",
        },
        /// A parameter has this signed number as its value.
        33 ParameterInt {
            parameter: ParameterRef = "parameter",
            value: i64 = "value",
        },
        /// A parameter has this unsigned number as its value.
        34 ParameterUnsignedInt {
            parameter: ParameterRef = "parameter",
            value: u64 = "value",
        },
        /// A window is created.
        35 RmaWinCreate {
            win: RmaWinRef = "win",
        },
        /// A window is destroyed.
        36 RmaWinDestroy {
            win: RmaWinRef = "win",
        },
        /// A collective operation on a window begins.
        37 RmaCollectiveBegin,
        /// A collective operation on a window ends.
        38 RmaCollectiveEnd {
            collective_op: CollectiveOp = "collectiveOp",
            sync_level: RmaSyncLevel = "syncLevel",
            win: RmaWinRef = "win",
            root: CollectiveRoot = "root",
            bytes_sent: u64 = "bytesSent",
            bytes_received: u64 = "bytesReceived",
        },
        /// A part of the processes of a window synchronises.
        39 RmaGroupSync {
            sync_level: RmaSyncLevel = "syncLevel",
            win: RmaWinRef = "win",
            group: GroupRef = "group",
        },
        /// A lock is asked for.
        40 RmaRequestLock {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            lock: u64 = "lockId",
            lock_type: LockType = "lockType",
        },
        /// A lock is acquired.
        41 RmaAcquireLock {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            lock: u64 = "lockId",
            lock_type: LockType = "lockType",
        },
        /// A lock was asked for in vain.
        42 RmaTryLock {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            lock: u64 = "lockId",
            lock_type: LockType = "lockType",
        },
        /// A lock is released.
        43 RmaReleaseLock {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            lock: u64 = "lockId",
        },
        /// A simple synchronisation.
        44 RmaSync {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            sync_type: RmaSyncType = "syncType",
        },
        /// The window was waited for to change.
        45 RmaWaitChange {
            win: RmaWinRef = "win",
        },
        /// Data are sent to a remote window.
        46 RmaPut {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            bytes: u64 = "bytes",
            matching_id: u64 = "matchingId",
        },
        /// Data are fetched from a remote window.
        47 RmaGet {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            bytes: u64 = "bytes",
            matching_id: u64 = "matchingId",
        },
        /// An atomic operation on a remote window.
        48 RmaAtomic {
            win: RmaWinRef = "win",
            remote: u32 = "remote",
            operation: RmaAtomicType = "type",
            bytes_sent: u64 = "bytesSent",
            bytes_received: u64 = "bytesReceived",
            matching_id: u64 = "matchingId",
        },
        /// A blocking operation is complete.
        49 RmaOpCompleteBlocking {
            win: RmaWinRef = "win",
            matching_id: u64 = "matchingId",
        },
        /// A non-blocking operation is complete here.
        50 RmaOpCompleteNonBlocking {
            win: RmaWinRef = "win",
            matching_id: u64 = "matchingId",
        },
        /// An operation is tested and not yet complete.
        51 RmaOpTest {
            win: RmaWinRef = "win",
            matching_id: u64 = "matchingId",
        },
        /// An operation is complete at the remote side.
        52 RmaOpCompleteRemote {
            win: RmaWinRef = "win",
            matching_id: u64 = "matchingId",
        },
        /// A team of threads is forked.
        53 ThreadFork {
            model: Paradigm = "model",
            threads: u32 = "numberOfRequestedThreads",
        },
        /// The team of threads has joined.
        54 ThreadJoin {
            model: Paradigm = "model",
        },
        /// This thread begins to work in a team.
        55 ThreadTeamBegin {
            thread_team: CommRef = "threadTeam",
        },
        /// This thread ends its work in a team.
        56 ThreadTeamEnd {
            thread_team: CommRef = "threadTeam",
        },
        /// A lock is acquired.
        57 ThreadAcquireLock {
            model: Paradigm = "model",
            lock: u32 = "lockID",
            acquisition_order: u32 = "acquisitionOrder",
        },
        /// A lock is released.
        58 ThreadReleaseLock {
            model: Paradigm = "model",
            lock: u32 = "lockID",
            acquisition_order: u32 = "acquisitionOrder",
        },
        /// A task is created.
        59 ThreadTaskCreate {
            thread_team: CommRef = "threadTeam",
            creating_thread: u32 = "creatingThread",
            generation_number: u32 = "generationNumber",
        },
        /// Another task goes on.
        60 ThreadTaskSwitch {
            thread_team: CommRef = "threadTeam",
            creating_thread: u32 = "creatingThread",
            generation_number: u32 = "generationNumber",
        },
        /// A task is complete.
        61 ThreadTaskComplete {
            thread_team: CommRef = "threadTeam",
            creating_thread: u32 = "creatingThread",
            generation_number: u32 = "generationNumber",
        },
        /// A thread is created.
        62 ThreadCreate {
            thread_contingent: CommRef = "threadContingent",
            sequence_count: u64 = "sequenceCount",
        },
        /// This thread, created elsewhere, begins.
        63 ThreadBegin {
            thread_contingent: CommRef = "threadContingent",
            sequence_count: u64 = "sequenceCount",
        },
        /// The end of a created thread was waited for.
        64 ThreadWait {
            thread_contingent: CommRef = "threadContingent",
            sequence_count: u64 = "sequenceCount",
        },
        /// This thread, created elsewhere, ends.
        65 ThreadEnd {
            thread_contingent: CommRef = "threadContingent",
            sequence_count: u64 = "sequenceCount",
        },
        /// A calling context is entered.
        66 CallingContextEnter {
            calling_context: CallingContextRef = "callingContext",
            unwind_distance: u32 = "unwindDistance",
        },
        /// A calling context is left.
        67 CallingContextLeave {
            calling_context: CallingContextRef = "callingContext",
        },
        /// A sample is taken.
        68 CallingContextSample {
            calling_context: CallingContextRef = "callingContext",
            unwind_distance: u32 = "unwindDistance",
            interrupt_generator: InterruptGeneratorRef = "interruptGenerator",
        },
        /// A file handle is created.
        69 IoCreateHandle {
            handle: IoHandleRef = "handle",
            mode: IoAccessMode = "mode",
            creation_flags: IoCreationFlags = "creationFlags",
            status_flags: IoStatusFlags = "statusFlags",
        },
        /// A file handle is destroyed.
        70 IoDestroyHandle {
            handle: IoHandleRef = "handle",
        },
        /// A file handle is duplicated.
        71 IoDuplicateHandle {
            old_handle: IoHandleRef = "oldHandle",
            new_handle: IoHandleRef = "newHandle",
            status_flags: IoStatusFlags = "statusFlags",
        },
        /// The position in a file changes.
        72 IoSeek {
            handle: IoHandleRef = "handle",
            offset_request: i64 = "offsetRequest",
            whence: IoSeekOption = "whence",
            offset_result: u64 = "offsetResult",
        },
        /// The state of a file handle changes.
        73 IoChangeStatusFlags {
            handle: IoHandleRef = "handle",
            status_flags: IoStatusFlags = "statusFlags",
        },
        /// A file is deleted.
        74 IoDeleteFile {
            io_paradigm: IoParadigmRef = "ioParadigm",
            file: IoFileRef = "file",
        },
        /// An operation on a file begins.
        75 IoOperationBegin {
            handle: IoHandleRef = "handle",
            mode: IoOperationMode = "mode",
            operation_flags: IoOperationFlags = "operationFlags",
            bytes_request: u64 = "bytesRequest",
            matching_id: u64 = "matchingId",
        },
        /// An operation on a file is tested and not yet complete.
        76 IoOperationTest {
            handle: IoHandleRef = "handle",
            matching_id: u64 = "matchingId",
        },
        /// A non-blocking operation on a file is under way.
        77 IoOperationIssued {
            handle: IoHandleRef = "handle",
            matching_id: u64 = "matchingId",
        },
        /// An operation on a file is complete.
        78 IoOperationComplete {
            handle: IoHandleRef = "handle",
            bytes_result: u64 = "bytesResult",
            matching_id: u64 = "matchingId",
        },
        /// An operation on a file is cancelled.
        79 IoOperationCancelled {
            handle: IoHandleRef = "handle",
            matching_id: u64 = "matchingId",
        },
        /// A lock on a file is acquired.
        80 IoAcquireLock {
            handle: IoHandleRef = "handle",
            lock_type: LockType = "lockType",
        },
        /// A lock on a file is released.
        81 IoReleaseLock {
            handle: IoHandleRef = "handle",
            lock_type: LockType = "lockType",
        },
        /// A lock on a file was asked for in vain.
        82 IoTryLock {
            handle: IoHandleRef = "handle",
            lock_type: LockType = "lockType",
        },
        /// The program begins.
        83 ProgramBegin {
            program_name: StringRef = "programName",
            arguments: Vec<StringRef> = "numberOfArguments" "programArguments",
        },
        /// The program ends, with a status if one is known.
        84 ProgramEnd {
            exit_status: Option<i64> = "exitStatus",
        },
        /// A non-blocking collective operation is started.
        85 NonBlockingCollectiveRequest {
            request: u64 = "requestID",
        },
        /// A non-blocking collective operation is complete.
        86 NonBlockingCollectiveComplete {
            collective_op: CollectiveOp = "collectiveOp",
            communicator: CommRef = "communicator",
            root: CollectiveRoot = "root",
            size_sent: u64 = "sizeSent",
            size_received: u64 = "sizeReceived",
            request: u64 = "requestID",
        },
        /// A communicator is created.
        87 CommCreate {
            communicator: CommRef = "communicator",
        },
        /// A communicator is destroyed.
        88 CommDestroy {
            communicator: CommRef = "communicator",
        },
        /// A message is found by a matching probe.
        89 MpiProbe {
            sender: u32 = "sender",
            communicator: CommRef = "communicator",
            tag: u32 = "tag",
            message: u64 = "messageId",
        },
        /// A probed message is received.
        90 MpiMrecv {
            message: u64 = "messageId",
            length: u64 = "msgLength",
        },
        /// The receive of a probed message is started.
        91 MpiImrecvRequest {
            message: u64 = "messageId",
            request: u64 = "requestId",
        },
        /// The receive of a probed message is complete.
        92 MpiImrecv {
            request: u64 = "requestId",
            length: u64 = "msgLength",
        },
    }
}
