//! Enumerations of the format that stay open.
//!
//! Later versions add members, so a number that has no name here is kept as
//! it is rather than refused.
//!
//! ```
//! use retime_otf2::{GroupKind, Paradigm};
//!
//! assert_eq!(GroupKind(5), GroupKind::COMM_GROUP);
//! assert_eq!(Paradigm::MPI.to_string(), "MPI");
//! assert_eq!(Paradigm(200).to_string(), "200");
//! ```

use std::fmt::{self, Display, Formatter};

macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $($member:ident = $code:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u8);

        #[allow(missing_docs)] // The names say it.
        impl $name {
            $(pub const $member: Self = Self($code);)*

            /// The name of the member, if it is known.
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

open_enum! {
    /// What the members of a group are.
    GroupKind {
        UNKNOWN = 0 "unknown",
        LOCATIONS = 1 "locations",
        REGIONS = 2 "regions",
        METRIC = 3 "metric",
        COMM_LOCATIONS = 4 "communication locations",
        COMM_GROUP = 5 "communication group",
        COMM_SELF = 6 "communication with oneself",
        COMM_LOCATION_GROUPS = 7 "communication location groups",
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
    /// What a location is.
    LocationKind {
        UNKNOWN = 0 "unknown",
        CPU_THREAD = 1 "CPU thread",
        ACCELERATOR_STREAM = 2 "accelerator stream",
        METRIC = 3 "metric",
    }
}

open_enum! {
    /// What a location group is.
    LocationGroupKind {
        UNKNOWN = 0 "unknown",
        PROCESS = 1 "process",
        ACCELERATOR = 2 "accelerator",
    }
}

open_enum! {
    /// What the locations below a node of the system tree share.
    Domain {
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
