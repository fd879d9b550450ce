/* A master hands out tasks to whoever asks for one; workers never meet. */
#include "program.h"

enum { RESULT, TASK };

static void serve(long tasks)
{
    long handed = 0;
    int working = size - 1, answer;
    while (working) {
        MPI_Status status;
        MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        int more = handed++ < tasks;
        working -= !more;
        MPI_Send(&more, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
    }
}

static void toil(long work)
{
    int answer = 0, more = 1;
    while (more) {
        MPI_Send(&answer, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
        MPI_Recv(&more, 1, MPI_INT, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (more)
            compute(work);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    if (rank == 0)
        serve(option("iterations", 1000));
    else
        toil(option("compute", 100));
    MPI_Finalize();
    return 0;
}
