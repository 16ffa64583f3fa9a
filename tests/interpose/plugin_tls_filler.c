/* SPDX-License-Identifier: Apache-2.0 */
/* A library that needs 64 bytes of static TLS and nothing else. */
__attribute__((visibility("default"))) __thread char plugin_tls_filler[64]
	__attribute__((tls_model("initial-exec"), aligned(8)));

__attribute__((visibility("default"))) char *plugin_tls_address(void);
char *plugin_tls_address(void)
{
	return plugin_tls_filler;
}
