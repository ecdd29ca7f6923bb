#ifndef COREDATA_CSQLITE_SHIM_H
#define COREDATA_CSQLITE_SHIM_H
#include <sqlite3.h>
#endif
