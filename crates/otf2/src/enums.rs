//! The enumerations and sets of flags of the specification.
//!
//! They stay open: later versions add members, so a number that has no name
//! here is kept as it is rather than refused. Names are those of the C headers
//! without their prefix: `OTF2_PARADIGM_MPI` is [`Paradigm::MPI`].
//!
//! ```
//! use retime_otf2::{GroupType, IoStatusFlags, Paradigm};
//!
//! assert_eq!(GroupType(5), GroupType::COMM_GROUP);
//! assert_eq!(Paradigm::MPI.to_string(), "MPI");
//! assert_eq!(Paradigm(200).to_string(), "200");
//! let flags = IoStatusFlags::APPEND | IoStatusFlags::SYNC;
//! assert!(flags.contains(IoStatusFlags::SYNC));
//! ```

use std::fmt::{self, Display, Formatter};

macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $($member:ident = $code:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u8);

        impl $name {
            $(#[doc = concat!("In words: ", $text, ".")] pub const $member: Self = Self($code);)*

            /// The meaning of the member in words, if it is known.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some($text),)*
                    _ => None,
                }
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{}", self.0),
                }
            }
        }
    };
}

macro_rules! flags {
    ($(#[$doc:meta])* $name:ident { $($member:ident = $bits:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// No flag.
            pub const NONE: Self = Self(0);
            $(#[doc = concat!("In words: ", $text, ".")] pub const $member: Self = Self($bits);)*

            /// True if all of `others` are set.
            pub const fn contains(self, others: Self) -> bool {
                self.0 & others.0 == others.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

open_enum! {
    /// The kind of members that a group has.
    GroupType {
        UNKNOWN = 0 "unknown",
        LOCATIONS = 1 "locations",
        REGIONS = 2 "regions",
        METRIC = 3 "metric",
        COMM_LOCATIONS = 4 "communication locations",
        COMM_GROUP = 5 "communication group, positions in the list of communication locations or location groups",
        COMM_SELF = 6 "communication with oneself, no members",
        COMM_LOCATION_GROUPS = 7 "communication location groups, each of them a rank",
    }
}

open_enum! {
    /// A parallel paradigm or another source of events.
    Paradigm {
        UNKNOWN = 0 "unknown",
        USER = 1 "user",
        COMPILER = 2 "compiler",
        OPENMP = 3 "OpenMP",
        MPI = 4 "MPI",
        CUDA = 5 "CUDA",
        MEASUREMENT_SYSTEM = 6 "measurement system",
        PTHREAD = 7 "pthread",
        HMPP = 8 "HMPP",
        OMPSS = 9 "OmpSs",
        HARDWARE = 10 "hardware",
        GASPI = 11 "GASPI",
        UPC = 12 "UPC",
        SHMEM = 13 "SHMEM",
        WINTHREAD = 14 "Windows threads",
        QTTHREAD = 15 "Qt threads",
        ACETHREAD = 16 "ACE threads",
        TBBTHREAD = 17 "TBB threads",
        OPENACC = 18 "OpenACC",
        OPENCL = 19 "OpenCL",
        MTAPI = 20 "MTAPI",
        SAMPLING = 21 "sampling",
        NONE = 22 "none",
        HIP = 23 "HIP",
        KOKKOS = 24 "Kokkos",
        OPENMP_TARGET = 25 "OpenMP target",
    }
}

open_enum! {
    /// How a paradigm creates what runs in parallel.
    ParadigmClass {
        PROCESS = 0 "processes",
        THREAD_FORK_JOIN = 1 "threads by fork and join",
        THREAD_CREATE_WAIT = 2 "threads by create and wait",
        ACCELERATOR = 3 "accelerator devices",
    }
}

open_enum! {
    /// The kind of a location: a CPU thread, a stream of an accelerator, or metrics.
    LocationType {
        UNKNOWN = 0 "unknown",
        CPU_THREAD = 1 "CPU thread",
        ACCELERATOR_STREAM = 2 "accelerator stream",
        METRIC = 3 "metric",
    }
}

open_enum! {
    /// The kind of a location group: a process or an accelerator.
    LocationGroupType {
        UNKNOWN = 0 "unknown",
        PROCESS = 1 "process",
        ACCELERATOR = 2 "accelerator",
    }
}

open_enum! {
    /// The resource that all locations below a node of the system tree share.
    SystemTreeDomain {
        MACHINE = 0 "machine",
        SHARED_MEMORY = 1 "shared memory",
        NUMA = 2 "NUMA",
        SOCKET = 3 "socket",
        CACHE = 4 "cache",
        CORE = 5 "core",
        PU = 6 "processing unit",
        ACCELERATOR_DEVICE = 7 "accelerator device",
        NETWORKING_DEVICE = 8 "networking device",
    }
}

open_enum! {
    /// The purpose of a region of code.
    RegionRole {
        UNKNOWN = 0 "unknown",
        FUNCTION = 1 "function",
        WRAPPER = 2 "wrapper",
        LOOP = 3 "loop",
        CODE = 4 "code",
        PARALLEL = 5 "parallel",
        SECTIONS = 6 "sections",
        SECTION = 7 "section",
        WORKSHARE = 8 "workshare",
        SINGLE = 9 "single",
        SINGLE_SBLOCK = 10 "single block",
        MASTER = 11 "master",
        CRITICAL = 12 "critical",
        CRITICAL_SBLOCK = 13 "critical block",
        ATOMIC = 14 "atomic",
        BARRIER = 15 "barrier",
        IMPLICIT_BARRIER = 16 "implicit barrier",
        FLUSH = 17 "flush",
        ORDERED = 18 "ordered",
        ORDERED_SBLOCK = 19 "ordered block",
        TASK = 20 "task",
        TASK_CREATE = 21 "task create",
        TASK_WAIT = 22 "task wait",
        COLL_ONE2ALL = 23 "collective from one to all",
        COLL_ALL2ONE = 24 "collective from all to one",
        COLL_ALL2ALL = 25 "collective from all to all",
        COLL_OTHER = 26 "other collective",
        FILE_IO = 27 "file input or output",
        POINT2POINT = 28 "point-to-point communication",
        RMA = 29 "one-sided communication",
        DATA_TRANSFER = 30 "data transfer",
        ARTIFICIAL = 31 "artificial",
        THREAD_CREATE = 32 "thread create",
        THREAD_WAIT = 33 "thread wait",
        TASK_UNTIED = 34 "untied task",
        ALLOCATE = 35 "allocate",
        DEALLOCATE = 36 "deallocate",
        REALLOCATE = 37 "reallocate",
        FILE_IO_METADATA = 38 "operation on file metadata",
        CANCEL = 39 "cancel",
        KERNEL = 40 "kernel",
    }
}

open_enum! {
    /// A collective operation.
    CollectiveOp {
        BARRIER = 0 "barrier",
        BCAST = 1 "bcast",
        GATHER = 2 "gather",
        GATHERV = 3 "gatherv",
        SCATTER = 4 "scatter",
        SCATTERV = 5 "scatterv",
        ALLGATHER = 6 "allgather",
        ALLGATHERV = 7 "allgatherv",
        ALLTOALL = 8 "alltoall",
        ALLTOALLV = 9 "alltoallv",
        ALLTOALLW = 10 "alltoallw",
        ALLREDUCE = 11 "allreduce",
        REDUCE = 12 "reduce",
        REDUCE_SCATTER = 13 "reduce_scatter",
        SCAN = 14 "scan",
        EXSCAN = 15 "exscan",
        REDUCE_SCATTER_BLOCK = 16 "reduce_scatter_block",
        CREATE_HANDLE = 17 "create handle",
        DESTROY_HANDLE = 18 "destroy handle",
        ALLOCATE = 19 "allocate",
        DEALLOCATE = 20 "deallocate",
        CREATE_HANDLE_AND_ALLOCATE = 21 "create handle and allocate",
        DESTROY_HANDLE_AND_DEALLOCATE = 22 "destroy handle and deallocate",
    }
}

open_enum! {
    /// The type of a value that is named beside it.
    Type {
        NONE = 0 "none",
        UINT8 = 1 "unsigned 8-bit integer",
        UINT16 = 2 "unsigned 16-bit integer",
        UINT32 = 3 "unsigned 32-bit integer",
        UINT64 = 4 "unsigned 64-bit integer",
        INT8 = 5 "signed 8-bit integer",
        INT16 = 6 "signed 16-bit integer",
        INT32 = 7 "signed 32-bit integer",
        INT64 = 8 "signed 64-bit integer",
        FLOAT = 9 "floating-point number of 32 bits",
        DOUBLE = 10 "floating-point number of 64 bits",
        STRING = 11 "string",
        ATTRIBUTE = 12 "attribute",
        LOCATION = 13 "location",
        REGION = 14 "region",
        GROUP = 15 "group",
        METRIC = 16 "metric",
        COMM = 17 "communicator",
        PARAMETER = 18 "parameter",
        RMA_WIN = 19 "window",
        SOURCE_CODE_LOCATION = 20 "source code location",
        CALLING_CONTEXT = 21 "calling context",
        INTERRUPT_GENERATOR = 22 "interrupt generator",
        IO_FILE = 23 "file",
        IO_HANDLE = 24 "file handle",
        LOCATION_GROUP = 25 "location group",
    }
}

open_enum! {
    /// The definitions whose ids a mapping table translates.
    MappingType {
        STRING = 0 "string",
        ATTRIBUTE = 1 "attribute",
        LOCATION = 2 "location",
        REGION = 3 "region",
        GROUP = 4 "group",
        METRIC = 5 "metric",
        COMM = 6 "communicator",
        PARAMETER = 7 "parameter",
        RMA_WIN = 8 "window",
        SOURCE_CODE_LOCATION = 9 "source code location",
        CALLING_CONTEXT = 10 "calling context",
        INTERRUPT_GENERATOR = 11 "interrupt generator",
        IO_FILE = 12 "file",
        IO_HANDLE = 13 "file handle",
        LOCATION_GROUP = 14 "location group",
    }
}

open_enum! {
    /// The values that a parameter of a region takes.
    ParameterType {
        STRING = 0 "string",
        INT64 = 1 "signed integer",
        UINT64 = 2 "unsigned integer",
    }
}

open_enum! {
    /// When the members of a metric class are recorded.
    MetricOccurrence {
        SYNCHRONOUS_STRICT = 0 "at each enter and leave",
        SYNCHRONOUS = 1 "at some enters and leaves",
        ASYNCHRONOUS = 2 "at any time",
    }
}

open_enum! {
    /// Recording switched on or off from this event on.
    MeasurementMode {
        ON = 1 "on",
        OFF = 2 "off",
    }
}

open_enum! {
    /// Who may hold a lock at the same time.
    LockType {
        EXCLUSIVE = 0 "exclusive",
        SHARED = 1 "shared",
    }
}

open_enum! {
    /// The effect of a synchronisation of one-sided communication.
    RmaSyncType {
        MEMORY = 0 "memory",
        NOTIFY_IN = 1 "notify in",
        NOTIFY_OUT = 2 "notify out",
    }
}

open_enum! {
    /// An atomic operation of one-sided communication.
    RmaAtomicType {
        ACCUMULATE = 0 "accumulate",
        INCREMENT = 1 "increment",
        TEST_AND_SET = 2 "test and set",
        COMPARE_AND_SWAP = 3 "compare and swap",
        SWAP = 4 "swap",
        FETCH_AND_ADD = 5 "fetch and add",
        FETCH_AND_INCREMENT = 6 "fetch and increment",
        FETCH_AND_ACCUMULATE = 7 "fetch and accumulate",
    }
}

open_enum! {
    /// How a file handle accesses its file.
    IoAccessMode {
        READ_ONLY = 0 "read only",
        WRITE_ONLY = 1 "write only",
        READ_WRITE = 2 "read and write",
        EXECUTE_ONLY = 3 "execute only",
        SEARCH_ONLY = 4 "search only",
    }
}

open_enum! {
    /// The direction of an operation on a file, or a flush.
    IoOperationMode {
        READ = 0 "read",
        WRITE = 1 "write",
        FLUSH = 2 "flush",
    }
}

open_enum! {
    /// Where the offset of a seek counts from.
    IoSeekOption {
        FROM_START = 0 "from start",
        FROM_CURRENT = 1 "from the current position",
        FROM_END = 2 "from end",
        DATA = 3 "next data",
        HOLE = 4 "next hole",
    }
}

open_enum! {
    /// How serious what a marker tells is.
    MarkerSeverity {
        NONE = 0 "none",
        LOW = 1 "low",
        MEDIUM = 2 "medium",
        HIGH = 3 "high",
    }
}

flags! {
    /// Properties of a region.
    RegionFlags {
        DYNAMIC = 1 "has another name at each entry",
        PHASE = 2 "encloses a phase of the program",
    }
}

flags! {
    /// Properties of a group.
    GroupFlags {
        GLOBAL_MEMBERS = 1 "ranks in events are those among all of the paradigm",
    }
}

flags! {
    /// Properties of a communicator.
    CommFlags {
        CREATE_DESTROY_EVENTS = 1 "events tell of its creation and end",
    }
}

flags! {
    /// Properties of a window.
    RmaWinFlags {
        CREATE_DESTROY_EVENTS = 1 "events tell of its creation and end",
    }
}

flags! {
    /// The parts of a program that a one-sided operation synchronises.
    RmaSyncLevel {
        PROCESS = 1 "the processes",
        MEMORY = 2 "the memory",
    }
}

flags! {
    /// How an operation on a file runs.
    IoOperationFlags {
        NON_BLOCKING = 1 "non blocking",
        COLLECTIVE = 2 "collective",
    }
}

flags! {
    /// The state of a file handle.
    IoStatusFlags {
        CLOSE_ON_EXEC = 1 "close on exec",
        APPEND = 2 "append",
        NON_BLOCKING = 4 "non blocking",
        ASYNC = 8 "asynchronous",
        SYNC = 16 "synchronous",
        DATA_SYNC = 32 "synchronous data",
        AVOID_CACHING = 64 "avoid caching",
        NO_ACCESS_TIME = 128 "no access time",
        DELETE_ON_CLOSE = 256 "delete on close",
    }
}

flags! {
    /// How a file handle is created.
    IoCreationFlags {
        CREATE = 1 "create",
        TRUNCATE = 2 "truncate",
        DIRECTORY = 4 "directory",
        EXCLUSIVE = 8 "exclusive",
        NO_CONTROLLING_TERMINAL = 16 "no controlling terminal",
        NO_FOLLOW = 32 "no follow",
        PATH = 64 "path",
        TEMPORARY_FILE = 128 "temporary file",
        LARGEFILE = 256 "large file",
        NO_SEEK = 512 "no seek",
        UNIQUE = 1024 "unique",
    }
}

/// Who the root of a collective operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CollectiveRoot {
    /// The operation has none.
    None,
    /// This rank of the communicator.
    Rank(u32),
    /// This process itself, in an inter-communicator.
    Itself,
    /// A process of this one's group of an inter-communicator.
    ThisGroup,
}

impl CollectiveRoot {
    /// The root that a number in a file stands for.
    #[inline]
    pub const fn from_code(code: u32) -> Self {
        match code {
            0xFFFF_FFFF => Self::None,
            0xFFFF_FFFE => Self::Itself,
            0xFFFF_FFFD => Self::ThisGroup,
            rank => Self::Rank(rank),
        }
    }

    /// The number that stands for it in a file.
    pub const fn code(self) -> u32 {
        match self {
            Self::None => 0xFFFF_FFFF,
            Self::Itself => 0xFFFF_FFFE,
            Self::ThisGroup => 0xFFFF_FFFD,
            Self::Rank(rank) => rank,
        }
    }
}
