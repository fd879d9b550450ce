/* Whether all cores share one time stamp counter, on which the truth rests: prints for
 * each core the least ticks a word takes to it from the first core, and back. A counter
 * that was ahead would make one way look short and the other long by as much; one that is
 * ahead by more than a word takes makes a way negative. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

/* Few are disturbed even beside other programs, and only the least counts. */
enum { ROUNDS = 50000 };

struct player {
    int core;
    int turn; /* 0 serves, 1 answers */
    int64_t least; /* ticks to get here */
};

/* The time at which a word was written is the word. */
static _Atomic uint64_t word[2][8] __attribute__((aligned(64)));

static uint64_t now(void)
{
    _mm_lfence();
    return __rdtsc();
}

static void stay_on(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set)) {
        perror("sched_setaffinity");
        exit(1);
    }
}

static void *play(void *argument)
{
    struct player *player = argument;
    _Atomic uint64_t *own = word[player->turn], *other = word[1 - player->turn];
    uint64_t seen = 0;
    stay_on(player->core);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        if (i % 2 == player->turn) {
            atomic_store(own, now());
            continue;
        }
        uint64_t sent;
        while ((sent = atomic_load(other)) == seen)
            ;
        seen = sent;
        int64_t taken = (int64_t)(now() - sent);
        if (taken < player->least)
            player->least = taken;
    }
    return NULL;
}

int main(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (int core = 1; core < cores; core++) {
        struct player players[2] = {{0, 0, INT64_MAX}, {core, 1, INT64_MAX}};
        pthread_t threads[2];
        atomic_store(word[0], 0);
        atomic_store(word[1], 0);
        for (int i = 0; i < 2; i++)
            if (pthread_create(&threads[i], NULL, play, &players[i])) {
                fprintf(stderr, "no thread\n");
                return 1;
            }
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        printf("%d %" PRId64 " %" PRId64 "\n", core, players[1].least, players[0].least);
    }
    return 0;
}
