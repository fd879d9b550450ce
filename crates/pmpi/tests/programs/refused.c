/* Does one thing on which no clock rides. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4
/* A program of MPI 4 may never initialise it as a whole. */
static int session(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    return 0;
}

static void of_version_4(const char *what)
{
    int value = 1;
    MPI_Request request;
    if (!strcmp(what, "large"))
        MPI_Send_c(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    else if (!strcmp(what, "persistent")) {
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (!strcmp(what, "partitioned"))
        MPI_Psend_init(&value, 1, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request);
}
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
#if MPI_VERSION >= 4
    if (!strcmp(what, "session"))
        return session();
#endif
    MPI_Init(&argc, &argv);
    int value = 1, sum = 0;
    if (!strcmp(what, "win")) {
        MPI_Win win;
        MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_free(&win);
    } else if (!strcmp(what, "bsend"))
        MPI_Bsend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    else if (!strcmp(what, "inter")) {
        int rank, size;
        MPI_Comm part, inter;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
        MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 0, &inter);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    } else if (!strcmp(what, "file")) {
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file);
        MPI_File_close(&file);
    } else if (!strcmp(what, "neighbour")) {
        int size, periodic = 1;
        MPI_Comm ring;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
        int both[2];
        MPI_Neighbor_allgather(&value, 1, MPI_INT, both, 1, MPI_INT, ring);
    }
#if MPI_VERSION >= 4
    of_version_4(what);
#endif
    MPI_Finalize();
    return 0;
}
