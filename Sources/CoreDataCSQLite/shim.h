#ifndef COREDATA_CSQLITE_SHIM_H
#define COREDATA_CSQLITE_SHIM_H
#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#else
#error "sqlite3.h is missing. Install libsqlite3-dev (Debian, Ubuntu) or sqlite-devel (Fedora)."
#endif
#include <unistd.h>

/* What Swift cannot import: macros that cast, and functions with variable arguments. */

/* Binds text that SQLite copies. */
static inline int coredata_bind_text_copying(
    sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

/* Binds text that outlives the statement's next run. */
static inline int coredata_bind_text_borrowing(
    sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_STATIC);
}

/* Binds bytes that SQLite copies. */
static inline int coredata_bind_blob_copying(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/* Binds bytes that outlive the statement's next run. */
static inline int coredata_bind_blob_borrowing(
    sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}

/* Answers a function call with text that SQLite copies. */
static inline void coredata_result_text_copying(sqlite3_context *context, const char *text, int count) {
  sqlite3_result_text(context, text, count, SQLITE_TRANSIENT);
}

/* Answers a column with text that outlives the cursor. */
static inline void coredata_result_text_borrowing(sqlite3_context *context, const char *text, int count) {
  sqlite3_result_text(context, text, count, SQLITE_STATIC);
}

/* Answers a column with bytes that outlive the cursor. */
static inline void coredata_result_blob_borrowing(sqlite3_context *context, const void *bytes, int count) {
  sqlite3_result_blob(context, bytes, count, SQLITE_STATIC);
}

/* Answers a column with bytes that SQLite copies. */
static inline void coredata_result_blob_copying(sqlite3_context *context, const void *bytes, int count) {
  sqlite3_result_blob(context, bytes, count, SQLITE_TRANSIENT);
}

/* Whether SQLite counts the memory that it uses, for which all threads of the process take one lock at every allocation.
 * Has an effect only before the process first uses SQLite; an error afterwards, which does no harm. */
static inline int coredata_set_memory_statistics(int on) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on);
}

/* Turns on or off the mode in which VACUUM empties a database in place. */
static inline int coredata_set_reset_database(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_RESET_DATABASE, on, (int *)0);
}

/* Whether closing the last connection leaves the write-ahead log as it is. */
static inline int coredata_set_no_checkpoint_on_close(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on, (int *)0);
}

/* Forbids SQL that could corrupt the file on purpose. */
static inline int coredata_set_defensive(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}

/* Whether views and triggers of the file may call functions that are not marked innocuous. */
static inline int coredata_set_trusted_schema(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, (int *)0);
}

/* Reads the first bytes of a file through SQLite's own layer; their number, or -1 if the file cannot be opened. Takes no
 * lock and makes no file. A separate descriptor would not do: on POSIX systems closing any descriptor of a file drops all
 * locks that the process holds on it, those of its open connections included ("How To Corrupt An SQLite Database File"). */
static inline int coredata_read_head(const char *path, unsigned char *buffer, int count) {
  sqlite3 *connection = 0;
  sqlite3_file *file = 0;
  sqlite3_int64 size = 0;
  int result = -1;
  if (sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, (const char *)0) == SQLITE_OK
      && sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK
      && file && file->pMethods && file->pMethods->xFileSize(file, &size) == SQLITE_OK) {
    result = size < count ? (int)size : count;
    if (result > 0 && file->pMethods->xRead(file, buffer, result, 0) != SQLITE_OK) result = -1;
  }
  sqlite3_close_v2(connection);
  return result;
}

/* Appends a file's content to a descriptor, read through SQLite's own layer for the same reason. 0, or -1 if anything fails. */
static inline int coredata_copy_file(const char *path, int destination) {
  sqlite3 *connection = 0;
  sqlite3_file *file = 0;
  sqlite3_int64 size = 0, offset = 0;
  unsigned char *buffer = (unsigned char *)sqlite3_malloc(1 << 18);
  int result = -1;
  if (buffer && sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, (const char *)0) == SQLITE_OK
      && sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK
      && file && file->pMethods && file->pMethods->xFileSize(file, &size) == SQLITE_OK) {
    result = 0;
    while (result == 0 && offset < size) {
      int count = size - offset < (1 << 18) ? (int)(size - offset) : (1 << 18);
      int written = 0;
      if (file->pMethods->xRead(file, buffer, count, offset) != SQLITE_OK) result = -1;
      while (result == 0 && written < count) {
        ssize_t step = write(destination, buffer + written, (size_t)(count - written));
        if (step <= 0) result = -1; else written += (int)step;
      }
      offset += count;
    }
  }
  sqlite3_close_v2(connection);
  sqlite3_free(buffer);
  return result;
}

/* The first 48 bytes of this are the state of the write-ahead log, as the file format documents it: any commit, by any
 * process, changes them. NULL without a log, or before the connection has read from it. Valid while a read transaction of
 * the connection is open. */
static inline const void *coredata_log_state(sqlite3 *connection) {
  sqlite3_file *file = 0;
  volatile void *index = 0;
  if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &index) != SQLITE_OK) return 0;
  return (const void *)index;
}

#endif
