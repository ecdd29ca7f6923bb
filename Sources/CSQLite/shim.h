#ifndef COREDATA_CSQLITE_SHIM_H
#define COREDATA_CSQLITE_SHIM_H
#include <sqlite3.h>

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

/* Turns on or off the mode in which VACUUM empties a database in place. */
static inline int coredata_set_reset_database(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_RESET_DATABASE, on, (int *)0);
}

/* Forbids SQL that could corrupt the file on purpose. */
static inline int coredata_set_defensive(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}

/* Whether views and triggers of the file may call functions that are not marked innocuous. */
static inline int coredata_set_trusted_schema(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, (int *)0);
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
