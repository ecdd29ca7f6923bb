#include "PostgreSQLFloor.h"

#include <postgresql/libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Types that parameters have, by their object IDs.
enum { BOOL = 16, INT8 = 20, FLOAT8 = 701, TEXT = 25, INT8_ARRAY = 1016, TEXT_ARRAY = 1009 };

struct floor_connection {
  PGconn *pq;
  char schema[64];
  char reason[512];
  int prepared;
};

// A block of bytes that grows.
typedef struct { char *bytes; size_t count, room; } buffer;

static void *reserve(buffer *b, size_t count) {
  if (b->count + count > b->room) {
    b->room = (b->count + count) * 2 + 4096;
    b->bytes = realloc(b->bytes, b->room);
    if (!b->bytes) abort();
  }
  void *place = b->bytes + b->count;
  b->count += count;
  return place;
}

static void put16(buffer *b, uint16_t v) { v = __builtin_bswap16(v); memcpy(reserve(b, 2), &v, 2); }
static void put32(buffer *b, uint32_t v) { v = __builtin_bswap32(v); memcpy(reserve(b, 4), &v, 4); }
static void put64(buffer *b, uint64_t v) { v = __builtin_bswap64(v); memcpy(reserve(b, 8), &v, 8); }
static void put_bytes(buffer *b, const char *bytes, uint32_t count) {
  put32(b, count);
  memcpy(reserve(b, count), bytes, count);
}
static void put_int8(buffer *b, int64_t v) { put32(b, 8); put64(b, (uint64_t)v); }
static void put_double(buffer *b, double v) { uint64_t bits; memcpy(&bits, &v, 8); put32(b, 8); put64(b, bits); }

static void start_array(buffer *b, uint32_t type, int count) {
  b->count = 0;
  put32(b, 1);
  put32(b, 0);
  put32(b, type);
  put32(b, (uint32_t)count);
  put32(b, 1);
}

static uint64_t get64(const char *p) { uint64_t v; memcpy(&v, p, 8); return __builtin_bswap64(v); }

static int fail(floor_connection *c, const char *reason) {
  snprintf(c->reason, sizeof c->reason, "%s", reason);
  return -1;
}

// Ends a result; -1 unless it has the wanted state.
static int end(floor_connection *c, PGresult *result, ExecStatusType wanted) {
  int is_wanted = PQresultStatus(result) == wanted;
  if (!is_wanted) fail(c, PQerrorMessage(c->pq));
  PQclear(result);
  return is_wanted ? 0 : -1;
}

// Notices are for those who type statements.
static void ignore(void *unused, const char *notice) { (void)unused; (void)notice; }

floor_connection *floor_connect(const char *conninfo, const char *schema, char *reason, int size) {
  floor_connection *c = calloc(1, sizeof *c);
  if (!c) abort();
  c->pq = PQconnectdb(conninfo);
  if (PQstatus(c->pq) != CONNECTION_OK) {
    snprintf(reason, (size_t)size, "%s", PQerrorMessage(c->pq));
    floor_close(c);
    return NULL;
  }
  PQsetNoticeProcessor(c->pq, ignore, NULL);
  snprintf(c->schema, sizeof c->schema, "%s", schema);
  return c;
}

void floor_close(floor_connection *c) {
  PQfinish(c->pq);
  free(c);
}

const char *floor_reason(const floor_connection *c) { return c->reason; }

int floor_execute(floor_connection *c, const char *sql) { return end(c, PQexec(c->pq, sql), PGRES_COMMAND_OK); }

int floor_digest(floor_connection *c, const char *sql, int64_t *number, char *text, int size) {
  PGresult *result = PQexec(c->pq, sql);
  if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1) {
    *number = atoll(PQgetvalue(result, 0, 0));
    snprintf(text, (size_t)size, "%s", PQnfields(result) > 1 ? PQgetvalue(result, 0, 1) : "");
  }
  return end(c, result, PGRES_TUPLES_OK);
}

static int prepare(floor_connection *c, const char *name, int count, const Oid *types, const char *format) {
  char sql[1024];
  // Every place of the schema in a statement stands as %1$s.
  snprintf(sql, sizeof sql, format, c->schema);
  return end(c, PQprepare(c->pq, name, sql, count, types), PGRES_COMMAND_OK);
}

#define COLUMNS "id, version, active, code, created_at, identifier, latitude, longitude, name, note, route_id"

