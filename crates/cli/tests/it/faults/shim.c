/* A file layer that fails on request: preloaded, it stands between a program and the C
 * library, and counts the calls that concern files below one directory.
 *
 *   FAULT_BELOW   the directory
 *   FAULT_LOG     a file elsewhere that gets a line per call: its kind, the bytes moved and the path
 *   FAULT_KIND    of which kind the call that fails is; "any" for all
 *   FAULT_AT      which call of this kind, from 1
 *   FAULT         what happens there: an errno, "short" (half of what was asked for is
 *                 read or written), "kill", or "stop" until it is continued; "all short"
 *                 is short each time
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PASS = 0, SHORT = -1 };

static const char *below, *kind_wanted, *fault;
static long at;
static int log_to = -1;
static atomic_long seen;

__attribute__((constructor)) static void begin(void) {
    below = getenv("FAULT_BELOW");
    kind_wanted = getenv("FAULT_KIND");
    fault = getenv("FAULT");
    const char *number = getenv("FAULT_AT"), *log = getenv("FAULT_LOG");
    at = number ? atol(number) : 0;
    if (log) {
        log_to = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    }
}

static int is_below(const char *path) {
    size_t length = below ? strlen(below) : 0;
    return length && !strncmp(path, below, length) && (path[length] == '/' || !path[length]);
}

/* The path behind a descriptor, as the kernel knows it. */
static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0;
}

static void note(const char *kind, long bytes, const char *path) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s %ld %s\n", kind, bytes, path);
    if (log_to >= 0) {
        syscall(SYS_write, log_to, line, (size_t)length);
    }
}

/* What is to happen in a call: PASS, SHORT or an errno. */
static int decide(const char *kind, int fd, const char *name) {
    char path[2 * PATH_MAX];
    int kept = errno;
    path[0] = 0;
    if (!name || *name != '/') {
        if (!path_of(fd, path)) {
            errno = kept;
            return PASS;
        }
    }
    if (name && *name) {
        size_t used = strlen(path);
        snprintf(path + used, PATH_MAX, *name == '/' ? "%s" : "/%s", name);
    }
    errno = kept;
    if (!is_below(path)) {
        return PASS;
    }
    note(kind, 0, path);
    errno = kept;
    if (!fault) {
        return PASS;
    }
    if (!strcmp(fault, "all short")) {
        return SHORT;
    }
    if (strcmp(kind_wanted, "any") && strcmp(kind_wanted, kind)) {
        return PASS;
    }
    if (atomic_fetch_add(&seen, 1) + 1 != at) {
        return PASS;
    }
    note("FAULT", 0, path);
    if (!strcmp(fault, "kill")) {
        syscall(SYS_kill, getpid(), SIGKILL);
    }
    if (!strcmp(fault, "stop")) {
        /* To this thread, or it would go on until another one has heard of it. */
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
        return PASS;
    }
    return strcmp(fault, "short") ? atoi(fault) : SHORT;
}

static size_t halved(size_t size) { return size > 1 ? size / 2 : size; }

/* Bytes that got through, for whoever checks that all of them did. */
static ssize_t moved(const char *kind, int fd, ssize_t count) {
    char path[PATH_MAX];
    int kept = errno;
    if (count > 0 && path_of(fd, path) && is_below(path)) {
        note(kind, (long)count, path);
    }
    errno = kept;
    return count;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OR_FAIL(kind, fd, path, failed)                                                            \
    int what = decide(kind, fd, path);                                                             \
    if (what > 0) {                                                                                \
        errno = what;                                                                              \
        return failed;                                                                             \
    }

#define WRAP(kind, result, failed, name, parameters, arguments, fd, path)                          \
    result name parameters {                                                                       \
        OR_FAIL(kind, fd, path, failed)                                                            \
        return NEXT(name) arguments;                                                               \
    }

#define MODE(last)                                                                                 \
    va_list more;                                                                                  \
    va_start(more, last);                                                                          \
    mode_t mode = (last) & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                       \
    va_end(more);

static const char *opened(int flags) { return flags & O_CREAT ? "create" : "open"; }

int open(const char *path, int flags, ...) {
    MODE(flags)
    OR_FAIL(opened(flags), AT_FDCWD, path, -1)
    return NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags)
    OR_FAIL(opened(flags), AT_FDCWD, path, -1)
    return NEXT(open64)(path, flags, mode);
}
int openat(int fd, const char *path, int flags, ...) {
    MODE(flags)
    OR_FAIL(opened(flags), fd, path, -1)
    return NEXT(openat)(fd, path, flags, mode);
}
int openat64(int fd, const char *path, int flags, ...) {
    MODE(flags)
    OR_FAIL(opened(flags), fd, path, -1)
    return NEXT(openat64)(fd, path, flags, mode);
}

