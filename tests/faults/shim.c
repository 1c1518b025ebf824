/* Counts the calls that change a file, and at the chosen one ends the process or lets the call fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static long count = -1, chosen = 0; /* -1: not counting */
static int problem = 0;             /* 0: end by SIGKILL, else the errno */

void shim_arm(long at, int number) { count = 0, chosen = at, problem = number; }
long shim_disarm(void) { long seen = count; count = -1; return seen; }

static int hit(void) {
    if (count < 0 || ++count != chosen) return 0;
    if (problem == 0) kill(getpid(), SIGKILL);
    errno = problem;
    return 1;
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int f, const void *b, size_t n) { return hit() ? -1 : NEXT(write)(f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return hit() ? -1 : NEXT(pwrite)(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { return hit() ? -1 : NEXT(pwrite64)(f, b, n, o); }
int fsync(int f) { return hit() ? -1 : NEXT(fsync)(f); }
int fdatasync(int f) { return hit() ? -1 : NEXT(fdatasync)(f); }
int ftruncate(int f, off_t n) { return hit() ? -1 : NEXT(ftruncate)(f, n); }
int ftruncate64(int f, off64_t n) { return hit() ? -1 : NEXT(ftruncate64)(f, n); }
int unlink(const char *p) { return hit() ? -1 : NEXT(unlink)(p); }
int rename(const char *a, const char *b) { return hit() ? -1 : NEXT(rename)(a, b); }

/* SHIM_CLOCK sets the time of day off by so many seconds; the monotonic clock goes on as it does on a real machine. */
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t offset(void) { const char *text = getenv("SHIM_CLOCK"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t clock, struct timespec *now) {
    int code = NEXT(clock_gettime)(clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += offset();
    return code;
}
int gettimeofday(struct timeval *now, void *zone) {
    int code = NEXT(gettimeofday)(now, zone);
    now->tv_sec += offset();
    return code;
}
time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
