/* Collective operations, blocking and non-blocking, by class. */
#include "shim.h"

#define BLOCKING(call, class, root, parameters, arguments) \
    int MPI_##call parameters \
    { \
        struct joining it; \
        enter(&it, "MPI_" #call, comm, class, root); \
        int error = NEXT(call) arguments; \
        leave(&it, comm); \
        return error; \
    }

#define NONBLOCKING(call, class, root, parameters, arguments) \
    int MPI_##call parameters \
    { \
        if (!riding) \
            return NEXT(call) arguments; \
        struct carried *it = start_joining("MPI_" #call, comm, class, root); \
        int error = NEXT(call) arguments; \
        if (it->joining.is_on) \
            keep(it, *request); \
        else \
            release(it); \
        return error; \
    }

#define UNPACKED(...) __VA_ARGS__
/* An operation and its non-blocking brother. */
#define BOTH(call, icall, class, root, parameters, arguments) \
    BLOCKING(call, class, root, (UNPACKED parameters), (UNPACKED arguments)) \
    NONBLOCKING(icall, class, root, (UNPACKED parameters, MPI_Request *request), \
                (UNPACKED arguments, request))

BOTH(Barrier, Ibarrier, ALL_TO_ALL, 0, (MPI_Comm comm), (comm))
BOTH(Bcast, Ibcast, FROM_ROOT, root, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
     (data, n, type, root, comm))
BOTH(Reduce, Ireduce, TO_ROOT, root,
     (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
     (out, in, n, type, op, root, comm))
BOTH(Allreduce, Iallreduce, ALL_TO_ALL, 0,
     (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (out, in, n, type, op, comm))
BOTH(Reduce_scatter, Ireduce_scatter, ALL_TO_ALL, 0,
     (const void *out, void *in, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (out, in, n, type, op, comm))
BOTH(Reduce_scatter_block, Ireduce_scatter_block, ALL_TO_ALL, 0,
     (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (out, in, n, type, op, comm))
BOTH(Scan, Iscan, PREFIX, 0,
     (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (out, in, n, type, op, comm))
BOTH(Exscan, Iexscan, PREFIX, 0,
     (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (out, in, n, type, op, comm))
BOTH(Gather, Igather, TO_ROOT, root,
     (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type, int root,
      MPI_Comm comm),
     (out, n, type, in, m, in_type, root, comm))
BOTH(Gatherv, Igatherv, TO_ROOT, root,
     (const void *out, int n, MPI_Datatype type, void *in, const int m[], const int at[],
      MPI_Datatype in_type, int root, MPI_Comm comm),
     (out, n, type, in, m, at, in_type, root, comm))
BOTH(Scatter, Iscatter, FROM_ROOT, root,
     (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type, int root,
      MPI_Comm comm),
     (out, n, type, in, m, in_type, root, comm))
BOTH(Scatterv, Iscatterv, FROM_ROOT, root,
     (const void *out, const int n[], const int at[], MPI_Datatype type, void *in, int m,
      MPI_Datatype in_type, int root, MPI_Comm comm),
     (out, n, at, type, in, m, in_type, root, comm))
BOTH(Allgather, Iallgather, ALL_TO_ALL, 0,
     (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
      MPI_Comm comm),
     (out, n, type, in, m, in_type, comm))
BOTH(Allgatherv, Iallgatherv, ALL_TO_ALL, 0,
     (const void *out, int n, MPI_Datatype type, void *in, const int m[], const int at[],
      MPI_Datatype in_type, MPI_Comm comm),
     (out, n, type, in, m, at, in_type, comm))
BOTH(Alltoall, Ialltoall, ALL_TO_ALL, 0,
     (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
      MPI_Comm comm),
     (out, n, type, in, m, in_type, comm))
BOTH(Alltoallv, Ialltoallv, ALL_TO_ALL, 0,
     (const void *out, const int n[], const int at[], MPI_Datatype type, void *in, const int m[],
      const int in_at[], MPI_Datatype in_type, MPI_Comm comm),
     (out, n, at, type, in, m, in_at, in_type, comm))
BOTH(Alltoallw, Ialltoallw, ALL_TO_ALL, 0,
     (const void *out, const int n[], const int at[], const MPI_Datatype types[], void *in,
      const int m[], const int in_at[], const MPI_Datatype in_types[], MPI_Comm comm),
     (out, n, at, types, in, m, in_at, in_types, comm))
