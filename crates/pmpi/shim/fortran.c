/* The calls of Fortran programs (mpif.h, use mpi, use mpi_f08). Messages go through the calls of
 * C; of all else the original follows, as only it knows what Fortran's constants are. */
#include "fortran.h"
#include "shim.h"

typedef MPI_Fint fint;

static fint number(const void *at) { return *(const fint *)at; }
static MPI_Comm comm_of(const void *at) { return PMPI_Comm_f2c(number(at)); }
static MPI_Datatype type_of(const void *at) { return PMPI_Type_f2c(number(at)); }

extern int mpi_fortran_bottom_ __attribute__((weak));

static void *data_of(void *at) { return at == (void *)&mpi_fortran_bottom_ ? MPI_BOTTOM : at; }

/* In the module of 2008 the error may be left out. */
static void tell(void *error, int value)
{
    if (error)
        *(fint *)error = value;
}

static bool wants(const void *status)
{
#ifndef OPEN_MPI
    if (status == (void *)MPI_F08_STATUS_IGNORE || status == (void *)MPI_F08_STATUSES_IGNORE)
        return false;
#endif
    return status != MPI_F_STATUS_IGNORE && status != MPI_F_STATUSES_IGNORE;
}

static void tell_status(void *status, const MPI_Status *value)
{
    if (wants(status))
        PMPI_Status_c2f(value, status);
}

static void tell_request(void *request, MPI_Request value)
{
    *(fint *)request = PMPI_Request_c2f(value);
}

/* ---- begin and end ---- */

CALL(init, 2)
{
    (void)b;
    int error = MPI_Init(NULL, NULL);
    tell(a, error);
}

CALL(init_thread, 3)
{
    int provided = MPI_THREAD_SINGLE;
    int error = MPI_Init_thread(NULL, NULL, number(a), &provided);
    *(fint *)b = provided;
    tell(c, error);
}

CALL(finalize, 2)
{
    (void)b;
    tell(a, MPI_Finalize());
}

/* ---- messages ---- */

#define SENDS_NOW(name, call) \
    CALL(name, 7) \
    { \
        if (!riding) \
            return ORIGINAL(name, 7)(A7); \
        tell(g, MPI_##call(data_of(a), number(b), type_of(c), number(d), number(e), comm_of(f))); \
    }
SENDS_NOW(send, Send)
SENDS_NOW(ssend, Ssend)
SENDS_NOW(rsend, Rsend)

#define SENDS_LATER(name, call) \
    CALL(name, 8) \
    { \
        if (!riding) \
            return ORIGINAL(name, 8)(A8); \
        MPI_Request request = MPI_REQUEST_NULL; \
        int error = MPI_##call(data_of(a), number(b), type_of(c), number(d), number(e), \
                               comm_of(f), &request); \
        tell_request(g, request); \
        tell(h, error); \
    }
SENDS_LATER(isend, Isend)
SENDS_LATER(issend, Issend)
SENDS_LATER(irsend, Irsend)
SENDS_LATER(send_init, Send_init)
SENDS_LATER(ssend_init, Ssend_init)
SENDS_LATER(rsend_init, Rsend_init)
SENDS_LATER(irecv, Irecv)
SENDS_LATER(recv_init, Recv_init)

CALL(recv, 8)
{
    if (!riding)
        return ORIGINAL(recv, 8)(A8);
    MPI_Status status;
    int error = MPI_Recv(data_of(a), number(b), type_of(c), number(d), number(e), comm_of(f),
                         &status);
    tell_status(g, &status);
    tell(h, error);
}

CALL(sendrecv, 13)
{
    if (!riding)
        return ORIGINAL(sendrecv, 13)(A13);
    MPI_Status status;
    int error = MPI_Sendrecv(data_of(a), number(b), type_of(c), number(d), number(e), data_of(f),
                             number(g), type_of(h), number(i), number(j), comm_of(k), &status);
    tell_status(l, &status);
    tell(m, error);
}

CALL(sendrecv_replace, 10)
{
    if (!riding)
        return ORIGINAL(sendrecv_replace, 10)(A10);
    MPI_Status status;
    int error = MPI_Sendrecv_replace(data_of(a), number(b), type_of(c), number(d), number(e),
                                     number(f), number(g), comm_of(h), &status);
    tell_status(i, &status);
    tell(j, error);
}

CALL(probe, 5)
{
    MPI_Status status;
    int error = MPI_Probe(number(a), number(b), comm_of(c), &status);
    tell_status(d, &status);
    tell(e, error);
}

CALL(iprobe, 6)
{
    MPI_Status status;
    int flag = false, error = MPI_Iprobe(number(a), number(b), comm_of(c), &flag, &status);
    *(fint *)d = flag;
    if (flag)
        tell_status(e, &status);
    tell(f, error);
}

CALL(mprobe, 6)
{
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int error = MPI_Mprobe(number(a), number(b), comm_of(c), &message, &status);
    *(fint *)d = PMPI_Message_c2f(message);
    tell_status(e, &status);
    tell(f, error);
}

