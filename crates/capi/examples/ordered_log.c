/*
 * A log of two processes that is causally sorted, though their clocks differ.
 *
 *     cc ordered_log.c $(pkg-config --cflags --libs retime) -o ordered_log
 *     ./ordered_log [ROUNDS]
 *
 * A question goes to the other process and an answer comes back, each with the 16 bytes of a
 * stamp; the clock of the second process is 100 ms behind. Each process writes its log by the
 * logical clock that it carries along. At last the parent sorts all lines by time: no message is
 * received above the line that sent it. By the physical clocks every question would be.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <retime.h>

enum { MOST_ROUNDS = 1000, QUESTION = 0, ANSWER = 1 };

/* What travels: which message, and the stamp of its sender. */
typedef struct {
    int32_t number;
    unsigned char stamp[RETIME_STAMP_BYTES];
} message;

/* A line of the log. */
typedef struct {
    int64_t time;
    int64_t physical;
    int32_t process;
    int32_t number;
    int32_t is_send;
} line;

/* A process: its clock, what that is off by, and where its log goes. */
typedef struct {
    retime_clock *clock;
    int64_t offset;
    int32_t process;
    int log;
} process;

static void must(int done, const char *what) {
    if (!done) {
        fprintf(stderr, "%s failed: %s\n", what, retime_error());
        exit(2);
    }
}

static void put(int to, const void *from, size_t bytes) {
    must(write(to, from, bytes) == (ssize_t)bytes, "write");
}

static int get(int from, void *to, size_t bytes) {
    size_t have = 0;
    while (have < bytes) {
        ssize_t more = read(from, (char *)to + have, bytes - have);
        if (more <= 0)
            return 0;
        have += (size_t)more;
    }
    return 1;
}

static int64_t physical(const process *self) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + self->offset;
}

static void tell(const process *self, int64_t time, int64_t at, int32_t number, int is_send) {
    line one;
    memset(&one, 0, sizeof one);
    one.time = time;
    one.physical = at;
    one.process = self->process;
    one.number = number;
    one.is_send = is_send;
    put(self->log, &one, sizeof one);
}

static void send_to(process *self, int to, int32_t number) {
    message sent;
    retime_stamp stamp;
    int64_t at = physical(self);
    must(retime_clock_send(self->clock, at, &stamp) == RETIME_STATUS_OK, "send");
    memset(&sent, 0, sizeof sent);
    sent.number = number;
    must(retime_stamp_to_bytes(stamp, sent.stamp) == RETIME_STATUS_OK, "bytes");
    tell(self, stamp.controlled, at, number, 1);
    put(to, &sent, sizeof sent);
}

static int receive_from(process *self, int from) {
    message received;
    retime_stamp stamp;
    int64_t time, at;
    if (!get(from, &received, sizeof received))
        return 0;
    at = physical(self);
    must(retime_stamp_from_bytes(received.stamp, &stamp) == RETIME_STATUS_OK, "bytes");
    must(retime_clock_receive(self->clock, at, &stamp, &time) == RETIME_STATUS_OK, "receive");
    tell(self, time, at, received.number, 0);
    return 1;
}

static process begin(int32_t number, int64_t offset, int log) {
    process self = {NULL, offset, number, log};
    /* Nanoseconds; a tick is the least that lies between a message's sending and its arrival. */
    must(retime_clock_make(RETIME_CLOCK_KIND_CONTROLLED, 1000000000, 1, &self.clock) ==
             RETIME_STATUS_OK,
         "clock");
    return self;
}

static int by_time(const void *one, const void *other) {
    const line *a = one, *b = other;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->process - b->process;
}

/* Counts messages that are received above the line that sent them. */
static int above(const line *lines, size_t count, int by_logical) {
    static int64_t sent[2 * MOST_ROUNDS];
    int wrong = 0;
    for (size_t at = 0; at < count; at++)
        if (lines[at].is_send)
            sent[lines[at].number] = by_logical ? lines[at].time : lines[at].physical;
    for (size_t at = 0; at < count; at++)
        if (!lines[at].is_send)
            wrong += (by_logical ? lines[at].time : lines[at].physical) < sent[lines[at].number];
    return wrong;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    int there[2], back[2], log[2];
    static line lines[4 * MOST_ROUNDS];
    size_t count = 0;
    if (rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "give 1 to %d rounds\n", MOST_ROUNDS);
        return 2;
    }
    must(pipe(there) == 0 && pipe(back) == 0 && pipe(log) == 0, "pipe");
    pid_t asker = fork();
    must(asker >= 0, "fork");
    if (asker == 0) {
        process self = begin(0, 0, log[1]);
        close(there[0]);
        close(back[1]);
        for (int round = 0; round < rounds; round++) {
            send_to(&self, there[1], 2 * round + QUESTION);
            must(receive_from(&self, back[0]), "answer");
        }
        retime_clock_free(self.clock);
        return 0;
    }
    pid_t answerer = fork();
    must(answerer >= 0, "fork");
    if (answerer == 0) {
        process self = begin(1, -100000000, log[1]);
        close(there[1]);
        close(back[0]);
        for (int round = 0; round < rounds; round++) {
            must(receive_from(&self, there[0]), "question");
            send_to(&self, back[1], 2 * round + ANSWER);
        }
        retime_clock_free(self.clock);
        return 0;
    }
    close(there[1]);
    close(back[1]);
    close(log[1]);
    while (count < sizeof lines / sizeof *lines && get(log[0], &lines[count], sizeof *lines))
        count++;
    while (wait(NULL) > 0) {
    }
    qsort(lines, count, sizeof *lines, by_time);
    for (size_t at = 0; at < count; at++)
        printf("%+10" PRId64 " ns  process %d %s %s %d\n", lines[at].time - lines[0].time,
               lines[at].process, lines[at].is_send ? "sends" : "receives",
               lines[at].number % 2 == QUESTION ? "question" : "answer", lines[at].number / 2);
    printf("of %d messages %d are received before they were sent by the physical clocks, "
           "%d by the logical ones\n",
           2 * rounds, above(lines, count, 0), above(lines, count, 1));
    return count == 4 * (size_t)rounds && above(lines, count, 1) == 0 ? 0 : 1;
}
