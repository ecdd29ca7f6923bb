#ifdef __linux__
#include "CoreDataCTorture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

// A VFS on top of SQLite's own that lets the call that the plan names fail as the disk would.

struct torture_plan *torture_vfs_plan;

static sqlite3_vfs *below;

struct trial_file {
  sqlite3_file base;
  sqlite3_io_methods methods;
  int counts;
  sqlite3_file *inner;
};

static sqlite3_file *inner(sqlite3_file *file) { return ((struct trial_file *)file)->inner; }

/// Whether the call fails; `is_half` tells that a write writes half.
static int judge(int kind, const char *name, const char *path, int *is_half) {
  struct torture_plan *plan = torture_vfs_plan;
  if (!plan || !plan->is_armed || plan->layer != torture_layer_vfs) return 0;
  int64_t number = torture_count(plan, kind);
  if (number == 0) return 0;
  if (plan->is_traced) fprintf(stderr, "%lld: %s %s\n", (long long)number, name, path ? path : "");
  int is_hit = number == plan->at;
  if (plan->at > 0 && plan->action == torture_io_error_from_now_on) is_hit = number >= plan->at;
  if (!is_hit || plan->action < torture_no_space) return 0;
  plan->hits += 1;
  if (plan->hits == 1) snprintf(plan->call, sizeof plan->call, "%s %s", name, path ? path : "");
  if (is_half) *is_half = plan->action == torture_short_write;
  return 1;
}

static int is_full(void) {
  return torture_vfs_plan->action == torture_no_space || torture_vfs_plan->action == torture_short_write;
}

static int judged(sqlite3_file *file, int kind, const char *name, int error) {
  if (!((struct trial_file *)file)->counts || !judge(kind, name, NULL, NULL)) return SQLITE_OK;
  return is_full() && kind & torture_call_grows ? SQLITE_FULL : error;
}

#define FAIL(kind, name, error) \
  int failure = judged(file, kind, name, error); \
  if (failure != SQLITE_OK) return failure

enum { grows = torture_call_changes | torture_call_grows };

