#ifndef ALLOCATED_H
#define ALLOCATED_H

#include <malloc.h>
#include <sqlite3.h>
#include <stddef.h>

/// Bytes in allocations of the process that have not been freed; 0 if the C library does not tell.
static inline size_t allocated_bytes(void) {
#ifdef __GLIBC__
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

/// Returns freed memory to the system.
static inline void release_freed_bytes(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Has SQLite count its allocations, which distributions and the engine switch off. Call before anything uses SQLite.
static inline void count_sqlite_bytes(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
  // From now on no other writer can change that.
  sqlite3_initialize();
}

#endif
