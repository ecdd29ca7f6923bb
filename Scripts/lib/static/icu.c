/* What libxml2 calls of ICU, which is 30 MB of tables: converters of encodings that neither libxml2 nor the C library's iconv
 * knows. None can be opened here, so a document in such an encoding is an error of the parser, as in libxml2 without ICU.
 *
 * ICU_VERSION is the suffix of ICU's functions on the machine that builds.
 * docs/decisions/0028-one-executable.md lists the functions. */
#include <stddef.h>

#define JOINED(name, version) name##_##version
#define NAMED(name, version) JOINED(name, version)
#define FUNCTION(name) NAMED(name, ICU_VERSION)

/* U_FILE_ACCESS_ERROR: there is no such converter. */
void *FUNCTION(ucnv_open)(const char *name, int *status) {
  (void)name;
  *status = 4;
  return NULL;
}

/* Without a converter nobody calls these. */
void FUNCTION(ucnv_close)(void *converter) { (void)converter; }
void FUNCTION(ucnv_convertEx)(void) {}
void FUNCTION(ucnv_setFromUCallBack)(void) {}
void FUNCTION(ucnv_setToUCallBack)(void) {}
void FUNCTION(UCNV_FROM_U_CALLBACK_STOP)(void) {}
void FUNCTION(UCNV_TO_U_CALLBACK_STOP)(void) {}
