/* Does one thing on which no clock rides. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int value = 1, sum = 0;
    const char *what = argc > 1 ? argv[1] : "";
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
    } else if (!strcmp(what, "neighbour")) {
        int size, periodic = 1;
        MPI_Comm ring;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
        int both[2];
        MPI_Neighbor_allgather(&value, 1, MPI_INT, both, 1, MPI_INT, ring);
    }
    MPI_Finalize();
    return 0;
}
