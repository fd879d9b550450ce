/* From MPI_Init to MPI_Finalize: offsets at both ends and where asked for in between. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static struct {
    MPI_Comm comm; /* of its own, so that nothing comes between */
    int rank, size, *nodes, measures_on_the_way, times;
    bool is_on;
} process;

static uint64_t counter(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

static void send_words(int to, const int64_t words[4])
{
    PMPI_Send(words, 4, MPI_INT64_T, to, 0, process.comm);
}

static void receive_words(int from, int64_t words[4])
{
    PMPI_Recv(words, 4, MPI_INT64_T, from, 0, process.comm, MPI_STATUS_IGNORE);
}

/* Each process gets the rank of the first one on its node. */
static void find_nodes(void)
{
    MPI_Comm node;
    int first = process.rank;
    PMPI_Comm_split_type(process.comm, MPI_COMM_TYPE_SHARED, process.rank, MPI_INFO_NULL, &node);
    PMPI_Bcast(&first, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
    process.nodes = room(process.size * sizeof first);
    PMPI_Allgather(&first, 1, MPI_INT, process.nodes, 1, MPI_INT, process.comm);
}

static void measure(int64_t measured[RETIME_MEASURED])
{
    struct retime_shim shim = {send_words, receive_words, counter};
    int64_t *all = process.rank ? NULL : room(process.size * RETIME_MEASURED * sizeof *all);
    retime_session_measure(&shim, process.rank, process.size, process.nodes, measured);
    PMPI_Gather(measured, RETIME_MEASURED, MPI_INT64_T, all, RETIME_MEASURED, MPI_INT64_T, 0,
                process.comm);
    if (all)
        retime_session_add(all, process.size);
    free(all);
}

/* True of processes that others have spawned: their ranks are counted anew, and a file of offsets is
 * that of those which were there first. */
static bool has_parent(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

/* A program in Fortran may get here twice, where MPI's own Fortran calls its C. */
void begin(void)
{
    if (process.is_on || (!getenv("RETIME_CLOCK") && has_parent()))
        return;
    process.is_on = true;
    PMPI_Comm_dup(MPI_COMM_WORLD, &process.comm);
    PMPI_Comm_rank(process.comm, &process.rank);
    PMPI_Comm_size(process.comm, &process.size);
    int asked = retime_session_begin(process.rank, process.size, counter);
    if (asked == RETIME_FAILED)
        end_all();
    process.measures_on_the_way = asked & RETIME_MEASURES_ON_THE_WAY;
    find_nodes();
    int64_t measured[RETIME_MEASURED] = {0};
    measure(measured);
    if (retime_session_ride(measured) == RETIME_FAILED)
        end_all();
    riding = asked & RETIME_RIDES;
    if (riding) {
        begin_communicators();
        begin_joining();
    }
}

void end(void)
{
    if (!process.is_on)
        return;
    int64_t measured[RETIME_MEASURED] = {0};
    if (riding)
        look_after_adopted();
    riding = false;
    retime_session_finish();
    measure(measured);
    PMPI_Comm_free(&process.comm);
    free(process.nodes);
    process.is_on = false;
}

/* After a collective operation of all; the first process knows whether it is time. */
void measure_if_due(MPI_Comm comm)
{
    if (!process.measures_on_the_way || comm != MPI_COMM_WORLD || !process.is_on)
        return;
    int is_due = process.rank ? 0 : retime_session_is_due(process.times + 1);
    PMPI_Bcast(&is_due, 1, MPI_INT, 0, process.comm);
    if (!is_due)
        return;
    int64_t measured[RETIME_MEASURED] = {0};
    measure(measured);
    process.times++;
    while (process.rank == 0 && retime_session_is_due(process.times + 1))
        process.times++;
}

int MPI_Init(int *argc, char ***argv)
{
    int error = NEXT(Init)(argc, argv);
    if (!error)
        begin();
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int error = NEXT(Init_thread)(argc, argv, required, provided);
    if (!error)
        begin();
    return error;
}

int MPI_Finalize(void)
{
    end();
    return NEXT(Finalize)();
}