CALL(improbe, 7)
{
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = false, error = MPI_Improbe(number(a), number(b), comm_of(c), &flag, &message, &status);
    *(fint *)d = flag;
    if (flag) {
        *(fint *)e = PMPI_Message_c2f(message);
        tell_status(f, &status);
    }
    tell(g, error);
}

CALL(mrecv, 6)
{
    MPI_Status status;
    MPI_Message message = PMPI_Message_f2c(number(d));
    int error = MPI_Mrecv(data_of(a), number(b), type_of(c), &message, &status);
    *(fint *)d = PMPI_Message_c2f(message);
    tell_status(e, &status);
    tell(f, error);
}

CALL(imrecv, 6)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = PMPI_Message_f2c(number(d));
    int error = MPI_Imrecv(data_of(a), number(b), type_of(c), &message, &request);
    *(fint *)d = PMPI_Message_c2f(message);
    tell_request(e, request);
    tell(f, error);
}

/* ---- requests ---- */

/* Requests as C has them, with a status for each. */
struct requests {
    int count;
    MPI_Request *handles;
    MPI_Status *statuses;
};

static struct requests requests_of(const void *count, const fint *from)
{
    struct requests all = {.count = number(count)};
    all.statuses = room((all.count + 1) * (sizeof *all.statuses + sizeof *all.handles));
    all.handles = (MPI_Request *)(all.statuses + all.count + 1);
    for (int i = 0; i < all.count; i++)
        all.handles[i] = PMPI_Request_f2c(from[i]);
    return all;
}

/* Tells as many statuses as count. */
static void tell_requests(struct requests *all, fint *to, fint *statuses, int count)
{
    const int length = sizeof(MPI_Status) / sizeof(fint);
    for (int i = 0; i < all->count; i++)
        to[i] = PMPI_Request_c2f(all->handles[i]);
    for (int i = 0; wants(statuses) && i < count; i++)
        PMPI_Status_c2f(&all->statuses[i], statuses + (size_t)i * length);
    free(all->statuses);
}

CALL(wait, 3)
{
    if (!riding)
        return ORIGINAL(wait, 3)(A3);
    MPI_Status status;
    MPI_Request request = PMPI_Request_f2c(number(a));
    int error = MPI_Wait(&request, &status);
    tell_request(a, request);
    tell_status(b, &status);
    tell(c, error);
}

CALL(test, 4)
{
    if (!riding)
        return ORIGINAL(test, 4)(A4);
    MPI_Status status;
    MPI_Request request = PMPI_Request_f2c(number(a));
    int flag = false, error = MPI_Test(&request, &flag, &status);
    tell_request(a, request);
    *(fint *)b = flag;
    if (flag)
        tell_status(c, &status);
    tell(d, error);
}

CALL(waitall, 4)
{
    if (!riding)
        return ORIGINAL(waitall, 4)(A4);
    struct requests all = requests_of(a, b);
    int error = MPI_Waitall(all.count, all.handles, all.statuses);
    tell_requests(&all, b, c, all.count);
    tell(d, error);
}

CALL(testall, 5)
{
    if (!riding)
        return ORIGINAL(testall, 5)(A5);
    struct requests all = requests_of(a, b);
    int flag = false, error = MPI_Testall(all.count, all.handles, &flag, all.statuses);
    *(fint *)c = flag;
    tell_requests(&all, b, d, flag ? all.count : 0);
    tell(e, error);
}

