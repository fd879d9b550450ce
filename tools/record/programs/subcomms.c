/* Rows and columns of a grid talk among themselves, never all ranks together. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 500), work = option("compute", 50);
    int width = option("width", 2), value = rank, sum;
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank / width, -rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % width, rank, &column);
    int height;
    MPI_Comm_size(column, &height);
    for (long i = 0; i < iterations; i++) {
        compute(work);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, row);
        compute(work);
        MPI_Bcast(&value, 1, MPI_INT, i % height, column);
        compute(work);
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, i % height, column);
        MPI_Barrier(row);
    }
    MPI_Finalize();
    return 0;
}
