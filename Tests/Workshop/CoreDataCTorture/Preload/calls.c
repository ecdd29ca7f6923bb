// Preloaded by Scripts/stress torture: counts the calls that a process makes on files below a directory and, at the one
// that the plan names, kills the process or lets the call fail. Without a plan every call passes.
//
//   cc -shared -fPIC -O2 -I Tests/Workshop/CoreDataCTorture/include -o torture-calls.so calls.c -ldl
#define _GNU_SOURCE
#include "TorturePage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static struct torture_plan *plan;
static unsigned char is_ours[65536];

void torture_preload_attach(struct torture_plan *given) { plan = given; }

#define NEXT(name) \
  static __typeof__(&name) next; \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int is_active(void) { return plan && plan->is_armed && plan->layer == torture_layer_system; }

static int is_below(const char *path) {
  if (!plan || !path) return 0;
  size_t length = strlen(plan->prefix);
  return length > 0 && strncmp(path, plan->prefix, length) == 0;
}

static int is_ours_at(int directory, const char *path) {
  if (path[0] == '/' || directory == AT_FDCWD) return is_below(path);
  return directory >= 0 && directory < 65536 && is_ours[directory];
}

static int is_file(int file) { return file >= 0 && file < 65536 && is_ours[file]; }

static void die(void) {
  kill(getpid(), SIGKILL);
  while (1) pause();
}

/// What is to be done instead of the call, if anything.
enum verdict { passes, dies_after, dies_amid, fails, is_shortened };

static void describe(char *text, size_t size, const char *name, const char *path, int file, long long detail) {
  char link[64], target[300];
  if (!path) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = 0;
    path = target;
  }
  size_t length = strlen(plan->prefix);
  if (strncmp(path, plan->prefix, length) == 0) path += length;
  snprintf(text, size, "%s %s %lld", name, path, detail);
}

static enum verdict judge(int kind, const char *name, const char *path, int file, long long detail) {
  int64_t number = torture_count(plan, kind);
  if (number == 0) return passes;
  if (plan->is_traced) {
    char text[400];
    describe(text, sizeof text, name, path, file, detail);
    dprintf(2, "%lld: %s\n", (long long)number, text);
  }
  int is_hit = number == plan->at;
  if (plan->at > 0 && plan->action == torture_io_error_from_now_on) is_hit = number >= plan->at;
  // After a short write the disk is full for once.
  if (plan->at > 0 && plan->action == torture_short_write && number == plan->at + 1 && kind & torture_call_grows) {
    plan->hits += 1;
    errno = ENOSPC;
    return fails;
  }
  if (!is_hit) return passes;
  plan->hits += 1;
  if (plan->hits == 1) describe(plan->call, sizeof plan->call, name, path, file, detail);
  switch (plan->action) {
  case torture_kill_before: die(); break;
  case torture_kill_after: return dies_after;
  case torture_kill_amid:
    if (kind & torture_call_transfers) return dies_amid;
    return dies_after;
  case torture_no_space: errno = ENOSPC; return fails;
  case torture_io_error:
  case torture_io_error_from_now_on: errno = EIO; return fails;
  case torture_short_write: return is_shortened;
  }
  return passes;
}

// MARK: Opening

static int opened(int file, int is_counted) {
  if (file >= 0 && file < 65536) is_ours[file] = (unsigned char)is_counted;
  return file;
}

static int kind_of_opening(int directory, const char *path, int flags) {
  if (flags & O_TRUNC) return torture_call_changes;
  if (!(flags & O_CREAT)) return torture_call_reads;
  int saved = errno;
  int is_new = faccessat(directory, path, F_OK, 0) != 0;
  errno = saved;
  return is_new ? torture_call_changes | torture_call_grows : torture_call_reads;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = (mode_t)va_arg(list, int); \
    va_end(list); \
  }

#define OPENING(directory, path, flags, call) \
  int counts = is_ours_at(directory, path); \
  enum verdict verdict = passes; \
  if (counts && is_active()) verdict = judge(kind_of_opening(directory, path, flags), "open", path, -1, flags); \
  if (verdict == fails) return -1; \
  int file = opened(call, counts); \
  if (verdict == dies_after) die(); \
  return file

int open(const char *path, int flags, ...) {
  NEXT(open);
  MODE(flags)
  OPENING(AT_FDCWD, path, flags, next(path, flags, mode));
}

