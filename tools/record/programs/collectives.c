/* All ranks together, by every class of collective in turn; no messages. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 500), work = option("compute", 50);
    int value = rank, sum, *all = buffer(size * sizeof *all);
    for (long i = 0; i < iterations; i++) {
        int root = i % size;
        compute(work);
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        compute(work);
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        compute(work);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
        compute(work);
        MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        if (i % 8 == 7)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
