/* Several threads of each rank send and receive at a time. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "retime_pmpi.h"

enum { THREADS = 4, MESSAGES = 200 };

static int rank, size;

static void *work(void *number)
{
    int tag = (int)(intptr_t)number, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < MESSAGES; i++) {
        int64_t out[2] = {retime_now(), i}, in[2];
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(in, 2, MPI_INT64_T, i % 2 ? previous : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Isend(out, 2, MPI_INT64_T, next, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        int count;
        MPI_Get_count(&statuses[0], MPI_INT64_T, &count);
        if (in[1] != i || count != 2 || retime_now() <= in[0]) {
            fprintf(stderr, "rank %d: message %d of thread %d\n", rank, i, tag);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t threads[THREADS];
    for (int i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
