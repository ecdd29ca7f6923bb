#include "ConcurrencyTraps.h"

#include <stdlib.h>

// Before anything reads the environment: the tests' own contexts trap when they are used off their queue.
__attribute__((constructor)) static void switch_on(void) { setenv("COREDATA_CONCURRENCY_DEBUG", "1", 0); }
