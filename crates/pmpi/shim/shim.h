/* What the files of the shim share. Each MPI call of the program comes by here; the call goes
 * on to whoever stands behind, a tracer or MPI itself. */
#ifndef RETIME_SHIM_H
#define RETIME_SHIM_H

#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

/* True while a clock rides along. */
extern bool riding;

/* The next definition of a call: that of a tracer, if one is loaded, else MPI's own. */
/* Ends the program once what was said of the reason is out. */
void end_all(void);

void *next_call(const char *name);
#define NEXT_OF(call) \
    ({ \
        static void *at; \
        if (!at) \
            at = next_call(#call); \
        (__typeof__(&P##call))at; \
    })
#define NEXT(name) NEXT_OF(MPI_##name)

/* Ends the program: the clock cannot ride on this call. */
void refuse(const char *call, const char *why);

/* True if a clock is to ride along as soon as MPI is initialised. */
bool is_clock_asked_for(void);

/* Memory; where there is none the program ends. */
void *room(size_t bytes);

/* ---- carry.c: messages with stamps ---- */

enum kind { SENDS, RECEIVES, JOINS };

/* What a collective operation exchanges besides. */
struct joining {
    struct joined joined;
    bool is_on; /* the stamps of others are awaited */
    int64_t own[2], given[4], heard[4];
};

/* One message or non-blocking collective operation under way. */
struct carried {
    struct carried *next;
    MPI_Request request;
    enum kind kind;
    bool is_persistent, is_active, is_taken_in;
    /* What MPI gets in place of the program's buffer. */
    void *buffer;
    int count;
    MPI_Datatype type;
    /* Where the data of a short message go; null if MPI puts them there itself. */
    void *data;
    size_t data_room;
    /* Of a collective operation. */
    struct joining joining;
    MPI_Request stamps;
    /* Of a message; the data of a short one follow. */
    struct stamp stamp;
    char copied[];
};

struct carried *outgoing(const void *data, int count, MPI_Datatype type, bool is_persistent);
struct carried *incoming(void *data, int count, MPI_Datatype type, bool is_persistent);
/* MPI has taken the type over. */
void started(struct carried *it);
/* A message has arrived: takes its stamp in, and makes of the status that of the data alone. */
void arrived(struct carried *it, MPI_Status *status);
/* Makes of the status of a message that of its data alone. */
void without_stamp(MPI_Status *status);
void release(struct carried *it);

/* ---- requests.c ---- */

void keep(struct carried *it, MPI_Request request);
/* What a request stands for, if it carries something; it is the caller's then. */
struct carried *take(MPI_Request request);
/* What a program gave up without waiting for it. */
void adopt(struct carried *it);
void look_after_adopted(void);

/* ---- communicators.c ---- */

struct communicator {
    uint64_t id, operations;
    int rank, size, is_inter;
};

void begin_communicators(void);
/* Gives a new communicator the number that all of its members know it by. */
void name_communicator(MPI_Comm comm);
struct communicator *communicator(MPI_Comm comm, const char *call);

/* ---- joining.c: stamps of collective operations ---- */

void begin_joining(void);
void enter(struct joining *it, const char *call, MPI_Comm comm, enum class class, int root);
void leave(struct joining *it, MPI_Comm comm);
struct carried *start_joining(const char *call, MPI_Comm comm, enum class class, int root);
void end_joining(struct carried *it);

/* ---- begin_end.c ---- */

void begin(void);
void end(void);
void measure_if_due(MPI_Comm comm);

#endif
