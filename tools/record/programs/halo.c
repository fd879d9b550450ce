/* A grid of ranks exchanges its borders and now and then agrees on a residual. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 1000), work = option("compute", 50);
    long bytes = option("bytes", 64), every = option("reduce", 10), pause = option("pause", 0);
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    int x = rank % dims[1], y = rank / dims[1];
    int sides[4] = {
        y * dims[1] + (x + 1) % dims[1],
        y * dims[1] + (x + dims[1] - 1) % dims[1],
        (y + 1) % dims[0] * dims[1] + x,
        (y + dims[0] - 1) % dims[0] * dims[1] + x,
    };
    char *out = buffer(bytes), *in = buffer(4 * bytes);
    for (long i = 0; i < iterations; i++) {
        compute(work);
        idle(pause);
        MPI_Request requests[8];
        int open = 0;
        for (int side = 0; side < 4; side++)
            if (sides[side] != rank)
                MPI_Irecv(in + side * bytes, bytes, MPI_BYTE, sides[side], side, MPI_COMM_WORLD,
                          &requests[open++]);
        for (int side = 0; side < 4; side++)
            if (sides[side] != rank)
                MPI_Isend(out, bytes, MPI_BYTE, sides[side], side ^ 1, MPI_COMM_WORLD,
                          &requests[open++]);
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
        if (every && i % every == every - 1) {
            double residual = 1, sum;
            MPI_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
