/* convert RECORDING OUT --clock monotonic|tsc [--errors FILE] [--ranks-per-node N]
 *
 * Writes a directory of recorded ranks as an OTF2 archive, with the times of one of the
 * two clocks. FILE adds errors to them: lines `rank seconds error_ns`, by rank and time;
 * between them the error is a straight line, before and after it stays what it was. A line
 * `rank resolution ns` makes a clock advance in steps of so much. Stamps that would fall
 * behind their predecessor stand still, as an operating system has it. */
#include <inttypes.h>
#include <math.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording.h"

struct knot {
    double at, error; /* ns */
};

struct rank {
    struct header header;
    struct event *events;
    struct knot *knots;
    size_t knot_count;
    double resolution; /* ns; 0 as recorded */
};

struct comm {
    struct comm_header header;
    int *members;
};

static struct rank *ranks;
static uint32_t rank_count;
static struct comm *comms;
static size_t comm_count;
static uint64_t standing; /* stamps that stood still */

/* ---- reading ---- */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "convert: %s: %s\n", what, why);
    exit(1);
}

static void *memory(size_t count, size_t size)
{
    void *new = calloc(count ? count : 1, size);
    if (!new)
        fail("memory", "none left");
    return new;
}

static void read_exactly(void *to, size_t size, size_t count, FILE *file, const char *path)
{
    if (fread(to, size, count, file) != count)
        fail(path, "ends too early");
}

static void read_comms(const struct rank *rank, FILE *file, const char *path)
{
    comms = realloc(comms, (comm_count + rank->header.comms) * sizeof *comms + 1);
    if (!comms)
        fail("memory", "none left");
    for (uint64_t i = 0; i < rank->header.comms; i++) {
        struct comm *comm = &comms[comm_count++];
        read_exactly(&comm->header, sizeof comm->header, 1, file, path);
        size_t members = (size_t)comm->header.size + comm->header.remote_size;
        comm->members = memory(members, sizeof *comm->members);
        read_exactly(comm->members, sizeof *comm->members, members, file, path);
    }
}

static void read_rank(struct rank *rank, const char *directory, uint32_t number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/rank.%" PRIu32 ".rec", directory, number);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path, "cannot be opened");
    read_exactly(&rank->header, sizeof rank->header, 1, file, path);
    if (strcmp(rank->header.magic, RECORDING_MAGIC))
        fail(path, "is no recording");
    rank->events = memory(rank->header.events, sizeof *rank->events);
    read_exactly(rank->events, sizeof *rank->events, rank->header.events, file, path);
    read_comms(rank, file, path);
    fclose(file);
}

static void read_recording(const char *directory)
{
    struct rank first = {0};
    read_rank(&first, directory, 0);
    free(first.events);
    comm_count = 0;
    rank_count = first.header.size;
    ranks = memory(rank_count, sizeof *ranks);
    for (uint32_t i = 0; i < rank_count; i++)
        read_rank(&ranks[i], directory, i);
}

static void read_errors(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail(path, "cannot be opened");
    uint32_t number;
    char what[64];
    double value;
    while (fscanf(file, "%" SCNu32 " %63s %lf", &number, what, &value) == 3) {
        if (number >= rank_count)
            fail(path, "names a rank that was not recorded");
        struct rank *rank = &ranks[number];
        if (!strcmp(what, "resolution")) {
            rank->resolution = value;
            continue;
        }
        rank->knots = realloc(rank->knots, (rank->knot_count + 1) * sizeof *rank->knots);
        if (!rank->knots)
            fail("memory", "none left");
        rank->knots[rank->knot_count++] = (struct knot){atof(what) * 1e9, value};
    }
    if (!feof(file))
        fail(path, "has a line that is not `rank seconds error_ns`");
    fclose(file);
}

/* ---- times ---- */

static bool by_tsc;
static double ns_per_tick;
static int64_t first_monotonic = INT64_MAX;
static uint64_t first_tsc = UINT64_MAX;

