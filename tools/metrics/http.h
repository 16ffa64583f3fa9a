/* SPDX-License-Identifier: Apache-2.0 */
/* http.h — serves one text over HTTP, by libmicrohttpd: /metrics and /healthz, and nothing else.
 *
 * A thread of the library answers. It never sees the job or the reader: only the latest text, which
 * is shared and counted. Connections, their memory and their time are bounded, so slow or malformed
 * clients cost no more than that. On a loopback address, requests must name this machine (a web
 * page that lets its own name point here is refused). On any other address, each needs the bearer
 * token. */
#ifndef CT_TOOLS_METRICS_HTTP_H
#define CT_TOOLS_METRICS_HTTP_H

#include <stddef.h>

#include "trace/status.h"

struct ct_http;

/* `listen`: ADDRESS:PORT, [ADDRESS]:PORT or :PORT for all addresses; port 0: any free one. `token`:
 * what clients must present; NULL: none, which only a loopback address allows (CT_RANGE). CT_OK;
 * CT_FORMAT: no such address; CT_IO. */
int ct_http_start(const char *listen, const char *token, struct ct_http **http, struct ct_err *err);

/* Where it is: "127.0.0.1:9400". */
const char *ct_http_address(const struct ct_http *http);

/* From now on this text is served; taken over, also on failure. */
void ct_http_publish(struct ct_http *http, char *text, size_t len);

void ct_http_stop(struct ct_http *http);

#endif
