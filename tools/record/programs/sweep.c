/* Wavefronts cross a grid of ranks from one corner and back from the other, as in
 * transport codes: pipelines both ways, blocking. */
#include "program.h"

static int neighbour(int x, int y, int width, int height)
{
    return x < 0 || y < 0 || x >= width || y >= height ? MPI_PROC_NULL : y * width + x;
}

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 500), work = option("compute", 50);
    long bytes = option("bytes", 256), planes = option("planes", 4);
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    int width = dims[1], height = dims[0], x = rank % width, y = rank / width;
    char *face = buffer(bytes);
    for (long i = 0; i < iterations; i++) {
        int step = i % 2 ? -1 : 1;
        int west = neighbour(x - step, y, width, height);
        int east = neighbour(x + step, y, width, height);
        int south = neighbour(x, y - step, width, height);
        int north = neighbour(x, y + step, width, height);
        for (long plane = 0; plane < planes; plane++) {
            MPI_Recv(face, bytes, MPI_BYTE, west, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(face, bytes, MPI_BYTE, south, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(work);
            MPI_Send(face, bytes, MPI_BYTE, east, 0, MPI_COMM_WORLD);
            MPI_Send(face, bytes, MPI_BYTE, north, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
