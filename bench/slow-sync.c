// A slow disk, for LD_PRELOAD: every sync takes 2 ms longer, as on many disks of virtual machines, or as many microseconds as
// SLOW_SYNC_US says.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static useconds_t extra_us(void) {
  const char *said = getenv("SLOW_SYNC_US");
  return said == NULL ? 2000 : (useconds_t)strtoul(said, NULL, 10);
}

int fdatasync(int fd) {
  int (*sync_data)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  usleep(extra_us());
  return sync_data(fd);
}

int fsync(int fd) {
  int (*sync_all)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  usleep(extra_us());
  return sync_all(fd);
}