static int prepare_all(floor_connection *c) {
  if (c->prepared) return 0;
  static const Oid page[] = {INT8, INT8, TEXT, TEXT}, ids[] = {INT8_ARRAY}, texts[] = {TEXT_ARRAY};
  static const Oid update[] = {INT8_ARRAY, INT8_ARRAY, TEXT_ARRAY, INT8_ARRAY};
  static const Oid text[] = {TEXT}, change[] = {INT8, INT8, TEXT, INT8};
  static const Oid row[] = {INT8, BOOL, INT8, FLOAT8, TEXT, FLOAT8, FLOAT8, TEXT, TEXT, INT8};
#define PAGE "FROM %1$s.stop WHERE code BETWEEN $1 AND $2 AND name >= $3 AND name < $4"
  if (prepare(c, "page", 4, page, "SELECT " COLUMNS " " PAGE " ORDER BY name LIMIT 50") ||
      prepare(c, "count", 4, page, "SELECT count(*) " PAGE) ||
      prepare(c, "ids", 1, ids, "SELECT " COLUMNS " FROM %1$s.stop WHERE id = ANY($1)") ||
      prepare(c, "find", 1, texts, "SELECT id, identifier FROM %1$s.stop WHERE identifier = ANY($1)") ||
      prepare(c, "find one", 1, text, "SELECT id FROM %1$s.stop WHERE identifier = $1 LIMIT 1") ||
      prepare(c, "insert", 10, row,
              "INSERT INTO %1$s.stop (id, entity, version, active, code, created_at, identifier, latitude, longitude, name, "
              "note, route_id) VALUES ($1, 2, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10)") ||
      prepare(c, "change", 4, change,
              "UPDATE %1$s.stop SET version = version + 1, name = $3, code = $4 WHERE id = $1 AND version = $2") ||
      prepare(c, "update", 4, update,
              "UPDATE %1$s.stop t SET version = n.v + 1, name = n.name, code = n.code "
              "FROM unnest($1, $2, $3, $4) n(id, v, name, code) WHERE t.id = n.id AND t.version = n.v RETURNING t.id") ||
      prepare(c, "delete", 1, ids, "DELETE FROM %1$s.stop WHERE id = ANY($1)"))
    return -1;
  c->prepared = 1;
  return 0;
}

// Runs a prepared statement in binary form.
static PGresult *run(floor_connection *c, const char *name, int count, const buffer *parameters) {
  const char *values[4];
  int lengths[4], formats[4];
  for (int i = 0; i < count; i++) {
    values[i] = parameters[i].bytes;
    lengths[i] = (int)parameters[i].count;
    formats[i] = 1;
  }
  return PQexecPrepared(c->pq, name, count, values, lengths, formats, 1);
}

// What a program makes of a row: every field is looked at.
static void take(const PGresult *result, int row, floor_sum *sum) {
  volatile double sink = 0;
  for (int column = 4; column <= 7; column += column == 4 ? 2 : 1) {
    uint64_t bits = get64(PQgetvalue(result, row, column));
    double value;
    memcpy(&value, &bits, 8);
    sink += value;
  }
  sink += PQgetvalue(result, row, 2)[0] + (double)get64(PQgetvalue(result, row, 10)) + PQgetvalue(result, row, 5)[0];
  sum->rows += 1;
  sum->sum += (int64_t)get64(PQgetvalue(result, row, 3)) + PQgetlength(result, row, 8) + PQgetlength(result, row, 9);
}

static int take_all(floor_connection *c, PGresult *result, floor_sum *sum) {
  if (PQresultStatus(result) == PGRES_TUPLES_OK)
    for (int row = 0; row < PQntuples(result); row++) take(result, row, sum);
  return end(c, result, PGRES_TUPLES_OK);
}

