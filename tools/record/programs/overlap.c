/* Non-blocking collectives, computing while they are under way. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 500), work = option("compute", 50);
    int value = rank, sum;
    MPI_Request request;
    for (long i = 0; i < iterations; i++) {
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        compute(work);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        compute(work);
        MPI_Ibcast(&value, 1, MPI_INT, i % size, MPI_COMM_WORLD, &request);
        compute(work);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i % 4 == 3) {
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            int done = 0;
            while (!done) {
                idle(50);
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