static void find_begin(void)
{
    const struct reading *calibration = ranks[0].header.calibration;
    ns_per_tick = (double)(calibration[1].monotonic - calibration[0].monotonic) /
                  (double)(calibration[1].tsc - calibration[0].tsc);
    for (uint32_t i = 0; i < rank_count; i++) {
        const struct reading *at = &ranks[i].events[0].at;
        if (at->monotonic < first_monotonic)
            first_monotonic = at->monotonic;
        if (at->tsc < first_tsc)
            first_tsc = at->tsc;
    }
}

static double error_at(const struct rank *rank, double time)
{
    size_t low = 0, high = rank->knot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rank->knots[middle].at <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (rank->knot_count == 0)
        return 0;
    if (low == 0)
        return rank->knots[0].error;
    if (low == rank->knot_count)
        return rank->knots[low - 1].error;
    const struct knot *left = &rank->knots[low - 1], *right = &rank->knots[low];
    double share = (time - left->at) / (right->at - left->at);
    return left->error + share * (right->error - left->error);
}

static double stamp(const struct rank *rank, const struct event *event)
{
    double time = by_tsc ? (double)(event->at.tsc - first_tsc) * ns_per_tick
                         : (double)(event->at.monotonic - first_monotonic);
    time += error_at(rank, time);
    return rank->resolution > 0 ? floor(time / rank->resolution) * rank->resolution : time;
}

/* ---- writing events ---- */

static void check(OTF2_ErrorCode code, const char *what)
{
    if (code != OTF2_SUCCESS)
        fail(what, OTF2_Error_GetDescription(code));
}

static uint32_t comm_reference(uint32_t id)
{
    if (id == COMM_WORLD_ID || id == COMM_SELF_ID)
        return id;
    for (size_t i = 0; i < comm_count; i++)
        if (comms[i].header.id == id)
            return FIRST_FREE_COMM_ID + i;
    fail("an event", "is on a communicator that no rank recorded");
    return 0;
}

static uint32_t root_of(const struct event *event)
{
    return event->peer < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)event->peer;
}

static OTF2_ErrorCode write_event(OTF2_EvtWriter *to, OTF2_TimeStamp at, const struct event *e)
{
    uint32_t comm = comm_reference(e->comm);
    switch (e->kind) {
    case ENTER:
        return OTF2_EvtWriter_Enter(to, NULL, at, e->region);
    case LEAVE:
        return OTF2_EvtWriter_Leave(to, NULL, at, e->region);
    case SEND:
        return OTF2_EvtWriter_MpiSend(to, NULL, at, e->peer, comm, e->tag, e->sent);
    case RECV:
        return OTF2_EvtWriter_MpiRecv(to, NULL, at, e->peer, comm, e->tag, e->sent);
    case ISEND:
        return OTF2_EvtWriter_MpiIsend(to, NULL, at, e->peer, comm, e->tag, e->sent, e->request);
    case ISEND_COMPLETE:
        return OTF2_EvtWriter_MpiIsendComplete(to, NULL, at, e->request);
    case IRECV_REQUEST:
        return OTF2_EvtWriter_MpiIrecvRequest(to, NULL, at, e->request);
    case IRECV:
        return OTF2_EvtWriter_MpiIrecv(to, NULL, at, e->peer, comm, e->tag, e->sent, e->request);
    case COLLECTIVE_BEGIN:
        return OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, at);
    case COLLECTIVE_END:
        return OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, at, e->operation, comm, root_of(e),
                                               e->sent, e->received);
    case NONBLOCKING_REQUEST:
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(to, NULL, at, e->request);
    case NONBLOCKING_COMPLETE:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(to, NULL, at, e->operation, comm,
                                                            root_of(e), e->sent, e->received,
                                                            e->request);
    case COMM_CREATE:
        return OTF2_EvtWriter_CommCreate(to, NULL, at, comm);
    }
    fail("an event", "is of a kind that is not known");
    return OTF2_ERROR_INVALID_RECORD;
}

