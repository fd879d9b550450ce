/* Calls on which no clock rides. They end the program, by name, where one was asked for. */
#include "shim.h"

#define REFUSED(call, why, parameters, arguments) \
    int MPI_##call parameters \
    { \
        if (riding) \
            refuse("MPI_" #call, why); \
        return NEXT(call) arguments; \
    }

#define BUFFERED "a buffer of the program has no room for stamps"
REFUSED(Bsend, BUFFERED,
        (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
        (data, n, type, to, tag, comm))
REFUSED(Ibsend, BUFFERED,
        (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
         MPI_Request *request),
        (data, n, type, to, tag, comm, request))
REFUSED(Bsend_init, BUFFERED,
        (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
         MPI_Request *request),
        (data, n, type, to, tag, comm, request))

#define ONE_SIDED "one-sided accesses carry no stamps"
REFUSED(Win_create, ONE_SIDED,
        (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
        (base, size, unit, info, comm, win))
REFUSED(Win_allocate, ONE_SIDED,
        (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
        (size, unit, info, comm, base, win))
REFUSED(Win_allocate_shared, ONE_SIDED,
        (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
        (size, unit, info, comm, base, win))
REFUSED(Win_create_dynamic, ONE_SIDED, (MPI_Info info, MPI_Comm comm, MPI_Win *win),
        (info, comm, win))

#define OTHER_PROGRAMS "what runs there has another clock"
REFUSED(Comm_spawn, OTHER_PROGRAMS,
        (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm,
         MPI_Comm *inter, int errors[]),
        (command, argv, n, info, root, comm, inter, errors))
REFUSED(Comm_spawn_multiple, OTHER_PROGRAMS,
        (int count, char *commands[], char **argvs[], const int n[], const MPI_Info infos[],
         int root, MPI_Comm comm, MPI_Comm *inter, int errors[]),
        (count, commands, argvs, n, infos, root, comm, inter, errors))
REFUSED(Comm_accept, OTHER_PROGRAMS,
        (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter),
        (port, info, root, comm, inter))
REFUSED(Comm_connect, OTHER_PROGRAMS,
        (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter),
        (port, info, root, comm, inter))
REFUSED(Comm_join, OTHER_PROGRAMS, (int fd, MPI_Comm *inter), (fd, inter))

#define UNNAMED "its members cannot agree on a number meanwhile"
REFUSED(Comm_idup, UNNAMED, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request),
        (comm, made, request))

#define NEIGHBOURS "of neighbourhoods no class is known"
#define NEIGHBOURS_OF(call, icall, parameters, arguments) \
    REFUSED(call, NEIGHBOURS, (UNPACKED parameters), (UNPACKED arguments)) \
    REFUSED(icall, NEIGHBOURS, (UNPACKED parameters, MPI_Request *request), \
            (UNPACKED arguments, request))
#define UNPACKED(...) __VA_ARGS__
NEIGHBOURS_OF(Neighbor_allgather, Ineighbor_allgather,
              (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
               MPI_Comm comm),
              (out, n, type, in, m, in_type, comm))
NEIGHBOURS_OF(Neighbor_allgatherv, Ineighbor_allgatherv,
              (const void *out, int n, MPI_Datatype type, void *in, const int m[], const int at[],
               MPI_Datatype in_type, MPI_Comm comm),
              (out, n, type, in, m, at, in_type, comm))
NEIGHBOURS_OF(Neighbor_alltoall, Ineighbor_alltoall,
              (const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type,
               MPI_Comm comm),
              (out, n, type, in, m, in_type, comm))
NEIGHBOURS_OF(Neighbor_alltoallv, Ineighbor_alltoallv,
              (const void *out, const int n[], const int at[], MPI_Datatype type, void *in,
               const int m[], const int in_at[], MPI_Datatype in_type, MPI_Comm comm),
              (out, n, at, type, in, m, in_at, in_type, comm))
NEIGHBOURS_OF(Neighbor_alltoallw, Ineighbor_alltoallw,
              (const void *out, const int n[], const MPI_Aint at[], const MPI_Datatype types[],
               void *in, const int m[], const MPI_Aint in_at[], const MPI_Datatype in_types[],
               MPI_Comm comm),
              (out, n, at, types, in, m, in_at, in_types, comm))
