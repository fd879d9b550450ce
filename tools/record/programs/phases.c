/* Long stretches of work or waiting, then a burst of exchanges and a checkpoint that all
 * hand to rank 0. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long phases = option("iterations", 20), work = option("compute", 20000);
    long burst = option("burst", 50), bytes = option("bytes", 1024);
    char *out = buffer(bytes), *in = buffer(bytes), *all = buffer(bytes * size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (long i = 0; i < phases; i++) {
        if (i % 4 == 3)
            idle(4 * work);
        else
            compute(work);
        for (long k = 0; k < burst; k++) {
            int to = k % 2 ? next : previous, from = k % 2 ? previous : next;
            MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        MPI_Gather(out, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
