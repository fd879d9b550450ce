/* launch [--offsets NS,NS..] [--pin] [--nice RANK] COMMAND...
 *
 * Stands between mpirun and a rank: --offsets starts each rank in a time namespace of its
 * own, whose CLOCK_MONOTONIC is off by the value at the place of the rank (needs root);
 * --pin keeps ranks on cores, in turn; --nice gives one rank a lower priority. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A quarter of a core beside another program that wants all of it. */
enum { LOWER = 5 };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static long long offset_of(int rank, const char *offsets)
{
    for (int i = 0; i < rank; i++) {
        offsets = strchr(offsets, ',');
        if (!offsets) {
            fprintf(stderr, "no offset for rank %d\n", rank);
            exit(2);
        }
        offsets++;
    }
    return atoll(offsets);
}

/* The kernel wants nanoseconds to be positive. */
static void shift_clock(long long offset)
{
    long long seconds = offset / 1000000000, rest = offset % 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        seconds--;
    }
    if (unshare(CLONE_NEWTIME))
        fail("a time namespace");
    int file = open("/proc/self/timens_offsets", O_WRONLY);
    if (file < 0 || dprintf(file, "monotonic %lld %lld\n", seconds, rest) < 0 || close(file))
        fail("/proc/self/timens_offsets");
}

static void pin(int rank)
{
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(rank % sysconf(_SC_NPROCESSORS_ONLN), &core);
    if (sched_setaffinity(0, sizeof core, &core))
        fail("sched_setaffinity");
}

int main(int argc, char **argv)
{
    /* Of Open MPI, or of MPICH. */
    const char *variable = getenv("OMPI_COMM_WORLD_RANK");
    if (!variable)
        variable = getenv("PMI_RANK");
    int rank = variable ? atoi(variable) : 0, i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--pin"))
            pin(rank);
        else if (!strcmp(argv[i], "--offsets") && i + 1 < argc)
            shift_clock(offset_of(rank, argv[++i]));
        else if (!strcmp(argv[i], "--nice") && i + 1 < argc) {
            if (atoi(argv[++i]) == rank && setpriority(PRIO_PROCESS, 0, LOWER))
                fail("setpriority");
        } else
            break;
    }
    if (i >= argc) {
        fprintf(stderr, "usage: launch [--offsets NS,NS..] [--pin] [--nice RANK] COMMAND...\n");
        return 2;
    }
    execvp(argv[i], argv + i);
    fail(argv[i]);
}
