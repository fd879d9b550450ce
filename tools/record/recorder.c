/* Records the MPI calls of a program it is linked into (the profiling interface of MPI),
 * each event at one moment on two clocks: CLOCK_MONOTONIC, which a time namespace can
 * shift per process, and the time stamp counter, which all cores share.
 *
 * Environment: RECORD_TO names the directory to write to; RECORD_INIT=0 leaves out what
 * lies before the end of MPI_Init. Single-threaded programs only. */
#define _GNU_SOURCE
#include <mpi.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "recording.h"

/* An interrupt between the readings of the two clocks would make the truth false for this
 * event. Undisturbed they are some 50 ns apart; they are repeated beyond 0.5 us or so. */
enum { LONGEST_GAP = 1500, ATTEMPTS = 100, CALIBRATIONS = 1000 };

static struct {
    struct event *events;
    size_t count, capacity;
    char *comms;
    size_t comms_length;
    struct header header;
    int comm_key;
    uint32_t created;
    uint64_t requests;
} recording;

static void fail(const char *what)
{
    perror(what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- clocks ---- */

static struct reading read_once(void)
{
    struct timespec now;
    uint64_t before = __rdtsc();
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t after = __rdtsc();
    return (struct reading){now.tv_sec * 1000000000LL + now.tv_nsec, before + (after - before) / 2,
                            after - before};
}

static struct reading read_clocks(void)
{
    struct reading now = read_once();
    for (int attempt = 1; now.gap > LONGEST_GAP && attempt < ATTEMPTS; attempt++)
        now = read_once();
    return now;
}

static struct reading calibrate(void)
{
    struct reading best = read_once();
    for (int i = 0; i < CALIBRATIONS; i++) {
        struct reading now = read_once();
        if (now.gap < best.gap)
            best = now;
    }
    return best;
}

/* ---- events ---- */

static struct event *append(enum kind kind, struct reading at)
{
    if (recording.count == recording.capacity) {
        recording.capacity = recording.capacity ? 2 * recording.capacity : 1 << 16;
        recording.events = realloc(recording.events, recording.capacity * sizeof *recording.events);
        if (!recording.events)
            fail("no memory for events");
    }
    struct event *event = &recording.events[recording.count++];
    *event = (struct event){.at = at, .kind = kind, .peer = -1};
    return event;
}

static struct event *record(enum kind kind) { return append(kind, read_clocks()); }

static void enter(enum region region) { record(ENTER)->region = region; }

static void leave(enum region region) { record(LEAVE)->region = region; }

static uint64_t bytes(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (uint64_t)count * size;
}

static uint32_t comm_id(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return COMM_WORLD_ID;
    if (comm == MPI_COMM_SELF)
        return COMM_SELF_ID;
    void *id;
    int found;
    PMPI_Comm_get_attr(comm, recording.comm_key, &id, &found);
    if (!found) {
        fprintf(stderr, "a communicator from a call that is not recorded\n");
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return (uint32_t)(uintptr_t)id;
}

static void message(struct event *event, int peer, int tag, MPI_Comm comm, uint64_t length)
{
    event->peer = peer;
    event->tag = tag;
    event->comm = comm_id(comm);
    event->sent = length;
}

static void received(struct event *event, const MPI_Status *status, MPI_Comm comm)
{
    int length;
    PMPI_Get_count(status, MPI_BYTE, &length);
    message(event, status->MPI_SOURCE, status->MPI_TAG, comm, length);
}

/* ---- communicators ---- */

static int group_size(MPI_Group group)
{
    int size;
    PMPI_Group_size(group, &size);
    return size;
}

static void world_ranks(MPI_Group group, int *ranks)
{
    MPI_Group world;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0, size = group_size(group); i < size; i++)
        PMPI_Group_translate_ranks(group, 1, &i, world, &ranks[i]);
    PMPI_Group_free(&world);
}

static void remember_comm(uint32_t id, MPI_Group own, MPI_Group remote)
{
    struct comm_header header = {id, group_size(own), group_size(remote)};
    size_t members = (size_t)header.size + header.remote_size;
    size_t length = recording.comms_length + sizeof header + members * sizeof(int);
    recording.comms = realloc(recording.comms, length);
    if (!recording.comms)
        fail("no memory for communicators");
    char *here = recording.comms + recording.comms_length;
    memcpy(here, &header, sizeof header);
    int *ranks = (int *)(here + sizeof header);
    world_ranks(own, ranks);
    world_ranks(remote, ranks + header.size);
    recording.comms_length = length;
    recording.header.comms++;
}

/* A number that no other rank can choose. */
static uint32_t new_id(void)
{
    return FIRST_FREE_COMM_ID + recording.created++ * recording.header.size + recording.header.rank;
}

/* The first member chooses. */
static uint32_t agree_within(MPI_Comm comm, int rank, MPI_Group own)
{
    uint32_t id = 0;
    if (rank == 0) {
        id = new_id();
        remember_comm(id, own, MPI_GROUP_EMPTY);
    }
    PMPI_Bcast(&id, 1, MPI_UINT32_T, 0, comm);
    return id;
}

/* The first member of the group with the lower first rank chooses. A reduction gives each
 * group what the other one holds: the first tells the other group, the second the own. */
static uint32_t agree_between(MPI_Comm comm, int rank, MPI_Group own)
{
    MPI_Group remote;
    PMPI_Comm_remote_group(comm, &remote);
    int here[group_size(own)], there[group_size(remote)];
    world_ranks(own, here);
    world_ranks(remote, there);
    uint32_t id = 0, told;
    if (rank == 0 && here[0] < there[0]) {
        id = new_id();
        remember_comm(id, own, remote);
    }
    PMPI_Allreduce(&id, &told, 1, MPI_UINT32_T, MPI_MAX, comm);
    id = told > id ? told : id;
    PMPI_Allreduce(&id, &told, 1, MPI_UINT32_T, MPI_MAX, comm);
    PMPI_Group_free(&remote);
    return told;
}

static void name_comm(MPI_Comm comm)
{
    int rank, between;
    MPI_Group own;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_group(comm, &own);
    PMPI_Comm_test_inter(comm, &between);
    uint32_t id = between ? agree_between(comm, rank, own) : agree_within(comm, rank, own);
    PMPI_Comm_set_attr(comm, recording.comm_key, (void *)(uintptr_t)id);
    PMPI_Group_free(&own);
}

/* The number is agreed on after the call; what that takes must not show in the trace. */
static void created(MPI_Comm parent, MPI_Comm comm, struct reading end)
{
    if (comm != MPI_COMM_NULL) {
        name_comm(comm);
        append(COMM_CREATE, end)->comm = comm_id(comm);
    }
    struct event *event = append(COLLECTIVE_END, end);
    event->operation = OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    event->comm = comm_id(parent);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *new)
{
    enter(R_MPI_Comm_split);
    record(COLLECTIVE_BEGIN);
    int error = PMPI_Comm_split(comm, colour, key, new);
    created(comm, *new, read_clocks());
    leave(R_MPI_Comm_split);
    return error;
}

/* All members of both groups take part: it is a collective of what it makes. */
int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peer, int remote_leader, int tag,
                         MPI_Comm *new)
{
    enter(R_MPI_Intercomm_create);
    record(COLLECTIVE_BEGIN);
    int error = PMPI_Intercomm_create(local, leader, peer, remote_leader, tag, new);
    struct reading end = read_clocks();
    created(*new, *new, end);
    leave(R_MPI_Intercomm_create);
    return error;
}

/* ---- begin and end ---- */

static void begin(void)
{
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    recording.header.rank = rank;
    recording.header.size = size;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &recording.comm_key, 0);
    recording.header.calibration[0] = calibrate();
    const char *init = getenv("RECORD_INIT");
    if (init && !strcmp(init, "0"))
        recording.count = 0;
}

