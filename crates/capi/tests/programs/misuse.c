/*
 * Everything that can be wrong with arguments, and what comes back. The first argument is a
 * directory to work in.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <retime.h>

static int failures;

static void expect(int line, retime_status got, retime_status wanted, const char *text) {
    if (got != wanted || (text != NULL && strstr(retime_error(), text) == NULL)) {
        fprintf(stderr, "line %d: status %d instead of %d: %s\n", line, (int)got, (int)wanted,
                retime_error());
        failures++;
    }
}

#define EXPECT(call, wanted, text) expect(__LINE__, (call), RETIME_STATUS_##wanted, (text))

static void nulls(void) {
    retime_report *report;
    retime_counts counts;
    retime_stamp stamp = {0, 0};
    retime_corrected event;
    retime_filter_state state;
    retime_location location;
    int64_t time;
    uint64_t moment = 0;
    double bound;
    EXPECT(retime_check(NULL, NULL, NULL, &report), ARGUMENT, "the path of the trace is NULL");
    EXPECT(retime_check("x", NULL, NULL, NULL), ARGUMENT, "the place for the report is NULL");
    EXPECT(retime_check("", NULL, NULL, &report), ARGUMENT, "is empty");
    EXPECT(retime_correct("x", NULL, NULL, NULL, &report), ARGUMENT, "the path of the output");
    EXPECT(retime_apply(NULL, "x", "y", NULL, NULL, &report), ARGUMENT, "the correction");
    EXPECT(retime_undo(NULL, "y", NULL, NULL, &report), ARGUMENT, "NULL");
    EXPECT(retime_command(NULL, NULL, &report), OPTION, NULL);
    EXPECT(retime_report_counts(NULL, &counts), ARGUMENT, "the report is NULL");
    EXPECT(retime_trace_open(NULL, NULL, NULL, NULL), ARGUMENT, NULL);
    EXPECT(retime_trace_location(NULL, 0, &location), ARGUMENT, NULL);
    EXPECT(retime_study_make(NULL, NULL, NULL, NULL), ARGUMENT, NULL);
    EXPECT(retime_study_counts(NULL, &counts), ARGUMENT, NULL);
    EXPECT(retime_study_extent(NULL, 0, &moment, &moment), ARGUMENT, NULL);
    EXPECT(retime_study_corrected(NULL, 0, &moment, 1, &moment), ARGUMENT, NULL);
    EXPECT(retime_study_bounds(NULL, 0, &moment, 1, &bound, &bound), ARGUMENT, NULL);
    EXPECT(retime_filter_make(NULL, 1, NULL, NULL), ARGUMENT, NULL);
    EXPECT(retime_filter_push(NULL, 0, 0, 0), ARGUMENT, "the filter is NULL");
    EXPECT(retime_filter_send(NULL, 0, 0, 0, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_receive(NULL, 0, 0, 0, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_send_to(NULL, 0, 0, NULL, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_receive_from(NULL, 0, 0, NULL, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_enter(NULL, 0, 0, NULL, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_leave(NULL, 0, 0, NULL, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_heartbeat(NULL, 0, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_close(NULL, 0), ARGUMENT, NULL);
    EXPECT(retime_filter_finish(NULL), ARGUMENT, NULL);
    EXPECT(retime_filter_pop(NULL, &event), ARGUMENT, NULL);
    EXPECT(retime_filter_counts(NULL, &state), ARGUMENT, NULL);
    EXPECT(retime_clock_make(1, 1, 0, NULL), ARGUMENT, NULL);
    EXPECT(retime_clock_now(NULL, 0, &time), ARGUMENT, "the clock is NULL");
    EXPECT(retime_clock_local(NULL, 0, &time), ARGUMENT, NULL);
    EXPECT(retime_clock_send(NULL, 0, &stamp), ARGUMENT, NULL);
    EXPECT(retime_clock_receive(NULL, 0, &stamp, &time), ARGUMENT, NULL);
    EXPECT(retime_clock_enter(NULL, 0, 0, 0, &stamp), ARGUMENT, NULL);
    EXPECT(retime_clock_leave(NULL, 0, 0, 0, &stamp, &time), ARGUMENT, NULL);
    EXPECT(retime_stamps_of(NULL, 1, NULL), ARGUMENT, NULL);
    EXPECT(retime_stamp_to_bytes(stamp, NULL), ARGUMENT, NULL);
    EXPECT(retime_stamp_from_bytes(NULL, &stamp), ARGUMENT, NULL);
    if (retime_trace_format(NULL) || retime_trace_path(NULL) || retime_report_outcome(NULL) ||
        retime_report_json(NULL) || retime_report_written(NULL, 0) ||
        retime_trace_locations(NULL) || retime_trace_ticks_per_second(NULL) ||
        retime_report_exit_code(NULL) != -1) {
        fprintf(stderr, "something was found in NULL\n");
        failures++;
    }
    retime_trace_close(NULL);
    retime_report_free(NULL);
    retime_study_free(NULL);
    retime_filter_free(NULL);
    retime_clock_free(NULL);
}

static void numbers(void) {
    retime_clock *clock = (retime_clock *)1;
    retime_filter *filter = (retime_filter *)1;
    retime_stamp stamp;
    retime_stamps stamps;
    int64_t time;
    const uint32_t clocks[] = {0, 1}, far[] = {0, 4000000000u};
    const char *delay[] = {"--min-delay", "soon", NULL};
    const char *unknown[] = {"--no-such-option", NULL};
    EXPECT(retime_clock_make(7, 1000, 0, &clock), ARGUMENT, "retime_clock_kind");
    if (clock != NULL) {
        fprintf(stderr, "a handle of what was not made\n");
        failures++;
    }
    EXPECT(retime_clock_make(1, 0, 0, &clock), ARGUMENT, "ticks per second");
    EXPECT(retime_clock_make(1, 1, -1, &clock), ARGUMENT, "less than 0");
    EXPECT(retime_clock_make(RETIME_CLOCK_KIND_SIMPLE, UINT64_MAX, INT64_MAX, &clock), OK, NULL);
    EXPECT(retime_clock_enter(clock, 0, 9, 0, &stamp), ARGUMENT, "retime_class");
    EXPECT(retime_clock_leave(clock, INT64_MIN, 0, 0, NULL, &time), OK, NULL);
    EXPECT(retime_clock_local(clock, INT64_MAX, &time), OK, NULL);
    EXPECT(retime_clock_local(clock, INT64_MIN, &time), OK, NULL);
    retime_clock_free(clock);
    EXPECT(retime_stamps_of(NULL, 0, &stamps), OK, NULL);
    if (stamps.latest.simple != RETIME_NO_TIME || stamps.second.controlled != RETIME_NO_TIME) {
        fprintf(stderr, "nobody gave a stamp\n");
        failures++;
    }
    EXPECT(retime_stamps_of(&stamp, SIZE_MAX, &stamps), ARGUMENT, "cannot have");
    EXPECT(retime_filter_make(clocks, 0, NULL, &filter), ARGUMENT, "at least one location");
    EXPECT(retime_filter_make(far, 2, NULL, &filter), ARGUMENT, "no clock 4000000000");
    EXPECT(retime_filter_make(clocks, 2, delay, &filter), OPTION, "soon");
    EXPECT(retime_filter_make(clocks, 2, unknown, &filter), OPTION, "--no-such-option");
    if (retime_error_exit_code() != 2) {
        fprintf(stderr, "exit code %d\n", retime_error_exit_code());
        failures++;
    }
}

static void events(void) {
    const uint32_t clocks[] = {0, 1};
    retime_filter *filter = NULL;
    retime_corrected event;
    retime_operation operation = {1, RETIME_CLASS_FROM_ROOT, 2, 0, 0, 0, 0};
    EXPECT(retime_filter_make(clocks, 2, NULL, &filter), OK, NULL);
    EXPECT(retime_filter_pop(filter, &event), EMPTY, NULL);
    EXPECT(retime_filter_push(filter, 2, 5, 0), EVENT, "no location #2");
    EXPECT(retime_filter_push(filter, 0, 5, 0), OK, NULL);
    EXPECT(retime_filter_push(filter, 0, UINT64_MAX, 0), EVENT, "2^61");
    EXPECT(retime_filter_enter(filter, 0, 6, NULL, 0), ARGUMENT, "the operation is NULL");
    operation.root = 2;
    EXPECT(retime_filter_enter(filter, 0, 6, &operation, 0), ARGUMENT, "root 2");
    operation.root = 0;
    operation.participants = 0;
    EXPECT(retime_filter_enter(filter, 0, 6, &operation, 0), ARGUMENT, "participants");
    operation.participants = 2;
    operation.collective_class = -1;
    EXPECT(retime_filter_enter(filter, 0, 6, &operation, 0), ARGUMENT, "retime_class");
    EXPECT(retime_filter_close(filter, 0), OK, NULL);
    EXPECT(retime_filter_close(filter, 0), EVENT, "has ended");
    EXPECT(retime_filter_push(filter, 0, 7, 0), EVENT, "has ended");
    EXPECT(retime_filter_receive(filter, 1, 9, 77, 1), OK, NULL);
    /* What is still in a filter goes with it. */
    retime_filter_free(filter);
}

