/* What lies beyond the border (src/border.rs): clocks, files, the measuring. No MPI. */
#ifndef RETIME_SESSION_H
#define RETIME_SESSION_H

#include <stdint.h>

struct retime_shim {
    void (*send)(int to, const int64_t words[4]);
    void (*receive)(int from, int64_t words[4]);
    uint64_t (*counter)(void);
};

/* What a message carries ahead of its data. */
struct stamp {
    int64_t simple, controlled, message;
};

enum class { ALL_TO_ALL, FROM_ROOT, TO_ROOT, PREFIX };

struct joined {
    uint64_t communicator, number;
    int class, is_root, rank, participants;
};

enum { RETIME_FAILED = -1, RETIME_RIDES = 1, RETIME_MEASURES_ON_THE_WAY = 2, RETIME_MEASURED = 7 };

int retime_session_begin(int rank, int size, uint64_t (*counter)(void));
void retime_session_measure(const struct retime_shim *shim, int rank, int size, const int *nodes,
                            int64_t measured[RETIME_MEASURED]);
void retime_session_add(const int64_t *measured, int size);
int retime_session_ride(const int64_t measured[RETIME_MEASURED]);
int retime_session_is_due(int times);
void retime_session_sent(struct stamp *stamp);
void retime_session_received(const struct stamp *stamp);
void retime_session_enter(const struct joined *joined, int64_t own[2]);
void retime_session_leave(const struct joined *joined, const int64_t own[2],
                          const int64_t heard[4]);
void retime_session_merge(const int64_t *from, int64_t *into, int count);
int64_t retime_session_now(void);
void retime_session_finish(void);

#endif
