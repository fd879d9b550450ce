/* Each rank passes items to the next; the last returns nothing, so that only a barrier
 * now and then tells the way back. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 1000), work = option("compute", 20);
    long bytes = option("bytes", 64), every = option("barrier", 200);
    char *item = buffer(bytes);
    for (long i = 0; i < iterations; i++) {
        if (rank > 0)
            MPI_Recv(item, bytes, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(work);
        if (rank < size - 1)
            MPI_Send(item, bytes, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
        if (every && i % every == every - 1)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
