#ifndef COREDATA_CMICROHTTPD_SHIM_H
#define COREDATA_CMICROHTTPD_SHIM_H
#include <stdint.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#if __has_include(<microhttpd.h>)
#include <microhttpd.h>
#else
#error "microhttpd.h is missing, which the explorer needs. Install libmicrohttpd-dev (Debian, Ubuntu) or libmicrohttpd-devel (Fedora), or build without it: swift build --product coredata"
#endif

/* What Swift cannot import: functions with variable arguments, and macros that cast. */

/* Starts a daemon with a thread for each connection, on an IPv4 address (in network order) and a port (0 for any).
 * NULL, with errno set, when the port cannot be listened on. */
static inline struct MHD_Daemon *coredata_http_start(
    uint32_t address, uint16_t port, unsigned int connection_limit, unsigned int timeout_seconds,
    size_t connection_memory, size_t stack_size, MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback notified, void *context) {
  struct sockaddr_in place = {0};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = address;
  return MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, port, NULL, NULL, handler,
      context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&place, MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
      MHD_OPTION_THREAD_STACK_SIZE, stack_size, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
      completed, context, MHD_OPTION_NOTIFY_CONNECTION, notified, context, MHD_OPTION_END);
}

/* The port that a daemon listens on; 0 if it does not. */
static inline uint16_t coredata_http_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info == NULL ? 0 : info->port;
}

/* The socket of a connection; -1 if it has none. */
static inline int coredata_http_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

/* Whether the other end has closed the socket, even if unread data is left. */
static inline int coredata_http_has_left(int socket) {
#ifdef POLLRDHUP
  const short closed = POLLRDHUP;
#else
  const short closed = 0x2000;
#endif
  struct pollfd place = {socket, closed, 0};
  return poll(&place, 1, 0) > 0 && (place.revents & (closed | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

/* Ends both directions of a connection. */
static inline void coredata_http_shut(int socket) { shutdown(socket, SHUT_RDWR); }

/* Enumerations that differ between versions of the library in how Swift sees them. */
static inline enum MHD_Result coredata_http_yes(void) { return MHD_YES; }
static inline enum MHD_Result coredata_http_no(void) { return MHD_NO; }
static inline int coredata_http_has_started(enum MHD_ConnectionNotificationCode kind) {
  return kind == MHD_CONNECTION_NOTIFY_STARTED;
}

/* Calls back for each field of a request's query, head or cookies. */
static inline int coredata_http_each_argument(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN body, void *context) {
  return MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, body, context);
}
static inline int coredata_http_each_header(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN body, void *context) {
  return MHD_get_connection_values_n(connection, MHD_HEADER_KIND, body, context);
}
static inline int coredata_http_each_cookie(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN body, void *context) {
  return MHD_get_connection_values_n(connection, MHD_COOKIE_KIND, body, context);
}

/* A response of bytes that the library copies. */
static inline struct MHD_Response *coredata_http_copying(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

/* What a body's reader answers at its end. */
static inline ssize_t coredata_http_end(void) { return MHD_CONTENT_READER_END_OF_STREAM; }

/* What a body's reader answers when it cannot go on: the connection is cut, so that the client notices. */
static inline ssize_t coredata_http_failure(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }

/* The size of a body whose length is unknown. */
static inline uint64_t coredata_http_unknown_size(void) { return MHD_SIZE_UNKNOWN; }
#endif
