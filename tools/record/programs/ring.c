/* A token goes round; who holds it works. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long rounds = option("iterations", 1000), work = option("compute", 20);
    long bytes = option("bytes", 8);
    char *token = buffer(bytes);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (long i = 0; i < rounds; i++) {
        if (rank > 0)
            MPI_Recv(token, bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(work);
        MPI_Send(token, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(token, bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
