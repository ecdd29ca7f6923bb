#ifndef COREDATA_CPOSTGRESQL_SHIM_H
#define COREDATA_CPOSTGRESQL_SHIM_H
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#elif __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#error "libpq-fe.h is missing, which stores on PostgreSQL need. Install libpq-dev (Debian, Ubuntu) or libpq-devel (Fedora), or build without them: swift build --product coredata"
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
