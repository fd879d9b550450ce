/*
 * libretime: one global time for traces of parallel programs, for C, C++ and Fortran.
 *
 * What each function does stands above it; docs/C-API.md has examples.
 *
 * Results. A function that can fail returns a retime_status: RETIME_STATUS_OK (0) or why it
 * failed. retime_error() is the text of that, in the words of the command retime. A result is
 * written through the last pointers, and only if the function succeeds; handles are NULL
 * otherwise. No pointer may be NULL unless it is said that it may. Whatever is wrong with
 * arguments that can be seen without following a pointer is RETIME_STATUS_ARGUMENT.
 *
 * Handles are made by one function and freed by another one of the same name; NULL may be
 * freed. After RETIME_STATUS_DEFECT a handle that was given to the function may only be freed.
 *
 * Threads. Each thread has its own retime_error(). Different handles can be used by different
 * threads at a time. One handle can be read (const) by several threads at a time, and changed by
 * one. Long work runs on threads of the library's own, as many as there are cores or as
 * --threads says; signals stay those of the program. After fork() a child may use only handles
 * that it makes itself, and only if no call was under way in another thread.
 *
 * Texts end with a zero. Paths are bytes as the system has them; other texts, and all that come
 * back, are UTF-8, with what is none of it replaced. Lists of options end with a NULL.
 *
 * Times are ticks of the trace or of the clock they were read from.
 */


#ifndef RETIME_H
#define RETIME_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header; retime_version() is that of the library. */
#define RETIME_VERSION_MAJOR 0
#define RETIME_VERSION_MINOR 1
#define RETIME_VERSION_PATCH 0
#define RETIME_VERSION "0.1.0"

/** How many bytes retime_stamp_to_bytes() writes. */
#define RETIME_STAMP_BYTES 16

/** Both times of a retime_stamp that nobody gave: merged with another stamp it changes nothing,
 * and who hears it need not wait. */
#define RETIME_NO_TIME INT64_MIN


/**
 * The outcome of a call.
 */
typedef enum {
    /**
     * The call did what it was asked for.
     */
    RETIME_STATUS_OK = 0,
    /**
     * An option is unknown, has a value that it cannot have, or has no part in the rest.
     */
    RETIME_STATUS_OPTION = 1,
    /**
     * There is nothing where a file should be.
     */
    RETIME_STATUS_MISSING = 2,
    /**
     * A file cannot be read, or is not what it should be.
     */
    RETIME_STATUS_TRACE = 3,
    /**
     * The output cannot be written, or something is there that must not be replaced.
     */
    RETIME_STATUS_OUTPUT = 4,
    /**
     * The output is complete, but something after that failed.
     */
    RETIME_STATUS_COMPLETE = 5,
    /**
     * The method has no valid solution.
     */
    RETIME_STATUS_UNSOLVED = 6,
    /**
     * The result would be worse than the recording, or cannot be right.
     */
    RETIME_STATUS_REFUSED = 7,
    /**
     * Something does not match, and that was to be an error.
     */
    RETIME_STATUS_STRICT = 8,
    /**
     * The watcher asked to stop.
     */
    RETIME_STATUS_INTERRUPTED = 9,
    /**
     * A defect of retime.
     */
    RETIME_STATUS_DEFECT = 10,
    /**
     * An argument is NULL, out of range, or no number of those that it can be.
     */
    RETIME_STATUS_ARGUMENT = 11,
    /**
     * A filter did not take an event, and goes on as if it had not come.
     */
    RETIME_STATUS_EVENT = 12,
    /**
     * There is nothing to take out of a filter now.
     */
    RETIME_STATUS_EMPTY = 13,
} retime_status;

/**
 * The order that a collective operation proves.
 */
