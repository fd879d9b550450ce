/* How long a message takes, there and back: run it with and without RETIME_CLOCK.
 *
 * Of many batches the fastest counts, since others may use the cores meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 400, TRIPS = 50, LONGEST = 65536 };

static char data[LONGEST];

static double batch(int rank, int bytes)
{
    double start = MPI_Wtime();
    for (int i = 0; i < TRIPS; i++)
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - start) / (2 * TRIPS);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int bytes = 8; bytes <= LONGEST; bytes *= 8) {
        double best = 1;
        for (int i = 0; i < BATCHES; i++) {
            double time = batch(rank, bytes);
            best = time < best ? time : best;
        }
        if (rank == 0)
            printf("%d bytes: %.0f ns a message\n", bytes, best * 1e9);
    }
    MPI_Finalize();
    return 0;
}
