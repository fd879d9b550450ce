/* Now and then one message between two ranks, and nothing else. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long messages = option("iterations", 30), pause = option("pause", 1000000);
    int value = 0;
    for (long i = 0; i < messages; i++) {
        idle(pause);
        int from = i % size, to = (i + 1 + i / size % (size - 1)) % size;
        if (rank == from)
            MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        else if (rank == to)
            MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
