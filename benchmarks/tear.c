/* Kills its process inside the k-th write to a file of the database, after a part of it.
 *
 * Preloaded (LD_PRELOAD). tear_arm(name, k, offset) counts calls that change a file whose path holds
 * `name`: write, writev, pwrite, pwrite64, copy_file_range, ftruncate, rename and unlink. In the k-th,
 * `offset` bytes are written (from the end if negative) and the process is killed; rename and unlink
 * are done or not, by whether offset is 0. tear_count() tells how many calls there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char wanted[256];
static long at = -1, offset, count;

void tear_arm(const char *name, long k, long bytes) {
    strncpy(wanted, name, sizeof wanted - 1);
    count = 0, offset = bytes, at = k;
}

long tear_count(void) { return count; }

static void die(void) {
    kill(getpid(), SIGKILL);
    pause();
}

static int counted(const char *path) {
    return at >= 0 && strstr(path, wanted) && ++count == at;
}

static int counted_fd(int fd) {
    char link[64], path[4096];
    if (at < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return counted(path);
}

static size_t part(size_t n) {
    long p = offset < 0 ? (long)n + offset : offset;
    return p < 0 ? 0 : (size_t)p > n ? n : (size_t)p;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t n) {
    REAL(write);
    if (counted_fd(fd)) { real(fd, data, part(n)); die(); }
    return real(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t where) {
    REAL(pwrite);
    if (counted_fd(fd)) { real(fd, data, part(n), where); die(); }
    return real(fd, data, n, where);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t where) {
    REAL(pwrite64);
    if (counted_fd(fd)) { real(fd, data, part(n), where); die(); }
    return real(fd, data, n, where);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    REAL(writev);
    if (counted_fd(fd)) { if (n) write(fd, parts[0].iov_base, part(parts[0].iov_len)); die(); }
    return real(fd, parts, n);
}

ssize_t copy_file_range(int from, off64_t *a, int to, off64_t *b, size_t n, unsigned flags) {
    REAL(copy_file_range);
    if (counted_fd(to)) { real(from, a, to, b, part(65536), flags); die(); }
    return real(from, a, to, b, n, flags);
}

int ftruncate(int fd, off_t n) {
    REAL(ftruncate);
    if (counted_fd(fd)) { if (offset) real(fd, n); die(); }
    return real(fd, n);
}

int ftruncate64(int fd, off64_t n) {
    REAL(ftruncate64);
    if (counted_fd(fd)) { if (offset) real(fd, n); die(); }
    return real(fd, n);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    if (counted(to)) { if (offset) real(from, to); die(); }
    return real(from, to);
}

int link(const char *from, const char *to) {
    REAL(link);
    if (counted(to)) { if (offset) real(from, to); die(); }
    return real(from, to);
}

int unlink(const char *path) {
    REAL(unlink);
    if (counted(path)) { if (offset) real(path); die(); }
    return real(path);
}
