/* Stamps of collective operations: ahead of each goes one of the same class and root, on the
 * same communicator, that carries stamps. It makes nobody wait who need not wait anyway, and all
 * members call both in the same order.
 *
 * Where all wait for all, two values of each clock are merged, so that each hears the latest of
 * the others without its own (PiggybackStamps); else the latest is enough. */
#include "shim.h"

static MPI_Datatype two_stamps;
static MPI_Op merging;

static void merge(void *from, void *into, int *count, MPI_Datatype *type)
{
    (void)type;
    retime_session_merge(from, into, *count);
}

void begin_joining(void)
{
    PMPI_Type_contiguous(4, MPI_INT64_T, &two_stamps);
    PMPI_Type_commit(&two_stamps);
    PMPI_Op_create(merge, true, &merging);
}

/* What goes and comes before any other has spoken. */
static void prepare(struct joining *it, const char *call, MPI_Comm comm, enum class class, int root)
{
    if (!riding)
        return;
    struct communicator *known = communicator(comm, call);
    if (known->is_inter)
        refuse(call, "on an inter-communicator");
    if (known->size == 1)
        return;
    it->is_on = true;
    bool has_root = class == FROM_ROOT || class == TO_ROOT;
    it->joined = (struct joined){known->id, known->operations++, class,
                                 has_root && known->rank == root, known->rank, known->size};
    retime_session_enter(&it->joined, it->own);
    for (int i = 0; i < 4; i++)
        it->heard[i] = INT64_MIN;
    for (int i = 0; i < 4; i++)
        it->given[i] = i < 2 ? it->own[i] : INT64_MIN;
    if (class == FROM_ROOT)
        memcpy(it->heard, it->own, sizeof it->own);
}

void enter(struct joining *it, const char *call, MPI_Comm comm, enum class class, int root)
{
    memset(it, 0, sizeof *it);
    prepare(it, call, comm, class, root);
    if (!it->is_on)
        return;
    switch (class) {
    case ALL_TO_ALL:
        PMPI_Allreduce(it->given, it->heard, 1, two_stamps, merging, comm);
        break;
    case FROM_ROOT:
        PMPI_Bcast(it->heard, 2, MPI_INT64_T, root, comm);
        break;
    case TO_ROOT:
        PMPI_Reduce(it->given, it->heard, 2, MPI_INT64_T, MPI_MAX, root, comm);
        break;
    case PREFIX:
        PMPI_Exscan(it->given, it->heard, 2, MPI_INT64_T, MPI_MAX, comm);
    }
}

/* What MPI leaves open: there is nobody before the first. */
static void settle(struct joining *it)
{
    if (it->joined.class == PREFIX && it->joined.rank == 0)
        it->heard[0] = it->heard[1] = INT64_MIN;
    retime_session_leave(&it->joined, it->own, it->heard);
    look_after_adopted();
}

void leave(struct joining *it, MPI_Comm comm)
{
    if (it->is_on)
        settle(it);
    measure_if_due(comm);
}

struct carried *start_joining(const char *call, MPI_Comm comm, enum class class, int root)
{
    struct carried *it = room(sizeof *it);
    struct joining *to = &it->joining;
    it->kind = JOINS;
    it->is_active = true;
    it->type = MPI_DATATYPE_NULL;
    it->stamps = MPI_REQUEST_NULL;
    prepare(to, call, comm, class, root);
    if (!to->is_on)
        return it;
    switch (class) {
    case ALL_TO_ALL:
        PMPI_Iallreduce(to->given, to->heard, 1, two_stamps, merging, comm, &it->stamps);
        break;
    case FROM_ROOT:
        PMPI_Ibcast(to->heard, 2, MPI_INT64_T, root, comm, &it->stamps);
        break;
    case TO_ROOT:
        PMPI_Ireduce(to->given, to->heard, 2, MPI_INT64_T, MPI_MAX, root, comm, &it->stamps);
        break;
    case PREFIX:
        PMPI_Iexscan(to->given, to->heard, 2, MPI_INT64_T, MPI_MAX, comm, &it->stamps);
    }
    return it;
}

void end_joining(struct carried *it)
{
    if (!it->joining.is_on)
        return;
    PMPI_Wait(&it->stamps, MPI_STATUS_IGNORE);
    settle(&it->joining);
}