typedef enum {
    /**
     * Nobody leaves before all have entered: barrier, allreduce, allgather, alltoall.
     */
    RETIME_CLASS_ALL_TO_ALL = 0,
    /**
     * Nobody leaves before the root has entered: bcast, scatter.
     */
    RETIME_CLASS_FROM_ROOT = 1,
    /**
     * The root does not leave before all have entered: reduce, gather.
     */
    RETIME_CLASS_TO_ROOT = 2,
    /**
     * Nobody leaves before all lower ranks have entered: scan, exscan.
     */
    RETIME_CLASS_PREFIX = 3,
    /**
     * Nothing: alltoallv, alltoallw.
     */
    RETIME_CLASS_UNORDERED = 4,
} retime_class;

/**
 * The clock that a program carries along.
 */
typedef enum {
    /**
     * While it is ahead of the physical clock it stands still.
     */
    RETIME_CLOCK_KIND_SIMPLE = 0,
    /**
     * While it is ahead it goes on more slowly, as the controller of 1997 says.
     */
    RETIME_CLOCK_KIND_CONTROLLED = 1,
} retime_clock_kind;

/**
 * A clock that a process carries along. Times are ticks of its physical clock.
 */
typedef struct retime_clock retime_clock;

/**
 * A filter: events in, corrected ones out.
 */
typedef struct retime_filter retime_filter;

/**
 * The outcome of a command.
 */
typedef struct retime_report retime_report;

/**
 * A trace that was analysed and corrected in memory.
 */
typedef struct retime_study retime_study;

/**
 * A trace that was opened.
 */
typedef struct retime_trace retime_trace;

/**
 * The logical times that a message carries.
 */
typedef struct {
    /**
     * The time of the simple logical clock.
     */
    int64_t simple;
    /**
     * The time of the clock that the program asked for.
     */
    int64_t controlled;
} retime_stamp;

/**
 * The stamps of several participants, as far as each of them has to know these.
 */
typedef struct {
    /**
     * The largest time of each clock.
     */
    retime_stamp latest;
    /**
     * The largest time of each clock among the others.
     */
    retime_stamp second;
} retime_stamps;

/**
 * The watcher of a call. Each function may be NULL, and may be called from several threads at once
 * and until the call returns; none may call this library for the same handle, or leave other than
 * by returning (no longjmp, no exception of C++).
 */
typedef struct {
    /**
     * Given to each of the functions.
     */
    void *data;
    /**
     * A stage of the work begins, in one word, which takes so many bytes. The name is gone once
     * the function has returned.
     */
    void (*stage)(void *data, const char *name, uint64_t bytes);
    /**
     * The stage takes so many bytes besides.
     */
    void (*announce)(void *data, uint64_t bytes);
    /**
     * So many more bytes of the stage are done.
     */
    void (*advance)(void *data, uint64_t bytes);
    /**
     * Other than 0 to give up with `RETIME_STATUS_INTERRUPTED`, leaving nothing behind. It is
     * asked every few milliseconds.
     */
    int32_t (*cancelled)(void *data);
} retime_watch;

/**
 * The channel of a message without a number.
 */
typedef struct {
    /**
     * The location at the other end.
     */
    uint32_t peer;
    /**
     * The communicator.
     */
    uint32_t communicator;
    /**
     * The tag.
     */
    uint32_t tag;
} retime_channel;

/**
 * A collective operation, as one of its participants sees it.
 */
typedef struct {
    /**
     * The number that all its events have, and no other operation that is under way.
     */
    uint64_t id;
    /**
     * The order that the operation proves: a `retime_class`.
     */
    int32_t collective_class;
    /**
     * The number of participants.
     */
    uint32_t participants;
    /**
     * The rank of this participant, from 0 on.
     */
    uint32_t rank;
    /**
     * The rank of the root, of an operation from or to one.
     */
    uint32_t root;
    /**
     * The number of participants that give bytes for which others could wait; 0 if all do. Who
     * gives none is no cause: its entering is an event as for `retime_filter_push()`.
     */
    uint32_t givers;
    /**
     * The number of participants that get bytes and could wait for others; 0 if all do. Who
     * gets none is no effect: its leaving is an event as for `retime_filter_push()`.
     */
    uint32_t getters;
} retime_operation;

