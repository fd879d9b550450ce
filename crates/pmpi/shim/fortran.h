/* How calls of Fortran are defined.
 *
 * Where MPI's own Fortran calls its C by the names that this library has, nothing is to be done:
 * so do mpif.h and the module mpi of MPICH, and its module of 2008 where a call has a buffer. All
 * else calls what stands behind: Open MPI in all modules, MPICH in that of 2008. So these names are
 * here, too. */
#ifndef RETIME_FORTRAN_H
#define RETIME_FORTRAN_H

#include "shim.h"

/* The original of a call with so many arguments. */
#define P2 void *a, void *b
#define P3 P2, void *c
#define P4 P3, void *d
#define P5 P4, void *e
#define P6 P5, void *f
#define P7 P6, void *g
#define P8 P7, void *h
#define P9 P8, void *i
#define P10 P9, void *j
#define P11 P10, void *k
#define P12 P11, void *l
#define P13 P12, void *m
#define P14 P13, void *n
#define P15 P14, void *o
#define P16 P15, void *p
#define A2 a, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A8 A7, h
#define A9 A8, i
#define A10 A9, j
#define A11 A10, k
#define A12 A11, l
#define A13 A12, m
#define A14 A13, n
#define A15 A14, o
#define A16 A15, p
#define ORIGINAL(name, n) \
    ({ \
        static void *at; \
        if (!at) \
            at = next_call(FORTRAN_NAME(name)); \
        (void (*)(P##n)) at; \
    })

#ifdef OPEN_MPI
/* Compilers differ in how they decorate a name; the module of 2008 has names of its own. */
#define FORTRAN_NAME(name) "mpi_" #name "_"
#define CALL(name, n) \
    void mpi_##name(P##n) __attribute__((alias("mpi_" #name "_"))); \
    void mpi_##name##__(P##n) __attribute__((alias("mpi_" #name "_"))); \
    void mpi_##name##_f08_(P##n) __attribute__((alias("mpi_" #name "_"))); \
    void mpi_##name##_(P##n)
#else
#define FORTRAN_NAME(name) "mpi_" #name "_f08_"
#define CALL(name, n) void mpi_##name##_f08_(P##n)
#endif

#define REFUSED_IN_FORTRAN(name, n, condition, why) \
    CALL(name, n) \
    { \
        if (condition) \
            refuse("mpi_" #name, why); \
        ORIGINAL(name, n)(A##n); \
    }

#endif
