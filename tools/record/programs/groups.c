/* Two halves of the ranks meet through an inter-communicator alone. */
#include "program.h"

int main(int argc, char **argv)
{
    start(argc, argv);
    long iterations = option("iterations", 500), work = option("compute", 50);
    int lower = (size + 1) / 2, is_lower = rank < lower, value = rank, other, remote_size, own;
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, is_lower, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_lower ? lower : 0, 1, &between);
    MPI_Comm_rank(between, &own);
    MPI_Comm_remote_size(between, &remote_size);
    int partner = own < remote_size ? own : MPI_PROC_NULL;
    for (long i = 0; i < iterations; i++) {
        compute(work);
        MPI_Sendrecv(&value, 1, MPI_INT, partner, 0, &other, 1, MPI_INT, partner, 0, between,
                     MPI_STATUS_IGNORE);
        compute(work);
        if (i % 3 == 0)
            MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_SUM, between);
        if (i % 10 == 9)
            MPI_Barrier(between);
    }
    MPI_Finalize();
    return 0;
}