static int32_t always(void *data) {
    ++*(int *)data;
    return 1;
}

static void traces(const char *directory) {
    retime_report *report = NULL;
    retime_study *study = NULL;
    retime_trace *trace = NULL;
    char path[PATH_MAX];
    FILE *file;
    EXPECT(retime_check("/no/such/trace", NULL, NULL, &report), MISSING, "/no/such/trace");
    EXPECT(retime_trace_open("/no/such/trace", NULL, NULL, &trace), MISSING, NULL);
    EXPECT(retime_study_make("/no/such/trace", NULL, NULL, &study), MISSING, NULL);
    snprintf(path, sizeof path, "%s/garbage", directory);
    file = fopen(path, "wb");
    for (int at = 0; at < 5000; at++)
        fputc(at * at % 251, file);
    fclose(file);
    EXPECT(retime_check(path, NULL, NULL, &report), TRACE, "garbage");
    EXPECT(retime_trace_open(path, "no-format", NULL, &trace), OPTION, "no such format");
    EXPECT(retime_trace_open(path, "otf2", NULL, &trace), TRACE, NULL);
    /* A path that begins like an option is none. */
    EXPECT(retime_check("--version", NULL, NULL, &report), MISSING, "--version");
    {
        const char *simulate[] = {"simulate", "halo",  "--events", "20000", "--offset",
                                  "1ms",      "-o",    NULL,       NULL};
        const char *view[] = {"demo", NULL};
        int asked = 0;
        retime_watch watch = {&asked, NULL, NULL, NULL, always};
        char output[PATH_MAX];
        snprintf(path, sizeof path, "%s/halo", directory);
        simulate[7] = path;
        EXPECT(retime_command(simulate, NULL, &report), OK, NULL);
        EXPECT(retime_report_counts(report, &(retime_counts){0}), ARGUMENT, "only the reports");
        if (retime_report_json(report) != NULL || retime_report_written(report, 0) == NULL ||
            retime_report_written(report, 9) != NULL)
            failures++;
        retime_report_free(report);
        EXPECT(retime_command(view, NULL, &report), OPTION, "only the command retime");
        snprintf(output, sizeof output, "%s/corrected", directory);
        EXPECT(retime_correct(path, output, NULL, &watch, &report), INTERRUPTED, NULL);
        if (asked == 0) {
            fprintf(stderr, "the watcher was not asked\n");
            failures++;
        }
        EXPECT(retime_correct(path, output, NULL, NULL, &report), OK, NULL);
        retime_report_free(report);
        EXPECT(retime_correct(path, output, NULL, NULL, &report), OUTPUT, "--force");
        {
            const char *force[] = {"--force", NULL};
            EXPECT(retime_correct(path, output, force, NULL, &report), OK, NULL);
            retime_report_free(report);
        }
        EXPECT(retime_study_make(path, NULL, NULL, &study), OK, NULL);
        {
            uint64_t times[2] = {0, UINT64_MAX}, corrected[2];
            double before[2], after[2];
            EXPECT(retime_study_corrected(study, 4000, times, 2, corrected), ARGUMENT, "no location 4000");
            EXPECT(retime_study_bounds(study, 4000, times, 2, before, after), ARGUMENT, NULL);
            EXPECT(retime_study_extent(study, 4000, times, corrected), ARGUMENT, NULL);
            EXPECT(retime_study_corrected(study, 0, times, SIZE_MAX, corrected), ARGUMENT, "cannot have");
            EXPECT(retime_study_corrected(study, 0, NULL, 0, NULL), OK, NULL);
            EXPECT(retime_study_bounds(study, 0, times, 2, before, after), OK, NULL);
        }
        retime_study_free(study);
    }
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    if (strcmp(retime_error(), "") != 0 || retime_error_exit_code() != 0)
        failures++;
    nulls();
    numbers();
    events();
    traces(argv[1]);
    if (strcmp(retime_version(), RETIME_VERSION) != 0)
        failures++;
    return failures == 0 ? 0 : 1;
}
