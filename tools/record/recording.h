/* What the recorder writes and the converter reads: per rank one file `rank.R.rec`
 * with a header, the events, and the communicators whose first member the rank is. */
#ifndef RECORDING_H
#define RECORDING_H
#include <stdint.h>

#define RECORDING_MAGIC "RETIMEREC1"

enum kind {
    ENTER,
    LEAVE,
    SEND,
    RECV,
    ISEND,
    ISEND_COMPLETE,
    IRECV_REQUEST,
    IRECV,
    COLLECTIVE_BEGIN,
    COLLECTIVE_END,
    NONBLOCKING_REQUEST,
    NONBLOCKING_COMPLETE,
    COMM_CREATE,
};

/* One moment on two clocks. */
struct reading {
    int64_t monotonic; /* CLOCK_MONOTONIC of the process, ns */
    uint64_t tsc;      /* middle of the two readings of the counter around it */
    uint64_t gap;      /* counter ticks between those two */
};

struct event {
    struct reading at;
    uint8_t kind;      /* enum kind */
    uint8_t operation; /* OTF2_CollectiveOp */
    uint16_t region;   /* enum region */
    int32_t peer;      /* rank in the communicator; the root of a collective, -1 if none */
    uint32_t tag;
    uint32_t comm;
    uint64_t sent; /* bytes; of a message its length */
    uint64_t received;
    uint64_t request;
};

struct header {
    char magic[16];
    uint32_t rank;
    uint32_t size;
    uint64_t events;
    uint64_t comms;
    /* The best of many readings at the begin and at the end give the rate of the counter. */
    struct reading calibration[2];
};

/* Followed by the world ranks of the members, and those of the remote group, which only an
 * inter-communicator has. */
struct comm_header {
    uint32_t id;
    uint32_t size;
    uint32_t remote_size;
};

enum { COMM_WORLD_ID, COMM_SELF_ID, FIRST_FREE_COMM_ID };

#define REGIONS(X) \
    X(main) X(compute) X(MPI_Init) X(MPI_Finalize) \
    X(MPI_Send) X(MPI_Ssend) X(MPI_Recv) X(MPI_Sendrecv) X(MPI_Isend) X(MPI_Irecv) \
    X(MPI_Wait) X(MPI_Waitall) X(MPI_Waitany) X(MPI_Test) \
    X(MPI_Barrier) X(MPI_Bcast) X(MPI_Reduce) X(MPI_Allreduce) X(MPI_Gather) X(MPI_Scatter) \
    X(MPI_Allgather) X(MPI_Alltoall) \
    X(MPI_Ibarrier) X(MPI_Ibcast) X(MPI_Iallreduce) \
    X(MPI_Comm_split) X(MPI_Intercomm_create)

#define REGION_ID(name) R_##name,
enum region { REGIONS(REGION_ID) REGION_COUNT };
#undef REGION_ID

#endif
