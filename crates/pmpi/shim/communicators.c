/* Numbers of communicators, and of the collective operations on each. Members agree on the
 * number when a communicator is made, which all of them do together. */
#include "shim.h"

static int key = MPI_KEYVAL_INVALID;
static uint64_t made;

static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

void name_communicator(MPI_Comm comm)
{
    if (!riding || comm == MPI_COMM_NULL)
        return;
    struct communicator *it = room(sizeof *it);
    int world;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    PMPI_Comm_rank(comm, &it->rank);
    PMPI_Comm_size(comm, &it->size);
    PMPI_Comm_test_inter(comm, &it->is_inter);
    /* The first member chooses a number that nobody else can choose. */
    it->id = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED) << 32 | (uint32_t)world;
    if (!it->is_inter)
        PMPI_Bcast(&it->id, 1, MPI_UINT64_T, 0, comm);
    PMPI_Comm_set_attr(comm, key, it);
}

void begin_communicators(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    name_communicator(MPI_COMM_WORLD);
    name_communicator(MPI_COMM_SELF);
}

struct communicator *communicator(MPI_Comm comm, const char *call)
{
    struct communicator *it = NULL;
    int found = false;
    PMPI_Comm_get_attr(comm, key, &it, &found);
    if (!found)
        refuse(call, "its communicator comes from a call on which no clock rides");
    return it;
}

#define MAKES(call, parameters, arguments) \
    int MPI_##call parameters \
    { \
        int error = NEXT(call) arguments; \
        if (!error) \
            name_communicator(*made); \
        return error; \
    }
MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
      (comm, group, tag, made))
MAKES(Comm_split, (MPI_Comm comm, int colour, int order, MPI_Comm *made),
      (comm, colour, order, made))
MAKES(Comm_split_type, (MPI_Comm comm, int type, int order, MPI_Info info, MPI_Comm *made),
      (comm, type, order, info, made))
MAKES(Cart_create,
      (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *made),
      (comm, n, dims, periods, reorder, made))
MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
MAKES(Graph_create,
      (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *made),
      (comm, n, index, edges, reorder, made))
MAKES(Dist_graph_create,
      (MPI_Comm comm, int n, const int nodes[], const int degrees[], const int targets[],
       const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
      (comm, n, nodes, degrees, targets, weights, info, reorder, made))
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
       const int targets[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made),
      (comm, in, sources, in_weights, out, targets, out_weights, info, reorder, made))
MAKES(Intercomm_create,
      (MPI_Comm comm, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made),
      (comm, leader, peer, remote, tag, made))
MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))