static int close_file(sqlite3_file *file) {
  struct trial_file *trial = (struct trial_file *)file;
  int result = trial->inner->pMethods ? trial->inner->pMethods->xClose(trial->inner) : SQLITE_OK;
  sqlite3_free(trial->inner);
  return result;
}

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
  FAIL(torture_call_reads, "xRead", SQLITE_IOERR_READ);
  return inner(file)->pMethods->xRead(inner(file), bytes, size, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  int is_half = 0;
  if (((struct trial_file *)file)->counts && judge(grows | torture_call_transfers, "xWrite", NULL, &is_half)) {
    if (is_half) inner(file)->pMethods->xWrite(inner(file), bytes, size / 2, offset);
    return is_full() ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  return inner(file)->pMethods->xWrite(inner(file), bytes, size, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  FAIL(grows, "xTruncate", SQLITE_IOERR_TRUNCATE);
  return inner(file)->pMethods->xTruncate(inner(file), size);
}

static int sync_file(sqlite3_file *file, int flags) {
  FAIL(torture_call_syncs, "xSync", SQLITE_IOERR_FSYNC);
  return inner(file)->pMethods->xSync(inner(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  FAIL(torture_call_reads, "xFileSize", SQLITE_IOERR_FSTAT);
  return inner(file)->pMethods->xFileSize(inner(file), size);
}

static int lock_file(sqlite3_file *file, int level) {
  FAIL(torture_call_reads, "xLock", SQLITE_IOERR_LOCK);
  return inner(file)->pMethods->xLock(inner(file), level);
}

static int unlock_file(sqlite3_file *file, int level) { return inner(file)->pMethods->xUnlock(inner(file), level); }

static int check_lock(sqlite3_file *file, int *result) {
  FAIL(torture_call_reads, "xCheckReservedLock", SQLITE_IOERR_CHECKRESERVEDLOCK);
  return inner(file)->pMethods->xCheckReservedLock(inner(file), result);
}

static int control_file(sqlite3_file *file, int operation, void *argument) {
  return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return inner(file)->pMethods->xSectorSize(inner(file)); }

static int device_characteristics(sqlite3_file *file) {
  return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

static int map_shared(sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
  FAIL(extends ? grows : torture_call_reads, "xShmMap", SQLITE_IOERR_SHMMAP);
  return inner(file)->pMethods->xShmMap(inner(file), region, size, extends, memory);
}

static int lock_shared(sqlite3_file *file, int offset, int count, int flags) {
  // Letting go of a lock cannot fail.
  if (flags & SQLITE_SHM_LOCK) {
    FAIL(torture_call_reads, "xShmLock", SQLITE_IOERR_SHMLOCK);
  }
  return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags);
}

static void order_shared(sqlite3_file *file) { inner(file)->pMethods->xShmBarrier(inner(file)); }

static int unmap_shared(sqlite3_file *file, int deletes) {
  return inner(file)->pMethods->xShmUnmap(inner(file), deletes);
}

static int fetch_page(sqlite3_file *file, sqlite3_int64 offset, int size, void **memory) {
  return inner(file)->pMethods->xFetch(inner(file), offset, size, memory);
}

static int unfetch_page(sqlite3_file *file, sqlite3_int64 offset, void *memory) {
  return inner(file)->pMethods->xUnfetch(inner(file), offset, memory);
}

static const sqlite3_io_methods methods = {
    3,          close_file,   read_file,   write_file,   truncate_file,          sync_file,  file_size,
    lock_file,  unlock_file,  check_lock,  control_file, sector_size,            device_characteristics,
    map_shared, lock_shared,  order_shared, unmap_shared, fetch_page,            unfetch_page,
};

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *found) {
  (void)vfs;
  struct trial_file *trial = (struct trial_file *)file;
  memset(trial, 0, sizeof *trial);
  struct torture_plan *plan = torture_vfs_plan;
  trial->counts = plan && path && strncmp(path, plan->prefix, strlen(plan->prefix)) == 0;
  if (trial->counts && judge(flags & SQLITE_OPEN_CREATE ? grows : torture_call_reads, "xOpen", path, NULL))
    return is_full() ? SQLITE_FULL : SQLITE_CANTOPEN;
  trial->inner = sqlite3_malloc(below->szOsFile);
  if (!trial->inner) return SQLITE_NOMEM;
  memset(trial->inner, 0, (size_t)below->szOsFile);
  int result = below->xOpen(below, path, trial->inner, flags, found);
  if (trial->inner->pMethods) {
    trial->methods = methods;
    trial->methods.iVersion = trial->inner->pMethods->iVersion;
    trial->base.pMethods = &trial->methods;
  } else {
    sqlite3_free(trial->inner);
  }
  return result;
}

static int is_below_prefix(const char *path) {
  struct torture_plan *plan = torture_vfs_plan;
  return plan && path && strncmp(path, plan->prefix, strlen(plan->prefix)) == 0;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int syncs) {
  (void)vfs;
  if (is_below_prefix(path) && judge(torture_call_changes, "xDelete", path, NULL)) return SQLITE_IOERR_DELETE;
  return below->xDelete(below, path, syncs);
}

static int find_file(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  (void)vfs;
  if (is_below_prefix(path) && judge(torture_call_reads, "xAccess", path, NULL)) return SQLITE_IOERR_ACCESS;
  return below->xAccess(below, path, flags, result);
}

int torture_vfs_register(void) {
  static sqlite3_vfs trial;
  if (below) return SQLITE_OK;
  below = sqlite3_vfs_find(NULL);
  if (!below) return SQLITE_ERROR;
  trial = *below;
  trial.pNext = NULL;
  trial.zName = "torture";
  trial.szOsFile = sizeof(struct trial_file);
  trial.xOpen = open_file;
  trial.xDelete = delete_file;
  trial.xAccess = find_file;
  return sqlite3_vfs_register(&trial, 1);
}
#endif
