/* Calls that complete requests. */
#include "shim.h"

/* What some requests stand for, taken out of the table, and a status for each. */
struct batch {
    int count;
    struct carried **taken;
    MPI_Request *handles;
    MPI_Status *statuses;
};

static struct batch take_all(int count, const MPI_Request *requests)
{
    struct batch all = {.count = count};
    all.statuses = room((count + 1) * (sizeof *all.statuses + sizeof *all.handles + sizeof *all.taken));
    all.taken = (struct carried **)(all.statuses + count + 1);
    all.handles = (MPI_Request *)(all.taken + count + 1);
    for (int i = 0; i < count; i++) {
        all.handles[i] = requests[i];
        all.taken[i] = take(requests[i]);
    }
    return all;
}

/* Puts back what has not completed. */
static void put_back(struct batch *all)
{
    for (int i = 0; i < all->count; i++)
        if (all->taken[i])
            keep(all->taken[i], all->handles[i]);
    free(all->statuses);
}

static void complete(struct carried *it, MPI_Status *status, bool is_well)
{
    int is_cancelled = false;
    if (!it->is_active)
        return;
    it->is_active = false;
    if (it->kind == JOINS)
        end_joining(it);
    else if (it->kind == RECEIVES && is_well) {
        PMPI_Test_cancelled(status, &is_cancelled);
        if (!is_cancelled)
            arrived(it, status);
    }
}

/* A request of the batch is complete. */
static void completed(struct batch *all, int at, MPI_Status *status, int error)
{
    struct carried *it = all->taken[at];
    if (!it)
        return;
    complete(it, status, !error);
    if (it->is_persistent)
        return;
    release(it);
    all->taken[at] = NULL;
}

/* Of several requests, each says for itself what went wrong. */
static int error_of(const MPI_Status *status, int error)
{
    return error == MPI_ERR_IN_STATUS ? status->MPI_ERROR : error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!riding)
        return NEXT(Wait)(request, status);
    struct batch one = take_all(1, request);
    if (status == MPI_STATUS_IGNORE)
        status = one.statuses;
    int error = NEXT(Wait)(request, status);
    completed(&one, 0, status, error);
    put_back(&one);
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!riding)
        return NEXT(Test)(request, flag, status);
    struct batch one = take_all(1, request);
    if (status == MPI_STATUS_IGNORE)
        status = one.statuses;
    int error = NEXT(Test)(request, flag, status);
    if (error || *flag)
        completed(&one, 0, status, error);
    put_back(&one);
    return error;
}

static void completed_all(struct batch *all, MPI_Status *statuses, int error)
{
    for (int i = 0; i < all->count; i++) {
        int own = error_of(&statuses[i], error);
        if (own != MPI_ERR_PENDING)
            completed(all, i, &statuses[i], own);
    }
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (!riding)
        return NEXT(Waitall)(count, requests, statuses);
    struct batch all = take_all(count, requests);
    if (statuses == MPI_STATUSES_IGNORE)
        statuses = all.statuses;
    int error = NEXT(Waitall)(count, requests, statuses);
    completed_all(&all, statuses, error);
    put_back(&all);
    return error;
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (!riding)
        return NEXT(Testall)(count, requests, flag, statuses);
    struct batch all = take_all(count, requests);
    if (statuses == MPI_STATUSES_IGNORE)
        statuses = all.statuses;
    int error = NEXT(Testall)(count, requests, flag, statuses);
    if (error || *flag)
        completed_all(&all, statuses, error);
    put_back(&all);
    return error;
}

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    if (!riding)
        return NEXT(Waitany)(count, requests, index, status);
    struct batch all = take_all(count, requests);
    if (status == MPI_STATUS_IGNORE)
        status = all.statuses;
    int error = NEXT(Waitany)(count, requests, index, status);
    if (*index != MPI_UNDEFINED)
        completed(&all, *index, status, error);
    put_back(&all);
    return error;
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    if (!riding)
        return NEXT(Testany)(count, requests, index, flag, status);
    struct batch all = take_all(count, requests);
    if (status == MPI_STATUS_IGNORE)
        status = all.statuses;
    int error = NEXT(Testany)(count, requests, index, flag, status);
    if (*flag && *index != MPI_UNDEFINED)
        completed(&all, *index, status, error);
    put_back(&all);
    return error;
}

static void completed_some(struct batch *all, int count, const int *indices, MPI_Status *statuses,
                           int error)
{
    for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
        completed(all, indices[i], &statuses[i], error_of(&statuses[i], error));
}

int MPI_Waitsome(int count, MPI_Request *requests, int *completed_count, int *indices,
                 MPI_Status *statuses)
{
    if (!riding)
        return NEXT(Waitsome)(count, requests, completed_count, indices, statuses);
    struct batch all = take_all(count, requests);
    if (statuses == MPI_STATUSES_IGNORE)
        statuses = all.statuses;
    int error = NEXT(Waitsome)(count, requests, completed_count, indices, statuses);
    completed_some(&all, *completed_count, indices, statuses, error);
    put_back(&all);
    return error;
}

int MPI_Testsome(int count, MPI_Request *requests, int *completed_count, int *indices,
                 MPI_Status *statuses)
{
    if (!riding)
        return NEXT(Testsome)(count, requests, completed_count, indices, statuses);
    struct batch all = take_all(count, requests);
    if (statuses == MPI_STATUSES_IGNORE)
        statuses = all.statuses;
    int error = NEXT(Testsome)(count, requests, completed_count, indices, statuses);
    completed_some(&all, *completed_count, indices, statuses, error);
    put_back(&all);
    return error;
}

/* A message that is there may be looked at, though its request lives on. */
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    if (!riding)
        return NEXT(Request_get_status)(request, flag, status);
    struct batch one = take_all(1, &request);
    if (status == MPI_STATUS_IGNORE)
        status = one.statuses;
    int error = NEXT(Request_get_status)(request, flag, status);
    struct carried *it = one.taken[0];
    int is_cancelled = false;
    if (!error && *flag && it && it->kind == RECEIVES && it->is_active) {
        PMPI_Test_cancelled(status, &is_cancelled);
        if (!is_cancelled)
            arrived(it, status);
    }
    put_back(&one);
    return error;
}

int MPI_Request_free(MPI_Request *request)
{
    struct carried *it = riding ? take(*request) : NULL;
    if (!it)
        return NEXT(Request_free)(request);
    if (!it->is_active) {
        release(it);
        return NEXT(Request_free)(request);
    }
    if (it->is_persistent)
        refuse("MPI_Request_free", "of a persistent request under way");
    adopt(it);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