/**
 * An event that has left a filter.
 */
typedef struct {
    /**
     * When it happened, by the clock of its location.
     */
    uint64_t recorded;
    /**
     * When it happened, by the time common to all.
     */
    uint64_t time;
    /**
     * The payload that was given along.
     */
    uint64_t payload;
    /**
     * The location of the event.
     */
    uint32_t location;
} retime_corrected;

/**
 * The content of a filter, and its counts so far.
 */
typedef struct {
    /**
     * Events taken.
     */
    uint64_t events;
    /**
     * Events given out.
     */
    uint64_t released;
    /**
     * Events in the filter.
     */
    uint64_t held;
    /**
     * Messages of which one end is in the filter.
     */
    uint64_t open_messages;
    /**
     * Operations of which some events are in the filter.
     */
    uint64_t open_operations;
    /**
     * Messages whose receive was stamped before their send.
     */
    uint64_t violated;
    /**
     * Events that were given out before their time was certain.
     */
    uint64_t forced;
    /**
     * Events that came later than the bounds allow.
     */
    uint64_t late;
    /**
     * Receives that went on without their send.
     */
    uint64_t unmatched_receives;
    /**
     * Sends whose receive did not come in time.
     */
    uint64_t unmatched_sends;
    /**
     * Operations of which some events did not come in time.
     */
    uint64_t unfinished_operations;
} retime_filter_state;

/**
 * The dependencies of a trace, and how many of them its times contradict.
 */
typedef struct {
    /**
     * Dependencies that were checked.
     */
    uint64_t dependencies;
    /**
     * The dependencies whose effect is stamped before its cause.
     */
    uint64_t violated;
    /**
     * The dependencies faster than the minimal delay, violated ones between clocks included.
     */
    uint64_t faster;
    /**
     * Events that are stamped before the one before them on their location.
     */
    uint64_t out_of_order;
    /**
     * Ticks from cause to effect where these are fewest: below 0 if any dependency is violated,
     * `INT64_MAX` without dependencies.
     */
    int64_t smallest_latency;
} retime_standing;

/**
 * The figures of a trace.
 */
typedef struct {
    /**
     * Locations: threads, streams and the like.
     */
    uint64_t locations;
    /**
     * Events of all locations.
     */
    uint64_t events;
    /**
     * Messages of which both ends were found.
     */
    uint64_t messages;
    /**
     * Collective operations.
     */
    uint64_t collectives;
    /**
     * Physical clocks that locations read.
     */
    uint64_t clocks;
    /**
     * Ticks of all clocks in a second.
     */
    uint64_t ticks_per_second;
    /**
     * The standing of the recorded times.
     */
    retime_standing recorded;
    /**
     * The standing of the corrected times; of the recorded ones, if nothing was corrected.
     */
    retime_standing corrected;
    /**
     * 1 if the trace was corrected, else 0.
     */
    int32_t is_corrected;
} retime_counts;

/**
 * A location of a trace: a thread, a stream of an accelerator. Its texts stay as long as the
 * trace is open.
 */
typedef struct {
    /**
     * The id of the location in the trace.
     */
    uint64_t id;
    /**
     * The position of its process among all, from 0.
     */
    uint64_t process;
    /**
     * The name of the location.
     */
    const char *name;
    /**
     * The name of its process.
     */
    const char *process_name;
    /**
     * The name of the node that it ran on; NULL if that is not known.
     */
    const char *node_name;
} retime_location;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Makes a clock for a process whose physical clock has so many ticks in a second, in a network
 * whose messages take at least `min_delay` ticks. `kind` is a `retime_clock_kind`.
 */
retime_status retime_clock_make(int32_t kind,
                                uint64_t ticks_per_second,
                                int64_t min_delay,
                                retime_clock **clock);

