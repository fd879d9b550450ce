/* A stamp goes ahead of the data of each message, in the same message.
 *
 * So whatever MPI does with the message happens to the stamp: wildcards, probes, cancelled
 * requests, several threads, and in whatever order requests complete, the stamp that is there
 * is that of the message that is there. A second message for the stamp could not do that: of
 * two requests of which one has a wildcard, nobody but MPI knows which of two messages each
 * got before it is there.
 *
 * MPI gets a datatype of the stamp and the data, at their addresses. For short messages of
 * plain numbers that costs more than the message: these are copied behind the stamp, and sent
 * as bytes. To the receiver both are the same. */
#include "shim.h"

#include <limits.h>

/* Up to here copying is cheaper than making a datatype. */
enum { SHORT = 4096 };

/* The bytes of such data, if they lie without gaps and are plain numbers; else -1. */
static long plain_bytes(int count, MPI_Datatype type)
{
    int integers, addresses, types, combiner, size;
    if (count < 0 || type == MPI_DATATYPE_NULL ||
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) ||
        combiner != MPI_COMBINER_NAMED)
        return -1;
    MPI_Aint lower, extent;
    if (PMPI_Type_size(type, &size) || PMPI_Type_get_extent(type, &lower, &extent) || lower ||
        size != extent)
        return -1;
    return (long)count * size;
}

static void make_type(struct carried *it, const void *data, int count, MPI_Datatype type)
{
    int lengths[2] = {sizeof it->stamp, count};
    MPI_Aint places[2];
    MPI_Datatype types[2] = {MPI_BYTE, type};
    PMPI_Get_address(&it->stamp, &places[0]);
    PMPI_Get_address((void *)data, &places[1]);
    PMPI_Type_create_struct(count ? 2 : 1, lengths, places, types, &it->type);
    PMPI_Type_commit(&it->type);
    it->buffer = MPI_BOTTOM;
    it->count = 1;
}

static struct carried *carry(enum kind kind, const void *data, int count, MPI_Datatype type,
                             bool is_persistent)
{
    long bytes = is_persistent || data == MPI_BOTTOM ? -1 : plain_bytes(count, type);
    bool is_short = bytes >= 0 && bytes <= SHORT;
    struct carried *it = room(sizeof *it + (is_short ? bytes : 0));
    it->kind = kind;
    it->is_persistent = is_persistent;
    it->is_active = !is_persistent;
    it->stamps = MPI_REQUEST_NULL;
    it->type = MPI_DATATYPE_NULL;
    if (is_short) {
        it->buffer = &it->stamp;
        it->count = sizeof it->stamp + bytes;
        it->type = MPI_BYTE;
        it->data = (void *)data;
        it->data_room = bytes;
    } else
        make_type(it, data, count, type);
    return it;
}

struct carried *outgoing(const void *data, int count, MPI_Datatype type, bool is_persistent)
{
    struct carried *it = carry(SENDS, data, count, type, is_persistent);
    if (it->data_room)
        memcpy(it->copied, data, it->data_room);
    if (!is_persistent)
        retime_session_sent(&it->stamp);
    return it;
}

struct carried *incoming(void *data, int count, MPI_Datatype type, bool is_persistent)
{
    return carry(RECEIVES, data, count, type, is_persistent);
}

void started(struct carried *it)
{
    if (it->type != MPI_BYTE && it->type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&it->type);
}

/* How many bytes came, the stamp among them. */
static MPI_Count bytes_of(const MPI_Status *status)
{
    MPI_Count bytes;
    if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) || bytes == MPI_UNDEFINED)
        return 0;
    return bytes;
}

void without_stamp(MPI_Status *status)
{
    MPI_Count bytes = bytes_of(status), stamp = sizeof(struct stamp);
    if (status->MPI_SOURCE != MPI_PROC_NULL && bytes >= stamp)
        PMPI_Status_set_elements_x(status, MPI_BYTE, bytes - stamp);
}

void arrived(struct carried *it, MPI_Status *status)
{
    MPI_Count bytes = bytes_of(status), stamp = sizeof it->stamp;
    if (bytes < stamp)
        return;
    without_stamp(status);
    if (it->is_taken_in)
        return;
    size_t data = bytes - stamp;
    if (it->data_room)
        memcpy(it->data, it->copied, data < it->data_room ? data : it->data_room);
    retime_session_received(&it->stamp);
    it->is_taken_in = true;
    look_after_adopted();
}

void release(struct carried *it)
{
    started(it);
    free(it);
}
