/*
 * Corrects a trace and says how far its times can be from the truth.
 *
 *     cc correct.c $(pkg-config --cflags --libs retime) -o correct
 *     ./correct TRACE OUTPUT [OPTION...]
 *
 * The options are those of `retime correct`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <retime.h>

/* Says why a call failed, as the command would. */
static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, retime_error());
    return retime_error_exit_code();
}

/* Counts what contradicts itself in a trace. */
static int check(const char *trace) {
    retime_report *report = NULL;
    retime_counts counts;
    if (retime_check(trace, NULL, NULL, &report) != RETIME_STATUS_OK)
        return failed("check");
    if (retime_report_counts(report, &counts) != RETIME_STATUS_OK)
        return failed("counts");
    printf("%s: %" PRIu64 " of %" PRIu64 " dependencies violated, the worst by %" PRId64
           " ticks; %" PRIu64 " clocks\n",
           trace, counts.recorded.violated, counts.recorded.dependencies,
           counts.recorded.violated > 0 ? -counts.recorded.smallest_latency : 0, counts.clocks);
    retime_report_free(report);
    return 0;
}

/* Says where the last recorded moment of each location belongs, and how sure that is. */
static int bounds(const char *trace, const char *const *options) {
    retime_study *study = NULL;
    retime_trace *opened = NULL;
    if (retime_study_make(trace, options, NULL, &study) != RETIME_STATUS_OK)
        return failed("study");
    if (retime_trace_open(trace, NULL, NULL, &opened) != RETIME_STATUS_OK)
        return failed("open");
    for (size_t at = 0; at < retime_trace_locations(opened); at++) {
        retime_location location;
        uint64_t first, last, corrected;
        double before, after;
        if (retime_trace_location(opened, at, &location) != RETIME_STATUS_OK)
            return failed("location");
        retime_status found = retime_study_extent(study, (uint32_t)at, &first, &last);
        if (found == RETIME_STATUS_EMPTY)
            continue; /* A location without events. */
        if (found != RETIME_STATUS_OK)
            return failed("extent");
        if (retime_study_corrected(study, (uint32_t)at, &last, 1, &corrected) != RETIME_STATUS_OK)
            return failed("corrected");
        if (retime_study_bounds(study, (uint32_t)at, &last, 1, &before, &after) != RETIME_STATUS_OK)
            return failed("bounds");
        printf("%s of %s ends at %" PRIu64 ", moved by %" PRId64 ", within -%.0f and +%.0f ticks\n",
               location.name, location.process_name, corrected, (int64_t)(corrected - last),
               before, after);
    }
    retime_trace_close(opened);
    retime_study_free(study);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s TRACE OUTPUT [OPTION...]\n", argv[0]);
        return 2;
    }
    const char *const *options = (const char *const *)(argv + 3);
    retime_report *report = NULL;
    int code = check(argv[1]);
    if (code == 0)
        code = bounds(argv[1], options);
    if (code != 0)
        return code;
    if (retime_correct(argv[1], argv[2], options, NULL, &report) != RETIME_STATUS_OK)
        return failed("correct");
    printf("%s\n", retime_report_outcome(report));
    code = retime_report_exit_code(report);
    retime_report_free(report);
    return code != 0 ? code : check(argv[2]);
}
