//! The records of snapshot files: what the state of a location is at a time.
//!
//! References in them are global ids: no mapping table applies.

use super::typed::records;
use crate::enums::{CollectiveOp, CollectiveRoot, MeasurementMode};
use crate::parts::MetricValue;
use crate::refs::{CommRef, MetricRef, ParameterRef, RegionRef, StringRef};
use retime_model::Timestamp;

records! {
    /// The content of a record of a snapshot. `orig_event_time` is the time of the event that it
    /// comes from.
    enum SnapshotData in SNAPSHOTS, snapshot_code {
        /// A snapshot begins.
        10 SnapshotStart {
            number_of_records: u64 = "numberOfRecords",
        },
        /// A snapshot ends.
        11 SnapshotEnd {
            cont_read_pos: u64 = "contReadPos",
        },
        /// The state of recording, on or off.
        12 MeasurementOnOff {
            orig_event_time: Timestamp = "origEventTime",
            measurement_mode: MeasurementMode = "measurementMode",
        },
        /// A region that was entered and not left.
        13 Enter {
            orig_event_time: Timestamp = "origEventTime",
            region: RegionRef = "region",
        },
        /// A send that was not received.
        14 MpiSend {
            orig_event_time: Timestamp = "origEventTime",
            receiver: u32 = "receiver",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
        },
        /// A non-blocking send that is not complete.
        15 MpiIsend {
            orig_event_time: Timestamp = "origEventTime",
            receiver: u32 = "receiver",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
            request: u64 = "requestID",
        },
        /// A non-blocking send that is complete and not received.
        16 MpiIsendComplete {
            orig_event_time: Timestamp = "origEventTime",
            request: u64 = "requestID",
        },
        /// A receive whose send was recorded later.
        17 MpiRecv {
            orig_event_time: Timestamp = "origEventTime",
            sender: u32 = "sender",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
        },
        /// A receive that is not complete.
        18 MpiIrecvRequest {
            orig_event_time: Timestamp = "origEventTime",
            request: u64 = "requestID",
        },
        /// A complete receive whose send was recorded later.
        19 MpiIrecv {
            orig_event_time: Timestamp = "origEventTime",
            sender: u32 = "sender",
            communicator: CommRef = "communicator",
            tag: u32 = "msgTag",
            length: u64 = "msgLength",
            request: u64 = "requestID",
        },
        /// A collective operation that has begun.
        20 MpiCollectiveBegin {
            orig_event_time: Timestamp = "origEventTime",
        },
        /// A collective operation that has ended here and not everywhere.
        21 MpiCollectiveEnd {
            orig_event_time: Timestamp = "origEventTime",
            collective_op: CollectiveOp = "collectiveOp",
            communicator: CommRef = "communicator",
            root: CollectiveRoot = "root",
            size_sent: u64 = "sizeSent",
            size_received: u64 = "sizeReceived",
        },
        /// A team of threads that has not joined.
        22 OmpFork {
            orig_event_time: Timestamp = "origEventTime",
            threads: u32 = "numberOfRequestedThreads",
        },
        /// A lock that is held.
        23 OmpAcquireLock {
            orig_event_time: Timestamp = "origEventTime",
            lock: u32 = "lockID",
            acquisition_order: u32 = "acquisitionOrder",
        },
        /// A task that is not complete.
        24 OmpTaskCreate {
            orig_event_time: Timestamp = "origEventTime",
            task: u64 = "taskID",
        },
        /// The task that goes on.
        25 OmpTaskSwitch {
            orig_event_time: Timestamp = "origEventTime",
            task: u64 = "taskID",
        },
        /// The last values of a metric class.
        26 Metric {
            orig_event_time: Timestamp = "origEventTime",
            metric: MetricRef = "metric",
            values: Vec<MetricValue> = "numberOfMetrics" "typeIDs" "metricValues",
        },
        /// The text that is the value of a parameter.
        27 ParameterString {
            orig_event_time: Timestamp = "origEventTime",
            parameter: ParameterRef = "parameter",
            string: StringRef = "string",
        },
        /// The signed number that is the value of a parameter.
        28 ParameterInt {
            orig_event_time: Timestamp = "origEventTime",
            parameter: ParameterRef = "parameter",
            value: i64 = "value",
        },
        /// The unsigned number that is the value of a parameter.
        29 ParameterUnsignedInt {
            orig_event_time: Timestamp = "origEventTime",
            parameter: ParameterRef = "parameter",
            value: u64 = "value",
        },
    }
}
