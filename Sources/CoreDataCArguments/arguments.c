#include "arguments.h"
#include <stdlib.h>

static char *const *arguments;

#ifdef __GLIBC__
/* glibc passes what main receives. */
__attribute__((constructor)) static void keep(int count, char **values) {
  (void)count;
  arguments = values;
}
#endif

char *const *coredata_arguments(void) { return arguments; }
