/* libpq for an executable that starts without it: each function is looked up in libpq.so.5 when a program first connects.
 * Without the library a connection fails, and its message says which package to install. All functions that
 * CoreDataPostgreSQLBinding calls are here, which Scripts/check libpq checks.
 *
 * Any thread may call them. docs/decisions/0028-one-executable.md. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#define FUNCTIONS(F)                                                                                                  \
  F(int, PQbackendPID, (const PGconn *a), (a))                                                                        \
  F(int, PQcancel, (PGcancel *a, char *b, int c), (a, b, c))                                                          \
  F(char *, PQcmdStatus, (PGresult *a), (a))                                                                          \
  F(char *, PQcmdTuples, (PGresult *a), (a))                                                                          \
  F(PostgresPollingStatusType, PQconnectPoll, (PGconn *a), (a))                                                       \
  F(int, PQconsumeInput, (PGconn *a), (a))                                                                            \
  F(int, PQenterPipelineMode, (PGconn *a), (a))                                                                       \
  F(int, PQexitPipelineMode, (PGconn *a), (a))                                                                        \
  F(int, PQflush, (PGconn *a), (a))                                                                                   \
  F(char *, PQfname, (const PGresult *a, int b), (a, b))                                                              \
  F(Oid, PQftype, (const PGresult *a, int b), (a, b))                                                                 \
  F(PGcancel *, PQgetCancel, (PGconn *a), (a))                                                                        \
  F(PGresult *, PQgetResult, (PGconn *a), (a))                                                                        \
  F(int, PQgetisnull, (const PGresult *a, int b, int c), (a, b, c))                                                   \
  F(int, PQgetlength, (const PGresult *a, int b, int c), (a, b, c))                                                   \
  F(char *, PQgetvalue, (const PGresult *a, int b, int c), (a, b, c))                                                 \
  F(int, PQisBusy, (PGconn *a), (a))                                                                                  \
  F(int, PQnfields, (const PGresult *a), (a))                                                                         \
  F(PGnotify *, PQnotifies, (PGconn *a), (a))                                                                         \
  F(int, PQntuples, (const PGresult *a), (a))                                                                         \
  F(const char *, PQparameterStatus, (const PGconn *a, const char *b), (a, b))                                        \
  F(int, PQpipelineSync, (PGconn *a), (a))                                                                            \
  F(int, PQputCopyData, (PGconn *a, const char *b, int c), (a, b, c))                                                 \
  F(int, PQputCopyEnd, (PGconn *a, const char *b), (a, b))                                                            \
  F(char *, PQresultErrorField, (const PGresult *a, int b), (a, b))                                                   \
  F(ExecStatusType, PQresultStatus, (const PGresult *a), (a))                                                         \
  F(int, PQsendPrepare, (PGconn *a, const char *b, const char *c, int d, const Oid *e), (a, b, c, d, e))              \
  F(int, PQsendQuery, (PGconn *a, const char *b), (a, b))                                                             \
  F(int, PQsendQueryParams,                                                                                           \
    (PGconn *a, const char *b, int c, const Oid *d, const char *const *e, const int *f, const int *g, int h),         \
    (a, b, c, d, e, f, g, h))                                                                                         \
  F(int, PQsendQueryPrepared,                                                                                         \
    (PGconn *a, const char *b, int c, const char *const *d, const int *e, const int *f, int g),                       \
    (a, b, c, d, e, f, g))                                                                                            \
  F(int, PQserverVersion, (const PGconn *a), (a))                                                                     \
  F(int, PQsetnonblocking, (PGconn *a, int b), (a, b))                                                                \
  F(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn *a, PQnoticeReceiver b, void *c), (a, b, c))                       \
  F(int, PQsocket, (const PGconn *a), (a))                                                                            \
  F(PGTransactionStatusType, PQtransactionStatus, (const PGconn *a), (a))

/* Those that work without a connection. */
#define CONNECTIONS(F)                                                                                                \
  F(PGconn *, PQconnectdbParams, (const char *const *a, const char *const *b, int c), (a, b, c))                      \
  F(PGconn *, PQconnectStartParams, (const char *const *a, const char *const *b, int c), (a, b, c))                   \
  F(PGVerbosity, PQsetErrorVerbosity, (PGconn *a, PGVerbosity b), (a, b))                                             \
  F(char *, PQerrorMessage, (const PGconn *a), (a))                                                                   \
  F(ConnStatusType, PQstatus, (const PGconn *a), (a))

#define RELEASES(F)                                                                                                   \
  F(PQclear, (PGresult *a), (a))                                                                                      \
  F(PQfreeCancel, (PGcancel *a), (a))                                                                                 \
  F(PQfreemem, (void *a), (a))

#define FIELD(type, name, parameters, arguments) type(*name) parameters;
#define RELEASE_FIELD(name, parameters, arguments) void(*name) parameters;
static struct {
  FUNCTIONS(FIELD)
  CONNECTIONS(FIELD)
  RELEASES(RELEASE_FIELD)
  void (*PQfinish)(PGconn *);
} loaded;

/* Why there is no library; empty if there is one. */
static char problem[512];
/* The connection that is handed out without a library. */
static char missing;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL && problem[0] == 0)
    snprintf(problem, sizeof problem, "libpq.so.5 of this machine has no %s. Install libpq 14 or later.", name);
  return found;
}

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(
        problem, sizeof problem,
        "There is no libpq.so.5, through which this program talks to PostgreSQL. Install it: 'apt install libpq5' on "
        "Debian and Ubuntu, 'dnf install libpq' on Fedora. The loader says: %s",
        dlerror());
    return;
  }
#define FIND(type, name, parameters, arguments) loaded.name = (type(*) parameters)find(library, #name);
#define FIND_RELEASE(name, parameters, arguments) loaded.name = (void (*) parameters)find(library, #name);
  FUNCTIONS(FIND)
  CONNECTIONS(FIND)
  RELEASES(FIND_RELEASE)
  loaded.PQfinish = (void (*)(PGconn *))find(library, "PQfinish");
}

static int is_there(void) {
  pthread_once(&once, load);
  return problem[0] == 0;
}

/* A program has nothing to pass to these but what a connection gave it, so the library is there. */
#define FORWARD(type, name, parameters, arguments)                                                                    \
  type name parameters { return loaded.name arguments; }
#define FORWARD_RELEASE(name, parameters, arguments)                                                                  \
  void name parameters { loaded.name arguments; }
FUNCTIONS(FORWARD)
RELEASES(FORWARD_RELEASE)

PGconn *PQconnectdbParams(const char *const *keywords, const char *const *values, int expands) {
  return is_there() ? loaded.PQconnectdbParams(keywords, values, expands) : (PGconn *)&missing;
}
PGconn *PQconnectStartParams(const char *const *keywords, const char *const *values, int expands) {
  return is_there() ? loaded.PQconnectStartParams(keywords, values, expands) : (PGconn *)&missing;
}
PGVerbosity PQsetErrorVerbosity(PGconn *connection, PGVerbosity verbosity) {
  return connection == (PGconn *)&missing ? verbosity : loaded.PQsetErrorVerbosity(connection, verbosity);
}
ConnStatusType PQstatus(const PGconn *connection) {
  return connection == (PGconn *)&missing ? CONNECTION_BAD : loaded.PQstatus(connection);
}
char *PQerrorMessage(const PGconn *connection) {
  return connection == (PGconn *)&missing ? problem : loaded.PQerrorMessage(connection);
}
void PQfinish(PGconn *connection) {
  if (connection != (PGconn *)&missing) loaded.PQfinish(connection);
}