/* Fortran counts from 1. */
static fint place(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

CALL(waitany, 5)
{
    if (!riding)
        return ORIGINAL(waitany, 5)(A5);
    struct requests all = requests_of(a, b);
    int index = MPI_UNDEFINED, error = MPI_Waitany(all.count, all.handles, &index, all.statuses);
    *(fint *)c = place(index);
    tell_requests(&all, b, d, 1);
    tell(e, error);
}

CALL(testany, 6)
{
    if (!riding)
        return ORIGINAL(testany, 6)(A6);
    struct requests all = requests_of(a, b);
    int index = MPI_UNDEFINED, flag = false;
    int error = MPI_Testany(all.count, all.handles, &index, &flag, all.statuses);
    *(fint *)c = place(index);
    *(fint *)d = flag;
    tell_requests(&all, b, e, flag);
    tell(f, error);
}

#define SOME(name, call) \
    CALL(name, 6) \
    { \
        if (!riding) \
            return ORIGINAL(name, 6)(A6); \
        struct requests all = requests_of(a, b); \
        int count = 0, error = MPI_##call(all.count, all.handles, &count, d, all.statuses); \
        *(fint *)c = count; \
        for (int at = 0; count != MPI_UNDEFINED && at < count; at++) \
            ((fint *)d)[at] = place(((fint *)d)[at]); \
        tell_requests(&all, b, e, count == MPI_UNDEFINED ? 0 : count); \
        tell(f, error); \
    }
SOME(waitsome, Waitsome)
SOME(testsome, Testsome)

CALL(request_get_status, 4)
{
    if (!riding)
        return ORIGINAL(request_get_status, 4)(A4);
    MPI_Status status;
    int flag = false;
    int error = MPI_Request_get_status(PMPI_Request_f2c(number(a)), &flag, &status);
    *(fint *)b = flag;
    if (flag)
        tell_status(c, &status);
    tell(d, error);
}

CALL(request_free, 2)
{
    if (!riding)
        return ORIGINAL(request_free, 2)(A2);
    MPI_Request request = PMPI_Request_f2c(number(a));
    int error = MPI_Request_free(&request);
    tell_request(a, request);
    tell(b, error);
}

CALL(start, 2)
{
    if (!riding)
        return ORIGINAL(start, 2)(A2);
    MPI_Request request = PMPI_Request_f2c(number(a));
    int error = MPI_Start(&request);
    tell_request(a, request);
    tell(b, error);
}

CALL(startall, 3)
{
    if (!riding)
        return ORIGINAL(startall, 3)(A3);
    struct requests all = requests_of(a, b);
    int error = MPI_Startall(all.count, all.handles);
    tell_requests(&all, b, MPI_F_STATUSES_IGNORE, 0);
    tell(c, error);
}

/* ---- communicators ---- */

#define MAKES(name, n, made) \
    CALL(name, n) \
    { \
        ORIGINAL(name, n)(A##n); \
        if (riding) \
            name_communicator(comm_of(made)); \
    }
MAKES(comm_dup, 3, b)
MAKES(comm_dup_with_info, 4, c)
MAKES(comm_create, 4, c)
MAKES(comm_create_group, 5, d)
MAKES(comm_split, 5, d)
MAKES(comm_split_type, 6, e)
MAKES(cart_create, 7, f)
MAKES(cart_sub, 4, c)
MAKES(graph_create, 7, f)
MAKES(dist_graph_create, 10, i)
MAKES(dist_graph_create_adjacent, 11, j)
MAKES(intercomm_create, 7, f)
MAKES(intercomm_merge, 4, c)

/* ---- collective operations ---- */

#define BLOCKING(name, n, class, root, comm) \
    CALL(name, n) \
    { \
        struct joining it; \
        enter(&it, "mpi_" #name, comm_of(comm), class, root); \
        ORIGINAL(name, n)(A##n); \
        leave(&it, comm_of(comm)); \
    }
#define NONBLOCKING(name, n, class, root, comm, request) \
    CALL(name, n) \
    { \
        if (!riding) \
            return ORIGINAL(name, n)(A##n); \
        struct carried *it = start_joining("mpi_" #name, comm_of(comm), class, root); \
        ORIGINAL(name, n)(A##n); \
        if (it->joining.is_on) \
            keep(it, PMPI_Request_f2c(number(request))); \
        else \
            release(it); \
    }
#define ALL(name, n, comm) BLOCKING(name, n, ALL_TO_ALL, 0, comm)
#define IALL(name, n, comm, request) NONBLOCKING(name, n, ALL_TO_ALL, 0, comm, request)

ALL(barrier, 2, a)
IALL(ibarrier, 3, a, b)
BLOCKING(bcast, 6, FROM_ROOT, number(d), e)
NONBLOCKING(ibcast, 7, FROM_ROOT, number(d), e, f)
BLOCKING(reduce, 8, TO_ROOT, number(f), g)
NONBLOCKING(ireduce, 9, TO_ROOT, number(f), g, h)
ALL(allreduce, 7, f)
IALL(iallreduce, 8, f, g)
ALL(reduce_scatter, 7, f)
IALL(ireduce_scatter, 8, f, g)
ALL(reduce_scatter_block, 7, f)
IALL(ireduce_scatter_block, 8, f, g)
BLOCKING(scan, 7, PREFIX, 0, f)
NONBLOCKING(iscan, 8, PREFIX, 0, f, g)
BLOCKING(exscan, 7, PREFIX, 0, f)
NONBLOCKING(iexscan, 8, PREFIX, 0, f, g)
BLOCKING(gather, 9, TO_ROOT, number(g), h)
NONBLOCKING(igather, 10, TO_ROOT, number(g), h, i)
BLOCKING(gatherv, 10, TO_ROOT, number(h), i)
NONBLOCKING(igatherv, 11, TO_ROOT, number(h), i, j)
BLOCKING(scatter, 9, FROM_ROOT, number(g), h)
NONBLOCKING(iscatter, 10, FROM_ROOT, number(g), h, i)
BLOCKING(scatterv, 10, FROM_ROOT, number(h), i)
NONBLOCKING(iscatterv, 11, FROM_ROOT, number(h), i, j)
ALL(allgather, 8, g)
IALL(iallgather, 9, g, h)
ALL(allgatherv, 9, h)
IALL(iallgatherv, 10, h, i)
ALL(alltoall, 8, g)
IALL(ialltoall, 9, g, h)
ALL(alltoallv, 10, i)
IALL(ialltoallv, 11, i, j)
ALL(alltoallw, 10, i)
IALL(ialltoallw, 11, i, j)