/**
 * Frees a clock; NULL is none.
 */
void retime_clock_free(retime_clock *clock);

/**
 * The logical time at a physical one, which is no event: the clock goes on as if nobody had asked.
 * It never falls, and no later event comes before it.
 */
retime_status retime_clock_now(const retime_clock *clock, int64_t physical, int64_t *time);

/**
 * The logical time of an event that has nothing to do with other processes.
 */
retime_status retime_clock_local(retime_clock *clock, int64_t physical, int64_t *time);

/**
 * The stamp that a message sent at a physical time has to carry; the logical time of sending it is
 * the stamp's `controlled`.
 */
retime_status retime_clock_send(retime_clock *clock, int64_t physical, retime_stamp *stamp);

/**
 * The logical time of receiving a message with a stamp at a physical time.
 */
retime_status retime_clock_receive(retime_clock *clock,
                                   int64_t physical,
                                   const retime_stamp *message,
                                   int64_t *time);

/**
 * The stamp that a process gives when it enters a collective operation at a physical time:
 * `RETIME_NO_TIME` in both if nobody waits for it. `collective_class` is a `retime_class`; `is_root`
 * is other than 0 for the root. Who gives no bytes to an operation that carries data is waited for
 * by nobody: let it enter as `RETIME_CLASS_UNORDERED`, and give what that gives.
 */
retime_status retime_clock_enter(retime_clock *clock,
                                 int64_t physical,
                                 int32_t collective_class,
                                 int32_t is_root,
                                 retime_stamp *stamp);

/**
 * The logical time of leaving a collective operation at a physical time. `others` are the merged
 * stamps of those for which the process waits, without its own: of the root, of lower ranks, or of
 * all others (`retime_stamps_besides`); or NULL if it waits for nobody.
 */
retime_status retime_clock_leave(retime_clock *clock,
                                 int64_t physical,
                                 int32_t collective_class,
                                 int32_t is_root,
                                 const retime_stamp *others,
                                 int64_t *time);

/**
 * The latest of two stamps, clock by clock: what `MPI_MAX` makes of two `MPI_INT64_T`.
 */
retime_stamp retime_stamp_merged(retime_stamp one, retime_stamp other);

/**
 * The stamps of several participants: of an array of stamps, merged.
 */
retime_status retime_stamps_of(const retime_stamp *stamps, size_t count, retime_stamps *merged);

/**
 * The stamps of these and of other participants, in any order: for reductions of one's own.
 */
retime_stamps retime_stamps_merged(retime_stamps these, retime_stamps others);

/**
 * The stamps of all but the participant that gave `own`, merged.
 */
retime_stamp retime_stamps_besides(retime_stamps all, retime_stamp own);

/**
 * Writes a stamp as the `RETIME_STAMP_BYTES` bytes that are the same on all machines.
 */
retime_status retime_stamp_to_bytes(retime_stamp stamp, uint8_t *bytes);

/**
 * Reads a stamp from its `RETIME_STAMP_BYTES` bytes; any are one.
 */
retime_status retime_stamp_from_bytes(const uint8_t *bytes, retime_stamp *stamp);

/**
 * Does what a command line asks for, given as the words after `retime`: `check`, `compare`,
 * `correct`, `apply`, `undo` or `simulate`. `words` ends with a NULL.
 */
retime_status retime_command(const char *const *command,
                             const retime_watch *watch,
                             retime_report **report);

/**
 * Counts the contradictions of a trace and changes nothing. That there are some is no failure:
 * the report says so. `options` are words for `retime check`, up to a NULL; or NULL for none.
 */
retime_status retime_check(const char *trace,
                           const char *const *options,
                           const retime_watch *watch,
                           retime_report **report);

/**
 * Writes a corrected copy of a trace. `options` are words for `retime correct`, such as
 * `--method`, `clc`, or `--force`, up to a NULL; or NULL for none.
 */
