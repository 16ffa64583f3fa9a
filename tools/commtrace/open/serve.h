/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h — one file over HTTP on 127.0.0.1, for one web page, until that has it.
 *
 * Debian's libmicrohttpd would do this, but its static library needs gnutls and with it p11-kit,
 * which has none: eleven libraries for one GET, and no static `commtrace` any more. So this is a
 * small server of its own: a poll loop, one request per connection.
 *
 * Every web page of the user's browser can send requests here. So only those are answered whose
 * Host is this machine's own name (a page that had its own name point here is refused) and that no
 * other page makes a part of itself, only the page that may read gets the CORS lines, and nothing
 * but the one file is there. A client has a bounded time, there is a bounded number of them, and
 * where they are all taken the one that has not moved for longest goes. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_OPEN_SERVE_H
#define CT_TOOLS_COMMTRACE_OPEN_SERVE_H

#include <stdint.h>

struct ct_serve {
	/* given */
	int fd; /* the file; stays the caller's */
	uint64_t size;
	unsigned port;
	const char *name;   /* it is served as /NAME */
	const char *origin; /* of the page that may read it */
	int keep;	    /* continue after it was fetched */
	uint64_t idle_ns;   /* give up after so long without a request; UINT64_MAX: never */
	/* filled */
	int listener;
	uint64_t fetched; /* times that a permitted client received all of it */
};

/* Listen. 0 or a negative errno. */
int ct_serve_open(struct ct_serve *serve);

/* Answers until the page has fetched it, or no request came for too long. 0 or a negative errno.
 * Closes the listener. */
int ct_serve_run(struct ct_serve *serve);

#endif
