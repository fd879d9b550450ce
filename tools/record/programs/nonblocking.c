/* Partners that change from round to round exchange by non-blocking calls alone, and
 * compute between the posting and the completion. */
#include "program.h"

static void complete(MPI_Request *requests, int open)
{
    if (rank % 3 == 0) {
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
    } else if (rank % 3 == 1) {
        for (int i = 0, which; i < open; i++)
            MPI_Waitany(open, requests, &which, MPI_STATUS_IGNORE);
    } else {
        for (int i = open - 1; i >= 0; i--)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 1000), work = option("compute", 50);
    long bytes = option("bytes", 128), fan = option("fan", 2);
    char *out = buffer(bytes), *in = buffer(fan * bytes);
    MPI_Request *requests = buffer(2 * fan * sizeof *requests);
    for (long i = 0; i < iterations; i++) {
        int open = 0;
        for (long k = 0; k < fan; k++) {
            int distance = 1 + (i * fan + k) % (size - 1);
            MPI_Irecv(in + k * bytes, bytes, MPI_BYTE, (rank + size - distance) % size, k,
                      MPI_COMM_WORLD, &requests[open++]);
            MPI_Isend(out, bytes, MPI_BYTE, (rank + distance) % size, k, MPI_COMM_WORLD,
                      &requests[open++]);
        }
        compute(work);
        complete(requests, open);
    }
    MPI_Finalize();
    return 0;
}
