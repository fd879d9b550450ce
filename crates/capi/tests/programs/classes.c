/*
 * Three processes in an operation of each class, by the clock that they carry along and by the
 * filter: who has to wait for whom is written down here.
 *
 * All enter at 1000 and leave at 1010 by the clock of process 0; that of process 1 is 100 ticks
 * behind it, that of process 2 is 50 ahead. Messages take 5 ticks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <retime.h>

enum { PROCESSES = 3, DELAY = 5 };

static const int32_t classes[] = {RETIME_CLASS_ALL_TO_ALL, RETIME_CLASS_FROM_ROOT,
                                  RETIME_CLASS_TO_ROOT, RETIME_CLASS_PREFIX,
                                  RETIME_CLASS_UNORDERED};
/* When each enters and leaves, by its own clock. */
static const int64_t enters[PROCESSES] = {1000, 900, 1050};
static const int64_t leaves[PROCESSES] = {1010, 910, 1060};
/* When each leaves by the logical clock; the root is process 2. */
static const int64_t expected[][PROCESSES] = {
    {1055, 1055, 1060}, /* The last to enter is 2, at 1050; 2 itself waits for 0. */
    {1055, 1055, 1060}, /* All but 2 wait for 2. */
    {1010, 910, 1060},  /* 2 waits for 0, which entered at 1000. */
    {1010, 1005, 1060}, /* 1 waits for 0, 2 for both. */
    {1010, 910, 1060},  /* Nobody waits. */
};

static int failures;

static void equal(const char *what, int at, int process, int64_t got) {
    if (got != expected[at][process]) {
        fprintf(stderr, "%s, class %d, process %d: left at %" PRId64 " instead of %" PRId64 "\n",
                what, (int)classes[at], process, got, expected[at][process]);
        failures++;
    }
}

static void must(retime_status status) {
    if (status != RETIME_STATUS_OK) {
        fprintf(stderr, "%s\n", retime_error());
        failures++;
    }
}

/* What a process hears of those that it waits for. */
static retime_stamp heard(int32_t class_of, int process, const retime_stamp *given) {
    retime_stamp others = {RETIME_NO_TIME, RETIME_NO_TIME};
    retime_stamps all;
    switch (class_of) {
    case RETIME_CLASS_ALL_TO_ALL:
        must(retime_stamps_of(given, PROCESSES, &all));
        return retime_stamps_besides(all, given[process]);
    case RETIME_CLASS_PREFIX:
        for (int lower = 0; lower < process; lower++)
            others = retime_stamp_merged(others, given[lower]);
        return others;
    default:
        /* Who is not waited for gives what changes nothing. */
        for (int other = 0; other < PROCESSES; other++)
            if (other != process)
                others = retime_stamp_merged(others, given[other]);
        return others;
    }
}

static void carried(int at, int32_t kind) {
    retime_clock *clocks[PROCESSES];
    retime_stamp given[PROCESSES];
    for (int me = 0; me < PROCESSES; me++) {
        must(retime_clock_make(kind, 1000000, DELAY, &clocks[me]));
        must(retime_clock_enter(clocks[me], enters[me], classes[at], me == 2, &given[me]));
    }
    for (int me = 0; me < PROCESSES; me++) {
        int64_t time = 0;
        const retime_stamp others = heard(classes[at], me, given);
        must(retime_clock_leave(clocks[me], leaves[me], classes[at], me == 2, &others, &time));
        equal("carried along", at, me, time);
        retime_clock_free(clocks[me]);
    }
}

static void filtered(int at) {
    const uint32_t clocks[PROCESSES] = {0, 1, 2};
    const char *options[] = {"--min-delay", "5ticks", "--ticks-per-second", "1000000", NULL};
    retime_filter *filter = NULL;
    retime_filter_state state;
    retime_corrected event;
    int left = 0;
    must(retime_filter_make(clocks, PROCESSES, options, &filter));
    for (uint32_t me = 0; me < PROCESSES; me++) {
        const retime_operation operation = {7, classes[at], PROCESSES, me, 2, 0, 0};
        must(retime_filter_enter(filter, me, (uint64_t)enters[me], &operation, 0));
        must(retime_filter_leave(filter, me, (uint64_t)leaves[me], &operation, 1));
    }
    must(retime_filter_finish(filter));
    while (retime_filter_pop(filter, &event) == RETIME_STATUS_OK)
        if (event.payload == 1) {
            equal("filtered", at, (int)event.location, (int64_t)event.time);
            left++;
        }
    must(retime_filter_counts(filter, &state));
    if (left != PROCESSES || state.unfinished_operations != 0 || state.open_operations != 0) {
        fprintf(stderr, "class %d: %d left, %" PRIu64 " operations unfinished\n", (int)classes[at],
                left, state.unfinished_operations);
        failures++;
    }
    retime_filter_free(filter);
}

/* Who gives nothing is waited for by nobody: of three that gather, one has no bytes. */
static void without_bytes(void) {
    const uint32_t clocks[PROCESSES] = {0, 1, 2};
    retime_filter *filter = NULL;
    retime_filter_state state;
    retime_corrected event;
    retime_operation operation = {1, RETIME_CLASS_TO_ROOT, PROCESSES, 0, 2, 1, 0};
    must(retime_filter_make(clocks, PROCESSES, NULL, &filter));
    must(retime_filter_enter(filter, 0, 500, &operation, 0));
    operation.rank = 2;
    must(retime_filter_enter(filter, 2, 400, &operation, 0));
    must(retime_filter_leave(filter, 2, 410, &operation, 1));
    must(retime_filter_push(filter, 1, 900, 0));
    must(retime_filter_finish(filter));
    while (retime_filter_pop(filter, &event) == RETIME_STATUS_OK)
        if (event.payload == 1 && event.time != 500) {
            fprintf(stderr, "left at %" PRIu64 " instead of 500\n", event.time);
            failures++;
        }
    must(retime_filter_counts(filter, &state));
    if (state.unfinished_operations != 0)
        failures++;
    retime_filter_free(filter);
}

/*
 * Messages without numbers, in the order of their sending: the second forces its receiver from 50
 * to 200, which moves what lies 10 ticks before and after nearly as far.
 */
static void channels(void) {
    const uint32_t clocks[2] = {0, 1};
    const retime_channel to = {1, 3, 9}, from = {0, 3, 9};
    const uint64_t arrive[] = {190, 200, 360};
    retime_filter *filter = NULL;
    retime_corrected event;
    int at = 0;
    must(retime_filter_make(clocks, 2, NULL, &filter));
    must(retime_filter_send_to(filter, 0, 100, &to, 0));
    must(retime_filter_send_to(filter, 0, 200, &to, 0));
    must(retime_filter_receive_from(filter, 1, 40, &from, 1));
    must(retime_filter_receive_from(filter, 1, 50, &from, 1));
    must(retime_filter_push(filter, 1, 210, 1));
    must(retime_filter_finish(filter));
    while (retime_filter_pop(filter, &event) == RETIME_STATUS_OK)
        if (event.payload == 1 && event.time != arrive[at++]) {
            fprintf(stderr, "message %d arrived at %" PRIu64 "\n", at, event.time);
            failures++;
        }
    if (at != 3)
        failures++;
    retime_filter_free(filter);
}

int main(void) {
    for (int at = 0; at < (int)(sizeof classes / sizeof *classes); at++) {
        carried(at, RETIME_CLOCK_KIND_CONTROLLED);
        carried(at, RETIME_CLOCK_KIND_SIMPLE);
        filtered(at);
    }
    without_bytes();
    channels();
    return failures == 0 ? 0 : 1;
}