int MPI_Init(int *argc, char ***argv)
{
    enter(R_main);
    enter(R_MPI_Init);
    int error = PMPI_Init(argc, argv);
    begin();
    if (recording.count)
        leave(R_MPI_Init);
    else
        enter(R_main);
    return error;
}

static void write_recording(void)
{
    const char *directory = getenv("RECORD_TO");
    char path[4096];
    snprintf(path, sizeof path, "%s/rank.%u.rec", directory ? directory : ".",
             recording.header.rank);
    FILE *file = fopen(path, "wb");
    if (!file)
        fail(path);
    memcpy(recording.header.magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC);
    recording.header.events = recording.count;
    fwrite(&recording.header, sizeof recording.header, 1, file);
    fwrite(recording.events, sizeof *recording.events, recording.count, file);
    fwrite(recording.comms, 1, recording.comms_length, file);
    if (ferror(file) || fclose(file))
        fail(path);
}

int MPI_Finalize(void)
{
    enter(R_MPI_Finalize);
    PMPI_Barrier(MPI_COMM_WORLD);
    leave(R_MPI_Finalize);
    leave(R_main);
    recording.header.calibration[1] = calibrate();
    write_recording();
    return PMPI_Finalize();
}

/* The standard's hook for profilers: programs mark what they compute by it. */
int MPI_Pcontrol(const int level, ...)
{
    if (level)
        enter(R_compute);
    else
        leave(R_compute);
    return MPI_SUCCESS;
}

