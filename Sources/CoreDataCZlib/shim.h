#ifndef COREDATA_CZLIB_SHIM_H
#define COREDATA_CZLIB_SHIM_H
#if __has_include(<zlib.h>)
#include <zlib.h>
#else
#error "zlib.h is missing. Install zlib1g-dev (Debian, Ubuntu) or zlib-devel (Fedora)."
#endif

/* What Swift cannot import: macros that pass the library's version along. */

/* Readies a stream to unpack raw DEFLATE: no header, no checksum. */
static inline int coredata_inflate_raw_begin(z_stream *stream) { return inflateInit2(stream, -15); }

/* Readies a stream to pack as raw DEFLATE. */
static inline int coredata_deflate_raw_begin(z_stream *stream) {
  return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}

#endif