static void write_rank(OTF2_Archive *archive, uint32_t number, double shift)
{
    const struct rank *rank = &ranks[number];
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, number);
    OTF2_TimeStamp last = 0;
    for (uint64_t i = 0; i < rank->header.events; i++) {
        OTF2_TimeStamp at = (OTF2_TimeStamp)llround(stamp(rank, &rank->events[i]) + shift);
        if (at < last) {
            at = last;
            standing++;
        }
        check(write_event(writer, at, &rank->events[i]), "writing an event");
        last = at;
    }
    check(OTF2_Archive_CloseEvtWriter(archive, writer), "closing events");
}

/* ---- writing definitions ---- */

static OTF2_GlobalDefWriter *definitions;
static uint32_t strings, groups;

static uint32_t define_string(const char *text)
{
    check(OTF2_GlobalDefWriter_WriteString(definitions, strings, text), "a string");
    return strings++;
}

static uint32_t define_numbered(const char *word, uint32_t number)
{
    char text[64];
    snprintf(text, sizeof text, "%s %" PRIu32, word, number);
    return define_string(text);
}

static void define_places(uint32_t ranks_per_node)
{
    uint32_t kind = define_string("node"), thread = define_string("Master thread");
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 0, define_string("machine"),
                                                   define_string("cluster"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE),
          "a machine");
    for (uint32_t i = 0; i < rank_count; i++) {
        uint32_t node = 1 + i / ranks_per_node;
        if (i % ranks_per_node == 0)
            check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
                      definitions, node, define_numbered("node", node - 1), kind, 0),
                  "a node");
        uint32_t name = define_numbered("MPI Rank", i);
        check(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, i, name,
                                                      OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                                                      OTF2_UNDEFINED_LOCATION_GROUP),
              "a process");
        check(OTF2_GlobalDefWriter_WriteLocation(definitions, i, thread,
                                                 OTF2_LOCATION_TYPE_CPU_THREAD,
                                                 ranks[i].header.events, i),
              "a location");
    }
}

static void define_regions(uint32_t empty)
{
#define REGION_NAME(name) #name,
    static const char *const names[] = {REGIONS(REGION_NAME)};
#undef REGION_NAME
    for (uint32_t i = 0; i < REGION_COUNT; i++) {
        uint32_t name = define_string(names[i]);
        bool of_mpi = !strncmp(names[i], "MPI_", 4);
        OTF2_Paradigm paradigm = of_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER;
        check(OTF2_GlobalDefWriter_WriteRegion(definitions, i, name, name, empty,
                                               OTF2_REGION_ROLE_FUNCTION, paradigm,
                                               OTF2_REGION_FLAG_NONE, empty, 0, 0),
              "a region");
    }
}

/* Numbers must be dense and in order: they are given out as groups come. */
static uint32_t define_group(uint32_t name, OTF2_GroupType type, const int *members, uint32_t count)
{
    uint64_t *wide = memory(count, sizeof *wide);
    for (uint32_t i = 0; i < count; i++)
        wide[i] = members ? (uint64_t)members[i] : i;
    check(OTF2_GlobalDefWriter_WriteGroup(definitions, groups, name, type, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, count, wide),
          "a group");
    free(wide);
    return groups++;
}

static void define_comm(uint32_t id, uint32_t name, uint32_t group, uint32_t parent)
{
    check(OTF2_GlobalDefWriter_WriteComm(definitions, id, name, group, parent, OTF2_COMM_FLAG_NONE),
          "a communicator");
}

static void define_created_comm(uint32_t id, uint32_t empty, const struct comm *comm)
{
    uint32_t name = define_numbered("communicator", id), size = comm->header.size;
    uint32_t own = define_group(empty, OTF2_GROUP_TYPE_COMM_GROUP, comm->members, size);
    if (comm->header.remote_size == 0) {
        define_comm(id, name, own, COMM_WORLD_ID);
        return;
    }
    uint32_t remote = define_group(empty, OTF2_GROUP_TYPE_COMM_GROUP, comm->members + size,
                                   comm->header.remote_size);
    check(OTF2_GlobalDefWriter_WriteInterComm(definitions, id, name, own, remote, COMM_WORLD_ID,
                                              OTF2_COMM_FLAG_NONE),
          "an inter-communicator");
}

