/* For programs that run under libretime-pmpi.so, or are linked with it. */
#ifndef RETIME_PMPI_H
#define RETIME_PMPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The time of the program in nanoseconds: never before what this process has heard of by a
 * message or a collective operation, where RETIME_CLOCK lets a logical clock ride along; else
 * what the clock of this process shows. May be called by any thread, between MPI_Init and
 * MPI_Finalize. In Fortran: integer(8), external :: retime_now */
int64_t retime_now(void);

#ifdef __cplusplus
}
#endif

#endif
