/* SPDX-License-Identifier: Apache-2.0 */
/* http_request.h — the head of an HTTP/1 request, as much of it as serving one file needs. Whatever
 * is not plainly right is refused: two Host lines, folded lines, control characters. Pure. */
#ifndef CT_TOOLS_COMMTRACE_OPEN_HTTP_REQUEST_H
#define CT_TOOLS_COMMTRACE_OPEN_HTTP_REQUEST_H

#include <stddef.h>
#include <stdint.h>

/* size: a longer head is refused; browsers send less than 2 kB. */
#define CT_HTTP_HEAD 8192u

enum ct_http_method { CT_HTTP_GET, CT_HTTP_HEAD_ONLY, CT_HTTP_OPTIONS, CT_HTTP_OTHER };

struct ct_http_request {
	enum ct_http_method method;
	char target[256]; /* "" if longer, which is nothing that is served; without its query */
	char host[128];	  /* "" none */
	char origin[128]; /* "" none */
	char range[128];  /* "" none */
	char site[32]; /* Sec-Fetch-Site: the relation of the requesting page to this server; "" not
			  a browser */
	int wants_private_network; /* a preflight for access to this machine */
};

/* How long the head at the start of bytes[len] is, with its empty line; 0: it is incomplete. */
size_t ct_http_head_length(const char *bytes, size_t len);

/* Take a whole head apart. 0, or -1: malformed. */
int ct_http_parse(const char *head, size_t len, struct ct_http_request *request);

enum ct_http_part { CT_HTTP_WHOLE, CT_HTTP_PART, CT_HTTP_NO_PART };

/* What a Range line requests of a file of `size` bytes: from..to (inclusive); NO_PART: none of it
 * exists. A line with several ranges, or an invalid one, counts as none, as RFC 9110 says. */
enum ct_http_part ct_http_range(const char *range, uint64_t size, uint64_t *from, uint64_t *to);

#endif
