#ifdef __linux__
#define _GNU_SOURCE
#include "CoreDataCTorture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct torture_page *torture_page_make(void) {
  void *page = mmap(NULL, sizeof(struct torture_page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? NULL : page;
}

void torture_page_clear(struct torture_page *page) { memset(page, 0, sizeof *page); }

int64_t torture_begun(const struct torture_page *page, int writer) {
  return __atomic_load_n(&page->begun[writer], __ATOMIC_SEQ_CST);
}

int64_t torture_acknowledged(const struct torture_page *page, int writer) {
  return __atomic_load_n(&page->acknowledged[writer], __ATOMIC_SEQ_CST);
}

void torture_begin(struct torture_page *page, int writer, int64_t number) {
  __atomic_store_n(&page->begun[writer], number, __ATOMIC_SEQ_CST);
}

void torture_acknowledge(struct torture_page *page, int writer, int64_t number) {
  __atomic_store_n(&page->acknowledged[writer], number, __ATOMIC_SEQ_CST);
}

static void copy_text(char *to, const char *from, size_t size) {
  strncpy(to, from, size - 1);
  to[size - 1] = 0;
}

void torture_set_words(struct torture_page *page, const char *words) {
  copy_text(page->words, words, sizeof page->words);
}

int64_t torture_call_count(const struct torture_page *page, int action) { return page->plan.counts[action]; }

const char *torture_words(const struct torture_page *page) { return page->words; }
const char *torture_call(const struct torture_page *page) { return page->plan.call; }

void torture_set_prefix(struct torture_page *page, const char *prefix) {
  copy_text(page->plan.prefix, prefix, sizeof page->plan.prefix);
}

void torture_wait_for_start(struct torture_page *page) {
  __atomic_add_fetch(&page->waiting, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n(&page->is_open, __ATOMIC_SEQ_CST)) sched_yield();
}

void torture_start(struct torture_page *page, int count) {
  // A child that died on the way there is not waited for longer than five seconds.
  int64_t end = torture_now_microseconds() + 5000000;
  while (__atomic_load_n(&page->waiting, __ATOMIC_SEQ_CST) < count && torture_now_microseconds() < end) usleep(100);
  __atomic_store_n(&page->is_open, 1, __ATOMIC_SEQ_CST);
}

// MARK: Processes

int torture_fork(void) { return fork(); }

struct thread_body {
  void (*run)(void *);
  void *context;
};

static void *run_body(void *body) {
  struct thread_body *given = body;
  given->run(given->context);
  return NULL;
}

void torture_run_in_thread(void (*body)(void *), void *context) {
  struct thread_body given = {body, context};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_body, &given) == 0) pthread_join(thread, NULL);
}

int torture_thread_count(void) {
  DIR *directory = opendir("/proc/self/task");
  if (!directory) return 1;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

int64_t torture_now_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int torture_wait(int child, int64_t microseconds, int *status) {
  int64_t end = torture_now_microseconds() + microseconds;
  int descriptor = (int)syscall(SYS_pidfd_open, child, 0);
  while (1) {
    if (waitpid(child, status, WNOHANG) == child) break;
    int64_t rest = end - torture_now_microseconds();
    if (rest <= 0) {
      if (descriptor >= 0) close(descriptor);
      return 0;
    }
    if (descriptor < 0) {
      usleep(rest < 500 ? (useconds_t)rest : 500);
      continue;
    }
    struct timespec time = {rest / 1000000, (rest % 1000000) * 1000};
    struct pollfd wanted = {descriptor, POLLIN, 0};
    ppoll(&wanted, 1, &time, NULL);
  }
  if (descriptor >= 0) close(descriptor);
  return 1;
}

// MARK: System calls

typedef void (*attach_function)(struct torture_plan *);

static attach_function preloaded(void) {
  return (attach_function)dlsym(RTLD_DEFAULT, "torture_preload_attach");
}

int torture_is_preloaded(void) { return preloaded() != NULL; }

extern struct torture_plan *torture_vfs_plan;

void torture_attach(struct torture_page *page) {
  torture_vfs_plan = page ? &page->plan : NULL;
  attach_function attach = preloaded();
  if (attach) attach(page ? &page->plan : NULL);
}

// MARK: Mounts

static int write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY);
  if (file < 0) return errno;
  int result = write(file, text, strlen(text)) < 0 ? errno : 0;
  close(file);
  return result;
}

int torture_private_mounts(void) {
  int user = (int)getuid(), group = (int)getgid();
  if (unshare(CLONE_NEWNS) != 0) {
    // Without privileges it needs a new user namespace, where the user is root.
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
    char line[64];
    write_file("/proc/self/setgroups", "deny");
    snprintf(line, sizeof line, "0 %d 1", user);
    write_file("/proc/self/uid_map", line);
    snprintf(line, sizeof line, "0 %d 1", group);
    write_file("/proc/self/gid_map", line);
  }
  return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? 0 : errno;
}

static int mount_with_size(const char *path, int64_t bytes, unsigned long flags) {
  char options[64];
  snprintf(options, sizeof options, "size=%lld", (long long)bytes);
  return mount("tmpfs", path, "tmpfs", flags, options) == 0 ? 0 : errno;
}

int torture_mount(const char *path, int64_t bytes) { return mount_with_size(path, bytes, 0); }
int torture_resize(const char *path, int64_t bytes) { return mount_with_size(path, bytes, MS_REMOUNT); }
int torture_unmount(const char *path) { return umount2(path, MNT_DETACH) == 0 ? 0 : errno; }
#endif