retime_status retime_correct(const char *trace,
                             const char *output,
                             const char *const *options,
                             const retime_watch *watch,
                             retime_report **report);

/**
 * Restores the original of a corrected trace.
 */
retime_status retime_undo(const char *corrected,
                          const char *output,
                          const char *const *options,
                          const retime_watch *watch,
                          retime_report **report);

/**
 * Sends another trace of the same run through a saved correction, which is a file that lies beside
 * a corrected trace, or that trace.
 */
retime_status retime_apply(const char *correction,
                           const char *trace,
                           const char *output,
                           const char *const *options,
                           const retime_watch *watch,
                           retime_report **report);

/**
 * The text of the last call of this thread that failed, in the words of the command, with a way
 * out if one is known; empty before any has. It stays until another call of the thread fails.
 */
const char *retime_error(void);

/**
 * The exit code that the command would have ended with, had it failed like the last call of this
 * thread that failed; 0 before any has.
 */
int32_t retime_error_exit_code(void);

/**
 * Makes a filter for so many locations, which read the clocks with the given numbers, from 0 on:
 * two with one number read one clock. `options` are words for `retime stream`, such as
 * `--min-delay`, `2us`, `--ticks-per-second`, `1000000`, up to a NULL; or NULL for none.
 */
retime_status retime_filter_make(const uint32_t *clocks,
                                 size_t locations,
                                 const char *const *options,
                                 retime_filter **filter);

/**
 * Frees a filter with all that is in it; NULL is none.
 */
void retime_filter_free(retime_filter *filter);

/**
 * Takes an event that has nothing to do with other locations. `payload` comes back with its
 * corrected time. Events of one location come in order.
 */
retime_status retime_filter_push(retime_filter *filter,
                                 uint32_t location,
                                 uint64_t time,
                                 uint64_t payload);

/**
 * Takes the event of sending a message, whose number its receive has too.
 */
retime_status retime_filter_send(retime_filter *filter,
                                 uint32_t location,
                                 uint64_t time,
                                 uint64_t message,
                                 uint64_t payload);

/**
 * Takes the event of receiving a message.
 */
retime_status retime_filter_receive(retime_filter *filter,
                                    uint32_t location,
                                    uint64_t time,
                                    uint64_t message,
                                    uint64_t payload);

/**
 * Takes the event of sending a message that has no number. Such messages do not overtake each other:
 * of those from one location to another with one communicator and tag the first that is sent is the
 * first that is received.
 */
retime_status retime_filter_send_to(retime_filter *filter,
                                    uint32_t location,
                                    uint64_t time,
                                    const retime_channel *channel,
                                    uint64_t payload);

/**
 * Takes the event of receiving a message that has no number.
 */
retime_status retime_filter_receive_from(retime_filter *filter,
                                         uint32_t location,
                                         uint64_t time,
                                         const retime_channel *channel,
                                         uint64_t payload);

/**
 * Takes the event of entering a collective operation.
 */
retime_status retime_filter_enter(retime_filter *filter,
                                  uint32_t location,
                                  uint64_t time,
                                  const retime_operation *operation,
                                  uint64_t payload);

/**
 * Takes the event of leaving a collective operation.
 */
retime_status retime_filter_leave(retime_filter *filter,
                                  uint32_t location,
                                  uint64_t time,
                                  const retime_operation *operation,
                                  uint64_t payload);

/**
 * Nothing comes from a location before a time any more.
 */
retime_status retime_filter_heartbeat(retime_filter *filter, uint32_t location, uint64_t time);

/**
 * Nothing comes from a location any more.
 */
retime_status retime_filter_close(retime_filter *filter, uint32_t location);

/**
 * Nothing comes any more: all that is left can be taken out.
 */
retime_status retime_filter_finish(retime_filter *filter);

/**
 * Takes the next event out, in the order of corrected times; `RETIME_STATUS_EMPTY`, which is no failure,
 * if none can leave yet.
 */
retime_status retime_filter_pop(retime_filter *filter,
                                retime_corrected *event);

