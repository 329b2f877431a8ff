/*
 * Preloaded into one program, this moves its wall clock: everything in it that reads the time of day, TLS included, gets the true time plus the
 * milliseconds in the first eight bytes of the file SHIFTED_CLOCK. A change of the file counts at once. The monotonic clock stays true.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift_ms;

__attribute__((constructor)) static void map_shift(void) {
  const char *path = getenv("SHIFTED_CLOCK");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  shift_ms = mapped;
  close(file);
}

/* The system call, as the name in libc is this file's own. */
int clock_gettime(clockid_t clock, struct timespec *now) {
  if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
  if ((clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) || shift_ms == NULL) return 0;
  int64_t ns = (int64_t)now->tv_nsec + (*shift_ms % 1000) * 1000000;
  now->tv_sec += *shift_ms / 1000;
  if (ns < 0 || ns >= 1000000000) {
    now->tv_sec += ns < 0 ? -1 : 1;
    ns += ns < 0 ? 1000000000 : -1000000000;
  }
  now->tv_nsec = ns;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
