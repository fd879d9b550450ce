//! The enumerations of OTF2, with the numbers stored in the file.

/// The programming model a definition or event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Paradigm {
    /// Not known.
    Unknown = 0,
    /// User code.
    User = 1,
    /// Compiler instrumentation.
    Compiler = 2,
    /// OpenMP.
    OpenMp = 3,
    /// MPI.
    Mpi = 4,
    /// CUDA.
    Cuda = 5,
    /// The recording tool itself.
    MeasurementSystem = 6,
    /// POSIX threads.
    Pthread = 7,
    /// HMPP.
    Hmpp = 8,
    /// `OmpSs`.
    OmpSs = 9,
    /// Hardware.
    Hardware = 10,
    /// GASPI.
    Gaspi = 11,
    /// Unified Parallel C.
    Upc = 12,
    /// SHMEM.
    Shmem = 13,
    /// Windows threads.
    WinThread = 14,
    /// Qt threads.
    QtThread = 15,
    /// ACE threads.
    AceThread = 16,
    /// Threading building blocks.
    Tbb = 17,
    /// `OpenACC`.
    OpenAcc = 18,
    /// `OpenCL`.
    OpenCl = 19,
    /// Multicore task API.
    Mtapi = 20,
    /// Sampling.
    Sampling = 21,
    /// No paradigm.
    None = 22,
    /// HIP.
    Hip = 23,
    /// Kokkos.
    Kokkos = 24,
    /// OpenMP target offloading.
    OpenMpTarget = 25,
}

/// How a paradigm creates its threads of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ParadigmClass {
    /// Processes.
    Process = 0,
    /// Threads by fork and join.
    ThreadForkJoin = 1,
    /// Threads by create and wait.
    ThreadCreateWait = 2,
    /// Accelerator devices.
    Accelerator = 3,
}

/// What a node of the system tree stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SystemTreeDomain {
    /// A whole machine, for example a cluster.
    Machine = 0,
    /// Processors that share memory: what is usually called a node.
    SharedMemory = 1,
    /// A NUMA domain.
    Numa = 2,
    /// A socket.
    Socket = 3,
    /// Processors behind one cache.
    Cache = 4,
    /// A core.
    Core = 5,
    /// A hardware thread.
    ProcessingUnit = 6,
    /// An accelerator.
    AcceleratorDevice = 7,
    /// A network device.
    NetworkingDevice = 8,
}

/// What a group of locations stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LocationGroupType {
    /// Not known.
    Unknown = 0,
    /// A process.
    Process = 1,
    /// An accelerator.
    Accelerator = 2,
}

/// What a location stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LocationType {
    /// Not known.
    Unknown = 0,
    /// A thread.
    CpuThread = 1,
    /// A stream of an accelerator.
    AcceleratorStream = 2,
    /// A source of metric values.
    Metric = 3,
}

/// What the members of a group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum GroupType {
    /// Not known.
    Unknown = 0,
    /// Locations, by id.
    Locations = 1,
    /// Regions.
    Regions = 2,
    /// Metrics.
    Metric = 3,
    /// Locations that take part in communication, by id.
    CommLocations = 4,
    /// Positions in the group of type `CommLocations`.
    CommGroup = 5,
    /// No members: each location alone.
    CommSelf = 6,
    /// Location groups that take part in communication.
    CommLocationGroups = 7,
}

