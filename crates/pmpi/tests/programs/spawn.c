/* Spawns one process more, which is rank 0 of a world of its own and ends last. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, all;
    int sum = 0, one = 1, parent_is_there;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    parent_is_there = parent != MPI_COMM_NULL;
    if (!parent_is_there) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &all,
                       MPI_ERRCODES_IGNORE);
        parent = all;
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_disconnect(&parent);
    if (parent_is_there)
        usleep(300000);
    MPI_Finalize();
    return sum > 2;
}
