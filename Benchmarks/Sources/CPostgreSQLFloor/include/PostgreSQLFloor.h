// The benchmark's work on libpq alone, in binary form and with as few statements as libpq allows: what the engine's store
// on PostgreSQL is measured beside.
#ifndef POSTGRESQL_FLOOR_H
#define POSTGRESQL_FLOOR_H

#include <stdint.h>

typedef struct floor_connection floor_connection;

// One row to write. Texts have the workload's fixed lengths and no zero at their ends.
typedef struct {
  int64_t id;
  const char *identifier, *name, *note;
  double latitude, longitude, created;
  int64_t code, route;
  int32_t active;
} floor_row;

typedef struct { int64_t rows, sum; } floor_sum;

// Connects to a database and works in a schema whose name needs no quotes. NULL, with a message in 'reason', when it fails.
floor_connection *floor_connect(const char *conninfo, const char *schema, char *reason, int size);
void floor_close(floor_connection *);

// What went wrong in the last call that answered -1.
const char *floor_reason(const floor_connection *);

// Runs statements without results.
int floor_execute(floor_connection *, const char *sql);
// The first two columns of the first row, as numbers and as text.
int floor_digest(floor_connection *, const char *sql, int64_t *number, char *text, int size);

// How an import looks for rows that are there: not at all, all together, or one after the other.
enum { FLOOR_FINDS_NONE, FLOOR_FINDS_ALL, FLOOR_FINDS_EACH };

// Imports rows by COPY, in one transaction. None of them may be there.
int floor_import(floor_connection *, const floor_row *rows, int count, int finds);
// Inserts rows, each in a transaction of its own.
int floor_insert_each(floor_connection *, const floor_row *rows, int count);

int floor_all(floor_connection *, floor_sum *);
int floor_page(floor_connection *, int64_t low, int64_t high, char initial, floor_sum *);
int floor_count(floor_connection *, int64_t low, int64_t high, char initial, floor_sum *);
int floor_by_id(floor_connection *, const int64_t *ids, int count, floor_sum *);

// Reads rows by id and then changes them, as a program does that looks before it writes.
int floor_update(floor_connection *, const int64_t *ids, int count);
// The same with a transaction for each row.
int floor_update_each(floor_connection *, const int64_t *ids, int count);
int floor_delete(floor_connection *, const int64_t *ids, int count);

#endif