/**
 * The counts of a filter so far.
 */
retime_status retime_filter_counts(const retime_filter *filter, retime_filter_state *counts);

/**
 * Frees a report; NULL is none.
 */
void retime_report_free(retime_report *report);

/**
 * The exit code that the command would end with: 0 if all is well, 1 if the trace has, or would
 * keep, contradictions, 3 if too little could be checked to say; -1 if the report is NULL.
 */
int32_t retime_report_exit_code(const retime_report *report);

/**
 * The outcome in a sentence, which the command would print last; NULL if the report is NULL. It
 * stays as long as the report.
 */
const char *retime_report_outcome(const retime_report *report);

/**
 * The report in full, as `--json` writes it; NULL if the command gives none. It stays as long as
 * the report.
 */
const char *retime_report_json(const retime_report *report);

/**
 * The path of what was written at a position, from 0 on; NULL after the last. It stays as long as
 * the report.
 */
const char *retime_report_written(const retime_report *report, size_t position);

/**
 * The figures of the report. Only `check` and `correct` give them.
 */
retime_status retime_report_counts(const retime_report *report, retime_counts *counts);

/**
 * Analyses a trace and corrects it in memory; nothing is written. `options` are words for
 * `retime correct`, up to a NULL; or NULL for none.
 */
retime_status retime_study_make(const char *trace,
                                const char *const *options,
                                const retime_watch *watch,
                                retime_study **study);

/**
 * Frees a study; NULL is none.
 */
void retime_study_free(retime_study *study);

/**
 * The figures of the trace.
 */
retime_status retime_study_counts(const retime_study *study, retime_counts *counts);

/**
 * The recorded times of the first and the last event of a location; `RETIME_STATUS_EMPTY`,
 * which is no failure, if it has none.
 */
retime_status retime_study_extent(const retime_study *study,
                                  uint32_t location,
                                  uint64_t *first,
                                  uint64_t *last);

/**
 * The corrected times of recorded ones of a location, which is given by its position, from 0 on.
 * It is quickest where times rise.
 */
retime_status retime_study_corrected(const retime_study *study,
                                     uint32_t location,
                                     const uint64_t *recorded,
                                     size_t count,
                                     uint64_t *corrected);

/**
 * The ticks by which the truth may lie before and after the corrected time of each recorded one,
 * by the time of the reference clock: certain if clocks wander no more than `--drift-bound`, and
 * infinite where nothing is known.
 */
retime_status retime_study_bounds(const retime_study *study,
                                  uint32_t location,
                                  const uint64_t *recorded,
                                  size_t count,
                                  double *before,
                                  double *after);

/**
 * Opens a trace to see what it is made of; its events are read only where its format has no other
 * way. `format` is the name of its format as for `--format`, or NULL to tell it by the path.
 */
retime_status retime_trace_open(const char *trace_path,
                                const char *format,
                                const retime_watch *watch,
                                retime_trace **trace);

/**
 * Closes a trace; NULL is none.
 */
void retime_trace_close(retime_trace *trace);

/**
 * The name of the format of a trace; NULL if the trace is NULL.
 */
const char *retime_trace_format(const retime_trace *trace);

/**
 * The file that stands for a trace; NULL if the trace is NULL.
 */
const char *retime_trace_path(const retime_trace *trace);

/**
 * The ticks of a trace in a second; 0 if the trace is NULL.
 */
uint64_t retime_trace_ticks_per_second(const retime_trace *trace);

/**
 * The number of locations of a trace; 0 if the trace is NULL.
 */
size_t retime_trace_locations(const retime_trace *trace);

/**
 * Describes the location at a position, from 0 on.
 */
retime_status retime_trace_location(const retime_trace *trace,
                                    size_t position,
                                    retime_location *location);

/**
 * The version of the library, such as "0.1.0". That of the header is `RETIME_VERSION`.
 */
const char *retime_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RETIME_H */