static int copy(floor_connection *c, const floor_row *rows, int count) {
  char sql[512];
  snprintf(sql, sizeof sql,
           "COPY %s.stop (id, entity, version, active, code, created_at, identifier, latitude, longitude, name, note, "
           "route_id) FROM STDIN BINARY", c->schema);
  if (end(c, PQexec(c->pq, sql), PGRES_COPY_IN)) return -1;
  buffer b = {0};
  memcpy(reserve(&b, 19), "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
  for (int i = 0; i < count; i++) {
    const floor_row *r = rows + i;
    put16(&b, 12);
    put_int8(&b, r->id);
    put32(&b, 2); put16(&b, 2);
    put_int8(&b, 1);
    put32(&b, 1); *(char *)reserve(&b, 1) = (char)r->active;
    put_int8(&b, r->code);
    put_double(&b, r->created);
    put_bytes(&b, r->identifier, 17);
    put_double(&b, r->latitude);
    put_double(&b, r->longitude);
    put_bytes(&b, r->name, 16);
    if (r->note) put_bytes(&b, r->note, 21); else put32(&b, (uint32_t)-1);
    put_int8(&b, r->route);
  }
  put16(&b, (uint16_t)-1);
  int sent = PQputCopyData(c->pq, b.bytes, (int)b.count) == 1 && PQputCopyEnd(c->pq, NULL) == 1;
  free(b.bytes);
  if (!sent) return fail(c, PQerrorMessage(c->pq));
  int outcome = end(c, PQgetResult(c->pq), PGRES_COMMAND_OK);
  while (1) {
    PGresult *rest = PQgetResult(c->pq);
    if (!rest) break;
    PQclear(rest);
  }
  return outcome;
}

// Looks for rows one after the other; -1 if one is there.
static int find_each(floor_connection *c, const floor_row *rows, int count) {
  for (int i = 0; i < count; i++) {
    const char *values[] = {rows[i].identifier};
    int lengths[] = {17}, formats[] = {1};
    PGresult *result = PQexecPrepared(c->pq, "find one", 1, values, lengths, formats, 1);
    int found = PQresultStatus(result) == PGRES_TUPLES_OK ? PQntuples(result) : 0;
    if (end(c, result, PGRES_TUPLES_OK)) return -1;
    if (found) return fail(c, "the import has found rows that are none of its own");
  }
  return 0;
}

int floor_insert_each(floor_connection *c, const floor_row *rows, int count) {
  if (prepare_all(c)) return -1;
  for (int i = 0; i < count; i++) {
    const floor_row *r = rows + i;
    uint64_t numbers[6], bits[3];
    memcpy(bits, (double[]){r->created, r->latitude, r->longitude}, sizeof bits);
    numbers[0] = __builtin_bswap64((uint64_t)r->id);
    numbers[1] = __builtin_bswap64((uint64_t)r->code);
    numbers[2] = __builtin_bswap64((uint64_t)r->route);
    for (int k = 0; k < 3; k++) numbers[3 + k] = __builtin_bswap64(bits[k]);
    char active = (char)r->active;
    const char *values[] = {(char *)&numbers[0], &active, (char *)&numbers[1], (char *)&numbers[3], r->identifier,
                            (char *)&numbers[4], (char *)&numbers[5], r->name, r->note, (char *)&numbers[2]};
    static const int lengths[] = {8, 1, 8, 8, 17, 8, 8, 16, 21, 8}, formats[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    if (end(c, PQexecPrepared(c->pq, "insert", 10, values, lengths, formats, 1), PGRES_COMMAND_OK)) return -1;
  }
  return 0;
}

int floor_import(floor_connection *c, const floor_row *rows, int count, int finds) {
  if (prepare_all(c) || floor_execute(c, "BEGIN")) return -1;
  if (finds == FLOOR_FINDS_EACH && find_each(c, rows, count)) return -1;
  if (finds == FLOOR_FINDS_ALL) {
    buffer keys = {0};
    start_array(&keys, TEXT, count);
    for (int i = 0; i < count; i++) put_bytes(&keys, rows[i].identifier, 17);
    PGresult *result = run(c, "find", 1, &keys);
    int found = PQresultStatus(result) == PGRES_TUPLES_OK ? PQntuples(result) : 0;
    free(keys.bytes);
    if (end(c, result, PGRES_TUPLES_OK)) return -1;
    if (found) return fail(c, "the import has found rows that are none of its own");
  }
  if (copy(c, rows, count)) return -1;
  return floor_execute(c, "COMMIT");
}

int floor_all(floor_connection *c, floor_sum *sum) {
  char sql[256];
  snprintf(sql, sizeof sql, "SELECT " COLUMNS " FROM %s.stop ORDER BY name", c->schema);
  return take_all(c, PQexecParams(c->pq, sql, 0, NULL, NULL, NULL, NULL, 1), sum);
}

static PGresult *ask(floor_connection *c, const char *name, int64_t low, int64_t high, char initial) {
  uint64_t bounds[2] = {__builtin_bswap64((uint64_t)low), __builtin_bswap64((uint64_t)high)};
  char first[1] = {initial}, last[1] = {(char)(initial + 1)};
  const char *values[] = {(char *)&bounds[0], (char *)&bounds[1], first, last};
  int lengths[] = {8, 8, 1, 1}, formats[] = {1, 1, 1, 1};
  return PQexecPrepared(c->pq, name, 4, values, lengths, formats, 1);
}

int floor_page(floor_connection *c, int64_t low, int64_t high, char initial, floor_sum *sum) {
  if (prepare_all(c)) return -1;
  return take_all(c, ask(c, "page", low, high, initial), sum);
}

int floor_count(floor_connection *c, int64_t low, int64_t high, char initial, floor_sum *sum) {
  if (prepare_all(c)) return -1;
  PGresult *result = ask(c, "count", low, high, initial);
  if (PQresultStatus(result) == PGRES_TUPLES_OK) {
    sum->rows += 1;
    sum->sum += (int64_t)get64(PQgetvalue(result, 0, 0));
  }
  return end(c, result, PGRES_TUPLES_OK);
}

static PGresult *read_ids(floor_connection *c, const int64_t *ids, int count) {
  buffer keys = {0};
  start_array(&keys, INT8, count);
  for (int i = 0; i < count; i++) put_int8(&keys, ids[i]);
  PGresult *result = run(c, "ids", 1, &keys);
  free(keys.bytes);
  return result;
}

int floor_by_id(floor_connection *c, const int64_t *ids, int count, floor_sum *sum) {
  if (prepare_all(c)) return -1;
  for (int start = 0; start < count; start += 1000)
    if (take_all(c, read_ids(c, ids + start, count - start < 1000 ? count - start : 1000), sum)) return -1;
  return 0;
}

int floor_update(floor_connection *c, const int64_t *ids, int count) {
  if (prepare_all(c)) return -1;
  PGresult *old = read_ids(c, ids, count);
  int rows = PQresultStatus(old) == PGRES_TUPLES_OK ? PQntuples(old) : 0;
  buffer p[4] = {{0}, {0}, {0}, {0}};
  start_array(&p[0], INT8, rows);
  start_array(&p[1], INT8, rows);
  start_array(&p[2], TEXT, rows);
  start_array(&p[3], INT8, rows);
  for (int row = 0; row < rows; row++) {
    put_bytes(&p[0], PQgetvalue(old, row, 0), 8);
    put_bytes(&p[1], PQgetvalue(old, row, 1), 8);
    uint32_t length = (uint32_t)PQgetlength(old, row, 8);
    put32(&p[2], length + 4);
    char *name = reserve(&p[2], length + 4);
    memcpy(name, "upd ", 4);
    memcpy(name + 4, PQgetvalue(old, row, 8), length);
    put_int8(&p[3], (int64_t)get64(PQgetvalue(old, row, 3)) + 1);
  }
  if (end(c, old, PGRES_TUPLES_OK) || floor_execute(c, "BEGIN")) return -1;
  PGresult *result = run(c, "update", 4, p);
  int written = PQntuples(result);
  for (int i = 0; i < 4; i++) free(p[i].bytes);
  if (end(c, result, PGRES_TUPLES_OK) || floor_execute(c, "COMMIT")) return -1;
  return written == count ? 0 : fail(c, "a row to update is not there");
}

int floor_update_each(floor_connection *c, const int64_t *ids, int count) {
  if (prepare_all(c)) return -1;
  PGresult *old = read_ids(c, ids, count);
  int rows = PQresultStatus(old) == PGRES_TUPLES_OK ? PQntuples(old) : 0, failed = 0;
  for (int row = 0; row < rows && !failed; row++) {
    char name[64] = "upd ";
    int length = PQgetlength(old, row, 8) < 60 ? PQgetlength(old, row, 8) : 60;
    memcpy(name + 4, PQgetvalue(old, row, 8), (size_t)length);
    uint64_t code = __builtin_bswap64(get64(PQgetvalue(old, row, 3)) + 1);
    const char *values[] = {PQgetvalue(old, row, 0), PQgetvalue(old, row, 1), name, (char *)&code};
    int lengths[] = {8, 8, length + 4, 8}, formats[] = {1, 1, 1, 1};
    failed = end(c, PQexecPrepared(c->pq, "change", 4, values, lengths, formats, 1), PGRES_COMMAND_OK);
  }
  if (end(c, old, PGRES_TUPLES_OK) || failed) return -1;
  return rows == count ? 0 : fail(c, "a row to update is not there");
}

int floor_delete(floor_connection *c, const int64_t *ids, int count) {
  if (prepare_all(c)) return -1;
  floor_sum sum = {0, 0};
  if (take_all(c, read_ids(c, ids, count), &sum) || floor_execute(c, "BEGIN")) return -1;
  buffer keys = {0};
  start_array(&keys, INT8, count);
  for (int i = 0; i < count; i++) put_int8(&keys, ids[i]);
  PGresult *result = run(c, "delete", 1, &keys);
  free(keys.bytes);
  if (end(c, result, PGRES_COMMAND_OK)) return -1;
  return floor_execute(c, "COMMIT");
}
