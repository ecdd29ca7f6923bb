#ifndef COREDATA_CARGUMENTS_H
#define COREDATA_CARGUMENTS_H

/* The arguments of this process, with its name, as the C library passes them to constructors; NULL with another C
 * library than glibc. Swift reads them from /proc, which a bare root does not have. Any thread may call it. */
char *const *coredata_arguments(void);
#endif