int open64(const char *path, int flags, ...) {
  NEXT(open64);
  MODE(flags)
  OPENING(AT_FDCWD, path, flags, next(path, flags, mode));
}

int openat(int directory, const char *path, int flags, ...) {
  NEXT(openat);
  MODE(flags)
  OPENING(directory, path, flags, next(directory, path, flags, mode));
}

int openat64(int directory, const char *path, int flags, ...) {
  NEXT(openat64);
  MODE(flags)
  OPENING(directory, path, flags, next(directory, path, flags, mode));
}

int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int mkostemps64(char *pattern, int length, int flags);

static int made_temporary(char *pattern, int file) {
  opened(file, file >= 0 && is_below(pattern));
  // Found out only when it is there: this call can be followed by a kill, and cannot fail.
  if (file >= 0 && is_active() && is_below(pattern) && plan->action <= torture_kill_amid &&
      judge(torture_call_changes | torture_call_grows, "mkstemp", pattern, -1, 0) != passes)
    die();
  return file;
}

int mkstemp(char *pattern) {
  NEXT(mkstemp);
  return made_temporary(pattern, next(pattern));
}

int mkstemp64(char *pattern) {
  NEXT(mkstemp64);
  return made_temporary(pattern, next(pattern));
}

int mkostemp(char *pattern, int flags) {
  NEXT(mkostemp);
  return made_temporary(pattern, next(pattern, flags));
}

int close(int file) {
  NEXT(close);
  if (is_file(file)) is_ours[file] = 0;
  return next(file);
}

// MARK: Reading and writing

enum { call_writes = torture_call_changes | torture_call_grows | torture_call_transfers };
enum { call_reads = torture_call_reads | torture_call_transfers };

#define TRANSFER(kind, name, file, size, whole, half) \
  if (!is_active() || !is_file(file)) return whole; \
  enum verdict verdict = judge(kind, name, NULL, file, (long long)(size)); \
  if (verdict == fails) return -1; \
  if (verdict == is_shortened && (size) > 1) return half; \
  if (verdict == dies_amid) { \
    (void)!half; \
    die(); \
  } \
  ssize_t result = whole; \
  if (verdict == dies_after) die(); \
  return result

ssize_t write(int file, const void *bytes, size_t size) {
  NEXT(write);
  TRANSFER(call_writes, "write", file, size, next(file, bytes, size), next(file, bytes, size / 2));
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  NEXT(pwrite);
  TRANSFER(call_writes, "pwrite", file, size, next(file, bytes, size, offset), next(file, bytes, size / 2, offset));
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  NEXT(pwrite64);
  TRANSFER(call_writes, "pwrite", file, size, next(file, bytes, size, offset), next(file, bytes, size / 2, offset));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  NEXT(writev);
  TRANSFER(call_writes, "writev", file, count, next(file, parts, count), next(file, parts, count / 2));
}

