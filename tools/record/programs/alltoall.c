/* Every rank exchanges a block with every other, as a transposition does. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 1000), work = option("compute", 50);
    long bytes = option("bytes", 256);
    char *out = buffer(bytes * size), *in = buffer(bytes * size);
    for (long i = 0; i < iterations; i++) {
        compute(work);
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