static void define_comms(uint32_t empty)
{
    define_group(empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, NULL, rank_count);
    uint32_t world = define_group(empty, OTF2_GROUP_TYPE_COMM_GROUP, NULL, rank_count);
    define_comm(COMM_WORLD_ID, define_string("MPI_COMM_WORLD"), world, OTF2_UNDEFINED_COMM);
    uint32_t self = define_group(empty, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    define_comm(COMM_SELF_ID, define_string("MPI_COMM_SELF"), self, OTF2_UNDEFINED_COMM);
    for (size_t i = 0; i < comm_count; i++)
        define_created_comm(FIRST_FREE_COMM_ID + i, empty, &comms[i]);
}

static void write_definitions(OTF2_Archive *archive, double length, uint32_t ranks_per_node)
{
    check(OTF2_Archive_OpenDefFiles(archive), "opening local definitions");
    for (uint32_t i = 0; i < rank_count; i++)
        check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, i)),
              "closing local definitions");
    check(OTF2_Archive_CloseDefFiles(archive), "closing local definitions");
    definitions = OTF2_Archive_GetGlobalDefWriter(archive);
    check(OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000000000, 0,
                                                    (uint64_t)length + 1,
                                                    OTF2_UNDEFINED_TIMESTAMP),
          "the clock");
    uint32_t empty = define_string("");
    define_places(ranks_per_node);
    define_regions(empty);
    define_comms(empty);
    check(OTF2_Archive_CloseGlobalDefWriter(archive, definitions), "closing definitions");
}

/* ---- the archive ---- */

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                            bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void)final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp no_time(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return 0;
}

static void write_archive(const char *path, uint32_t ranks_per_node)
{
    double first = INFINITY, last = -INFINITY;
    for (uint32_t i = 0; i < rank_count; i++) {
        first = fmin(first, stamp(&ranks[i], &ranks[i].events[0]));
        last = fmax(last, stamp(&ranks[i], &ranks[i].events[ranks[i].header.events - 1]));
    }
    OTF2_Archive *archive = OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        fail(path, "cannot be written");
    OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush, .otf2_post_flush = no_time};
    check(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL), "callbacks");
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "callbacks");
    check(OTF2_Archive_OpenEvtFiles(archive), "opening events");
    for (uint32_t i = 0; i < rank_count; i++)
        write_rank(archive, i, -first);
    check(OTF2_Archive_CloseEvtFiles(archive), "closing events");
    write_definitions(archive, last - first, ranks_per_node);
    check(OTF2_Archive_Close(archive), "closing the archive");
    printf("%.6f seconds, %" PRIu64 " stamps stood still\n", (last - first) * 1e-9, standing);
}

int main(int argc, char **argv)
{
    const char *errors = NULL;
    uint32_t ranks_per_node = 1;
    if (argc < 3 || argc % 2 == 0) {
        fprintf(stderr, "usage: convert RECORDING OUT [--clock monotonic|tsc] [--errors FILE] "
                        "[--ranks-per-node N]\n");
        return 2;
    }
    for (int i = 3; i < argc; i += 2) {
        if (!strcmp(argv[i], "--clock"))
            by_tsc = !strcmp(argv[i + 1], "tsc");
        else if (!strcmp(argv[i], "--errors"))
            errors = argv[i + 1];
        else if (!strcmp(argv[i], "--ranks-per-node"))
            ranks_per_node = strtoul(argv[i + 1], NULL, 10);
        else
            fail(argv[i], "is no option");
    }
    if (ranks_per_node == 0)
        fail("--ranks-per-node", "must be positive");
    read_recording(argv[1]);
    if (errors)
        read_errors(errors);
    find_begin();
    write_archive(argv[2], ranks_per_node);
    return 0;
}
