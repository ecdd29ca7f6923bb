#ifndef COREDATA_CPOSTGRESQL_SHIM_H
#define COREDATA_CPOSTGRESQL_SHIM_H
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

/* What Swift cannot import: fields of an error are named by characters. */

static inline const char *coredata_pq_state(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}
static inline const char *coredata_pq_severity(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
}
static inline const char *coredata_pq_primary(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}
static inline const char *coredata_pq_constraint(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
}
static inline const char *coredata_pq_table(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_TABLE_NAME);
}
#endif
