/* random SEED ROUNDS: a random program of all kinds of communication on which a clock rides.
 *
 * All ranks draw what happens next from the same seed, so that every message is received. Data
 * begin with the sender's retime_now(): who has received them must be later. What comes is
 * compared with what was sent, byte by byte, also its length. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retime_pmpi.h"

enum { LONGEST = 40000, STAMPED = 8 };

static int rank, size;
static uint64_t state;
static int64_t latest;

static unsigned draw(unsigned bound)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % bound;
}

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* The time of this rank, which never falls. */
static int64_t now(void)
{
    int64_t time = retime_now();
    expect(time >= latest, "the time of the program has fallen");
    return latest = time;
}

static int length(void)
{
    static const int some[] = {8, 8, 9, 100, 1000, 4096, 4097, LONGEST};
    return some[draw(8)];
}

/* Some bytes from one rank to another. */
static void fill(char *data, int bytes, int from, int salt)
{
    int64_t time = now();
    memcpy(data, &time, sizeof time);
    for (int i = STAMPED; i < bytes; i++)
        data[i] = (char)(i * 7 + from * 31 + salt);
}

static void check(const char *data, int bytes, int from, int salt)
{
    int64_t time;
    memcpy(&time, data, sizeof time);
    expect(now() + (from == rank) > time, "a message is received before it was sent");
    for (int i = STAMPED; i < bytes; i++)
        expect(data[i] == (char)(i * 7 + from * 31 + salt), "wrong data have arrived");
}

static void check_status(const MPI_Status *status, int bytes, int from, int tag)
{
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    expect(count == bytes, "a status tells another length");
    expect(status->MPI_SOURCE == from && status->MPI_TAG == tag, "a status tells another message");
}

static char out[LONGEST], in[64][LONGEST];

static int after(int steps) { return ((rank + steps) % size + size) % size; }

/* ---- blocking ---- */