/* ---- blocking messages ---- */

#define SEND_CALL(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
    { \
        enter(R_MPI_##call); \
        if (to != MPI_PROC_NULL) \
            message(record(SEND), to, tag, comm, bytes(count, type)); \
        int error = PMPI_##call(data, count, type, to, tag, comm); \
        leave(R_MPI_##call); \
        return error; \
    }
SEND_CALL(Send)
SEND_CALL(Ssend)

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    enter(R_MPI_Recv);
    int error = PMPI_Recv(data, count, type, from, tag, comm, status);
    if (from != MPI_PROC_NULL)
        received(record(RECV), status, comm);
    leave(R_MPI_Recv);
    return error;
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    enter(R_MPI_Sendrecv);
    if (to != MPI_PROC_NULL)
        message(record(SEND), to, out_tag, comm, bytes(out_count, out_type));
    int error = PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                              in_tag, comm, status);
    if (from != MPI_PROC_NULL)
        received(record(RECV), status, comm);
    leave(R_MPI_Sendrecv);
    return error;
}

/* ---- requests ---- */

/* What a request stands for until it completes. Programs have few at a time, so that a
 * list does. */
struct pending {
    struct pending *next;
    MPI_Request handle;
    struct event completion; /* without its time */
};

static struct pending *pending;

static struct event *expect(MPI_Request handle, enum kind kind, uint64_t request, uint32_t comm)
{
    struct pending *new = calloc(1, sizeof *new);
    if (!new)
        fail("no memory for requests");
    new->next = pending;
    new->handle = handle;
    new->completion = (struct event){.kind = kind, .peer = -1, .comm = comm, .request = request};
    pending = new;
    return &new->completion;
}

static void completed(MPI_Request handle, const MPI_Status *status)
{
    struct pending **at = &pending;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    if (!*at)
        return; /* a null request, or one with MPI_PROC_NULL */
    struct pending *found = *at;
    *at = found->next;
    struct event *event = record(found->completion.kind);
    struct reading now = event->at;
    *event = found->completion;
    event->at = now;
    if (event->kind == IRECV) {
        int length;
        PMPI_Get_count(status, MPI_BYTE, &length);
        event->peer = status->MPI_SOURCE;
        event->tag = status->MPI_TAG;
        event->sent = length;
    }
    free(found);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    enter(R_MPI_Isend);
    uint64_t id = ++recording.requests;
    if (to != MPI_PROC_NULL) {
        struct event *event = record(ISEND);
        message(event, to, tag, comm, bytes(count, type));
        event->request = id;
    }
    int error = PMPI_Isend(data, count, type, to, tag, comm, request);
    if (to != MPI_PROC_NULL)
        expect(*request, ISEND_COMPLETE, id, comm_id(comm));
    leave(R_MPI_Isend);
    return error;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    enter(R_MPI_Irecv);
    int error = PMPI_Irecv(data, count, type, from, tag, comm, request);
    if (from != MPI_PROC_NULL) {
        uint64_t id = ++recording.requests;
        record(IRECV_REQUEST)->request = id;
        expect(*request, IRECV, id, comm_id(comm));
    }
    leave(R_MPI_Irecv);
    return error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    MPI_Request handle = *request;
    enter(R_MPI_Wait);
    int error = PMPI_Wait(request, status);
    completed(handle, status);
    leave(R_MPI_Wait);
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    MPI_Request handle = *request;
    enter(R_MPI_Test);
    int error = PMPI_Test(request, flag, status);
    if (*flag)
        completed(handle, status);
    leave(R_MPI_Test);
    return error;
}

