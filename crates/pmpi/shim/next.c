/* The calls that stand behind, and what ends a program. */
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>

bool riding;

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
    PMPI_Abort(MPI_COMM_WORLD, 2);
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
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

int64_t retime_now(void) { return retime_session_now(); }

/* Fortran: integer(8), external :: retime_now */
int64_t retime_now_(void) { return retime_session_now(); }
