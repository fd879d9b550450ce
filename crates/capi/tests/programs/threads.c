/* Threads with handles of their own, and failures of their own. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <retime.h>

enum { THREADS = 8, TURNS = 200 };

static void *work(void *number) {
    uintptr_t own = (uintptr_t)number;
    char expected[64];
    retime_clock *clock = NULL;
    int64_t last = INT64_MIN;
    snprintf(expected, sizeof expected, "there is no clock %d", (int)own + 2);
    if (retime_clock_make(RETIME_CLOCK_KIND_CONTROLLED, 1000000, 1, &clock) != RETIME_STATUS_OK)
        return (void *)"no clock";
    for (int turn = 0; turn < TURNS; turn++) {
        retime_clock *none;
        retime_stamp stamp = {10 * turn, 10 * turn + (int64_t)own};
        int64_t time;
        if (retime_clock_make((int32_t)own + 2, 1, 0, &none) != RETIME_STATUS_ARGUMENT)
            return (void *)"a clock that there is not";
        if (retime_clock_receive(clock, 10 * turn, &stamp, &time) != RETIME_STATUS_OK || time < last)
            return (void *)"time runs backwards";
        last = time;
        if (strstr(retime_error(), expected) == NULL)
            return (void *)"the failure of another thread";
    }
    retime_clock_free(clock);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int failures = 0;
    for (uintptr_t at = 0; at < THREADS; at++)
        if (pthread_create(&threads[at], NULL, work, (void *)at) != 0)
            return 2;
    for (int at = 0; at < THREADS; at++) {
        void *said;
        pthread_join(threads[at], &said);
        if (said != NULL) {
            fprintf(stderr, "thread %d: %s\n", at, (const char *)said);
            failures++;
        }
    }
    return failures == 0 ? 0 : 1;
}