/* The calls overwrite the handles of what completes. An array is never empty in C. */
int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    MPI_Status own;
    MPI_Request handles[count + 1];
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    memcpy(handles, requests, count * sizeof *handles);
    enter(R_MPI_Waitany);
    int error = PMPI_Waitany(count, requests, index, status);
    if (*index != MPI_UNDEFINED)
        completed(handles[*index], status);
    leave(R_MPI_Waitany);
    return error;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    MPI_Status own[count + 1];
    MPI_Request handles[count + 1];
    if (statuses == MPI_STATUSES_IGNORE)
        statuses = own;
    memcpy(handles, requests, count * sizeof *handles);
    enter(R_MPI_Waitall);
    int error = PMPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++)
        completed(handles[i], &statuses[i]);
    leave(R_MPI_Waitall);
    return error;
}

/* ---- collectives ---- */

static void collective(struct event *event, OTF2_CollectiveOp operation, int root,
                       MPI_Comm comm, uint64_t sent, uint64_t received)
{
    event->operation = operation;
    event->peer = root;
    event->comm = comm_id(comm);
    event->sent = sent;
    event->received = received;
}

/* Bytes as OTF2 counts them: those that a rank passes to, and gets from, all members. */
static uint64_t at_root(int root, MPI_Comm comm, uint64_t each)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    return rank == root ? each * size : 0;
}

static uint64_t at_all(MPI_Comm comm, uint64_t each)
{
    int size, between;
    PMPI_Comm_test_inter(comm, &between);
    if (between)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return each * size;
}

#define BLOCKING(call, operation, parameters, arguments, root, sent, received) \
    int MPI_##call parameters \
    { \
        enter(R_MPI_##call); \
        record(COLLECTIVE_BEGIN); \
        int error = PMPI_##call arguments; \
        struct event *event = record(COLLECTIVE_END); \
        collective(event, OTF2_COLLECTIVE_OP_##operation, root, comm, sent, received); \
        leave(R_MPI_##call); \
        return error; \
    }

#define NONBLOCKING(call, operation, parameters, arguments, root, sent, received) \
    int MPI_##call parameters \
    { \
        enter(R_MPI_##call); \
        uint64_t id = ++recording.requests; \
        record(NONBLOCKING_REQUEST)->request = id; \
        int error = PMPI_##call arguments; \
        struct event *event = expect(*request, NONBLOCKING_COMPLETE, id, comm_id(comm)); \
        collective(event, OTF2_COLLECTIVE_OP_##operation, root, comm, sent, received); \
        leave(R_MPI_##call); \
        return error; \
    }

BLOCKING(Barrier, BARRIER, (MPI_Comm comm), (comm), -1, 0, 0)
BLOCKING(Bcast, BCAST, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
         (data, n, type, root, comm), root, at_root(root, comm, bytes(n, type)), bytes(n, type))
BLOCKING(Reduce, REDUCE,
         (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
         (out, in, n, type, op, root, comm), root, bytes(n, type),
         at_root(root, comm, bytes(n, type)))
BLOCKING(Allreduce, ALLREDUCE,
         (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
         (out, in, n, type, op, comm), -1, at_all(comm, bytes(n, type)),
         at_all(comm, bytes(n, type)))
BLOCKING(Gather, GATHER,
         (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
          int root, MPI_Comm comm),
         (out, n, type, in, m, in_type, root, comm), root, bytes(n, type),
         at_root(root, comm, bytes(m, in_type)))
BLOCKING(Scatter, SCATTER,
         (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
          int root, MPI_Comm comm),
         (out, n, type, in, m, in_type, root, comm), root, at_root(root, comm, bytes(n, type)),
         bytes(m, in_type))
BLOCKING(Allgather, ALLGATHER,
         (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
          MPI_Comm comm),
         (out, n, type, in, m, in_type, comm), -1, at_all(comm, bytes(n, type)),
         at_all(comm, bytes(m, in_type)))
BLOCKING(Alltoall, ALLTOALL,
         (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
          MPI_Comm comm),
         (out, n, type, in, m, in_type, comm), -1, at_all(comm, bytes(n, type)),
         at_all(comm, bytes(m, in_type)))

NONBLOCKING(Ibarrier, BARRIER, (MPI_Comm comm, MPI_Request *request), (comm, request), -1, 0, 0)
NONBLOCKING(Ibcast, BCAST,
            (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
            (data, n, type, root, comm, request), root, at_root(root, comm, bytes(n, type)),
            bytes(n, type))
NONBLOCKING(Iallreduce, ALLREDUCE,
            (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
             MPI_Request *request),
            (out, in, n, type, op, comm, request), -1, at_all(comm, bytes(n, type)),
            at_all(comm, bytes(n, type)))