static void ring(void)
{
    int bytes = length(), tag = draw(5), synchronous = draw(2);
    MPI_Status status;
    fill(out, bytes, rank, tag);
    for (int turn = 0; turn < 2; turn++)
        if (turn == rank % 2) {
            if (synchronous && rank + 1 < size)
                MPI_Ssend(out, bytes, MPI_BYTE, rank + 1, tag, MPI_COMM_WORLD);
            else if (rank + 1 < size)
                MPI_Send(out, bytes, MPI_BYTE, rank + 1, tag, MPI_COMM_WORLD);
        } else if (rank > 0 && turn != rank % 2) {
            MPI_Recv(in[0], LONGEST, MPI_BYTE, rank - 1, tag, MPI_COMM_WORLD, &status);
            check_status(&status, bytes, rank - 1, tag);
            check(in[0], bytes, rank - 1, tag);
        }
    MPI_Send(out, bytes, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    MPI_Recv(out, bytes, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All send to one, who takes what comes, with or without a look at it first. */
static void star(void)
{
    int root = draw(size), bytes = length(), how = draw(4);
    if (rank != root) {
        fill(out, bytes, rank, root);
        MPI_Send(out, bytes, MPI_BYTE, root, rank, MPI_COMM_WORLD);
    }
    for (int i = 1; rank == root && i < size; i++) {
        MPI_Status status;
        MPI_Message message;
        int flag = 0, count;
        if (how == 0)
            MPI_Recv(in[0], LONGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        else if (how == 1) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            MPI_Recv(in[0], count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                     &status);
        } else if (how == 2) {
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            MPI_Mrecv(in[0], count, MPI_BYTE, &message, &status);
        } else {
            MPI_Request request;
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Imrecv(in[0], LONGEST, MPI_BYTE, &message, &request);
            MPI_Wait(&request, &status);
        }
        check_status(&status, bytes, status.MPI_SOURCE, status.MPI_SOURCE);
        check(in[0], bytes, status.MPI_SOURCE, root);
    }
    /* What comes next must not be taken for this. */
    MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange(void)
{
    int steps = draw(size), bytes = length(), replaces = draw(2);
    MPI_Status status;
    fill(out, bytes, rank, 1);
    if (replaces)
        MPI_Sendrecv_replace(out, bytes, MPI_BYTE, after(steps), 3, after(-steps), 3, MPI_COMM_WORLD,
                             &status);
    else
        MPI_Sendrecv(out, bytes, MPI_BYTE, after(steps), 3, in[0], LONGEST, MPI_BYTE, after(-steps),
                     3, MPI_COMM_WORLD, &status);
    check_status(&status, bytes, after(-steps), 3);
    check(replaces ? out : in[0], bytes, after(-steps), 1);
}

/* ---- non-blocking ---- */

/* Completes all of them, in one of many ways. */
static void complete(int count, MPI_Request *requests, MPI_Status *statuses, int how)
{
    int left = count, flag = 0, index, some, indices[64];
    MPI_Status status, these[64];
    switch (how) {
    case 0:
        MPI_Waitall(count, requests, statuses);
        break;
    case 1:
        while (!flag)
            MPI_Testall(count, requests, &flag, statuses);
        break;
    case 2:
        for (int i = count - 1; i >= 0; i--)
            MPI_Wait(&requests[i], &statuses[i]);
        break;
    case 3:
        for (int i = 0; i < count; i++)
            for (flag = 0; !flag;)
                MPI_Test(&requests[i], &flag, &statuses[i]);
        break;
    case 4:
        for (; left; left--) {
            MPI_Waitany(count, requests, &index, &status);
            statuses[index] = status;
        }
        break;
    case 5:
        while (left) {
            MPI_Testany(count, requests, &index, &flag, &status);
            if (flag) {
                statuses[index] = status;
                left--;
            }
        }
        break;
    default:
        while (left) {
            if (how == 6)
                MPI_Waitsome(count, requests, &some, indices, these);
            else
                MPI_Testsome(count, requests, &some, indices, these);
            for (int i = 0; i < some; i++)
                statuses[indices[i]] = these[i];
            left -= some;
        }
    }
}

/* Each sends to some others; one of the receives may take from anybody. */
static void some_to_some(void)
{
    int partners = 1 + draw(size > 4 ? 4 : size), bytes = length(), how = draw(8), looks = draw(2);
    MPI_Request requests[64];
    MPI_Status statuses[64];
    int count = 0;
    for (int i = 0; i < partners; i++)
        MPI_Irecv(in[i], LONGEST, MPI_BYTE, after(-i), i, MPI_COMM_WORLD, &requests[count++]);
    for (int i = 0; i < partners; i++) {
        fill(in[32 + i], bytes, rank, i);
        int synchronous = draw(2);
        (synchronous ? MPI_Issend : MPI_Isend)(in[32 + i], bytes, MPI_BYTE, after(i), i,
                                               MPI_COMM_WORLD, &requests[count++]);
    }
    if (looks) {
        int flag = 0;
        while (!flag)
            MPI_Request_get_status(requests[0], &flag, &statuses[0]);
        check_status(&statuses[0], bytes, rank, 0);
        check(in[0], bytes, rank, 0);
    }
    complete(count, requests, statuses, how);
    for (int i = 0; i < partners; i++) {
        check_status(&statuses[i], bytes, after(-i), i);
        check(in[i], bytes, after(-i), i);
    }
}

/* Two receives that both fit what comes, of which one takes from anybody: they are waited for in
 * the other order. */
static void crossing(void)
{
    int bytes = length();
    fill(out, bytes, rank, 0);
    fill(in[9], bytes, rank, 0);
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Irecv(in[0], LONGEST, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], LONGEST, MPI_BYTE, after(-1), 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, after(1), 9, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(in[9], bytes, MPI_BYTE, after(1), 9, MPI_COMM_WORLD, &requests[3]);
    MPI_Wait(&requests[1], &statuses[1]);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Waitall(2, requests + 2, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        check(in[i], bytes, statuses[i].MPI_SOURCE, 0);
}

static void persistent(void)
{
    int bytes = length(), times = 1 + draw(3);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(in[0], LONGEST, MPI_BYTE, after(-1), 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, bytes, MPI_BYTE, after(1), 4, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < times; i++) {
        fill(out, bytes, rank, i);
        if (i % 2)
            MPI_Startall(2, requests);
        else {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        }
        MPI_Waitall(2, requests, statuses);
        check_status(&statuses[0], bytes, after(-1), 4);
        check(in[0], bytes, after(-1), i);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* What is given up: a receive that nothing comes for, and a send that nobody waits for. */
static void given_up(void)
{
    MPI_Request request;
    MPI_Status status;
    int is_cancelled, bytes = length();
    MPI_Irecv(in[0], LONGEST, MPI_BYTE, after(1), 99, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    expect(is_cancelled, "a receive is not cancelled");
    static char kept[64][LONGEST];
    static int next;
    char *data = kept[next++ % 64];
    fill(data, bytes, rank, 5);
    MPI_Isend(data, bytes, MPI_BYTE, after(1), 5, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(in[0], LONGEST, MPI_BYTE, after(-1), 5, MPI_COMM_WORLD, &status);
    check(in[0], bytes, after(-1), 5);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A message with gaps, one at absolute addresses, one of nothing, one that is not whole. */
static void odd(void)
{
    double matrix[20][10], column[20];
    MPI_Datatype type;
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 10; j++)
            matrix[i][j] = 100 * rank + i + 0.01 * j;
    MPI_Type_vector(20, 1, 10, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Status status;
    int count;
    MPI_Sendrecv(&matrix[0][3], 1, type, after(1), 1, column, 20, MPI_DOUBLE, after(-1), 1,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    expect(count == 20, "a column is not whole");
    for (int i = 0; i < 20; i++)
        expect(column[i] == 100 * after(-1) + i + 0.01 * 3, "a column is another");
    MPI_Sendrecv(column, 20, MPI_DOUBLE, after(-1), 1, &matrix[0][5], 1, type, after(1), 1,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    expect(count == 1 && matrix[7][5] == 100 * rank + 7 + 0.01 * 3, "a column came back wrong");
    expect(matrix[7][4] == 100 * rank + 7 + 0.01 * 4, "a gap was written to");
    MPI_Type_free(&type);
    MPI_Sendrecv(NULL, 0, MPI_INT, after(1), 2, NULL, 0, MPI_INT, after(-1), 2, MPI_COMM_WORLD,
                 &status);
    check_status(&status, 0, after(-1), 2);
}

/* ---- collective operations ---- */

static void collective(MPI_Comm comm)
{
    int members, me, what = draw(17), root, values[64], results[64], ones[64], places[64];
    MPI_Comm_size(comm, &members);
    MPI_Comm_rank(comm, &me);
    root = draw(64) % members;
    for (int i = 0; i < 64; i++) {
        values[i] = me + i;
        results[i] = -1;
        ones[i] = 1;
        places[i] = i;
    }
    int sum = members * (members - 1) / 2;
    MPI_Datatype types[64];
    for (int i = 0; i < 64; i++)
        types[i] = MPI_INT;
    now();
    switch (what) {
    case 0: MPI_Barrier(comm); break;
    case 1:
        values[0] = me == root ? 77 : 0;
        MPI_Bcast(values, 1, MPI_INT, root, comm);
        expect(values[0] == 77, "Bcast");
        break;
    case 2:
        MPI_Reduce(values, results, 1, MPI_INT, MPI_SUM, root, comm);
        expect(me != root || results[0] == sum, "Reduce");
        break;
    case 3:
        MPI_Allreduce(MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, comm);
        expect(values[0] == sum, "Allreduce");
        break;
    case 4:
        MPI_Gather(values, 1, MPI_INT, results, 1, MPI_INT, root, comm);
        expect(me != root || results[members - 1] == members - 1, "Gather");
        break;
    case 5:
        MPI_Gatherv(values, 1, MPI_INT, results, ones, places, MPI_INT, root, comm);
        expect(me != root || results[members - 1] == members - 1, "Gatherv");
        break;
    case 6:
        MPI_Scatter(values, 1, MPI_INT, results, 1, MPI_INT, root, comm);
        expect(results[0] == root + me, "Scatter");
        break;
    case 7:
        MPI_Scatterv(values, ones, places, MPI_INT, results, 1, MPI_INT, root, comm);
        expect(results[0] == root + me, "Scatterv");
        break;
    case 8:
        MPI_Allgather(values, 1, MPI_INT, results, 1, MPI_INT, comm);
        expect(results[members - 1] == members - 1, "Allgather");
        break;
    case 9:
        MPI_Allgatherv(values, 1, MPI_INT, results, ones, places, MPI_INT, comm);
        expect(results[members - 1] == members - 1, "Allgatherv");
        break;
    case 10:
        MPI_Alltoall(values, 1, MPI_INT, results, 1, MPI_INT, comm);
        expect(results[members - 1] == members - 1 + me, "Alltoall");
        break;
    case 11:
        MPI_Alltoallv(values, ones, places, MPI_INT, results, ones, places, MPI_INT, comm);
        expect(results[members - 1] == members - 1 + me, "Alltoallv");
        break;
    case 12:
        for (int i = 0; i < 64; i++)
            places[i] = i * sizeof(int);
        MPI_Alltoallw(values, ones, places, types, results, ones, places, types, comm);
        expect(results[members - 1] == members - 1 + me, "Alltoallw");
        break;
    case 13:
        MPI_Scan(values, results, 1, MPI_INT, MPI_SUM, comm);
        expect(results[0] == me * (me + 1) / 2, "Scan");
        break;
    case 14:
        MPI_Exscan(values, results, 1, MPI_INT, MPI_SUM, comm);
        expect(me == 0 || results[0] == me * (me - 1) / 2, "Exscan");
        break;
    case 15:
        MPI_Reduce_scatter(values, results, ones, MPI_INT, MPI_SUM, comm);
        expect(results[0] == sum + members * me, "Reduce_scatter");
        break;
    default:
        MPI_Reduce_scatter_block(values, results, 1, MPI_INT, MPI_SUM, comm);
        expect(results[0] == sum + members * me, "Reduce_scatter_block");
    }
    now();
}

/* Operations under way while messages are exchanged. */
static void later(MPI_Comm comm)
{
    int members, me, what = draw(8), root, how = draw(8), values[64], results[64];
    MPI_Comm_size(comm, &members);
    MPI_Comm_rank(comm, &me);
    root = draw(64) % members;
    for (int i = 0; i < 64; i++)
        values[i] = me + i;
    int sum = members * (members - 1) / 2;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    switch (what) {
    case 0: MPI_Ibarrier(comm, &requests[0]); break;
    case 1: MPI_Ibcast(values, 1, MPI_INT, root, comm, &requests[0]); break;
    case 2: MPI_Ireduce(values, results, 1, MPI_INT, MPI_SUM, root, comm, &requests[0]); break;
    case 3: MPI_Iallreduce(values, results, 1, MPI_INT, MPI_SUM, comm, &requests[0]); break;
    case 4: MPI_Igather(values, 1, MPI_INT, results, 1, MPI_INT, root, comm, &requests[0]); break;
    case 5: MPI_Iallgather(values, 1, MPI_INT, results, 1, MPI_INT, comm, &requests[0]); break;
    case 6: MPI_Iscan(values, results, 1, MPI_INT, MPI_SUM, comm, &requests[0]); break;
    default: MPI_Iexscan(values, results, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    }
    MPI_Ibarrier(comm, &requests[1]);
    exchange();
    complete(2, requests, statuses, how);
    if (what == 1)
        expect(values[0] == root, "Ibcast");
    if (what == 3 || (what == 2 && me == root))
        expect(results[0] == sum, "Iallreduce");
    if (what == 5 || (what == 4 && me == root))
        expect(results[members - 1] == members - 1, "Iallgather");
    if (what == 6)
        expect(results[0] == me * (me + 1) / 2, "Iscan");
}

static void between(MPI_Comm inter, int half)
{
    int bytes = length(), others, me;
    MPI_Comm_remote_size(inter, &others);
    MPI_Comm_rank(inter, &me);
    if (me)
        return;
    MPI_Status status;
    fill(out, bytes, half, 0);
    MPI_Sendrecv(out, bytes, MPI_BYTE, 0, 6, in[0], LONGEST, MPI_BYTE, 0, 6, inter, &status);
    check_status(&status, bytes, 0, 6);
    check(in[0], bytes, !half, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435761u + 1 : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 100, half = rank < size / 2;
    MPI_Comm twin, part, inter = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, half, -rank, &part);
    if (size > 1)
        MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, half ? size - 1 : size / 2 - 1, 8, &inter);
    MPI_Comm comms[] = {MPI_COMM_WORLD, twin, part, MPI_COMM_SELF};
    for (int round = 0; round < rounds; round++)
        switch (draw(12)) {
        case 0: ring(); break;
        case 1: star(); break;
        case 2: exchange(); break;
        case 3: some_to_some(); break;
        case 4: crossing(); break;
        case 5: persistent(); break;
        case 6: given_up(); break;
        case 7: odd(); break;
        case 8: later(comms[draw(3)]); break;
        case 9:
            if (size > 1)
                between(inter, half);
            break;
        default: collective(comms[draw(4)]);
        }
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
