/* The calls that stand behind, and what ends a program. */
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

/* MPICH's process manager kills all before it has handed on what they said, so it gets a moment. */
static const struct timespec MOMENT = {.tv_nsec = 200 * 1000 * 1000};

bool riding;

void end_all(void)
{
    fflush(stderr);
    nanosleep(&MOMENT, NULL);
    PMPI_Abort(MPI_COMM_WORLD, 2);
}

void *next_call(const char *name)
{
    void *at = dlsym(RTLD_NEXT, name);
    if (!at) {
        fprintf(stderr, "retime: no %s behind libretime-pmpi.so; load it into programs that are "
                        "linked with MPI dynamically\n",
                name);
        abort();
    }
    return at;
}

void refuse(const char *call, const char *why)
{
    fprintf(stderr, "retime: the logical clock does not ride on %s: %s; run the program without "
                    "RETIME_CLOCK\n",
            call, why);
    fflush(stderr);
    int is_initialised = false;
    PMPI_Initialized(&is_initialised);
    if (!is_initialised)
        exit(2);
    end_all();
}

bool is_clock_asked_for(void)
{
    const char *clock = getenv("RETIME_CLOCK");
    return clock && *clock;
}

void *room(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fprintf(stderr, "retime: no memory for %zu bytes\n", bytes);
        end_all();
    }
    return memory;
}

int64_t retime_now(void) { return retime_session_now(); }

/* Fortran: integer(8), external :: retime_now */
int64_t retime_now_(void) { return retime_session_now(); }
