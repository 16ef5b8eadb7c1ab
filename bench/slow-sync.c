// A slow disk, for LD_PRELOAD: every sync takes 2 ms longer, as on many disks of virtual machines.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

enum { extra_us = 2000 };

int fdatasync(int fd) {
  int (*sync_data)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  usleep(extra_us);
  return sync_data(fd);
}

int fsync(int fd) {
  int (*sync_all)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  usleep(extra_us);
  return sync_all(fd);
}
