/* What the recorded programs share: options `name=value`, work, and the ranks. */
#ifndef PROGRAM_H
#define PROGRAM_H
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, argument_count;
static char **arguments;
static unsigned random_state;

static inline void start(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    argument_count = argc;
    arguments = argv;
    random_state = 12345 + 7919 * rank;
}

static inline long option(const char *name, long otherwise)
{
    size_t length = strlen(name);
    for (int i = 1; i < argument_count; i++)
        if (!strncmp(arguments[i], name, length) && arguments[i][length] == '=')
            return atol(arguments[i] + length + 1);
    return otherwise;
}

static inline long below(long bound) { return bound > 0 ? rand_r(&random_state) % bound : 0; }

static inline double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* Keeps a core busy for about so long; half of it varies from call to call. */
static inline void compute(long microseconds)
{
    if (microseconds <= 0)
        return;
    MPI_Pcontrol(1);
    double until = seconds() + 1e-6 * (microseconds - microseconds / 4 + below(microseconds / 2));
    while (seconds() < until)
        ;
    MPI_Pcontrol(0);
}

/* Leaves the core to others, as a program does that waits for a disk. */
static inline void idle(long microseconds)
{
    if (microseconds <= 0)
        return;
    MPI_Pcontrol(1);
    struct timespec length = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&length, NULL);
    MPI_Pcontrol(0);
}

static inline void *buffer(size_t length)
{
    void *memory = calloc(length ? length : 1, 1);
    if (!memory) {
        perror("no memory");
        abort();
    }
    return memory;
}

#endif
