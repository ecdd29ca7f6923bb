/* What libmicrohttpd calls of GnuTLS: its archive can serve TLS, which the explorer does not use, and GnuTLS cannot be linked
 * statically, since Debian has no archive of p11-kit. Starting and ending the library succeeds; everything else ends the
 * process, for a caller would take it for encryption.
 *
 * docs/decisions/0028-one-executable.md lists the functions. */
#include <stdio.h>
#include <stdlib.h>

int gnutls_global_init(void) { return 0; }
void gnutls_global_deinit(void) {}

static void refuse(const char *name) {
  fprintf(stderr, "coredata: %s was called, but this program is linked without TLS.\n", name);
  abort();
}

#define REFUSE(name) \
  void name(void) { refuse(#name); }
REFUSE(gnutls_alpn_set_protocols)
REFUSE(gnutls_bye)
REFUSE(gnutls_certificate_allocate_credentials)
REFUSE(gnutls_certificate_free_credentials)
REFUSE(gnutls_certificate_server_set_request)
REFUSE(gnutls_certificate_set_dh_params)
REFUSE(gnutls_certificate_set_retrieve_function2)
REFUSE(gnutls_certificate_set_retrieve_function3)
REFUSE(gnutls_certificate_set_x509_key_mem)
REFUSE(gnutls_certificate_set_x509_key_mem2)
REFUSE(gnutls_certificate_set_x509_trust_mem)
REFUSE(gnutls_cipher_get)
REFUSE(gnutls_credentials_set)
REFUSE(gnutls_deinit)
REFUSE(gnutls_dh_params_deinit)
REFUSE(gnutls_dh_params_import_pkcs3)
REFUSE(gnutls_dh_params_init)
REFUSE(gnutls_handshake)
REFUSE(gnutls_init)
REFUSE(gnutls_priority_deinit)
REFUSE(gnutls_priority_init)
REFUSE(gnutls_priority_set)
REFUSE(gnutls_protocol_get_version)
REFUSE(gnutls_psk_allocate_server_credentials)
REFUSE(gnutls_psk_free_server_credentials)
REFUSE(gnutls_psk_set_server_credentials_function)
REFUSE(gnutls_record_check_pending)
REFUSE(gnutls_record_get_direction)
REFUSE(gnutls_record_recv)
REFUSE(gnutls_record_send)
REFUSE(gnutls_session_get_ptr)
REFUSE(gnutls_session_set_ptr)
REFUSE(gnutls_strerror)
REFUSE(gnutls_transport_set_int2)

/* A variable that points to a function. */
static void *no_memory(size_t size) {
  (void)size;
  refuse("gnutls_malloc");
  return NULL;
}
void *(*gnutls_malloc)(size_t) = no_memory;