ssize_t read(int fd, void *buffer, size_t size) {
    OR_FAIL("read", fd, NULL, -1)
    return moved("bytes-read", fd, NEXT(read)(fd, buffer, what ? halved(size) : size));
}
ssize_t pread64(int fd, void *buffer, size_t size, off64_t from) {
    OR_FAIL("read", fd, NULL, -1)
    return moved("bytes-read", fd, NEXT(pread64)(fd, buffer, what ? halved(size) : size, from));
}
ssize_t readv(int fd, const struct iovec *parts, int count) {
    OR_FAIL("read", fd, NULL, -1)
    return moved("bytes-read", fd, NEXT(readv)(fd, parts, what && count > 1 ? 1 : count));
}
ssize_t write(int fd, const void *buffer, size_t size) {
    OR_FAIL("write", fd, NULL, -1)
    return moved("bytes-written", fd, NEXT(write)(fd, buffer, what ? halved(size) : size));
}
ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t to) {
    OR_FAIL("write", fd, NULL, -1)
    return moved("bytes-written", fd, NEXT(pwrite64)(fd, buffer, what ? halved(size) : size, to));
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    OR_FAIL("write", fd, NULL, -1)
    return moved("bytes-written", fd, NEXT(writev)(fd, parts, what && count > 1 ? 1 : count));
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    OR_FAIL("write", out, NULL, -1)
    return moved("bytes-written", out, NEXT(copy_file_range)(in, from, out, to, what ? halved(size) : size, flags));
}
ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
    OR_FAIL("write", out, NULL, -1)
    return moved("bytes-written", out, NEXT(sendfile64)(out, in, from, what ? halved(size) : size));
}

/* What fails to be closed is closed all the same, as on Linux. */
int close(int fd) {
    int what = decide("close", fd, NULL);
    int closed = NEXT(close)(fd);
    if (what > 0) {
        errno = what;
        return -1;
    }
    return closed;
}

struct dirent64 *readdir64(DIR *stream) {
    OR_FAIL("readdir", dirfd(stream), NULL, NULL)
    return NEXT(readdir64)(stream);
}

WRAP("sync", int, -1, fsync, (int fd), (fd), fd, NULL)
WRAP("sync", int, -1, fdatasync, (int fd), (fd), fd, NULL)
WRAP("truncate", int, -1, ftruncate64, (int fd, off64_t size), (fd, size), fd, NULL)
WRAP("seek", off64_t, -1, lseek64, (int fd, off64_t to, int whence), (fd, to, whence), fd, NULL)
WRAP("map", void *, MAP_FAILED, mmap64, (void *to, size_t size, int use, int flags, int fd, off64_t from), (to, size, use, flags, fd, from), fd, NULL)

WRAP("stat", int, -1, statx, (int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict it), (fd, path, flags, mask, it), fd, path)
WRAP("stat", int, -1, stat64, (const char *restrict path, struct stat64 *restrict it), (path, it), AT_FDCWD, path)
WRAP("stat", int, -1, lstat64, (const char *restrict path, struct stat64 *restrict it), (path, it), AT_FDCWD, path)
WRAP("stat", int, -1, fstatat64, (int fd, const char *restrict path, struct stat64 *restrict it, int flags), (fd, path, it, flags), fd, path)
WRAP("stat", int, -1, fstat64, (int fd, struct stat64 *it), (fd, it), fd, NULL)
WRAP("stat", char *, NULL, realpath, (const char *restrict path, char *restrict to), (path, to), AT_FDCWD, path)
WRAP("stat", ssize_t, -1, readlink, (const char *restrict path, char *restrict to, size_t size), (path, to, size), AT_FDCWD, path)

WRAP("rename", int, -1, rename, (const char *from, const char *to), (from, to), AT_FDCWD, to)
WRAP("rename", int, -1, renameat2, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags), b, to)
WRAP("rename", int, -1, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), b, to)
WRAP("mkdir", int, -1, mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
WRAP("open", DIR *, NULL, opendir, (const char *path), (path), AT_FDCWD, path)
WRAP("open", DIR *, NULL, fdopendir, (int fd), (fd), fd, NULL)
/* Closing a directory does not fail on Linux, and the standard library of Rust relies on that. */
WRAP("closedir", int, -1, closedir, (DIR *stream), (stream), dirfd(stream), NULL)
WRAP("unlink", int, -1, unlink, (const char *path), (path), AT_FDCWD, path)
WRAP("unlink", int, -1, rmdir, (const char *path), (path), AT_FDCWD, path)
WRAP("unlink", int, -1, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), fd, path)
WRAP("attribute", int, -1, chmod, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
WRAP("attribute", int, -1, fchmod, (int fd, mode_t mode), (fd, mode), fd, NULL)
WRAP("attribute", int, -1, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), fd, NULL)
WRAP("attribute", ssize_t, -1, listxattr, (const char *path, char *names, size_t size), (path, names, size), AT_FDCWD, path)
WRAP("attribute", ssize_t, -1, getxattr, (const char *path, const char *name, void *value, size_t size), (path, name, value, size), AT_FDCWD, path)
WRAP("attribute", int, -1, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags), (fd, name, value, size, flags), fd, NULL)
WRAP("attribute", int, -1, fremovexattr, (int fd, const char *name), (fd, name), fd, NULL)
WRAP("attribute", int, -1, futimens, (int fd, const struct timespec times[2]), (fd, times), fd, NULL)
WRAP("attribute", int, -1, utimensat, (int fd, const char *path, const struct timespec times[2], int flags), (fd, path, times, flags), fd, path)
