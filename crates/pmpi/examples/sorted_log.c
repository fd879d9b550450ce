/* A log of all ranks, sorted by cause.
 *
 *   mpicc -I crates/pmpi sorted_log.c -o sorted_log -L target/release -lretime-pmpi
 *   RETIME_CLOCK=controlled mpirun -n 4 ./sorted_log
 *
 * A token goes around. Each rank writes a line when it has it, with the time of the program.
 * Sorted by that time, lines are in the order in which things happened, whatever the clocks of
 * the machines show; sorted by these they need not be. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retime_pmpi.h"

enum { TURNS = 8, LINES = 64 };

struct line {
    int64_t time;
    int rank;
    char text[48];
};

static struct line mine[LINES];
static int lines;

static void say(int rank, const char *what, int number)
{
    if (lines == LINES)
        return;
    struct line *line = &mine[lines++];
    line->time = retime_now();
    line->rank = rank;
    snprintf(line->text, sizeof line->text, "%s %d", what, number);
}

static int by_time(const void *a, const void *b)
{
    const struct line *one = a, *other = b;
    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    return one->rank - other->rank;
}

/* The first rank prints the lines of all. */
static void print(int rank, int size)
{
    struct line *all = NULL;
    if (rank == 0 && !(all = calloc((size_t)size * LINES, sizeof *all)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank)
        return;
    qsort(all, (size_t)size * LINES, sizeof *all, by_time);
    for (int i = 0; i < size * LINES; i++)
        if (all[i].text[0])
            printf("%lld ns, rank %d: %s\n", (long long)all[i].time, all[i].rank, all[i].text);
    free(all);
}

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn || rank)
            MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        say(rank, "token", token++);
        if (turn + 1 < TURNS || rank + 1 < size)
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    }
    print(rank, size);
    MPI_Finalize();
    return 0;
}