/// What a region of code does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RegionRole {
    /// Not known.
    Unknown = 0,
    /// A function.
    Function = 1,
    /// An API wrapper.
    Wrapper = 2,
    /// A loop.
    Loop = 3,
    /// A piece of code.
    Code = 4,
    /// A parallel region.
    Parallel = 5,
    /// A sections construct.
    Sections = 6,
    /// One section.
    Section = 7,
    /// A workshare construct.
    Workshare = 8,
    /// A single construct.
    Single = 9,
    /// The block inside a single construct.
    SingleSblock = 10,
    /// A master block.
    Master = 11,
    /// A critical construct.
    Critical = 12,
    /// The block inside a critical construct.
    CriticalSblock = 13,
    /// An atomic operation.
    Atomic = 14,
    /// A barrier.
    Barrier = 15,
    /// An implicit barrier.
    ImplicitBarrier = 16,
    /// A flush.
    Flush = 17,
    /// An ordered construct.
    Ordered = 18,
    /// The block inside an ordered construct.
    OrderedSblock = 19,
    /// A task.
    Task = 20,
    /// Creation of a task.
    TaskCreate = 21,
    /// Waiting for tasks.
    TaskWait = 22,
    /// A collective from one to all.
    CollOneToAll = 23,
    /// A collective from all to one.
    CollAllToOne = 24,
    /// A collective from all to all.
    CollAllToAll = 25,
    /// Another collective.
    CollOther = 26,
    /// Input or output.
    FileIo = 27,
    /// Point-to-point communication.
    PointToPoint = 28,
    /// One-sided communication.
    Rma = 29,
    /// A data transfer.
    DataTransfer = 30,
    /// A region made up by the recording tool.
    Artificial = 31,
    /// Creation of a thread.
    ThreadCreate = 32,
    /// Waiting for a thread.
    ThreadWait = 33,
    /// An untied task.
    TaskUntied = 34,
    /// Allocation of memory.
    Allocate = 35,
    /// Release of memory.
    Deallocate = 36,
    /// Change of an allocation.
    Reallocate = 37,
    /// Operation on file metadata.
    FileIoMetadata = 38,
    /// A cancellation.
    Cancel = 39,
    /// A kernel on an accelerator.
    Kernel = 40,
}

/// The operation of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CollectiveOp {
    /// Barrier.
    Barrier = 0,
    /// Broadcast.
    Bcast = 1,
    /// Gather.
    Gather = 2,
    /// Gather of different sizes.
    Gatherv = 3,
    /// Scatter.
    Scatter = 4,
    /// Scatter of different sizes.
    Scatterv = 5,
    /// Gather to all.
    Allgather = 6,
    /// Gather to all of different sizes.
    Allgatherv = 7,
    /// All to all.
    Alltoall = 8,
    /// All to all of different sizes.
    Alltoallv = 9,
    /// All to all of different sizes and types.
    Alltoallw = 10,
    /// Reduction to all.
    Allreduce = 11,
    /// Reduction.
    Reduce = 12,
    /// Reduction, then scatter.
    ReduceScatter = 13,
    /// Prefix reduction.
    Scan = 14,
    /// Exclusive prefix reduction.
    Exscan = 15,
    /// Reduction, then scatter of equal blocks.
    ReduceScatterBlock = 16,
    /// Creation of a handle.
    CreateHandle = 17,
    /// Destruction of a handle.
    DestroyHandle = 18,
    /// Allocation.
    Allocate = 19,
    /// Release.
    Deallocate = 20,
    /// Creation of a handle with allocation.
    CreateHandleAndAllocate = 21,
    /// Destruction of a handle with release.
    DestroyHandleAndDeallocate = 22,
}

/// The kind of ids a mapping table translates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MappingType {
    /// Ids of strings.
    String = 0,
    /// Ids of attributes.
    Attribute = 1,
    /// Ids of locations.
    Location = 2,
    /// Ids of regions.
    Region = 3,
    /// Ids of groups.
    Group = 4,
    /// Ids of metrics.
    Metric = 5,
    /// Ids of communicators.
    Comm = 6,
    /// Ids of parameters.
    Parameter = 7,
    /// Ids of windows.
    RmaWin = 8,
    /// Ids of source code locations.
    SourceCodeLocation = 9,
    /// Ids of calling contexts.
    CallingContext = 10,
    /// Ids of interrupt generators.
    InterruptGenerator = 11,
    /// Ids of files.
    IoFile = 12,
    /// Ids of file handles.
    IoHandle = 13,
    /// Ids of location groups.
    LocationGroup = 14,
}
