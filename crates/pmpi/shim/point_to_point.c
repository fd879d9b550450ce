/* Messages: blocking, non-blocking, persistent, probed, matched. */
#include "shim.h"

/* ---- blocking ---- */

#define SENDS_NOW(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
    { \
        if (!riding || to == MPI_PROC_NULL) \
            return NEXT(call)(data, count, type, to, tag, comm); \
        struct carried *it = outgoing(data, count, type, false); \
        int error = NEXT(call)(it->buffer, it->count, it->type, to, tag, comm); \
        release(it); \
        return error; \
    }
SENDS_NOW(Send)
SENDS_NOW(Ssend)
SENDS_NOW(Rsend)

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    if (!riding || from == MPI_PROC_NULL)
        return NEXT(Recv)(data, count, type, from, tag, comm, status);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct carried *it = incoming(data, count, type, false);
    int error = NEXT(Recv)(it->buffer, it->count, it->type, from, tag, comm, status);
    if (!error)
        arrived(it, status);
    release(it);
    return error;
}

int MPI_Mrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    if (!riding || *message == MPI_MESSAGE_NO_PROC)
        return NEXT(Mrecv)(data, count, type, message, status);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct carried *it = incoming(data, count, type, false);
    int error = NEXT(Mrecv)(it->buffer, it->count, it->type, message, status);
    if (!error)
        arrived(it, status);
    release(it);
    return error;
}

/* Either way may go nowhere. */
int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    if (!riding || (to == MPI_PROC_NULL && from == MPI_PROC_NULL))
        return NEXT(Sendrecv)(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                              in_tag, comm, status);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct carried nowhere = {.type = MPI_DATATYPE_NULL};
    struct carried *sent = &nowhere, *got = &nowhere;
    struct carried plain_out = {.buffer = (void *)out, .count = out_count, .type = out_type};
    struct carried plain_in = {.buffer = in, .count = in_count, .type = in_type};
    sent = to == MPI_PROC_NULL ? &plain_out : outgoing(out, out_count, out_type, false);
    got = from == MPI_PROC_NULL ? &plain_in : incoming(in, in_count, in_type, false);
    int error = NEXT(Sendrecv)(sent->buffer, sent->count, sent->type, to, out_tag, got->buffer,
                               got->count, got->type, from, in_tag, comm, status);
    if (got != &plain_in) {
        if (!error)
            arrived(got, status);
        release(got);
    }
    if (sent != &plain_out)
        release(sent);
    return error;
}

/* What is sent is packed before it is overwritten. */
int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int out_tag, int from,
                         int in_tag, MPI_Comm comm, MPI_Status *status)
{
    if (!riding)
        return NEXT(Sendrecv_replace)(data, count, type, to, out_tag, from, in_tag, comm, status);
    int bytes, packed = 0;
    int error = PMPI_Pack_size(count, type, comm, &bytes);
    if (error)
        return error;
    char *out = room(bytes + 1);
    error = PMPI_Pack(data, count, type, out, bytes, &packed, comm);
    if (!error)
        error = MPI_Sendrecv(out, packed, MPI_PACKED, to, out_tag, data, count, type, from, in_tag,
                             comm, status);
    free(out);
    return error;
}

/* ---- probes ---- */

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int error = NEXT(Probe)(from, tag, comm, status);
    if (riding && !error && status != MPI_STATUS_IGNORE)
        without_stamp(status);
    return error;
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int error = NEXT(Iprobe)(from, tag, comm, flag, status);
    if (riding && !error && *flag && status != MPI_STATUS_IGNORE)
        without_stamp(status);
    return error;
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int error = NEXT(Mprobe)(from, tag, comm, message, status);
    if (riding && !error && status != MPI_STATUS_IGNORE)
        without_stamp(status);
    return error;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status)
{
    int error = NEXT(Improbe)(from, tag, comm, flag, message, status);
    if (riding && !error && *flag && status != MPI_STATUS_IGNORE)
        without_stamp(status);
    return error;
}

/* ---- non-blocking ---- */

static int under_way(struct carried *it, int error, MPI_Request request)
{
    started(it);
    if (error)
        free(it);
    else
        keep(it, request);
    return error;
}

#define SENDS_LATER(call, is_persistent) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                   MPI_Request *request) \
    { \
        if (!riding || to == MPI_PROC_NULL) \
            return NEXT(call)(data, count, type, to, tag, comm, request); \
        struct carried *it = outgoing(data, count, type, is_persistent); \
        int error = NEXT(call)(it->buffer, it->count, it->type, to, tag, comm, request); \
        return under_way(it, error, *request); \
    }
SENDS_LATER(Isend, false)
SENDS_LATER(Issend, false)
SENDS_LATER(Irsend, false)
SENDS_LATER(Send_init, true)
SENDS_LATER(Ssend_init, true)
SENDS_LATER(Rsend_init, true)

#define RECEIVES_LATER(call, is_persistent) \
    int MPI_##call(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, \
                   MPI_Request *request) \
    { \
        if (!riding || from == MPI_PROC_NULL) \
            return NEXT(call)(data, count, type, from, tag, comm, request); \
        struct carried *it = incoming(data, count, type, is_persistent); \
        int error = NEXT(call)(it->buffer, it->count, it->type, from, tag, comm, request); \
        return under_way(it, error, *request); \
    }
RECEIVES_LATER(Irecv, false)
RECEIVES_LATER(Recv_init, true)

int MPI_Imrecv(void *data, int count, MPI_Datatype type, MPI_Message *message,
               MPI_Request *request)
{
    if (!riding || *message == MPI_MESSAGE_NO_PROC)
        return NEXT(Imrecv)(data, count, type, message, request);
    struct carried *it = incoming(data, count, type, false);
    int error = NEXT(Imrecv)(it->buffer, it->count, it->type, message, request);
    return under_way(it, error, *request);
}

static void starts(MPI_Request request)
{
    struct carried *it = take(request);
    if (!it)
        return;
    it->is_active = true;
    it->is_taken_in = false;
    if (it->kind == SENDS)
        retime_session_sent(&it->stamp);
    keep(it, request);
}

int MPI_Start(MPI_Request *request)
{
    if (riding)
        starts(*request);
    return NEXT(Start)(request);
}

int MPI_Startall(int count, MPI_Request *requests)
{
    for (int i = 0; riding && i < count; i++)
        starts(requests[i]);
    return NEXT(Startall)(count, requests);
}