ssize_t read(int file, void *bytes, size_t size) {
  NEXT(read);
  TRANSFER(call_reads, "read", file, size, next(file, bytes, size), next(file, bytes, size / 2));
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
  NEXT(pread);
  TRANSFER(call_reads, "pread", file, size, next(file, bytes, size, offset), next(file, bytes, size / 2, offset));
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) {
  NEXT(pread64);
  TRANSFER(call_reads, "pread", file, size, next(file, bytes, size, offset), next(file, bytes, size / 2, offset));
}

ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *end, size_t size, unsigned flags) {
  NEXT(copy_file_range);
  TRANSFER(
      call_writes, "copy_file_range", to, size, next(from, start, to, end, size, flags),
      next(from, start, to, end, size / 2, flags));
}

ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
  NEXT(sendfile);
  TRANSFER(call_writes, "sendfile", to, size, next(to, from, offset, size), next(to, from, offset, size / 2));
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t size) {
  NEXT(sendfile64);
  TRANSFER(call_writes, "sendfile", to, size, next(to, from, offset, size), next(to, from, offset, size / 2));
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  NEXT(mmap);
  if (is_active() && is_file(file) && judge(torture_call_reads, "mmap", NULL, file, (long long)size) == fails) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next(address, size, protection, flags, file, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) {
  NEXT(mmap64);
  if (is_active() && is_file(file) && judge(torture_call_reads, "mmap", NULL, file, (long long)size) == fails) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next(address, size, protection, flags, file, offset);
}

// MARK: Everything that answers 0 or -1

#define STEP(condition, kind, name, path, file, detail, call) \
  enum verdict verdict = passes; \
  if (is_active() && (condition)) verdict = judge(kind, name, path, file, detail); \
  if (verdict == fails) return -1; \
  int result = call; \
  if (verdict == dies_after) die(); \
  return result

int fsync(int file) {
  NEXT(fsync);
  STEP(is_file(file), torture_call_syncs, "fsync", NULL, file, 0, next(file));
}

int fdatasync(int file) {
  NEXT(fdatasync);
  STEP(is_file(file), torture_call_syncs, "fdatasync", NULL, file, 0, next(file));
}

int ftruncate(int file, off_t size) {
  NEXT(ftruncate);
  STEP(
      is_file(file), torture_call_changes | torture_call_grows, "ftruncate", NULL, file, (long long)size,
      next(file, size));
}

int ftruncate64(int file, off64_t size) {
  NEXT(ftruncate64);
  STEP(
      is_file(file), torture_call_changes | torture_call_grows, "ftruncate", NULL, file, (long long)size,
      next(file, size));
}

int fallocate(int file, int mode, off_t offset, off_t size) {
  NEXT(fallocate);
  STEP(
      is_file(file), torture_call_changes | torture_call_grows, "fallocate", NULL, file, (long long)size,
      next(file, mode, offset, size));
}

// Answers an errno rather than -1.
int posix_fallocate(int file, off_t offset, off_t size) {
  NEXT(posix_fallocate);
  enum verdict verdict = passes;
  if (is_active() && is_file(file))
    verdict = judge(torture_call_changes | torture_call_grows, "posix_fallocate", NULL, file, (long long)size);
  if (verdict == fails) return errno;
  int result = next(file, offset, size);
  if (verdict == dies_after) die();
  return result;
}

int unlink(const char *path) {
  NEXT(unlink);
  STEP(is_below(path), torture_call_changes, "unlink", path, -1, 0, next(path));
}

int unlinkat(int directory, const char *path, int flags) {
  NEXT(unlinkat);
  STEP(is_ours_at(directory, path), torture_call_changes, "unlinkat", path, -1, 0, next(directory, path, flags));
}

int rmdir(const char *path) {
  NEXT(rmdir);
  STEP(is_below(path), torture_call_changes, "rmdir", path, -1, 0, next(path));
}

int remove(const char *path) {
  NEXT(remove);
  STEP(is_below(path), torture_call_changes, "remove", path, -1, 0, next(path));
}

int rename(const char *from, const char *to) {
  NEXT(rename);
  STEP(is_below(to), torture_call_changes | torture_call_grows, "rename", to, -1, 0, next(from, to));
}

int renameat(int source, const char *from, int target, const char *to) {
  NEXT(renameat);
  STEP(
      is_ours_at(target, to), torture_call_changes | torture_call_grows, "renameat", to, -1, 0,
      next(source, from, target, to));
}

int renameat2(int source, const char *from, int target, const char *to, unsigned flags) {
  NEXT(renameat2);
  STEP(
      is_ours_at(target, to), torture_call_changes | torture_call_grows, "renameat2", to, -1, 0,
      next(source, from, target, to, flags));
}

int link(const char *from, const char *to) {
  NEXT(link);
  STEP(is_below(to), torture_call_changes | torture_call_grows, "link", to, -1, 0, next(from, to));
}

int linkat(int source, const char *from, int target, const char *to, int flags) {
  NEXT(linkat);
  STEP(
      is_ours_at(target, to), torture_call_changes | torture_call_grows, "linkat", to, -1, 0,
      next(source, from, target, to, flags));
}

int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  STEP(is_below(path), torture_call_changes | torture_call_grows, "mkdir", path, -1, 0, next(path, mode));
}

int chmod(const char *path, mode_t mode) {
  NEXT(chmod);
  STEP(is_below(path), torture_call_changes, "chmod", path, -1, 0, next(path, mode));
}

int fchmod(int file, mode_t mode) {
  NEXT(fchmod);
  STEP(is_file(file), torture_call_changes, "fchmod", NULL, file, 0, next(file, mode));
}
